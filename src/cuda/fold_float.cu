#include "cuda/fold.h"

namespace hb::cuda {

bool fold_floats(const ReduceLoop& l, ReduceOp op, const ReduceFinish& finish) {
  using enum ReduceOp;
  return fold_neighbours<float, sum, nansum, prod, max, min, any, all, count, abs_sum, square_sum, abs_max>(l, op,
                                                                                                            finish);
}

}  // namespace hb::cuda
