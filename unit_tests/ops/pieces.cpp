// What threads share in pieces is what one thread computes.
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

// Small whole numbers, whose sums float holds: what all ways to divide a product give is the same. A result of few rows
// is computed in other ways than one of many, and a thread's columns in others than all of them.
TEST(Pieces, ProductsOfFewRows) {
  hb::manual_seed(1);
  const auto numbers = [](hb::IntArrayRef sizes, hb::ScalarType dtype) {
    return hb::randint(-3, 4, sizes, hb::kFloat).to(dtype);
  };
  const int before = hb::get_num_threads();
  for (const auto dtype : {hb::kFloat, hb::kBFloat16})
    for (const int64_t m : {1, 2, 5, 12, 13, 16, 40, 64, 130})
      for (const int64_t n : {63, 64, 100, 512})
        for (const int64_t k : {63, 130, 700}) {
          const auto x = numbers({m, k}, dtype), w = numbers({n, k}, dtype), bias = numbers({n}, dtype);
          const auto y = numbers({m, n}, dtype), wide = numbers({m, 2 * n}, dtype);
          const auto exact = [](const hb::Tensor& t) { return t.to(hb::kDouble); };
          const auto product = hb::matmul(exact(x), exact(w).t());
          for (const int threads : {1, 2, 3}) {
            hb::set_num_threads(threads);
            const auto expect = [&](const char* what, const hb::Tensor& got, const hb::Tensor& expected) {
              EXPECT_TRUE(hb::equal(got, expected.to(hb::kFloat).to(dtype)))
                  << what << " " << m << " " << n << " " << k << ", " << threads << " threads, " << dtype;
            };
            expect("linear", hb::linear(x, w, bias), product + exact(bias));
            expect("addmm", hb::addmm(y, x, w.t(), 2, 1), product + 2 * exact(y));
            auto part = wide.clone();
            part.slice(1, 1, n + 1).addmm_(x, w.t(), 0);
            expect("in part", part.slice(1, 1, n + 1), product);
            EXPECT_TRUE(hb::equal(part.slice(1, n + 1), wide.slice(1, n + 1)));
            expect("first operand turned", hb::matmul(y.t(), x), hb::matmul(exact(y).t(), exact(x)));
            expect("rows", hb::matmul(y, w), hb::matmul(exact(y), exact(w)));
          }
        }
  hb::set_num_threads(before);
}

TEST(Pieces, PlacesOfTruths) {
  hb::manual_seed(1);
  const int before = hb::get_num_threads();
  for (const std::vector<int64_t>& sizes : {std::vector<int64_t>{100003}, {1, 100003}, {1000, 101}, {7, 11, 13, 97}})
    for (const double share : {0., 0.01, 0.5, 1.}) {
      const auto mask = hb::rand(sizes) < share, values = hb::randn(sizes);
      hb::set_num_threads(1);
      const auto places = hb::nonzero(mask), picked = values.masked_select(mask);
      EXPECT_EQ(places.size(0), mask.sum().item().toLong());
      for (const int threads : {2, 3}) {
        hb::set_num_threads(threads);
        EXPECT_TRUE(hb::equal(hb::nonzero(mask), places)) << hb::IntArrayRef(sizes) << " " << share;
        EXPECT_TRUE(hb::equal(values.masked_select(mask), picked)) << hb::IntArrayRef(sizes) << " " << share;
      }
    }
  hb::set_num_threads(before);
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
