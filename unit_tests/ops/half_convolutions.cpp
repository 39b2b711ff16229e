// Convolutions of halves and their gradients: every sum is rounded once.
#include <gtest/gtest.h>
#include <halfbridge/halfbridge.h>
#include <torch/torch.h>

namespace {

using torch::Tensor;

struct Case {
  int64_t in, out, height, width, kernel, stride, padding, dilation;
  friend std::ostream& operator<<(std::ostream& to, const Case& c) {
    return to << c.in << " to " << c.out << " channels, " << c.height << "x" << c.width << ", kernel " << c.kernel
              << ", stride " << c.stride << ", padding " << c.padding << ", dilation " << c.dilation;
  }
};
// Rows that fill tiles and rows that do not, patches inside and beyond the image, strides that leave pixels out.
const std::vector<Case> kCases{
    {32, 32, 16, 16, 3, 1, 1, 1}, {64, 32, 5, 32, 3, 1, 1, 1},  {32, 96, 9, 20, 3, 1, 0, 1},
    {32, 64, 7, 30, 5, 1, 2, 1},  {64, 64, 4, 4, 3, 1, 1, 1},   {96, 32, 8, 24, 3, 1, 2, 2},
    {32, 32, 15, 18, 3, 2, 1, 1}, {64, 32, 9, 33, 1, 2, 0, 1},  {32, 64, 8, 8, 1, 1, 0, 1},
    {32, 32, 20, 17, 5, 3, 1, 1}, {32, 32, 12, 40, 2, 3, 0, 1}, {32, 32, 14, 14, 3, 2, 1, 2},
    {32, 32, 3, 64, 7, 1, 3, 1},  {256, 32, 6, 18, 3, 1, 1, 1}, {3, 32, 10, 10, 3, 1, 1, 1},
    {32, 32, 3, 20, 3, 1, 2, 1},  {160, 544, 6, 6, 3, 1, 1, 1}, {64, 32, 160, 150, 3, 1, 1, 1}};

// Small whole numbers: every sum is exact in float, so that only the rounding to half is left.
Tensor numbers(torch::IntArrayRef sizes) { return torch::randint(-2, 3, sizes, torch::kFloat); }

struct Result {
  Tensor y, grad_x, grad_weight, grad_bias;
};

enum class Kind { plane, line, transposed };

Tensor convolve(const Case& c, Kind kind, const Tensor& x, const Tensor& weight, const Tensor& bias) {
  if (kind == Kind::line) return torch::conv1d(x, weight, bias, c.stride, c.padding, c.dilation);
  if (kind == Kind::plane) return torch::conv2d(x, weight, bias, c.stride, c.padding, c.dilation);
  // Without its bias, which is added to the rounded sums. Pixels at the end that nothing reaches.
  return torch::conv_transpose2d(x, weight, {}, c.stride, c.padding, c.stride - 1, 1, c.dilation);
}

Result run(const Case& c, Kind kind, const Tensor& x, const Tensor& weight, const Tensor& bias, torch::Dtype dtype) {
  const auto leaf = [&](const Tensor& t) { return t.to(dtype).detach().requires_grad_(); };
  const Tensor a = leaf(x), w = leaf(weight), b = leaf(bias);
  const Tensor y = convolve(c, kind, a, w, b);
  torch::manual_seed(2);
  y.backward(numbers(y.sizes()).to(dtype));
  return {y.detach(), a.grad(), w.grad(), b.grad()};
}

class HalfConvolutions : public testing::TestWithParam<torch::Dtype> {
 protected:
  void SetUp() override { hb::set_allow_winograd(false); }  // whose sums are of transformed numbers
  void TearDown() override { hb::set_allow_winograd(true); }

  void expect_rounded_once(const Case& c, Kind kind) {
    SCOPED_TRACE(testing::Message() << c);
    torch::manual_seed(1);
    const bool line = kind == Kind::line, turned = kind == Kind::transposed;
    const Tensor x = line ? numbers({3, c.in, c.width}) : numbers({3, c.in, c.height, c.width});
    const int64_t out = turned ? c.in : c.out, in = turned ? c.out : c.in;
    const Tensor weight = line ? numbers({out, in, c.kernel}) : numbers({out, in, c.kernel, c.kernel});
    const Tensor bias = numbers({c.out});
    const Result wide = run(c, kind, x, weight, bias, torch::kDouble);
    const Result half = run(c, kind, x, weight, bias, GetParam());
    const auto same = [&](const Tensor& value, const Tensor& exact) {
      return torch::equal(value, exact.to(torch::kFloat).to(GetParam()));
    };
    EXPECT_TRUE(same(half.y, wide.y));
    EXPECT_TRUE(same(half.grad_x, wide.grad_x));
    EXPECT_TRUE(same(half.grad_weight, wide.grad_weight));
    if (!turned) {
      EXPECT_TRUE(same(half.grad_bias, wide.grad_bias));
    }
  }
};

TEST_P(HalfConvolutions, RoundOnce) {
  for (const Case& c : kCases) expect_rounded_once(c, Kind::plane);
}
TEST_P(HalfConvolutions, OfOneDimensionRoundOnce) {
  for (const Case& c : kCases) expect_rounded_once(c, Kind::line);
}
TEST_P(HalfConvolutions, TransposedOnesRoundOnce) {
  for (const Case& c : kCases) expect_rounded_once(c, Kind::transposed);
}

INSTANTIATE_TEST_SUITE_P(Dtypes, HalfConvolutions, testing::Values(torch::kHalf, torch::kBFloat16));

}  // namespace
