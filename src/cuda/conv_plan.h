#pragma once
// How cuDNN computes a convolution: descriptors and the algorithm, kept by shape.

#include "backend/conv.h"
#include "cuda/cudnn.h"

namespace hb::cuda {

enum class ConvDirection { forward, data, weight };

struct ConvPlan {
  cudnnTensorDescriptor_t x = nullptr, y = nullptr;
  cudnnFilterDescriptor_t w = nullptr;
  cudnnConvolutionDescriptor_t convolution = nullptr;
  int algorithm = 0;
  size_t workspace = 0;
  ConvPlan() = default;
  ConvPlan(const ConvPlan&) = delete;
  ConvPlan& operator=(const ConvPlan&) = delete;
  ~ConvPlan();
};

/// The algorithm is the first that cuDNN's heuristics name; with setBenchmarkCuDNN(true) the fastest of those that they
/// name, by a run of each. Such runs write the result: y of the forward pass, x of data's, w of the weight's.
const ConvPlan& conv_plan(ConvDirection direction, const Tensor& x, const Tensor& w, const Tensor& y,
                          const ConvParams& p);

}  // namespace hb::cuda
