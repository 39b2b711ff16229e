#include "cuda/walk.h"

namespace hb::cuda {
namespace {

constexpr int64_t kMost = int64_t{1} << 30;  // elements a launch

/// A loop's part: sizes that are at most kMost together.
void in_parts(Walk walk, DimVector sizes, WalkFn launch, const void* context) {
  int64_t numel = 1;
  for (int64_t s : sizes) numel *= s;
  if (numel > kMost) {
    size_t widest = 0;
    for (size_t d = 1; d < sizes.size(); ++d)
      if (sizes[d] >= sizes[widest]) widest = d;
    const int64_t first = sizes[widest] / 2;
    DimVector part = sizes;
    part[widest] = first;
    in_parts(walk, part, launch, context);
    for (int k = 0; k < walk.operands; ++k)
      if (!(walk.numbers >> k & 1)) walk.data[k] += first * walk.stride[widest][k];
    part[widest] = sizes[widest] - first;
    return in_parts(walk, part, launch, context);
  }
  walk.numel = static_cast<uint32_t>(numel);
  for (size_t d = 0; d < sizes.size(); ++d) walk.size[d] = Divider(static_cast<uint32_t>(sizes[d]));
  launch(walk, context);
}

}  // namespace

bool contiguous(const Walk& walk, int vector) {
  if (walk.dims != 1) return false;
  for (int k = 0; k < walk.operands; ++k) {
    if (walk.numbers >> k & 1) continue;
    if (k > 0 && walk.stride[0][k] == 0) continue;
    const auto size = static_cast<int64_t>(element_size(walk.dtype[k]));
    if (walk.stride[0][k] != size && walk.numel > 1) return false;
    if (vector > 1 && reinterpret_cast<uintptr_t>(walk.data[k]) % 16 != 0) return false;
  }
  return true;
}

void for_walks(const char* name, const Loop& loop, WalkFn launch, const void* context) {
  if (loop.numel == 0) return;
  HB_CHECK(loop.operands <= kMostOperands && loop.sizes.size() <= kMostDims, "[", name, "] expected at most ",
           int{kMostDims}, " dimensions on a CUDA device, got ", loop.sizes.size());
  Walk walk;
  walk.operands = loop.operands, walk.dims = static_cast<int>(loop.sizes.size()), walk.numbers = loop.numbers;
  for (int k = 0; k < loop.operands; ++k) {
    walk.data[k] = loop.op[k].data, walk.dtype[k] = loop.op[k].dtype;
    for (int d = 0; d < walk.dims; ++d) walk.stride[d][k] = loop.op[k].strides[d];
  }
  in_parts(walk, loop.sizes, launch, context);
}

void for_walks(const char*, const FlatLoop& loop, WalkFn launch, const void* context) {
  if (loop.numel == 0) return;
  Walk walk;
  walk.operands = loop.operands, walk.dims = 1, walk.numbers = loop.numbers;
  for (int k = 0; k < loop.operands; ++k) {
    walk.data[k] = loop.data[k], walk.dtype[k] = loop.dtype[k];
    walk.stride[0][k] = loop.single >> k & 1 ? 0 : static_cast<int64_t>(element_size(loop.dtype[k]));
  }
  in_parts(walk, DimVector(1, loop.numel), launch, context);
}

}  // namespace hb::cuda
