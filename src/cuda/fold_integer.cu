#include "cuda/fold.h"

namespace hb::cuda {

bool fold_integers(const ReduceLoop& l, ReduceOp op, const ReduceFinish& finish) {
  using enum ReduceOp;
  switch (l.in_dtype) {
    case kLong:
      return fold_neighbours<int64_t, sum, prod, max, min, any, all, count>(l, op, finish);
    case kInt:
      return fold_neighbours<int32_t, sum, prod, max, min, any, all, count>(l, op, finish);
    case kByte:
      return fold_neighbours<uint8_t, sum, max, min, any, all, count>(l, op, finish);
    case kBool:
      return fold_neighbours<bool, sum, any, all, count>(l, op, finish);
    default:
      return false;
  }
}

}  // namespace hb::cuda
