#pragma once
// How cuDNN computes a convolution: descriptors and algorithms, kept by shape.

#include <memory>
#include <vector>

#include "backend/conv.h"
#include "cuda/cudnn_graph.h"

namespace hb::cuda {

/// A convolution of tensors that are channels-last: y of x and w forward; x is data's result, w the weight's.
struct ConvTask {
  ConvDirection direction;
  const Tensor &x, &w, &y;
  const ConvParams& p;
};

/// What decides how a convolution is computed best.
using ConvKey = std::vector<int64_t>;
ConvKey key_of(const ConvTask& task);

struct ConvDescriptors {
  cudnnTensorDescriptor_t x = nullptr, y = nullptr;
  cudnnFilterDescriptor_t w = nullptr;
  cudnnConvolutionDescriptor_t convolution = nullptr;
  ConvDescriptors() = default;
  ConvDescriptors(const ConvDescriptors&) = delete;
  ConvDescriptors& operator=(const ConvDescriptors&) = delete;
  ~ConvDescriptors();
};

struct ConvAlgorithm {
  int number;
  size_t workspace;
  cudnnMathType_t math;
};

/// Which order of elements cuDNN gets, and its algorithms for that. The first one is used; the others come into
/// question if cuDNN refuses it, which is known only when it is to run. Without algorithms cuDNN cannot compute the
/// convolution.
struct ConvPlan {
  bool channels_first, timed;
  std::unique_ptr<ConvDescriptors> described;
  std::vector<ConvAlgorithm> algorithms;
};

/// The best algorithm is the first that cuDNN's heuristics name; with setBenchmarkCuDNN(true) the fastest of those that
/// they name, by a run of each. Such runs write the result. The plan is valid until the thread asks for another one.
ConvPlan& conv_plan(const ConvTask& task);
/// Its first algorithm was refused: another takes its place for this and all later calls, in the end with channels
/// first.
void give_up_first(ConvPlan& plan, const ConvTask& task);

}  // namespace hb::cuda
