// Attention of half types by cuDNN, beside the CPU's in double.
#include <ATen/cuda/CUDAContext.h>
#include <ATen/cuda/CUDAGraph.h>
#include <c10/cuda/CUDAGuard.h>

#include <thread>

#include "software_cuda/program/beside_cpu.h"
#include "software_cuda/program/control.h"

namespace {

struct Settings {
  bool causal = false, grouped = false;
  Tensor mask = {};  // of the CPU
  double scale = 0;  // 0: by the width
};
struct Shape {
  int64_t batch, heads, kv_heads, queries, keys, width, value_width = 0;
};

/// By what attention and its gradients go.
enum class Way { none, cudnn, deterministic, tiles };

class AttentionByCudnn : public testing::TestWithParam<torch::Dtype> {
 protected:
  void SetUp() override { torch::manual_seed(6); }

  static Tensor normal(torch::IntArrayRef size) { return torch::randn(size).to(GetParam()); }
  /// q, k, v and the gradient of the result.
  static std::vector<Tensor> heads(const Shape& s) {
    const int64_t e = s.value_width ? s.value_width : s.width;
    return {normal({s.batch, s.heads, s.queries, s.width}), normal({s.batch, s.kv_heads, s.keys, s.width}),
            normal({s.batch, s.kv_heads, s.keys, e}), normal({s.batch, s.heads, s.queries, e})};
  }
  /// The same with heads beside each other in memory.
  static std::vector<Tensor> side_by_side(std::vector<Tensor> tensors) {
    for (Tensor& t : tensors) t = t.transpose(1, 2).contiguous().transpose(1, 2);
    return tensors;
  }

