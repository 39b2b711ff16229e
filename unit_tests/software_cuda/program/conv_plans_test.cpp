// Which algorithm a convolution gets: the heuristics' first, or the fastest by trial (setBenchmarkCuDNN). On this
// device algorithm 1 is the heuristics' first, 2 the fastest, whose results are not the same each time, and 3 the next.
#include <ATen/cuda/CUDAGraph.h>
#include <c10/cuda/CUDAGuard.h>

#include <sstream>

#include "software_cuda/program/beside_cpu.h"
#include "software_cuda/program/control.h"

namespace {

/// cuDNN's calls, which tell what they compute by.
std::string calls_of(const std::function<void()>& work) {
  torch::cuda::synchronize();
  control().reset_counts();
  work();
  torch::cuda::synchronize();
  std::istringstream all(control().kernels());
  std::string line, calls;
  while (std::getline(all, line))
    if (line.rfind("cudnn", 0) == 0) calls += line.substr(std::string("cudnn").size()) + "; ";
  return calls;
}

class ConvPlans : public ::testing::Test {
 protected:
  void SetUp() override {
    NEEDS_COUNTS();
    at::globalContext().setBenchmarkCuDNN(true);
  }
  void TearDown() override {
    at::globalContext().setBenchmarkCuDNN(false);
    at::globalContext().setDeterministicCuDNN(false);
  }
  /// Sizes that no other test has: plans are kept.
  static Tensor images(int64_t width) { return values({2, 3, 7, width}); }
  const Tensor weight = values({4, 3, 3, 3}, torch::kFloat, 1);
};

TEST_F(ConvPlans, FirstUseTriesAllTheNextTheFastest) {
  const Tensor x = images(21).to(kGpu), w = weight.to(kGpu);
  Tensor y;
  EXPECT_EQ(calls_of([&] { y = torch::conv2d(x, w); }), "FindConvolutionForwardAlgorithmEx; ConvolutionForward by 2; ");
  expect_close("first", y, torch::conv2d(images(21), weight), 1e-5);
  EXPECT_EQ(calls_of([&] { y = torch::conv2d(x, w); }), "ConvolutionForward by 2; ");
  expect_close("second", y, torch::conv2d(images(21), weight), 1e-5);
  at::globalContext().setBenchmarkCuDNN(false);
  EXPECT_EQ(calls_of([&] { torch::conv2d(x, w); }), "ConvolutionForward by 1; ");
}

TEST_F(ConvPlans, GradientsAreTriedToo) {
  const auto gradients = [&](const torch::Device& device) {
    const Tensor x = images(22).to(device).requires_grad_(), w = weight.to(device).requires_grad_();
    return torch::autograd::grad({torch::conv2d(x, w).square().sum()}, {x, w});
  };
  std::vector<Tensor> got;
  const std::string calls = calls_of([&] { got = gradients(kGpu); });
  for (const char* call : {"FindConvolutionBackwardDataAlgorithmEx; ", "ConvolutionBackwardData by 2; ",
                           "FindConvolutionBackwardFilterAlgorithmEx; ", "ConvolutionBackwardFilter by 2; "})
    EXPECT_NE(calls.find(call), std::string::npos) << call << "in " << calls;
  const auto expected = gradients(torch::kCPU);
  for (size_t i = 0; i < 2; ++i) expect_close("gradient", got[i], expected[i], 1e-4);
  EXPECT_EQ(calls_of([&] { gradients(kGpu); }).find("Find"), std::string::npos);
}

TEST_F(ConvPlans, DeterministicOnesAreTheFastestOfTheirs) {
  at::globalContext().setDeterministicCuDNN(true);
  const Tensor x = images(23).to(kGpu), w = weight.to(kGpu);
  EXPECT_EQ(calls_of([&] { torch::conv2d(x, w); }), "FindConvolutionForwardAlgorithmEx; ConvolutionForward by 3; ");
}

// Trials wait for the device, which a recording cannot: there the heuristics choose, and later calls try all the same.
TEST_F(ConvPlans, RecordingsTryNothing) {
  const Tensor x = images(24).to(kGpu), w = weight.to(kGpu);
  Tensor y;
  at::cuda::CUDAGraph graph;
  {
    const c10::cuda::CUDAStreamGuard guard(c10::cuda::getStreamFromPool());
    graph.capture_begin();
    y = torch::conv2d(x, w);
    graph.capture_end();
  }
  graph.replay();
  expect_close("recorded", y, torch::conv2d(images(24), weight), 1e-5);
  EXPECT_EQ(calls_of([&] { torch::conv2d(x, w); }), "FindConvolutionForwardAlgorithmEx; ConvolutionForward by 2; ");
}

}  // namespace
