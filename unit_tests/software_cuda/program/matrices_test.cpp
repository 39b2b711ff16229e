// Decompositions of stacks of matrices on the software device beside the CPU: every size that takes another way, every
// layout, what fails.
#include "software_cuda/program/beside_cpu.h"

namespace {

using torch::indexing::Slice;

const std::vector<torch::Dtype> kMatrices{torch::kFloat, torch::kDouble, torch::kComplexFloat, torch::kComplexDouble};

double tolerance(torch::Dtype t) { return torch::toRealValueType(t) == torch::kFloat ? 5e-4 : 1e-9; }

/// Numbers without a pattern.
Tensor matrices(torch::IntArrayRef size, torch::Dtype dtype, double phase = 0) {
  if (torch::isComplexType(dtype)) {
    const auto part = torch::toRealValueType(dtype);
    return torch::complex(matrices(size, part, phase), matrices(size, part, phase + 2));
  }
  const Tensor n = torch::arange(torch::zeros(size).numel(), torch::kDouble);
  return n.add(phase + 0.1).mul(12.9898).sin().mul(43758.5453).frac().view(size).to(dtype);
}
/// Matrices (count, n, n) far from singular, with large elements off the diagonal.
Tensor regular(int64_t count, int64_t n, torch::Dtype dtype) {
  const Tensor order = torch::arange(n - 1, -1, -1, torch::kLong);
  return matrices({count, n, n}, dtype) + (torch::eye(n, dtype) * static_cast<double>(2 * n)).index_select(0, order);
}
Tensor definite(int64_t count, int64_t n, torch::Dtype dtype) {
  const Tensor a = matrices({count, n, n}, dtype);
  return a.matmul(a.mH()) + torch::eye(n, dtype) * static_cast<double>(n);
}
/// The same values in other layouts: by rows, by columns, every second element, one matrix for all.
std::vector<Tensor> layouts(const Tensor& a) {
  Tensor wide = torch::zeros({a.size(0), a.size(1), 2 * a.size(2)}, a.options());
  const Tensor gaps = wide.index({Slice(), Slice(), Slice(0, torch::indexing::None, 2)});
  gaps.copy_(a);
  return {a, a.mT().contiguous().mT(), gaps, a.narrow(0, 0, 1).expand(a.sizes())};
}

using Parts = std::function<std::vector<Tensor>(const std::vector<Tensor>&)>;

void expect_parts(const std::string& name, const Parts& f, const std::vector<Tensor>& in) {
  std::vector<Tensor> there;
  for (const Tensor& t : in) {
    const Tensor to = torch::empty_strided(t.sizes(), t.strides(), t.options().device(kGpu));
    there.push_back(t.stride(0) == 0 ? t.narrow(0, 0, 1).to(kGpu).expand(t.sizes()) : to.copy_(t));
  }
  const std::vector<Tensor> expected = f(in), got = f(there);
  for (size_t i = 0; i < expected.size(); ++i) {
    const Tensor a = got[i].cpu(), b = expected[i];
    ASSERT_EQ(a.sizes(), b.sizes()) << name;
    const double step = tolerance(in[0].scalar_type()), scale = b.numel() > 0 ? b.abs().max().item<double>() : 0;
    EXPECT_TRUE(torch::allclose(a, b, step, step * std::max(scale, 1.0), true))
        << name << ", " << in[0].scalar_type() << " " << in[0].sizes() << ", part " << i << "\n"
        << a << "\n"
        << b;
  }
}

TEST(SoftwareMatrices, LuAndItsSolutions) {
  for (const torch::Dtype t : kMatrices)
    for (const int64_t n : {1, 2, 3, 5, 16, 31, 32, 33, 40})
      for (const Tensor& a : layouts(regular(3, n, t))) {
        expect_parts("inverse", [](auto& in) { return std::vector{torch::linalg_inv(in[0])}; }, {a});
        expect_parts("lu",
                     [](auto& in) {
                       const auto [lu, pivots] = torch::linalg_lu_factor(in[0]);
                       return std::vector{lu, pivots};
                     },
                     {a});
        for (const int64_t columns : {1, 3, 32, 70})
          for (const bool adjoint : {false, true})
            expect_parts("lu_solve",
                         [=](auto& in) {
                           const auto [lu, pivots] = torch::linalg_lu_factor(in[0]);
                           return std::vector{torch::linalg_lu_solve(lu, pivots, in[1], true, adjoint)};
                         },
                         {a, matrices({3, n, columns}, t, 1)});
      }
  for (const torch::Dtype t : kMatrices)
    for (const auto& [m, n] :
         std::vector<std::pair<int64_t, int64_t>>{{1, 7}, {7, 1}, {5, 32}, {32, 5}, {40, 6}, {6, 40}})
      expect_parts("lu",
                   [](auto& in) {
                     const auto [lu, pivots] = torch::linalg_lu_factor(in[0]);
                     return std::vector{lu, pivots};
                   },
                   {matrices({4, m, n}, t)});
}

TEST(SoftwareMatrices, TrianglesAndCholesky) {
  for (const torch::Dtype t : kMatrices)
    for (const int64_t n : {1, 2, 3, 5, 17, 32, 33})
      for (const Tensor& a : layouts(definite(3, n, t)))
        for (const bool upper : {false, true}) {
          expect_parts("cholesky", [=](auto& in) { return std::vector{torch::linalg_cholesky(in[0], upper)}; }, {a});
          for (const int64_t columns : {1, 4, 40}) {
            const Tensor right = matrices({3, n, columns}, t, 1);
            expect_parts("cholesky_solve",
                         [=](auto& in) { return std::vector{torch::cholesky_solve(in[1], in[0] / n, upper)}; },
                         {a, right});
            for (const bool unit : {false, true}) {
              const Parts left = [=](auto& in) {
                return std::vector{torch::linalg_solve_triangular(in[0] / n, in[1], upper, true, unit)};
              };
              const Parts other = [=](auto& in) {
                return std::vector{torch::linalg_solve_triangular(in[0] / n, in[1].mT(), upper, false, unit)};
              };
              expect_parts("triangle", left, {a, right});
              expect_parts("triangle on the right", other, {a, right});
            }
          }
        }
}

/// U S V^H is A, U and V are unitary, the values are the CPU's.
void expect_svd(const std::string& name, const Tensor& a, bool full) {
  const auto near = [&](const char* what, const Tensor& x, const Tensor& y, double scale) {
    const double step = tolerance(a.scalar_type()) * 0.1;
    EXPECT_LE((x.cpu() - y).abs().max().item<double>(), step * scale)
        << what << " of " << name << ", " << a.scalar_type() << " " << a.sizes();
  };
  const auto [u, s, vh] = torch::linalg_svd(a.to(kGpu), full);
  const int64_t k = s.size(-1);
  const double scale = std::max(a.abs().max().item<double>() * static_cast<double>(k), 1e-300);
  const Tensor values = torch::linalg_svdvals(a);
  near("values", s, values, scale);
  near("values alone", torch::linalg_svdvals(a.to(kGpu)), values, scale);
  near("product", (u.narrow(-1, 0, k) * s.unsqueeze(-2)).matmul(vh.narrow(-2, 0, k)), a, scale);
  near("U", u.mH().matmul(u), torch::eye(u.size(-1), u.options().device(torch::kCPU)), 1);
  near("V", vh.matmul(vh.mH()), torch::eye(vh.size(-2), vh.options().device(torch::kCPU)), 1);
}

TEST(SoftwareMatrices, SingularValues) {
  for (const torch::Dtype t : kMatrices) {
    for (const auto& [m, n] :
         std::vector<std::pair<int64_t, int64_t>>{{1, 1}, {1, 5}, {5, 1}, {2, 2}, {7, 4}, {65, 66}, {200, 3}})
      for (const bool full : {false, true}) expect_svd("a matrix", matrices({2, m, n}, t), full);
    expect_svd("large", matrices({1, 40, 64}, t), false);
    expect_svd("many", matrices({300, 4, 4}, t), false);
    for (const auto& [m, n] : std::vector<std::pair<int64_t, int64_t>>{{4, 4}, {7, 5}, {5, 7}, {18, 12}}) {
      const Tensor a = matrices({2, m, n}, t);
      for (const Tensor& layout : layouts(a)) expect_svd("a layout", layout, false);
      for (const bool full : {false, true}) {
        expect_svd("one of rank 1", a.narrow(-1, 0, 1).matmul(a.narrow(-2, 0, 1)), full);
        expect_svd("ones", torch::ones_like(a), full);
        expect_svd("zeros", torch::zeros_like(a), full);
        expect_svd("columns of zeros", a * (torch::arange(n) % 3 == 1).to(t), full);
        expect_svd("rows of zeros", a * (torch::arange(m) % 3 == 1).to(t).unsqueeze(-1), full);
        expect_svd("large and small columns", a * torch::pow(10., torch::arange(n) * -0.9).to(t), full);
      }
      expect_svd("large numbers", a * 1e30, false);
      expect_svd("small numbers", a * 1e-30, false);
    }
  }
}

TEST(SoftwareMatrices, Qr) {
  const auto qr = [](const std::string& mode) {
    return [=](auto& in) {
      const auto [q, r] = torch::linalg_qr(in[0], mode);
      return mode == "r" ? std::vector{r} : std::vector{q, r};
    };
  };
  const Parts reflections = [](auto& in) {
    const auto [a, tau] = torch::geqrf(in[0]);
    return std::vector{a, tau, torch::linalg_householder_product(a.narrow(-1, 0, tau.size(-1)), tau)};
  };
  for (const torch::Dtype t : kMatrices)
    for (const auto& [m, n] : std::vector<std::pair<int64_t, int64_t>>{{1, 1},
                                                                       {1, 4},
                                                                       {4, 1},
                                                                       {2, 2},
                                                                       {3, 7},
                                                                       {7, 3},
                                                                       {32, 32},
                                                                       {33, 33},
                                                                       {31, 40},
                                                                       {300, 5},
                                                                       {600, 2},
                                                                       {45, 17}})
      for (const Tensor& a : layouts(matrices({3, m, n}, t))) {
        for (const char* mode : {"reduced", "complete", "r"}) {
          if (m > 100 && mode == std::string("complete")) continue;
          expect_parts(mode, qr(mode), {a});
          if (n > 1) expect_parts("a column of zeros", qr(mode), {a * (torch::arange(n) != 1).to(t)});
          expect_parts("large numbers", qr(mode), {a * 1e30});
          expect_parts("small numbers", qr(mode), {a * 1e-30});
        }
        expect_parts("reflections", reflections, {a});
      }
}

/// A V is V L, V is unitary, the values are the CPU's; only one triangle is read.
void expect_eigh(const std::string& name, const Tensor& a) {
  const double scale = std::max(a.abs().max().item<double>() * static_cast<double>(a.size(-1)), 1e-300);
  for (const char* triangle : {"L", "U"}) {
    const auto near = [&](const char* what, const Tensor& x, const Tensor& y, double size) {
      EXPECT_LE((x.cpu() - y).abs().max().item<double>(), tolerance(a.scalar_type()) * 0.1 * size)
          << what << " of " << name << ", " << triangle << ", " << a.scalar_type() << " " << a.sizes();
    };
    const Tensor half = *triangle == 'L' ? a.tril() : a.triu();
    const auto [s, v] = torch::linalg_eigh(half.to(kGpu), triangle);
    const Tensor values = torch::linalg_eigvalsh(a, triangle);
    near("values", s, values, scale);
    near("values alone", torch::linalg_eigvalsh(half.to(kGpu), triangle), values, scale);
    near("product", (v * s.unsqueeze(-2)).matmul(v.mH()), a, scale);
    near("V", v.mH().matmul(v), torch::eye(v.size(-1), v.options().device(torch::kCPU)), 1);
  }
}

TEST(SoftwareMatrices, HermitianEigenvalues) {
  for (const torch::Dtype t : kMatrices) {
    for (const int64_t n : {1, 2, 3, 4, 7, 12, 32}) {
      const Tensor a = matrices({2, n, n}, t), h = a + a.mH();
      expect_eigh("a matrix", h);
      if (n > 12) continue;
      expect_eigh("one of rank 1", a.narrow(-1, 0, 1).matmul(a.narrow(-1, 0, 1).mH()));
      expect_eigh("ones", torch::ones_like(h));
      expect_eigh("zeros", torch::zeros_like(h));
      expect_eigh("identity", torch::eye(n, t).expand(h.sizes()));
      expect_eigh("large numbers", h * 1e30);
      expect_eigh("small numbers", h * 1e-30);
      const Tensor sizes = torch::pow(10., torch::arange(n) * -0.9).to(t);
      expect_eigh("large and small elements", h * sizes * sizes.unsqueeze(-1));
    }
    expect_eigh("a pair of large ones", definite(2, 45, t));
    expect_eigh("many", definite(300, 3, t));
  }
}

TEST(SoftwareMatrices, ManyOfSomeSize) {
  for (const torch::Dtype t : kMatrices)
    for (const int64_t n : {33, 50, 90}) {
      const Tensor a = definite(8, n, t), right = matrices({8, n, 35}, t);
      expect_parts("inverse", [](auto& in) { return std::vector{torch::linalg_inv(in[0])}; }, {regular(8, n, t)});
      expect_parts("cholesky", [](auto& in) { return std::vector{torch::linalg_cholesky(in[0])}; }, {a});
      expect_parts("systems",
                   [=](auto& in) {
                     const Tensor x = torch::cholesky_solve(in[1], in[0] / n);
                     return std::vector{x, torch::linalg_solve_triangular(in[0] / n, x.mT(), true, false)};
                   },
                   {a, right});
      expect_parts("lu of more columns",
                   [](auto& in) { return std::vector{std::get<0>(torch::linalg_lu_factor(in[0]))}; },
                   {matrices({8, n, n + 7}, t)});
    }
}

// What fails: as on the CPU, with the number of the matrix and of the element.
TEST(SoftwareMatrices, Failures) {
  for (const int64_t n : {4, 40})
    for (const torch::Dtype t : kMatrices) {
      Tensor broken = definite(9, n, t);
      broken[1].fill_(0).diagonal().fill_(1);
      broken[1][2][2] = 0;
      Tensor nan = definite(9, n, t);
      nan[2][1][1] = std::nan("");
      const auto codes = [](const Tensor& a) {
        return torch::stack({std::get<1>(torch::linalg_cholesky_ex(a)), std::get<1>(torch::linalg_inv_ex(a)),
                             std::get<2>(torch::linalg_lu_factor_ex(a))});
      };
      for (const Tensor& a : {broken, nan, -broken, torch::zeros_like(broken)})
        EXPECT_TRUE(torch::equal(codes(a), codes(a.to(kGpu)).cpu())) << t << "\n" << codes(a) << codes(a.to(kGpu));
      const auto message = [&](const Tensor& a) -> std::string {
        try {
          torch::linalg_inv(a);
        } catch (const c10::Error& e) {
          return e.what_without_backtrace();
        }
        return "";
      };
      EXPECT_EQ(message(broken.to(kGpu)), message(broken));
      EXPECT_NE(message(broken), "");
    }
}

}  // namespace