  static Tensor attend(const std::vector<Tensor>& in, const Settings& s) {
    const auto mask = s.mask.defined() ? std::optional<Tensor>(s.mask.to(in[0].options())) : std::nullopt;
    const auto scale = s.scale != 0 ? std::optional<double>(s.scale) : std::nullopt;
    return at::scaled_dot_product_attention(in[0], in[1], in[2], mask, 0, s.causal, scale, s.grouped);
  }
  /// The result and the gradients of q, k and v.
  static std::vector<Tensor> run(const std::vector<Tensor>& inputs, const Settings& s) {
    std::vector<Tensor> in;
    for (const Tensor& t : inputs) in.push_back(t.detach().requires_grad_());
    in.pop_back();
    const Tensor out = attend(in, s);
    std::vector<Tensor> results{out.detach()};
    for (const Tensor& g : torch::autograd::grad({out}, in, {inputs[3]})) results.push_back(g);
    return results;
  }
  static Tensor moved(const Tensor& t) {
    const Tensor base = t.is_view() ? t._base() : t;
    return torch::as_strided(base.to(kGpu), t.sizes(), t.strides(), t.storage_offset());
  }
  /// `both`: attention goes by tiles and by cuDNN.
  static void expect_way(const std::string& name, const std::string& kernels, Way forward, Way backward,
                         bool both = false) {
    if (!counted()) return;
    const auto expect = [&](const char* kernel, bool there) {
      EXPECT_EQ(kernels.find(kernel) != std::string::npos, there) << name << ": " << kernel << " among\n" << kernels;
    };
    expect("cudnnBackendExecute: attention\n", both || forward == Way::cudnn);
    expect("attention_tiles", both || forward == Way::tiles);
    expect("attention's gradients", backward == Way::cudnn);
    expect("attention's deterministic gradients", backward == Way::deterministic);
    expect("key_gradient_tiles", backward == Way::tiles);
  }
  static double step() { return GetParam() == torch::kHalf ? 2e-3 : 1.5e-2; }
  static std::vector<Tensor> exact(const std::vector<Tensor>& inputs) {
    std::vector<Tensor> out;
    for (const Tensor& t : inputs) out.push_back(t.to(torch::kDouble));
    return out;
  }
  /// Without gradients.
  static void expect_result(const std::string& name, const std::vector<Tensor>& in, const Settings& s, Way way) {
    const std::vector<Tensor> on_gpu{in[0].to(kGpu), in[1].to(kGpu), in[2].to(kGpu)};
    torch::cuda::synchronize();
    control().reset_counts();
    const Tensor got = attend(on_gpu, s);
    torch::cuda::synchronize();
    expect_way(name, control().kernels(), way, Way::none);
    expect_close(name, got.to(torch::kDouble), attend(exact(in), s), step());
  }
  /// In a thread of its own, which has no plans yet. Inputs are the CPU's, and their strides are kept.
  static void expect_near(const std::string& name, const std::vector<Tensor>& inputs, const Settings& s = {},
                          Way forward = Way::cudnn, Way backward = Way::cudnn) {
    std::vector<Tensor> on_gpu, got;
    for (const Tensor& t : inputs) on_gpu.push_back(moved(t));
    torch::cuda::synchronize();
    control().reset_counts();
    std::thread([&] {
      got = run(on_gpu, s);
      torch::cuda::synchronize();
    }).join();
    expect_way(name, control().kernels(), forward, backward);
    const auto expected = run(exact(inputs), s);
    const char* const names[] = {"", ".grad q", ".grad k", ".grad v"};
    for (size_t i = 0; i < 4; ++i) {
      EXPECT_EQ(got[i].scalar_type(), GetParam());
      expect_close(name + names[i], got[i].to(torch::kDouble), expected[i], step());
    }
    if (got[0].sizes() == on_gpu[0].sizes()) {
      EXPECT_EQ(got[0].strides(), on_gpu[0].strides()) << name;
    }
  }
};
INSTANTIATE_TEST_SUITE_P(, AttentionByCudnn, testing::Values(torch::kHalf, torch::kBFloat16));

// A GPU counts no calls; there the bits of sums in another order tell whether cuDNN was called at all.
TEST_P(AttentionByCudnn, IsTaken) {
  if (at::cuda::getCurrentDeviceProperties()->major != 9) GTEST_SKIP() << "not on this GPU";
  std::vector<Tensor> in;
  for (const Tensor& t : heads({1, 8, 8, 768, 768, 64})) in.push_back(t.to(kGpu));
  const auto by_cudnn = run(in, {});
  at::globalContext().setSDPUseCuDNN(false);
  const auto by_tiles = run(in, {});
  at::globalContext().setSDPUseCuDNN(true);
  for (size_t i = 0; i < 4; ++i) EXPECT_FALSE(torch::equal(by_cudnn[i], by_tiles[i])) << i;
}

TEST_P(AttentionByCudnn, WidthsAndLengths) {
  for (const bool causal : {false, true}) {
    expect_near("64 columns", heads({2, 8, 8, 512, 512, 64}), {causal});
    expect_near("128 columns", heads({1, 16, 16, 512, 512, 128}), {causal});
    expect_near("48 and 80 columns", heads({1, 16, 16, 512, 512, 48, 80}), {causal});
    expect_near("more keys", heads({1, 8, 8, 384, 1408, 64}), {causal});
    expect_near("more queries", heads({1, 8, 8, 1408, 384, 64}), {causal});
  }
}

TEST_P(AttentionByCudnn, HeadsThatShareKeys) {
  for (const bool causal : {false, true}) {
    expect_near("groups of 4", heads({2, 8, 2, 512, 512, 64}), {causal, true});
    expect_near("one for all", side_by_side(heads({1, 16, 1, 512, 512, 128})), {causal, true});
  }
}

TEST_P(AttentionByCudnn, Strides) {
  const auto in = heads({2, 8, 8, 512, 512, 64});
  for (const bool causal : {false, true}) expect_near("heads side by side", side_by_side(in), {causal});
  auto mixed = in;
  mixed[3] = side_by_side({in[3]})[0];
  expect_near("the gradient alone", mixed, {true});
  const Tensor packed = normal({2, 512, 3 * 8 * 64});  // (B, T, 3 C)
  std::vector<Tensor> parts;
  for (const Tensor& part : packed.split(8 * 64, 2)) parts.push_back(part.view({2, 512, 8, 64}).transpose(1, 2));
  parts.push_back(in[3]);
  std::vector<Tensor> on_gpu, exact;
  for (const Tensor& t : parts) exact.push_back(t.to(torch::kDouble)), on_gpu.push_back(moved(t));
  const auto got = run(on_gpu, {true}), expected = run(exact, {true});
  for (size_t i = 0; i < 4; ++i)
    expect_close("parts of one matrix", got[i].to(torch::kDouble), expected[i],
                 GetParam() == torch::kHalf ? 2e-3 : 1.5e-2);
}

// Gradients of lengths that do not fill tiles are ours, from what cuDNN kept of the rows.
TEST_P(AttentionByCudnn, LengthsThatFillNoTiles) {
  const bool causal = GetParam() == torch::kHalf;
  expect_near("odd", heads({1, 8, 8, 700, 751, 16}), {causal}, Way::cudnn, Way::tiles);
}

// Scores so low that e to the power of minus a row's logarithm is infinite: what lies behind the last key must not
// count.
TEST_P(AttentionByCudnn, LowScores) {
  auto in = heads({1, 8, 8, 700, 760, 16});
  in[0] = in[0] * 0.05 + 5, in[1] = in[1] * 0.05 - 5;
  expect_result("low", in, {false, false, {}, 0.25}, Way::cudnn);
}

TEST_P(AttentionByCudnn, DeterministicGradients) {
  const DeterministicConvolutions guard;
  const auto in = heads({2, 8, 4, 512, 512, 64});
  expect_near("causal", in, {true, true}, Way::cudnn, Way::deterministic);
  std::vector<Tensor> on_gpu;
  for (const Tensor& t : in) on_gpu.push_back(t.to(kGpu));
  const auto once = run(on_gpu, {false, true}), again = run(on_gpu, {false, true});
  for (size_t i = 0; i < 4; ++i) EXPECT_TRUE(torch::equal(once[i], again[i]));
}

TEST_P(AttentionByCudnn, DeterministicAlgorithms) {
  at::globalContext().setDeterministicAlgorithms(true);
  expect_near("causal", heads({2, 8, 8, 512, 512, 16}), {true, true}, Way::cudnn, Way::deterministic);
  at::globalContext().setDeterministicAlgorithms(false);
}

TEST_P(AttentionByCudnn, WhatIsLeftToTiles) {
  const auto in = heads({1, 8, 8, 768, 768, 16});  // enough scores
  const auto expect_tiles = [&](const std::string& name, const Settings& s = {}) {
    expect_result(name, in, s, Way::tiles);
  };
  expect_result("all is as cuDNN takes it", in, {true}, Way::cudnn);
  expect_result("few scores", heads({1, 2, 2, 128, 128, 16}), {true}, Way::tiles);
  expect_tiles("a mask", {false, false, normal({768, 768})});
  expect_tiles("a negative scale", {true, false, {}, -0.2});
  at::globalContext().setSDPUseCuDNN(false);
  expect_near("switched off", in, {true}, Way::tiles, Way::tiles);
  at::globalContext().setSDPUseCuDNN(true);
  at::globalContext().setUserEnabledCuDNN(false);
  expect_tiles("no cuDNN", {true});
  at::globalContext().setUserEnabledCuDNN(true);
}

// The stand-in for cuDNN has nothing for heads so narrow.
TEST_P(AttentionByCudnn, WhatCudnnRefuses) {
  const auto in = heads({1, 8, 8, 768, 768, 8});
  for (const char* const time : {"first", "again"}) expect_result(time, in, {true}, Way::tiles);
}

// Plans take time to make: a program whose shapes are ever new ones does not get them for all.
TEST_P(AttentionByCudnn, ManyShapes) {
  NEEDS_COUNTS();
  std::thread([&] {
    const Tensor q = normal({1, 4, 1024, 16}).to(kGpu), k = normal({1, 4, 1100, 16}).to(kGpu);
    for (int64_t i = 0; i < 66; ++i) {
      if (i == 64) control().reset_counts();
      const Tensor keys = k.slice(2, 0, 1030 + (i < 65 ? i : 0));
      at::scaled_dot_product_attention(q, keys, keys, {}, 0, true);
      torch::cuda::synchronize();
    }
  }).join();
  // The 65th shape, and the first one again.
  expect_way("many", control().kernels(), Way::tiles, Way::none, true);
}

// A plan that is made while a graph is recorded, and one that was made before.
TEST_P(AttentionByCudnn, InARecordedGraph) {
  std::vector<Tensor> in;
  for (const Tensor& t : heads({2, 8, 8, 512, 512, 64})) in.push_back(t.to(kGpu));
  const auto expected = run(in, {true});
  std::thread([&] {
    for (int time = 0; time < 2; ++time) {
      const c10::cuda::CUDAStream stream = c10::cuda::getStreamFromPool();
      const c10::cuda::CUDAStreamGuard guard(stream);
      torch::cuda::synchronize();
      at::cuda::CUDAGraph graph;
      graph.capture_begin();
      const auto got = run(in, {true});
      graph.capture_end();
      graph.replay();
      torch::cuda::synchronize();
      for (size_t i = 0; i < 4; ++i)
        expect_close("recorded", got[i].to(torch::kDouble), expected[i].to(torch::kDouble).cpu(), 1e-2);
    }
  }).join();
}

}  // namespace
