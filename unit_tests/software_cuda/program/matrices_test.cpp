// Decompositions of stacks of matrices on the software device beside the CPU: every size that takes another way, every
// layout, what fails.
#include "software_cuda/program/beside_cpu.h"

namespace {

using torch::indexing::Slice;

const std::vector<torch::Dtype> kMatrices{torch::kFloat, torch::kDouble, torch::kComplexFloat, torch::kComplexDouble};

double tolerance(torch::Dtype t) { return torch::toRealValueType(t) == torch::kFloat ? 5e-4 : 1e-9; }

/// Numbers whose matrices have full rank.
Tensor matrices(torch::IntArrayRef size, torch::Dtype dtype, double phase = 0) {
  if (torch::isComplexType(dtype)) {
    const auto part = torch::toRealValueType(dtype);
    return torch::complex(matrices(size, part, phase), matrices(size, part, phase + 2));
  }
  const Tensor n = torch::arange(torch::zeros(size).numel(), torch::kDouble);
  return n.mul(n).mul(0.37).add(phase + 0.1).sin().view(size).to(dtype);
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

}  // namespace
