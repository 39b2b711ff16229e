#pragma once
// A convolution as cuDNN's stand-in is asked for it, and which algorithms it has for that.

#include <vector>

#include "backend/conv.h"
#include "software_cuda/libraries/cudnn_objects.h"

struct cudnnFilterStruct : cudnnTensorStruct {
  bool channels_first;
};
struct cudnnConvolutionStruct {
  hb::ConvParams p;
  cudnnDataType_t compute;
  cudnnMathType_t math;
};

namespace software_cuda {

/// The algorithms, as heuristics rank them; the first cannot compute anything here: callers look at the status.
struct Algorithm {
  cudnnStatus_t status;
  float milliseconds;  // what it takes when it is tried
  size_t workspace;    // what it wants, and spoils
  cudnnDeterminism_t determinism;
};
inline constexpr Algorithm kAlgorithms[] = {{CUDNN_STATUS_NOT_SUPPORTED, -1, 0, CUDNN_NON_DETERMINISTIC},
                                            {CUDNN_STATUS_SUCCESS, 3, 2048, CUDNN_DETERMINISTIC},
                                            {CUDNN_STATUS_SUCCESS, 1, 4096, CUDNN_NON_DETERMINISTIC},
                                            {CUDNN_STATUS_SUCCESS, 2, 1024, CUDNN_DETERMINISTIC}};
inline constexpr int kByTime[] = {2, 3, 1, 0};

inline std::vector<int64_t> packed_strides(const std::vector<int64_t>& sizes, bool channels_first) {
  std::vector<int64_t> strides(sizes.size());
  int64_t next = 1;
  const auto place = [&](size_t d) { strides[d] = next, next *= sizes[d]; };
  if (!channels_first) place(1);
  for (size_t d = sizes.size() - 1; d >= 2; --d) place(d);
  if (channels_first) place(1);
  place(0);
  return strides;
}
inline bool is_packed(const cudnnTensorStruct& t, bool channels_first) {
  const std::vector<int64_t> strides = packed_strides(t.sizes, channels_first);
  for (size_t d = 0; d < t.sizes.size(); ++d)
    if (t.sizes[d] != 1 && t.strides[d] != strides[d]) return false;
  return true;
}

enum class Direction { forward, data, weight };
/// What a call is about: in data's direction x is the result, in the weight's w.
struct Problem {
  Direction direction;
  const cudnnTensorStruct& x;
  const cudnnFilterStruct& w;
  const cudnnTensorStruct& y;
  const cudnnConvolutionStruct& conv;
};

inline bool fits(const Problem& a) {
  const hb::ConvParams& p = a.conv.p;
  bool good = a.x.type == a.w.type && a.x.type == a.y.type && is_packed(a.x, a.w.channels_first) &&
              is_packed(a.y, a.w.channels_first) && a.x.sizes.size() == static_cast<size_t>(p.dims) + 2 &&
              a.w.sizes[1] * p.groups == a.x.sizes[1] && a.w.sizes[0] == a.y.sizes[1] && a.w.sizes[0] % p.groups == 0 &&
              a.x.sizes[0] == a.y.sizes[0] && (a.conv.compute == CUDNN_DATA_DOUBLE) == (a.x.type == CUDNN_DATA_DOUBLE);
  for (size_t d = 0; good && d < static_cast<size_t>(p.dims); ++d) {
    const int64_t reach = p.dilation[d] * (a.w.sizes[2 + d] - 1) + 1;
    good = a.y.sizes[2 + d] == (a.x.sizes[2 + d] + 2 * p.padding[d] - reach) / p.stride[d] + 1;
  }
  return good;
}

/// With channels last there is nothing for gradients of doubles, and nothing for doubles over three dimensions.
inline bool has_algorithms(const Problem& a) {
  return a.w.channels_first || a.x.type != CUDNN_DATA_DOUBLE ||
         (a.direction == Direction::forward && a.conv.p.dims == 2);
}
/// What becomes known only when a listed algorithm is to run. With channels last and in float16, no algorithm computes
/// the gradient of a depthwise convolution's input, and the first wants other groups to have channels by the eight.
inline cudnnStatus_t status_of(const Problem& a, int algo) {
  if (!has_algorithms(a)) return CUDNN_STATUS_NOT_SUPPORTED;
  if (kAlgorithms[algo].status != CUDNN_STATUS_SUCCESS) return kAlgorithms[algo].status;
  if (a.w.channels_first || a.x.type != CUDNN_DATA_HALF || a.conv.p.groups == 1) return CUDNN_STATUS_SUCCESS;
  if (a.w.sizes[1] == 1) return a.direction == Direction::data ? CUDNN_STATUS_BAD_PARAM : CUDNN_STATUS_SUCCESS;
  return algo == 1 && a.w.sizes[1] % 8 != 0 ? CUDNN_STATUS_NOT_SUPPORTED : CUDNN_STATUS_SUCCESS;
}

}  // namespace software_cuda
