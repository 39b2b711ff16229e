// Attention on the software device: half types and float by tiles where rows are aligned, beside the CPU's in double.
#include "software_cuda/program/beside_cpu.h"
#include "software_cuda/program/control.h"

namespace {

struct Settings {
  bool causal = false, grouped = false;
  Tensor mask = {};  // of the CPU
  double scale = 0;  // 0: by the width
};

class AttentionTiles : public testing::TestWithParam<torch::Dtype> {
 protected:
  void SetUp() override { torch::manual_seed(5); }
  void TearDown() override { control().run_twice(false); }

  // The result and the gradients of q, k and v, the last input being the gradient of the result.
  static std::vector<Tensor> run(const std::vector<Tensor>& inputs, const Settings& s) {
    const std::optional<Tensor> mask =
        s.mask.defined() ? std::optional<Tensor>(s.mask.is_floating_point() ? s.mask.to(inputs[0].options())
                                                                            : s.mask.to(inputs[0].device()))
                         : std::nullopt;
    const std::optional<double> scale = s.scale != 0 ? std::optional<double>(s.scale) : std::nullopt;
    std::vector<Tensor> in;
    for (const Tensor& t : inputs) in.push_back(t.detach().requires_grad_());
    in.pop_back();
    const Tensor out = at::scaled_dot_product_attention(in[0], in[1], in[2], mask, 0, s.causal, scale, s.grouped);
    std::vector<Tensor> results{out.detach()};
    for (const Tensor& g : torch::autograd::grad({out}, in, {inputs[3]})) results.push_back(g);
    return results;
  }

