#include "cuda/fold.h"

namespace hb::cuda {

bool fold_floats(const ReduceLoop& l, ReduceOp op, const ReduceFinish& finish) {
  return fold_real<float>(l, op, finish);
}

}  // namespace hb::cuda
