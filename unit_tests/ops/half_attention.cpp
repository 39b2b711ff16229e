// Attention of halves: where the CPU multiplies bf16 itself its products take bf16, elsewhere float.
#include <gtest/gtest.h>
#include <torch/torch.h>

using torch::Tensor;

namespace {

struct Shape {
  int64_t queries, keys, width, value_width;
  bool causal;
};
// Whole blocks and vectors, and what is left of them: odd widths, rows and numbers of keys.
const std::vector<Shape> kShapes{{256, 256, 32, 32, true}, {256, 256, 64, 64, false}, {130, 130, 33, 33, true},
                                 {77, 77, 5, 5, true},     {77, 55, 33, 7, false},    {300, 17, 96, 40, false},
                                 {65, 65, 80, 48, true},   {3, 2, 2, 1, false}};

Tensor numbers(int64_t rows, int64_t width, torch::Dtype dtype) { return torch::randn({2, 3, rows, width}).to(dtype); }

/// The result and the gradients of q, k and v, computed in `dtype`.
std::vector<Tensor> attend(const std::vector<Tensor>& in, bool causal, torch::Dtype dtype) {
  std::vector<Tensor> leaves;
  for (int i = 0; i < 3; ++i) leaves.push_back(in[i].to(dtype).clone().requires_grad_());
  const auto out = torch::scaled_dot_product_attention(leaves[0], leaves[1], leaves[2], {}, 0.0, causal);
  out.backward(in[3].to(dtype));
  return {out.detach(), leaves[0].grad(), leaves[1].grad(), leaves[2].grad()};
}

class HalfAttention : public testing::TestWithParam<torch::Dtype> {};

}  // namespace

TEST_P(HalfAttention, IsFloatsWithinRoundingOfFactors) {
  const auto dtype = GetParam();
  torch::manual_seed(3);
  const double step = dtype == torch::kBFloat16 ? 1.0 / 256 : 1.0 / 2048;
  for (const Shape& s : kShapes) {
    const std::vector<Tensor> in{numbers(s.queries, s.width, dtype), numbers(s.keys, s.width, dtype),
                                 numbers(s.keys, s.value_width, dtype), numbers(s.queries, s.value_width, dtype)};
    const auto half = attend(in, s.causal, dtype), exact = attend(in, s.causal, torch::kDouble);
    for (size_t i = 0; i < half.size(); ++i) {
      const Tensor off = (half[i].to(torch::kDouble) - exact[i]).abs().max();
      EXPECT_LT(off.item<double>(), 4 * step * exact[i].abs().max().item<double>())
          << s.queries << " " << s.keys << " " << s.width << " " << s.value_width << ", value " << i;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, HalfAttention, testing::Values(torch::kHalf, torch::kBFloat16));
