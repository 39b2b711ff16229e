#include "cuda/fold.h"

namespace hb::cuda {

bool fold_halves(const ReduceLoop& l, ReduceOp op, const ReduceFinish& finish) {
  return fold_real<Half>(l, op, finish);
}

}  // namespace hb::cuda
