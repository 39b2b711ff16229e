#pragma once

#include <halfbridge/dtype.h>

#include "backend/kernel.h"

namespace hb {

enum class BagMode { sum, mean, max };

/// Rows of a table (rows, width), pooled by bag. Bag b has the indices from begin[b] to begin[b + 1], the last of
/// `begins` to the end of all. An index that is `padding` counts as absent.
struct EmbeddingBag {
  ScalarType dtype = kFloat;  // of the table, the samples and the result
  BagMode mode = BagMode::sum;
  int64_t rows = 0, width = 0, indices = 0, begins = 0, bags = 0, padding = -1;
  const void *weight = nullptr, *samples = nullptr;  // samples: a factor for each index, or null
  const int64_t *index = nullptr, *begin = nullptr;
  int64_t* places = nullptr;  // of max: (bags, width), the row that each value is from; -1 where there is none

  int64_t end(int64_t bag) const { return bag + 1 < begins ? begin[bag + 1] : indices; }
};
inline void operands(capture::Operands& v, EmbeddingBag& p) {
  v.reads(p.weight), v.reads(p.samples), v.reads(p.index), v.reads(p.begin);
  v.changes(p.places);
}

/// out: (bags, width)
HB_API inline Kernel<void(const EmbeddingBag& p, void* out)> embedding_bag_kernel{"embedding_bag"};
/// Of `grad` (bags, width); grad_weight, zeroed here, or grad_samples may be null.
HB_API inline Kernel<void(const EmbeddingBag& p, void* grad_weight, void* grad_samples, const void* grad)>
    embedding_bag_backward_kernel{"embedding_bag_backward"};

}  // namespace hb
