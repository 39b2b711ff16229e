// Products and convolutions that threads share in many pieces are what one thread computes.
#include <gtest/gtest.h>
#include <halfbridge/engine.h>
#include <halfbridge/threads.h>

namespace {

/// What `compute` gives with one thread and with two.
template <class F>
void expect_same(const F& compute) {
  const int before = hb::get_num_threads();
  hb::set_num_threads(1);
  const auto alone = compute();
  hb::set_num_threads(2);
  const auto shared = compute();
  hb::set_num_threads(before);
  for (size_t i = 0; i < alone.size(); ++i) {
    const double unit = alone[i].scalar_type() == hb::kFloat ? 1e-4 : 1e-2;  // sums may be taken in another order
    EXPECT_TRUE(hb::allclose(alone[i].to(hb::kFloat), shared[i].to(hb::kFloat), unit, 10 * unit)) << "result " << i;
  }
}

}  // namespace

TEST(Pieces, Products) {
  for (const auto dtype : {hb::kFloat, hb::kBFloat16}) {
    hb::manual_seed(1);
    const auto a = hb::randn({1100, 520}).to(dtype), b = hb::randn({520, 1100}).to(dtype);
    const auto wide = hb::randn({520, 2300}).to(dtype), bias = hb::randn({2300}).to(dtype);
    expect_same([&] {
      return std::vector<hb::Tensor>{hb::matmul(a, b), hb::matmul(b.t(), b), hb::matmul(a, a.t()),
                                     hb::addmm(bias, a, wide), hb::matmul(wide.t(), b)};
    });
  }
}

TEST(Pieces, Convolutions) {
  for (const auto dtype : {hb::kFloat, hb::kBFloat16}) {
    hb::manual_seed(1);
    const auto x = hb::randn({9, 64, 32, 32}).to(dtype).requires_grad_(), w = hb::randn({128, 64, 3, 3}).to(dtype);
    const auto same = hb::randn({64, 64, 3, 3}).to(dtype), bias = hb::randn({128}).to(dtype);
    expect_same([&] {
      const auto strided = hb::conv2d(x, w, bias, {2, 2}, {1, 1}), plain = hb::conv2d(x, same, {}, {1, 1}, {1, 1});
      const auto grad = hb::autodiff::grad({(strided * strided).sum() + plain.sum()}, {x})[0];
      return std::vector<hb::Tensor>{strided.detach(), plain.detach(), grad};
    });
  }
}
