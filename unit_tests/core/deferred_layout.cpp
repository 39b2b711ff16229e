// Tensors that lie channels-last in memory while the program sees contiguous NCHW.
#include <gtest/gtest.h>
#include <halfbridge/engine.h>

namespace {

using hb::Tensor;

// The values 0, 1, 2, … in NCHW order, lying channels-last.
Tensor deferred(hb::IntArrayRef sizes) {
  int64_t n = 1;
  for (int64_t s : sizes) n *= s;
  Tensor t = hb::arange(n, hb::kFloat).view(sizes).contiguous(hb::MemoryFormat::ChannelsLast);
  Tensor own(t.impl().alias(false));
  own.impl().set_deferred();
  return own;
}

std::vector<float> values(const Tensor& t) {
  const Tensor c = t.contiguous();
  return {c.data_ptr<float>(), c.data_ptr<float>() + c.numel()};
}

std::vector<float> counting(int64_t n) {
  std::vector<float> v(n);
  for (int64_t i = 0; i < n; ++i) v[i] = static_cast<float>(i);
  return v;
}

TEST(DeferredLayout, LooksContiguous) {
  const Tensor t = deferred({2, 3, 4, 5});
  EXPECT_TRUE(t.is_contiguous());
  EXPECT_TRUE(t.impl().is_deferred());
  EXPECT_EQ(t.strides(), hb::IntArrayRef({60, 20, 5, 1}));
  EXPECT_FALSE(t.impl().is_deferred());
  EXPECT_EQ(values(t), counting(120));
}

TEST(DeferredLayout, ViewsAndMemoryReadInProgramOrder) {
  EXPECT_EQ(values(deferred({2, 3, 4, 5}).view({2, 60})), counting(120));
  EXPECT_EQ(values(deferred({2, 3, 4, 5}).flatten()), counting(120));
  const Tensor t = deferred({2, 3, 4, 5});
  EXPECT_EQ(t.data_ptr<float>()[7], 7.0f);
  EXPECT_EQ(deferred({2, 3, 4, 5})[1][2][3][4].item<float>(), 119.0f);
}

TEST(DeferredLayout, ElementwiseResultsStayDeferred) {
  const Tensor t = deferred({2, 3, 4, 5});
  const Tensor y = hb::relu(t * 2 - 10);
  EXPECT_TRUE(y.impl().is_deferred());
  const auto v = values(y);
  for (int64_t i = 0; i < 120; ++i) EXPECT_EQ(v[i], std::max(0.0f, 2.0f * i - 10));
}

TEST(DeferredLayout, MixesWithContiguousOperands) {
  const Tensor t = deferred({2, 3, 4, 5}), plain = hb::arange(120, hb::kFloat).view({2, 3, 4, 5});
  const Tensor bias = hb::arange(3, hb::kFloat).view({1, 3, 1, 1});
  const auto a = values(t + plain), b = values(plain + t), c = values(t + bias);
  for (int64_t i = 0; i < 120; ++i) {
    EXPECT_EQ(a[i], 2.0f * i);
    EXPECT_EQ(b[i], 2.0f * i);
    EXPECT_EQ(c[i], static_cast<float>(i + (i / 20) % 3));
  }
}

TEST(DeferredLayout, InPlaceChangesAreSeen) {
  Tensor t = deferred({2, 3, 4, 5});
  t.add_(1);
  t.relu_();
  const Tensor d = t.detach();
  d.mul_(2);  // an alias: both see it
  const auto v = values(t);
  for (int64_t i = 0; i < 120; ++i) EXPECT_EQ(v[i], 2.0f * (i + 1));
}

TEST(DeferredLayout, ClonesDoNotShare) {
  Tensor t = deferred({2, 3, 4, 5});
  const Tensor copy = t.clone();
  t.zero_();
  EXPECT_EQ(values(copy), counting(120));
}

TEST(DeferredLayout, GradientsPassThrough) {
  Tensor w = hb::ones({1, 3, 1, 1}).requires_grad_();
  const Tensor t = deferred({2, 3, 4, 5});
  Tensor y = (t * w).relu();
  y.backward(hb::ones_like(y));
  for (int c = 0; c < 3; ++c) {
    float sum = 0;
    for (int64_t i = 0; i < 120; ++i)
      if ((i / 20) % 3 == c && i > 0) sum += static_cast<float>(i);
    EXPECT_EQ(w.grad().flatten()[c].item<float>(), sum);
  }
}

TEST(DeferredLayout, JoinedTensors) {
  const auto v = values(hb::cat({deferred({1, 2, 2, 2}), deferred({1, 2, 2, 2})}, 1));
  const std::vector<float> wanted = {0, 1, 2, 3, 4, 5, 6, 7, 0, 1, 2, 3, 4, 5, 6, 7};
  EXPECT_EQ(v, wanted);
}

TEST(DeferredLayout, RowsByIndex) {
  const Tensor plain = hb::arange(120, hb::kFloat).view({2, 3, 4, 5}), at = hb::tensor({3, 0, 1, 1});
  EXPECT_EQ(values(deferred({2, 3, 4, 5}).index_select(2, at)), values(plain.index_select(2, at)));
  const auto added = [&](const Tensor& to, const Tensor& source) { return values(hb::index_add(to, 2, at, source)); };
  const auto wanted = added(plain, plain);
  EXPECT_EQ(added(deferred({2, 3, 4, 5}), plain), wanted);
  EXPECT_EQ(added(plain, deferred({2, 3, 4, 5})), wanted);
  Tensor target = deferred({2, 3, 4, 5});
  target.index_add_(2, at, deferred({2, 3, 4, 5}));
  EXPECT_EQ(values(target), wanted);
  Tensor copied = deferred({2, 3, 4, 5});
  copied.index_copy_(2, hb::tensor({1, 0, 3, 2}), deferred({2, 3, 4, 5}));
  EXPECT_EQ(values(copied), values(plain.index_select(2, hb::tensor({1, 0, 3, 2}))));
}

TEST(DeferredLayout, GradientOfRowsByIndex) {
  const auto gradient = [](const Tensor& arriving) {
    Tensor x = hb::zeros({2, 3, 2, 5}).requires_grad_();
    x.index_select(2, hb::tensor({0, 1, 1, 0})).backward(arriving);
    return values(x.grad());
  };
  EXPECT_EQ(gradient(deferred({2, 3, 4, 5})), gradient(hb::arange(120, hb::kFloat).view({2, 3, 4, 5})));
}

TEST(DeferredLayout, Attention) {
  const auto attention = [](const Tensor& x) { return values(hb::scaled_dot_product_attention(x, x * 0.1, x)); };
  const auto ours = attention(deferred({2, 3, 4, 5})),
             wanted = attention(hb::arange(120, hb::kFloat).view({2, 3, 4, 5}));
  for (size_t i = 0; i < wanted.size(); ++i) EXPECT_NEAR(ours[i], wanted[i], 1e-4f);
}

}  // namespace
