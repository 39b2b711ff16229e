#pragma once

#include <halfbridge/tensor.h>

#include "backend/embedding_bag.h"

namespace hb::ops {

/// Indices in bags: bag b is index[begin[b]] up to index[begin[b + 1]], the last one of `begin` to the end of all.
struct Bags {
  Tensor index, begin;  // int64, on the table's device
  Tensor samples;       // a factor for each index, or undefined
  int64_t count = 0;
  BagMode mode = BagMode::sum;
  int64_t padding = -1;  // this index counts as absent
  bool by_frequency = false, sparse = false;
  Tensor begin_on_host = {};  // where the host has read it
};

/// (bags, width): the rows of `weight` (rows, width) pooled by bag; zeros for an empty one.
Tensor embedding_bag(const Tensor& weight, const Bags& bags);
/// (bags, width): of the maximum, the row that each value is from; 0 where there is none.
Tensor rows_of_maxima(const Tensor& weight, const Bags& bags);
/// For each index in a bag the number of the bag; for each bag how many indices it has, padding among them.
std::pair<Tensor, Tensor> numbers_of_bags(const Bags& bags);

}  // namespace hb::ops
