// Gradients where there are many weights and few pixels, which have kernels of their own (src/cpu/conv_product.cpp),
// beside the same in f64, which has not.
#include <gtest/gtest.h>
#include <halfbridge/engine.h>

#include <array>

namespace {

using hb::Tensor;

struct Shape {
  int64_t batch, in, out, side, kernel, stride, padding, dilation;
};

std::array<Tensor, 3> gradients(const Tensor& x, const Tensor& weight, const Tensor& bias, const Shape& s) {
  const Tensor in = x.detach().requires_grad_(), w = weight.detach().requires_grad_(),
               b = bias.detach().requires_grad_();
  const Tensor y = hb::conv2d(in, w, b, hb::IntArrayRef({s.stride, s.stride}), hb::IntArrayRef({s.padding, s.padding}),
                              hb::IntArrayRef({s.dilation, s.dilation}));
  hb::manual_seed(6);
  const Tensor g = hb::randn(y.sizes()).to(x.scalar_type());
  y.backward(g);
  return {in.grad(), w.grad(), b.grad()};
}

class ManyWeights : public testing::TestWithParam<Shape> {};

TEST_P(ManyWeights, GradientIsThatOfDouble) {
  const Shape s = GetParam();
  hb::manual_seed(5);
  const Tensor x = hb::randn({s.batch, s.in, s.side, s.side}), bias = hb::randn({s.out}),
               w = hb::randn({s.out, s.in, s.kernel, s.kernel});
  ASSERT_GE(w.nbytes(), 1u << 20) << "the kernel is for larger ones";
  const auto got = gradients(x, w, bias, s);
  const auto want = gradients(x.to(hb::kDouble), w.to(hb::kDouble), bias.to(hb::kDouble), s);
  constexpr double kTolerance = 1e-5;
  for (size_t i = 0; i < 3; ++i)
    EXPECT_LT((got[i].to(hb::kDouble) - want[i]).abs().max().item<double>(),
              kTolerance * want[i].abs().max().item<double>())
        << i;
}

// Channels in one block and in several, the last one not full; more pixels than one product takes; dilation; no
// padding.
INSTANTIATE_TEST_SUITE_P(Shapes, ManyWeights,
                         testing::Values(Shape{3, 100, 320, 4, 3, 1, 1, 1}, Shape{20, 64, 512, 16, 3, 2, 1, 1},
                                         Shape{70, 128, 512, 8, 3, 2, 1, 1}, Shape{2, 130, 128, 9, 5, 1, 0, 1},
                                         Shape{4, 72, 512, 9, 3, 1, 1, 2}, Shape{2, 128, 512, 3, 2, 1, 0, 1}));

}  // namespace
