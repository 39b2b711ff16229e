// Convolutions that cuDNN does not compute with channels last, or says so only when it is to: the next algorithm, then
// the order with channels first, and what is remembered of that.
#include <ATen/cuda/CUDAGraph.h>
#include <c10/cuda/CUDAGuard.h>

#include "software_cuda/program/beside_cpu.h"
#include "software_cuda/program/control.h"

namespace {

/// The names of what ran on the device.
std::string calls_of(const std::function<void()>& work) {
  torch::cuda::synchronize();
  control().reset_counts();
  work();
  torch::cuda::synchronize();
  return control().kernels();
}
bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

/// All three directions, and those of the transposed convolution, over 1 to 3 dimensions.
void expect_all_forms(torch::Dtype t, int64_t groups, int64_t dilation) {
  for (int64_t dims = 1; dims <= 3; ++dims) {
    std::vector<int64_t> x{2, 4, 9, 6, 7}, w{8, 4 / groups, 2, 3, 1}, transposed{4, 6 / groups * 2, 2, 3, 1};
    for (auto* sizes : {&x, &w, &transposed}) sizes->resize(static_cast<size_t>(dims) + 2);
    const std::vector<int64_t> stride{2}, padding{1}, wide{dilation}, none{0};
    expect_same(
        "convolution",
        [&](auto& in) { return torch::convolution(in[0], in[1], in[2], stride, padding, wide, false, none, groups); },
        {values(x, t), values(w, t, 1), values({8}, t, 2)});
    expect_same(
        "transposed",
        [&](auto& in) { return torch::convolution(in[0], in[1], in[2], stride, padding, wide, true, none, groups); },
        {values(x, t), values(transposed, t, 1), values({transposed[1] * groups}, t, 2)});
  }
}

TEST(ConvRefusals, Doubles) {
  for (const int64_t groups : {1, 2, 4})
    for (const int64_t dilation : {1, 2}) expect_all_forms(torch::kDouble, groups, dilation);
}
TEST(ConvRefusals, GroupsInHalfTypes) {
  for (const torch::Dtype t : {torch::kHalf, torch::kBFloat16})
    for (const int64_t groups : {2, 4}) expect_all_forms(t, groups, 1);
}

// One pixel, or one channel: both orders are the same bytes.
TEST(ConvRefusals, DoublesWithoutCopies) {
  const Tensor x = values({3, 5, 1, 1}, torch::kDouble), w = values({4, 5, 1, 1}, torch::kDouble, 1);
  const Tensor on_gpu = x.to(kGpu), weight = w.to(kGpu);
  Tensor y;
  const std::string calls = calls_of([&] { y = torch::conv2d(on_gpu, weight); });
  expect_close("pixels", y, torch::conv2d(x, w), 1e-10);
  EXPECT_FALSE(contains(calls, "transpose")) << calls;
}

TEST(ConvRefusals, WhatWorkedIsRemembered) {
  NEEDS_COUNTS();
  const Tensor x = values({2, 6, 8, 11}, torch::kHalf).to(kGpu).requires_grad_();
  const Tensor depthwise = values({6, 1, 3, 3}, torch::kHalf, 1).to(kGpu),
               grouped = values({6, 3, 3, 3}, torch::kHalf, 1).to(kGpu);
  const auto calls_with = [&](const Tensor& weight, int64_t groups) {
    return calls_of([&] { torch::autograd::grad({torch::conv2d(x, weight, {}, 1, 1, 1, groups).sum()}, {x}); });
  };
  for (int i = 0; i < 2; ++i) {
    const std::string calls = calls_with(grouped, 2);
    EXPECT_TRUE(contains(calls, "cudnnConvolutionForward by 2\n")) << calls;
    EXPECT_TRUE(contains(calls, "cudnnConvolutionBackwardData by 2\n")) << calls;
  }
  const Tensor wide = x.detach().to(torch::kDouble), weight = grouped.to(torch::kDouble);
  for (int i = 0; i < 2; ++i) {
    const std::string calls = calls_of([&] { torch::conv2d(wide, weight, {}, 1, 1, 1, 2); });
    EXPECT_TRUE(contains(calls, "cudnnConvolutionForward by 1, channels first\n")) << calls;
  }
  const std::string calls = calls_with(depthwise, 6);  // by a kernel
  EXPECT_FALSE(contains(calls, "cudnnConvolution")) << calls;
}

// Trials find what is refused, and rank the algorithms of the other order.
TEST(ConvRefusals, TrialsLookAtBothOrders) {
  NEEDS_COUNTS();
  at::globalContext().setBenchmarkCuDNN(true);
  expect_same("depthwise", [](auto& in) { return torch::conv2d(in[0], in[1], {}, 1, 1, 1, 6); },
              {values({2, 6, 8, 12}, torch::kHalf), values({6, 1, 3, 3}, torch::kHalf, 1)});
  const Tensor x = values({2, 3, 8, 12}, torch::kDouble).to(kGpu), w = values({4, 3, 3, 3}, torch::kDouble).to(kGpu);
  const std::string calls = calls_of([&] { torch::conv2d(x, w); });
  at::globalContext().setBenchmarkCuDNN(false);
  EXPECT_TRUE(contains(calls, "cudnnConvolutionForward by 2, channels first\n")) << calls;
}

// A refusal while a graph is recorded leaves nothing in it, and the recording valid.
TEST(ConvRefusals, Recordings) {
  const Tensor x = values({2, 6, 8, 13}, torch::kHalf), w = values({6, 1, 3, 3}, torch::kHalf, 1);
  const auto gradient = [&](const torch::Device& device) {
    const Tensor in = x.to(device).requires_grad_(), weight = w.to(device);
    return [in, weight] {
      return torch::autograd::grad({torch::conv2d(in, weight, {}, 1, 1, 1, 6).square().sum()}, {in})[0];
    };
  };
  const auto on_gpu = gradient(kGpu);
  Tensor dx;
  at::cuda::CUDAGraph graph;
  {
    const c10::cuda::CUDAStreamGuard guard(c10::cuda::getStreamFromPool());
    graph.capture_begin();
    dx = on_gpu();
    graph.capture_end();
  }
  graph.replay();
  expect_close("recorded", dx, gradient(torch::kCPU)(), 1e-2);
}

}  // namespace
