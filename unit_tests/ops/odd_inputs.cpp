// Inputs that few programs have, and that must not lead outside of a tensor's memory.
#include <gtest/gtest.h>
#include <halfbridge/engine.h>

namespace {

using hb::Tensor;

TEST(OddInputs, AnyByteButZeroIsTrueInAMask) {
  const Tensor mask = hb::tensor({2, 0, 255, 1, 0, 4}).to(hb::kByte).view(hb::kBool);
  const Tensor x = hb::arange(6, hb::kDouble);
  EXPECT_TRUE(hb::equal(x.masked_select(mask), hb::tensor({0., 2., 3., 5.}, hb::kDouble)));
  EXPECT_EQ(mask.nonzero().size(0), 4);
  EXPECT_TRUE(hb::equal(hb::zeros({6}, hb::kDouble).masked_scatter(mask, hb::arange(1, 9, hb::kDouble)),
                        hb::tensor({1., 0., 2., 3., 0., 4.}, hb::kDouble)));
}

TEST(OddInputs, AWindowWithoutElementsHasNoGradient) {
  for (const int64_t channels : {3, 16, 70}) {
    const Tensor x = hb::randn({2, channels, 4, 4}).requires_grad_();
    const auto [y, index] = hb::max_pool2d_with_indices(x, {2, 2}, {1, 1}, {1, 1}, {5, 5});
    EXPECT_TRUE((y == -INFINITY).all().item<bool>());
    EXPECT_TRUE((index == 0).all().item<bool>());
    y.backward(hb::ones_like(y));
    EXPECT_TRUE((x.grad() == 0).all().item<bool>());
  }
}

}  // namespace
