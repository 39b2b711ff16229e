// Gradients of many weights from few pixels, which have a kernel of their own (src/cpu/conv_product.cpp), beside the
// same in f64, which has not.
#include <gtest/gtest.h>
#include <halfbridge/engine.h>

namespace {

using hb::Tensor;

struct Shape {
  int64_t batch, in, out, side, kernel, stride, padding, dilation;
};

std::pair<Tensor, Tensor> gradients(const Tensor& x, const Tensor& weight, const Tensor& bias, const Shape& s) {
  const Tensor w = weight.detach().requires_grad_(), b = bias.detach().requires_grad_();
  const Tensor y = hb::conv2d(x, w, b, hb::IntArrayRef({s.stride, s.stride}), hb::IntArrayRef({s.padding, s.padding}),
                              hb::IntArrayRef({s.dilation, s.dilation}));
  hb::manual_seed(6);
  const Tensor g = hb::randn(y.sizes()).to(x.scalar_type());
  y.backward(g);
  return {w.grad(), b.grad()};
}

class ManyWeights : public testing::TestWithParam<Shape> {};

TEST_P(ManyWeights, GradientIsThatOfDouble) {
  const Shape s = GetParam();
  hb::manual_seed(5);
  const Tensor x = hb::randn({s.batch, s.in, s.side, s.side}), bias = hb::randn({s.out}),
               w = hb::randn({s.out, s.in, s.kernel, s.kernel});
  ASSERT_GE(w.nbytes(), 1u << 20) << "the kernel is for larger ones";
  const auto [got, got_bias] = gradients(x, w, bias, s);
  const auto [want, want_bias] = gradients(x.to(hb::kDouble), w.to(hb::kDouble), bias.to(hb::kDouble), s);
  EXPECT_LT((got.to(hb::kDouble) - want).abs().max().item<double>(), 1e-6 * want.abs().max().item<double>());
  EXPECT_LT((got_bias.to(hb::kDouble) - want_bias).abs().max().item<double>(),
            5e-6 * want_bias.abs().max().item<double>());
}

// Channels in one block and in several, the last one not full; more pixels than one product takes; dilation; no
// padding.
INSTANTIATE_TEST_SUITE_P(Shapes, ManyWeights,
                         testing::Values(Shape{3, 100, 320, 4, 3, 1, 1, 1}, Shape{20, 64, 512, 16, 3, 2, 1, 1},
                                         Shape{2, 130, 128, 9, 5, 1, 0, 1}, Shape{4, 72, 512, 9, 3, 1, 1, 2},
                                         Shape{2, 128, 512, 3, 2, 1, 0, 1}));

}  // namespace
