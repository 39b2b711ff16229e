#include "cuda/fold.h"

namespace hb::cuda {

bool fold_bfloat16s(const ReduceLoop& l, ReduceOp op, const ReduceFinish& finish) {
  return fold_real<BFloat16>(l, op, finish);
}

}  // namespace hb::cuda
