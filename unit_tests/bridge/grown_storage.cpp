// A tensor that grows takes its views along.
#include <gtest/gtest.h>
#include <torch/torch.h>

namespace {

TEST(GrownStorage, IsThatOfAllViews) {
  torch::Tensor whole = torch::arange(4.0);
  const torch::Tensor part = whole.slice(0, 1, 3);
  whole.resize_({1000});
  whole[1] = 42;
  EXPECT_EQ(part[0].item<float>(), 42);
  part.resize_({5000});  // a second time, and by a view
  whole[2] = 43;
  EXPECT_EQ(part[1].item<float>(), 43);
  EXPECT_GE(whole.storage().nbytes(), 5001 * sizeof(float));
  EXPECT_EQ(whole[0].item<float>(), 0);
}

TEST(GrownStorage, IsNotSomebodyElses) {
  float values[4] = {1, 2, 3, 4};
  const torch::Tensor borrowed = torch::from_blob(values, {4});
  EXPECT_THROW(borrowed.resize_({8}), c10::Error);
  borrowed[0] = 5;  // the memory is still the program's
  EXPECT_EQ(values[0], 5);
  EXPECT_EQ(borrowed.numel(), 4);
}

TEST(GrownStorage, OfOneTensorIsItsOwn) {
  torch::Tensor x = torch::ones({3});
  x.resize_({9});
  EXPECT_EQ(x.slice(0, 0, 3).sum().item<float>(), 3);
}

}  // namespace
