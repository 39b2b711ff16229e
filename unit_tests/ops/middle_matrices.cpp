// LU and QR of matrices too large for unrolled loops and too small for a library: sizes that leave rests of all kinds.
#include <gtest/gtest.h>
#include <halfbridge/engine.h>

#include <cmath>
#include <limits>

namespace {

using hb::Tensor;

double distance(const Tensor& a, const Tensor& b) { return (a - b).abs().max().item<double>(); }
double tolerance(hb::ScalarType dtype) { return dtype == hb::kFloat ? 2e-4 : 1e-11; }

/// Q R = A, Q^T Q = 1, and R has zeros below its diagonal.
void expect_qr(const Tensor& a, double scale = 1) {
  for (const char* mode : {"reduced", "complete"}) {
    const auto [q, r] = hb::linalg_qr(a, mode);
    const double near = tolerance(a.scalar_type());
    EXPECT_LT(distance(q.matmul(r / scale), a / scale), near) << a.sizes() << mode;
    EXPECT_LT(distance(q.mT().matmul(q), hb::eye(q.size(-1), a.options()).expand_as(q.mT().matmul(q))), near)
        << a.sizes() << mode;
    EXPECT_EQ(r.tril(-1).abs().max().item<double>(), 0) << a.sizes() << mode;
  }
}

TEST(MiddleMatrices, LuOfEverySize) {
  for (auto dtype : {hb::kFloat, hb::kDouble})
    for (int64_t n : {13, 14, 15, 16, 17, 64, 127, 255, 256}) {
      const Tensor a = hb::randn({2, n, n}, dtype) + hb::eye(n, dtype) * 3;
      const auto [p, l, u] = hb::linalg_lu(a);
      EXPECT_LT(distance(p.matmul(l).matmul(u), a), tolerance(dtype)) << n;
      EXPECT_LE(l.abs().max().item<double>(), 1) << n;
      for (int64_t columns : {1, 2, 3, 5}) {
        const Tensor x = hb::randn({2, n, columns}, dtype), solved = hb::linalg_solve(a, a.matmul(x));
        EXPECT_LT(distance(a.matmul(solved), a.matmul(x)), 20 * tolerance(dtype)) << n << " " << columns;
      }
    }
}

TEST(MiddleMatrices, SingularMatricesSayWhere) {
  const int64_t n = 37;
  Tensor a = hb::randn({n, n}, hb::kDouble);
  a.select(1, 21).fill_(0);
  const auto [lu, pivots, info] = hb::linalg_lu_factor_ex(a);
  EXPECT_EQ(info.item<int>(), 22);
  const auto [p, l, u] = hb::lu_unpack(lu, pivots);
  EXPECT_LT(distance(p.matmul(l).matmul(u), a), 1e-11);
}

TEST(MiddleMatrices, NaNBelowAZeroPivotIsNotLost) {
  for (auto dtype : {hb::kFloat, hb::kDouble})
    for (int64_t n : {3, 8, 12, 16, 37}) {
      Tensor a = hb::eye(n, dtype);
      a[n - 2][n - 2] = 0;
      a[n - 1][n - 2] = std::nan("");
      EXPECT_TRUE(std::isnan(hb::linalg_det(a).item<double>())) << n;
    }
}

TEST(MiddleMatrices, PivotsThatAreNotNormalDivide) {
  const double least = 1e-39;  // its inverse is no float
  for (int64_t n : {12, 16, 20, 37}) {
    const Tensor a = hb::eye(n, hb::kFloat) * least;
    EXPECT_EQ(distance(hb::linalg_solve(a, a), hb::eye(n)), 0) << n;
  }
}

TEST(MiddleMatrices, ReflectionsOfTauZeroAreNone) {
  const Tensor a = hb::randn({10, 4}, hb::kDouble);
  auto [h, tau] = hb::geqrf(a);
  tau[2] = 0;
  const Tensor q = hb::linalg_householder_product(h, tau);
  h.select(1, 2).narrow(0, 3, 7).fill_(std::numeric_limits<double>::infinity());
  EXPECT_TRUE(hb::equal(hb::linalg_householder_product(h, tau), q));
}

TEST(MiddleMatrices, QrOfEveryShape) {
  for (auto dtype : {hb::kFloat, hb::kDouble})
    for (int64_t m : {1, 9, 31, 64, 128, 129})
      for (int64_t n : {1, 8, 33, 64, 128}) expect_qr(hb::randn({2, m, n}, dtype));
}

TEST(MiddleMatrices, QrOfColumnsThatAreZeroLargeOrSmall) {
  const int64_t n = 40;
  Tensor zeros = hb::randn({n, n}, hb::kFloat);
  zeros.narrow(1, 5, 3).fill_(0);
  expect_qr(zeros);
  expect_qr(hb::eye(n, hb::kDouble));
  for (const double scale : {1e-30, 1e30}) expect_qr(hb::randn({n, n}, hb::kFloat) * scale, scale);
  for (const double scale : {1e-300, 1e300}) expect_qr(hb::randn({n, n}, hb::kDouble) * scale, scale);
}

TEST(MiddleMatrices, QrOfWhatIsNotFinite) {
  for (const double odd : {std::nan(""), std::numeric_limits<double>::infinity()}) {
    Tensor a = hb::randn({40, 40}, hb::kDouble);
    a[3][4] = odd;
    const auto [q, r] = hb::linalg_qr(a);
    EXPECT_TRUE(q.isnan().any().item<bool>());
    EXPECT_TRUE(r.isnan().any().item<bool>());
  }
}

}  // namespace
