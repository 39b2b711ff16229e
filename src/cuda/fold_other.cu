#include "cuda/fold.h"

namespace hb::cuda {

bool fold_doubles(const ReduceLoop& l, ReduceOp op, const ReduceFinish& finish) {
  using enum ReduceOp;
  return fold_neighbours<double, sum, prod, max, min, abs_sum, square_sum, abs_max>(l, op, finish);
}
bool fold_integers(const ReduceLoop& l, ReduceOp op, const ReduceFinish& finish) {
  using enum ReduceOp;
  if (l.in_dtype == kLong) return fold_neighbours<int64_t, sum, prod, max, min>(l, op, finish);
  if (l.in_dtype == kInt) return fold_neighbours<int32_t, sum, max, min>(l, op, finish);
  return l.in_dtype == kBool && fold_neighbours<bool, sum, any, all, count>(l, op, finish);
}

}  // namespace hb::cuda
