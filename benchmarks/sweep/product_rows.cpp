#include "sweep.h"

#define F HB_SWEEP

namespace sweep {
namespace {

Tensor stack_of_small(int64_t n, torch::Dtype dtype) { return any({n * n / 64, 8, 8}, dtype); }
Tensor thin(int64_t n, torch::Dtype dtype) { return any({n, 8}, dtype); }
Tensor tall(int64_t n, torch::Dtype dtype) { return any({n * 4, 16}, dtype); }
Tensor small_square(int64_t n, torch::Dtype dtype) { return any({n / 4, n / 4}, dtype); }
Tensor definite(int64_t n, torch::Dtype dtype) {
  const Tensor a = any({n / 4, n / 4}, dtype);
  return a.mm(a.t()) + torch::eye(n / 4, a.options()) * n;
}
Tensor stack_definite(int64_t n, torch::Dtype dtype) {
  const Tensor a = any({n, 4, 4}, dtype);
  return a.bmm(a.transpose(1, 2)) + torch::eye(4, a.options()) * 4;
}
Tensor complex_grid(int64_t n, torch::Dtype dtype) { return torch::complex(any({n, n}, dtype), any({n, n}, dtype)); }
Tensor complex_1000(int64_t n, torch::Dtype dtype) {
  return torch::complex(any({n, 1000}, dtype), any({n, 1000}, dtype));
}

std::vector<Row> products() {
  return {
      {"mm", kNumbers, {half_grid, half_grid}, F(x[0].mm(x[1]))},
      {"mm_transposed", kFloats, {half_grid, half_grid}, F(x[0].mm(x[1].t()))},
      {"mm_thin", kFloats, {grid, thin}, F(x[0].mm(x[1]))},
      {"mm_tall", kFloats, {tall, small_square}, F(x[0].t().mm(x[0]))},
      {"mv", kNumbers, {grid, row}, F(x[0].mv(x[1]))},
      {"mv_transposed", kFloats, {grid, row}, F(x[0].t().mv(x[1]))},
      {"dot", kNumbers, {flat, flat}, F(x[0].dot(x[1]))},
      {"outer", kNumbers, {row, row}, F(x[0].outer(x[1]))},
      {"addmm", kFloats, {half_grid, half_grid, half_grid}, F(torch::addmm(x[0], x[1], x[2]))},
      {"linear", kFloats, {half_grid, half_grid}, F(torch::linear(x[0], x[1], x[1].select(0, 0)))},
      {"bmm_small", kFloats, {stack_of_small, stack_of_small}, F(x[0].bmm(x[1]))},
      {"bmm_medium", kFloats, {stack_of_medium, stack_of_medium}, F(x[0].bmm(x[1]))},
      {"matmul_broadcast", kFloats, {stack_of_medium}, F(x[0].matmul(x[0].select(0, 0)))},
      {"einsum", kFloats, {stack_of_medium}, F(torch::einsum("bij,bkj->bik", {x[0], x[0]}))},
      {"baddbmm", kFloats, {stack_of_medium}, F(torch::baddbmm(x[0], x[0], x[0]))},
      {"cdist", kWide, {thin, thin}, F(torch::cdist(x[0], x[1]))},
      {"kron", kWide, {thin}, F(torch::kron(x[0], x[0].slice(0, 0, 8)))},
      {"attention", kFloats, {sequence}, F(torch::scaled_dot_product_attention(x[0], x[0], x[0]))},
  };
}

std::vector<Row> decompositions() {
  return {
      {"inverse", kWide, {definite}, F(torch::inverse(x[0])), 1024},
      {"solve", kWide, {definite, small_square}, F(torch::linalg_solve(x[0], x[1])), 1024},
      {"cholesky", kWide, {definite}, F(torch::linalg_cholesky(x[0])), 1024},
      {"qr", kWide, {small_square}, F(std::get<0>(torch::linalg_qr(x[0]))), 1024},
      {"svd", kWide, {small_square}, F(std::get<1>(torch::linalg_svd(x[0]))), 1024},
      {"eigh", kWide, {definite}, F(std::get<0>(torch::linalg_eigh(x[0]))), 1024},
      {"det", kWide, {small_square}, F(torch::det(x[0])), 1024},
      {"stack_inverse", kWide, {stack_definite}, F(torch::inverse(x[0])), 1024},
      {"stack_cholesky", kWide, {stack_definite}, F(torch::linalg_cholesky(x[0])), 1024},
      {"stack_det", kWide, {stack_definite}, F(torch::det(x[0])), 1024},
  };
}

std::vector<Row> transforms() {
  return {
      {"fft_rows", kWide, {complex_grid}, F(torch::view_as_real(torch::fft_fft(x[0])))},
      {"fft_1000", kWide, {complex_1000}, F(torch::view_as_real(torch::fft_fft(x[0])))},
      {"fft_columns", kWide, {complex_grid}, F(torch::view_as_real(torch::fft_fft(x[0], torch::nullopt, 0)))},
      {"fft2", kWide, {complex_grid}, F(torch::view_as_real(torch::fft_fft2(x[0])))},
      {"rfft_rows", kWide, {grid}, F(torch::view_as_real(torch::fft_rfft(x[0])))},
      {"irfft_rows", kWide, {complex_grid}, F(torch::fft_irfft(x[0]))},
      {"rfft_flat", kWide, {flat}, F(torch::view_as_real(torch::fft_rfft(x[0])))},
      {"complex_mul", kWide, {complex_grid}, F(torch::view_as_real(x[0] * x[0]))},
      {"complex_abs", kWide, {complex_grid}, F(x[0].abs())},
  };
}

}  // namespace

std::vector<Row> product_rows() {
  std::vector<Row> all;
  for (auto part : {products, decompositions, transforms})
    for (auto& row : part()) all.push_back(row);
  return all;
}

}  // namespace sweep
