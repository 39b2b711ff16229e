#include "cuda/fold.h"

namespace hb::cuda {

bool fold_doubles(const ReduceLoop& l, ReduceOp op, const ReduceFinish& finish) {
  return fold_real<double>(l, op, finish);
}

}  // namespace hb::cuda