  // q, k, v are the CPU's, and already rounded; their strides are kept. Returns the names of the kernels.
  std::string expect_near(const std::string& name, const std::vector<Tensor>& inputs, const Settings& s = {}) {
    std::vector<Tensor> exact, on_gpu;
    for (const Tensor& t : inputs) exact.push_back(t.to(torch::kDouble)), on_gpu.push_back(moved(t));
    const auto expected = run(exact, s);
    torch::cuda::synchronize();
    control().reset_counts();
    const auto got = run(on_gpu, s);
    const char* const names[] = {"", ".grad q", ".grad k", ".grad v"};
    const double tolerance = GetParam() == torch::kFloat ? 1e-5 : GetParam() == torch::kHalf ? 2e-3 : 1.5e-2;
    for (size_t i = 0; i < 4; ++i) {
      EXPECT_EQ(got[i].scalar_type(), GetParam());
      expect_close(name + names[i], got[i].to(torch::kDouble), expected[i], tolerance);
    }
    return control().kernels();
  }
  void expect_by_tiles(const std::string& name, const std::vector<Tensor>& inputs, const Settings& s = {}) {
    const std::string kernels = expect_near(name, inputs, s);
    if (!counted()) return;
    for (const char* const kernel : {"attention_tiles", "query_gradient_tiles", "key_gradient_tiles"})
      EXPECT_NE(kernels.find(kernel), std::string::npos) << name << "\n" << kernels;
  }
  static Tensor moved(const Tensor& t) {
    const Tensor base = t.is_view() ? t._base() : t;
    return torch::as_strided(base.to(kGpu), t.sizes(), t.strides(), t.storage_offset());
  }
  static std::vector<Tensor> heads(int64_t batch, int64_t h, int64_t kv, int64_t queries, int64_t keys, int64_t width,
                                   int64_t value_width = 0) {
    if (value_width == 0) value_width = width;
    return {normal({batch, h, queries, width}), normal({batch, kv, keys, width}),
            normal({batch, kv, keys, value_width}), normal({batch, h, queries, value_width})};
  }
  static Tensor normal(torch::IntArrayRef size) { return torch::randn(size).to(GetParam()); }
};
INSTANTIATE_TEST_SUITE_P(, AttentionTiles, testing::Values(torch::kHalf, torch::kBFloat16, torch::kFloat));

TEST_P(AttentionTiles, WidthsAndLengths) {
  for (const bool causal : {false, true}) {
    const Settings s{causal};
    expect_by_tiles("one tile", heads(2, 3, 3, 40, 40, 64), s);
    expect_by_tiles("several tiles", heads(1, 2, 2, 201, 201, 64), s);
    expect_by_tiles("whole tiles", heads(1, 1, 1, 128, 128, 64), s);
    expect_by_tiles("128 columns", heads(1, 2, 2, 130, 130, 128), s);
    expect_by_tiles("80 columns", heads(1, 1, 1, 67, 67, 80), s);
    expect_by_tiles("8 and 24 columns", heads(2, 1, 1, 70, 70, 8, 24), s);
    expect_by_tiles("40 and 104 columns", heads(1, 1, 1, 33, 33, 40, 104), s);
    expect_by_tiles("more keys", heads(1, 2, 2, 5, 300, 64), s);
    expect_by_tiles("more queries", heads(1, 2, 2, 150, 70, 64), s);
    expect_by_tiles("few of each", heads(2, 2, 2, 9, 17, 64), s);
  }
}

TEST_P(AttentionTiles, HeadsThatShareKeys) {
  for (const bool causal : {false, true}) {
    expect_by_tiles("groups of 3", heads(2, 6, 2, 70, 70, 64), {causal, true});
    expect_by_tiles("one for all", heads(1, 4, 1, 66, 66, 128), {causal, true});
  }
}

TEST_P(AttentionTiles, Masks) {
  const auto in = heads(2, 2, 2, 70, 90, 64);
  expect_by_tiles("added", in, {false, false, normal({70, 90})});
  expect_by_tiles("for each head", in, {false, false, normal({2, 2, 70, 90})});
  expect_by_tiles("for each key", in, {false, false, normal({2, 1, 1, 90})});
  Tensor seen = torch::randn({70, 90}) > 0;
  seen[3].fill_(false);  // sees nothing
  seen[69].fill_(false), seen[69][89] = true;
  expect_by_tiles("bools", in, {false, false, seen});
  expect_by_tiles("a narrow tile", heads(1, 1, 1, 40, 40, 128),
                  {false, false, torch::ones({40, 40}).to(torch::kBool).tril(-1)});
}

TEST_P(AttentionTiles, ScalesAndLargeScores) {
  auto in = heads(1, 2, 2, 70, 140, 64);
  expect_by_tiles("negative", in, {false, false, {}, -0.2});
  expect_by_tiles("steep", in, {true, false, {}, 2});
  in[1] = in[1] * torch::arange(140).div(70).view({140, 1}).to(GetParam());  // the highest scores come last
  expect_by_tiles("rising", in, {false, false, {}, 0.5});
  in[1] = in[1].flip({2}).contiguous();
  expect_by_tiles("falling", in, {false, false, {}, 0.5});
}

TEST_P(AttentionTiles, Strides) {
  const Tensor packed = normal({2, 70, 3 * 2 * 64});  // (B, T, 3 C)
  std::vector<Tensor> in;
  for (const Tensor& part : packed.split(128, 2)) in.push_back(part.view({2, 70, 2, 64}).transpose(1, 2));
  in.push_back(normal({2, 2, 70, 64}));
  expect_by_tiles("parts of one matrix", in, {true});
  auto wide = heads(1, 2, 2, 70, 70, 64);
  wide[0] = normal({1, 2, 70, 72}).narrow(3, 8, 64);
  expect_by_tiles("aligned part", wide);
}

// Attention goes by rows where tiles cannot.
TEST_P(AttentionTiles, WhatIsLeftToRows) {
  const auto expect_by_rows = [&](const std::string& name, const std::vector<Tensor>& in) {
    const std::string kernels = expect_near(name, in, {true});
    if (!counted()) return;
    EXPECT_NE(kernels.find("attention_rows"), std::string::npos) << name << "\n" << kernels;
    EXPECT_EQ(kernels.find("_tiles"), std::string::npos) << name << "\n" << kernels;
  };
  expect_by_rows("12 columns", heads(1, 2, 2, 20, 20, 12));
  expect_by_rows("136 columns", heads(1, 1, 1, 20, 20, 136));
  auto in = heads(1, 2, 2, 20, 20, 64);
  const int64_t between = 8 / static_cast<int64_t>(torch::elementSize(GetParam()));
  in[1] = normal({1, 2, 20, 64 + between}).narrow(3, 0, 64);
  expect_by_rows("rows of 8 bytes more", in);
  in[1] = normal({1, 2, 20, 64 + 2 * between}).narrow(3, between, 64);
  expect_by_rows("a part that begins between", in);
}

TEST_P(AttentionTiles, NothingDependsOnTheOrderOfLanes) {
  control().run_twice(true);
  expect_by_tiles("twice", heads(1, 2, 1, 140, 100, 64), {true, true});
  expect_by_tiles("twice", heads(1, 1, 1, 70, 70, 128), {true, true});
}

TEST_P(AttentionTiles, NaNStaysInItsRow) {
  auto in = heads(1, 1, 1, 70, 70, 64);
  for (Tensor& t : in) t = t.to(kGpu);
  in[0][0][0][3][5] = NAN;
  const Tensor row_is_nan = at::scaled_dot_product_attention(in[0], in[1], in[2], {}, 0, true).isnan().all(-1).cpu();
  EXPECT_EQ(row_is_nan.sum().item<int64_t>(), 1);
  EXPECT_TRUE(row_is_nan[0][0][3].item<bool>());
}

// Double, and float that tiles do not take: by products of matrices from 32 queries and keys on, the causal ones in
// several parts.
TEST(AttentionByProducts, BesideCpu) {
  struct Shape {
    std::string name;
    int64_t batch, heads, kv_heads, queries, keys, width, value_width;
    bool causal, masked;
  };
  for (const torch::Dtype t : {torch::kFloat, torch::kDouble})
    for (const Shape& s :
         {Shape{"plain", 2, 3, 3, 40, 33, 8, 8, false, false}, Shape{"causal", 2, 2, 2, 600, 600, 8, 5, true, false},
          Shape{"causal, more keys", 1, 2, 2, 300, 350, 4, 4, true, false},
          Shape{"causal, fewer keys", 1, 2, 2, 600, 290, 4, 4, true, false},
          Shape{"mask", 2, 3, 3, 34, 40, 8, 8, false, true}, Shape{"shared keys", 2, 6, 2, 36, 40, 8, 4, false, true},
          Shape{"shared keys, causal", 2, 4, 2, 300, 300, 4, 4, true, false}}) {
      std::vector<Tensor> inputs{values({s.batch, s.heads, s.queries, s.width}, t),
                                 values({s.batch, s.kv_heads, s.keys, s.width}, t, 1),
                                 values({s.batch, s.kv_heads, s.keys, s.value_width}, t, 2)};
      const Tensor mask = values({s.batch, 1, s.queries, s.keys}, t, 3);
      mask.slice(2, 1, 2).fill_(-INFINITY);  // a query that sees nothing
      expect_same(
          s.name,
          [&](const std::vector<Tensor>& in) {
            const auto m = s.masked ? std::optional<Tensor>(mask.to(in[0].device())) : std::nullopt;
            return at::scaled_dot_product_attention(in[0], in[1], in[2], m, 0, s.causal, std::nullopt,
                                                    s.heads != s.kv_heads);
          },
          inputs);
    }
}

// Heads beside each other in the rows of one matrix, as networks have them.
TEST(AttentionByProducts, PartsOfOneMatrix) {
  expect_same(
      "packed",
      [](const std::vector<Tensor>& in) {
        const auto parts = in[0].view({2, 300, 3, 2, 8}).permute({2, 0, 3, 1, 4});
        return at::scaled_dot_product_attention(parts[0], parts[1], parts[2], {}, 0, true).transpose(1, 2).flatten(2);
      },
      {values({2, 300, 48})});
}

}  // namespace
