#include "cuda/fold.h"

namespace hb::cuda {

bool fold_halves(const ReduceLoop& l, ReduceOp op, const ReduceFinish& finish) {
  using enum ReduceOp;
  return fold_neighbours<Half, sum, max, min, abs_sum, square_sum, abs_max>(l, op, finish);
}
bool fold_bfloat16s(const ReduceLoop& l, ReduceOp op, const ReduceFinish& finish) {
  using enum ReduceOp;
  return fold_neighbours<BFloat16, sum, max, min, abs_sum, square_sum, abs_max>(l, op, finish);
}

}  // namespace hb::cuda
