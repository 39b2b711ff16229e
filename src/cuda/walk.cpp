#include "cuda/walk.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <limits>

namespace hb::cuda {
namespace {

constexpr int64_t kMost = std::numeric_limits<int32_t>::max();  // bytes of an operand, and elements, of a launch

using Strides = std::array<std::array<int64_t, kMostOperands>, kMostDims>;

/// Of the dimensions the one along which operands lie furthest apart.
size_t widest_dim(const Walk& walk, const DimVector& sizes, const Strides& strides) {
  size_t widest = 0;
  int64_t most = -1;
  for (size_t d = 0; d < sizes.size(); ++d) {
    int64_t width = sizes[d] - 1;
    for (size_t k = 0; k < static_cast<size_t>(walk.operands); ++k)
      width = std::max(width, (sizes[d] - 1) * std::abs(strides[d][k]));
    if (width > most) widest = d, most = width;
  }
  return widest;
}
bool fits(const Walk& walk, const DimVector& sizes, const Strides& strides) {
  int64_t numel = 1;
  for (const int64_t size : sizes) numel *= size;
  if (numel > kMost) return false;
  for (size_t k = 0; k < static_cast<size_t>(walk.operands); ++k) {
    int64_t width = 0;
    for (size_t d = 0; d < sizes.size(); ++d) width += (sizes[d] - 1) * std::abs(strides[d][k]);
    if (width > kMost) return false;
  }
  return true;
}

/// A loop's part.
void in_parts(Walk walk, DimVector sizes, const Strides& strides, WalkFn launch, const void* context) {
  if (!fits(walk, sizes, strides)) {
    const size_t widest = widest_dim(walk, sizes, strides);
    const int64_t first = sizes[widest] / 2;
    DimVector part = sizes;
    part[widest] = first;
    in_parts(walk, part, strides, launch, context);
    for (int k = 0; k < walk.operands; ++k)
      if (!(walk.numbers >> k & 1)) walk.data[k] += first * strides[widest][static_cast<size_t>(k)];
    part[widest] = sizes[widest] - first;
    return in_parts(walk, part, strides, launch, context);
  }
  walk.numel = 1;
  for (size_t d = 0; d < sizes.size(); ++d) {
    walk.numel *= static_cast<uint32_t>(sizes[d]);
    walk.size[d] = Divider(static_cast<uint32_t>(sizes[d]));
    for (size_t k = 0; k < static_cast<size_t>(walk.operands); ++k)
      walk.stride[d][k] = static_cast<int32_t>(strides[d][k]);
  }
  launch(walk, context);
}

}  // namespace

bool contiguous(const Walk& walk, int vector) {
  if (walk.dims != 1) return false;
  for (int k = 0; k < walk.operands; ++k) {
    if (walk.numbers >> k & 1) continue;
    if (k > 0 && walk.stride[0][k] == 0) continue;
    const auto size = static_cast<int32_t>(element_size(walk.dtype[k]));
    if (walk.stride[0][k] != size && walk.numel > 1) return false;
    if (vector > 1 && reinterpret_cast<uintptr_t>(walk.data[k]) % 16 != 0) return false;
  }
  return true;
}

std::optional<VectorWalk> in_vectors(const Walk& walk, uint32_t together) {
  if (walk.dims > 1 && walk.size[0].divisor % together != 0) return std::nullopt;
  VectorWalk vectors{walk};
  vectors.alone = walk.numbers;
  for (int k = 0; k < walk.operands; ++k) {
    if (walk.numbers >> k & 1) continue;
    const auto size = static_cast<int32_t>(element_size(walk.dtype[k]));
    vectors.bytes[k] = static_cast<uint8_t>(size);
    if (k > 0 && walk.stride[0][k] == 0) {
      vectors.alone |= 1u << k;
      continue;
    }
    if (walk.stride[0][k] != size) return std::nullopt;
    vectors.stride[0][k] = size * static_cast<int32_t>(together);
    const int32_t width = std::min(vectors.stride[0][k], 16);
    if (reinterpret_cast<uintptr_t>(walk.data[k]) % static_cast<uintptr_t>(width) != 0) return std::nullopt;
    for (int d = 1; d < walk.dims; ++d)
      if (walk.stride[d][k] % width != 0) return std::nullopt;
  }
  vectors.numel = walk.numel / together, vectors.rest = walk.numel % together;
  if (walk.dims > 1) vectors.size[0] = Divider(walk.size[0].divisor / together);
  return vectors;
}

void for_walks(const char* name, const Loop& loop, WalkFn launch, const void* context) {
  if (loop.numel == 0) return;
  HB_CHECK(loop.operands <= kMostOperands && loop.sizes.size() <= kMostDims, "[", name, "] expected at most ",
           int{kMostDims}, " dimensions on a CUDA device, got ", loop.sizes.size());
  Walk walk;
  walk.operands = loop.operands, walk.dims = static_cast<int>(loop.sizes.size()), walk.numbers = loop.numbers;
  Strides strides{};
  for (size_t k = 0; k < static_cast<size_t>(loop.operands); ++k) {
    walk.data[k] = loop.op[k].data, walk.dtype[k] = loop.op[k].dtype;
    for (size_t d = 0; d < loop.sizes.size(); ++d) strides[d][k] = loop.op[k].strides[d];
  }
  in_parts(walk, loop.sizes, strides, launch, context);
}

void for_walks(const char*, const FlatLoop& loop, WalkFn launch, const void* context) {
  if (loop.numel == 0) return;
  Walk walk;
  walk.operands = loop.operands, walk.dims = 1, walk.numbers = loop.numbers;
  Strides strides{};
  for (size_t k = 0; k < static_cast<size_t>(loop.operands); ++k) {
    walk.data[k] = loop.data[k], walk.dtype[k] = loop.dtype[k];
    strides[0][k] = loop.single >> k & 1 ? 0 : static_cast<int64_t>(element_size(loop.dtype[k]));
  }
  in_parts(walk, DimVector(1, loop.numel), strides, launch, context);
}

}  // namespace hb::cuda
