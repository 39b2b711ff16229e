// Functions of whole tensors that few programs call: statistics, signals, matrices, losses, layers, random numbers.
#include <algorithm>
#include <cmath>

#include "sweep.h"

#define F HB_SWEEP

namespace sweep {
namespace {

Tensor square_stack(int64_t n, torch::Dtype dtype) { return any({n * n / 64, 8, 8}, dtype); }
Tensor middle_matrix(int64_t n, torch::Dtype dtype) { return any({n / 8, n / 8}, dtype); }
Tensor tall(int64_t n, torch::Dtype dtype) { return any({n, n / 16}, dtype); }
Tensor tall_columns(int64_t n, torch::Dtype dtype) { return any({n, 2}, dtype); }
Tensor triangle(int64_t n, torch::Dtype dtype) {
  return any({n, n}, dtype).tril() * 0.1 + torch::eye(n, on_device(dtype)) * 2;
}
Tensor signals(int64_t n, torch::Dtype dtype) { return any({n / 16, 16, n}, dtype); }
Tensor volumes(int64_t n, torch::Dtype dtype) {
  const int64_t side = n <= 32 ? 4 : n <= 256 ? 8 : 16;
  return any({std::max<int64_t>(1, n * n / (16 * side * side * side)), 16, side, side, side}, dtype);
}
Tensor signal_filters(int64_t, torch::Dtype dtype) { return any({16, 16, 3}, dtype); }
Tensor volume_filters(int64_t, torch::Dtype dtype) { return any({16, 16, 2, 2, 2}, dtype); }
Tensor columns_of_images(int64_t n, torch::Dtype dtype) {
  const int64_t side = n <= 32 ? 4 : n <= 256 ? 16 : 32;
  return any({std::max<int64_t>(1, n * n / (16 * side * side * 9)), 16 * 9, side * side}, dtype);
}
Tensor wave(int64_t n, torch::Dtype dtype) { return any({n / 32, n * 32}, dtype); }
Tensor signs(int64_t n, torch::Dtype dtype) { return torch::where(mask(n, dtype), 1., -1.).to(dtype); }
Tensor truth(int64_t n, torch::Dtype dtype) { return mask(n, dtype).to(dtype); }
Tensor segments(int64_t n, torch::Dtype) { return torch::full({n / 8}, 8, on_device(torch::kLong)); }
Tensor complex_grid(int64_t n, torch::Dtype dtype) { return torch::complex(grid(n, dtype), grid(n, dtype)); }
Tensor complex_row(int64_t n, torch::Dtype dtype) { return torch::complex(row(n, dtype), row(n, dtype)); }

std::vector<Row> statistics() {
  return {
      {"cov", kWide, {grid}, F(torch::cov(x[0]))},
      {"corrcoef", kWide, {grid}, F(torch::corrcoef(x[0]))},
      {"std_mean", kFloats, {grid}, F(std::get<0>(torch::std_mean(x[0], 1)))},
      {"std_all", kFloats, {grid}, F(x[0].std())},
      {"nanmean", kFloats, {grid}, F(torch::nanmean(x[0]))},
      {"nanquantile", kWide, {grid}, F(torch::nanquantile(x[0], 0.3, 1)), 256},
      {"quantile_columns", kWide, {grid}, F(torch::quantile(x[0], 0.3, 0)), 256},
      {"dist", kFloats, {grid, grid}, F(torch::dist(x[0], x[1]))},
      {"norm_inf", kFloats, {grid}, F(torch::linalg_vector_norm(x[0], INFINITY))},
      {"norm_1_rows", kFloats, {grid}, F(torch::linalg_vector_norm(x[0], 1, torch::IntArrayRef{1}))},
      {"renorm", kFloats, {grid}, F(torch::renorm(x[0], 2, 0, 1))},
      {"cumulative_trapezoid", kWide, {grid}, F(torch::cumulative_trapezoid(x[0], 1.0, 1))},
      {"trapezoid", kWide, {grid}, F(torch::trapezoid(x[0], 1.0, 1))},
      {"gradient", kWide, {grid}, F(torch::gradient(x[0])[0])},
      {"histogram", kWide, {positive}, F(std::get<0>(torch::histogram(x[0].detach(), 64)))},
      {"argwhere", kF32, {mask}, F(torch::argwhere(x[0]))},
      {"msort", kReals, {grid}, F(torch::msort(x[0]))},
      {"cummin_rows", kReals, {grid}, F(std::get<0>(torch::cummin(x[0], 1)))},
      {"min_rows", kNumbers, {grid}, F(std::get<0>(x[0].min(1)))},
      {"amax_middle", kFloats, {images}, F(x[0].amax({1}))},
      {"amax_images", kFloats, {images}, F(x[0].amax({2, 3}))},
      {"segment_reduce", kWide, {grid, segments}, F(torch::segment_reduce(x[0], "sum", x[1]))},
      {"scatter_reduce", kReals, {grid, places, grid}, F(torch::scatter_reduce(x[0], 1, x[1], x[2], "sum"))},
      {"scatter_reduce_prod",
       kReals,
       {grid, places, grid},
       F(torch::scatter_reduce(x[0].detach(), 1, x[1], x[2].detach(), "prod"))},
      {"scatter_number", kNumbers, {grid, places}, F(x[0].scatter(1, x[1], 2))},
  };
}

std::vector<Row> shapes() {
  return {
      {"block_diag", kF32, {middle_matrix, middle_matrix}, F(torch::block_diag({x[0], x[1], x[0], x[1]}))},
      {"cartesian_prod", kF32, {row, row}, F(torch::cartesian_prod({x[0], x[1]})), 256},
      {"combinations", kF32, {row}, F(torch::combinations(x[0])), 256},
      {"diag_embed", kNumbers, {row}, F(torch::diag_embed(x[0]))},
      {"diagonal_scatter", kFloats, {grid, row}, F(torch::diagonal_scatter(x[0], x[1]))},
      {"select_scatter", kFloats, {grid, row}, F(torch::select_scatter(x[0], x[1], 0, 3))},
      {"slice_scatter", kFloats, {grid, grid}, F(torch::slice_scatter(x[0], x[1].slice(0, 0, 8), 0, 0, 8))},
      {"vander", kWide, {row}, F(torch::vander(x[0].detach() * 0.1, 8))},
      {"take_along_dim", kNumbers, {grid, places}, F(torch::take_along_dim(x[0], x[1], 1))},
      {"put", kNumbers, {grid, places, grid}, F(torch::put(x[0], x[1], x[2]))},
      {"fftshift", kFloats, {grid}, F(torch::fft_fftshift(x[0]))},
      {"unflatten_permute", kNumbers, {grid}, F(x[0].view({x[0].size(0), 8, -1}).permute({2, 0, 1}).contiguous())},
      {"split_cat", kNumbers, {grid}, F(torch::cat(x[0].split(8, 1), 0))},
      {"hstack", kNumbers, {grid, grid}, F(torch::hstack({x[0], x[1]}))},
      {"dstack", kNumbers, {grid, grid}, F(torch::dstack({x[0], x[1]}))},
      {"column_stack", kNumbers, {flat, flat}, F(torch::column_stack({x[0], x[1]}))},
      {"repeat_interleave_each",
       kNumbers,
       {grid, segments},
       F(x[0].slice(0, 0, x[1].size(0)).repeat_interleave(x[1], 0))},
      {"pixel_unshuffle", kFloats, {images}, F(torch::pixel_unshuffle(x[0], 2))},
      {"pad_circular", kFloats, {images}, F(torch::pad(x[0], {1, 1, 1, 1}, "circular"))},
      {"pad_replicate_1d", kFloats, {signals}, F(torch::replication_pad1d(x[0], {2, 2}))},
      {"pad_reflect_3d", kWide, {volumes}, F(torch::reflection_pad3d(x[0], {1, 1, 1, 1, 1, 1}))},
      {"linspace",
       kFloats,
       {row},
       F(torch::linspace(0, 1, x[0].numel() * x[0].numel(), on_device(x[0].scalar_type())))},
      {"full_like", kNumbers, {grid}, F(torch::full_like(x[0].detach(), 3))},
      {"hann_window", kWide, {row}, F(torch::hann_window(x[0].numel() * 64, on_device(x[0].scalar_type())))},
      {"view_as_real", kWide, {grid, grid}, F(torch::view_as_real(torch::complex(x[0], x[1])).contiguous())},
  };
}

std::vector<Row> matrices() {
  return {
      {"bmm_sum", kWide, {square_stack, square_stack}, F(torch::bmm(x[0], x[1]).sum(0))},
      {"addmv", kFloats, {row, grid, row}, F(torch::addmv(x[0], x[1], x[2]))},
      {"vdot", kFloats, {flat, flat}, F(torch::vdot(x[0], x[1]))},
      {"inner", kWide, {tall, tall}, F(torch::inner(x[0], x[1]))},
      {"tensordot", kWide, {square_stack, square_stack}, F(torch::tensordot(x[0], x[1], {0, 1}, {0, 1}))},
      {"einsum_batch", kFloats, {square_stack, square_stack}, F(torch::einsum("bij,bjk->bik", {x[0], x[1]}))},
      {"einsum_trace", kWide, {square_stack}, F(torch::einsum("bii->b", {x[0]}))},
      {"einsum_outer", kWide, {tall_columns, tall_columns}, F(torch::einsum("ni,nj->nij", {x[0], x[1]}))},
      {"lstsq", kWide, {tall, tall_columns}, F(std::get<0>(torch::linalg_lstsq(x[0].detach(), x[1].detach())))},
      {"matrix_exp", kWide, {middle_matrix}, F(torch::matrix_exp(x[0] * 0.1))},
      {"matrix_power", kWide, {middle_matrix}, F(torch::matrix_power(x[0] * 0.1, 5))},
      {"pinv", kWide, {middle_matrix}, F(torch::linalg_pinv(x[0]))},
      {"matrix_rank", kWide, {middle_matrix}, F(torch::linalg_matrix_rank(x[0].detach(), 1e-3))},
      {"matrix_norm", kWide, {grid}, F(torch::linalg_matrix_norm(x[0], "fro"))},
      {"nuclear_norm", kWide, {middle_matrix}, F(torch::linalg_matrix_norm(x[0], "nuc"))},
      {"eig", kWide, {middle_matrix}, F(torch::view_as_real(std::get<0>(torch::linalg_eig(x[0].detach()))))},
      {"eigvalsh", kWide, {middle_matrix}, F(torch::linalg_eigvalsh(x[0]))},
      {"svdvals", kWide, {middle_matrix}, F(torch::linalg_svdvals(x[0]))},
      {"slogdet", kWide, {middle_matrix}, F(std::get<1>(torch::linalg_slogdet(x[0])))},
      {"lu", kWide, {middle_matrix}, F(std::get<0>(torch::linalg_lu_factor(x[0])))},
      {"stack_solve", kWide, {square_stack, square_stack}, F(torch::linalg_solve(x[0], x[1]))},
      {"stack_svd", kWide, {square_stack}, F(torch::linalg_svdvals(x[0].detach())), 256},
      {"stack_eigh", kWide, {square_stack}, F(torch::linalg_eigvalsh(x[0].detach())), 256},
      {"stack_qr", kWide, {square_stack}, F(std::get<1>(torch::linalg_qr(x[0]))), 256},
      {"triangular_solve", kWide, {triangle, grid}, F(torch::linalg_solve_triangular(x[0], x[1], false))},
      {"cholesky_inverse", kWide, {triangle}, F(torch::cholesky_inverse(x[0]))},
      {"cholesky_solve", kWide, {grid, triangle}, F(torch::cholesky_solve(x[0], x[1]))},
      {"multi_dot", kWide, {tall, tall}, F(torch::linalg_multi_dot({x[0], x[1].t(), x[0]}))},
      {"householder_product", kWide, {tall}, F(std::get<0>(torch::geqrf(x[0].detach())))},
      {"complex_mm", kWide, {complex_grid, complex_grid}, F(torch::view_as_real(x[0].mm(x[1])))},
      {"complex_mv", kWide, {complex_grid, complex_row}, F(torch::view_as_real(x[0].mv(x[1])))},
      {"complex_exp", kWide, {complex_grid}, F(torch::view_as_real(x[0].exp()))},
      {"complex_sum_rows", kWide, {complex_grid}, F(torch::view_as_real(x[0].sum(1)))},
      {"complex_transpose", kWide, {complex_grid}, F(torch::view_as_real(x[0].t().contiguous()))},
  };
}

std::vector<Row> signal_functions() {
  return {
      {"stft",
       kWide,
       {wave},
       F(torch::view_as_real(torch::stft(x[0], 256, 64, 256, {}, true, "reflect", false, true, true)))},
      {"istft",
       kWide,
       {wave},
       F(torch::istft(torch::stft(x[0], 64, 16, 64, torch::hann_window(64, on_device(x[0].scalar_type())), true,
                                  "reflect", false, true, true),
                      64, 16, 64, torch::hann_window(64, on_device(x[0].scalar_type()))))},
      {"ifft_rows", kWide, {complex_grid}, F(torch::view_as_real(torch::fft_ifft(x[0])))},
      {"fft_complex", kWide, {complex_grid}, F(torch::view_as_real(torch::fft_fft(x[0])))},
      {"rfft2", kWide, {grid}, F(torch::view_as_real(torch::fft_rfft2(x[0])))},
      {"irfft2", kWide, {complex_grid}, F(torch::fft_irfft2(x[0]))},
      {"hfft", kWide, {complex_grid}, F(torch::fft_hfft(x[0]))},
      {"conv1d_same", kFloats, {signals, signal_filters}, F(torch::conv1d(x[0], x[1], {}, 1, "same"))},
      {"conv1d_dilated", kFloats, {signals, signal_filters}, F(torch::conv1d(x[0], x[1], {}, 1, 4, 4))},
      {"conv_transpose1d", kFloats, {signals, signal_filters}, F(torch::conv_transpose1d(x[0], x[1], {}, 2))},
      {"conv_transpose3d", kWide, {volumes, volume_filters}, F(torch::conv_transpose3d(x[0], x[1], {}, 2))},
      {"fold",
       kFloats,
       {columns_of_images},
       F(torch::col2im(x[0],
                       {x[0].size(2) == 16    ? 4
                        : x[0].size(2) == 256 ? 16
                                              : 32,
                        x[0].size(2) == 16    ? 4
                        : x[0].size(2) == 256 ? 16
                                              : 32},
                       {3, 3}, {1, 1}, {1, 1}, {1, 1}))},
      {"avg_pool3d", kWide, {volumes}, F(torch::avg_pool3d(x[0], 2))},
      {"adaptive_avg_pool1d", kFloats, {signals}, F(torch::adaptive_avg_pool1d(x[0], 5))},
      {"adaptive_avg_pool3d", kWide, {volumes}, F(torch::adaptive_avg_pool3d(x[0], {2, 2, 2}))},
      {"adaptive_max_pool1d", kWide, {signals}, F(std::get<0>(torch::adaptive_max_pool1d(x[0], 5)))},
      {"max_unpool2d",
       kWide,
       {images},
       F(torch::max_unpool2d(x[0],
                             torch::arange(x[0].size(2) * x[0].size(3), on_device(torch::kLong))
                                 .mul(4)
                                 .view({x[0].size(2), x[0].size(3)})
                                 .expand(x[0].sizes())
                                 .contiguous(),
                             {2 * x[0].size(2), 2 * x[0].size(3)}))},
      {"upsample_linear1d", kFloats, {signals}, F(torch::upsample_linear1d(x[0], {2 * x[0].size(2)}, false))},
      {"upsample_trilinear3d",
       kWide,
       {volumes},
       F(torch::upsample_trilinear3d(x[0], {2 * x[0].size(2), 2 * x[0].size(3), 2 * x[0].size(4)}, false))},
      {"upsample_nearest3d",
       kWide,
       {volumes},
       F(torch::upsample_nearest3d(x[0], {2 * x[0].size(2), 2 * x[0].size(3), 2 * x[0].size(4)}))},
      {"upsample_half", kFloats, {images}, F(torch::upsample_nearest2d(x[0], {x[0].size(2) / 2, x[0].size(3) / 2}))},
      {"batch_norm_rows",
       kFloats,
       {grid, row, row},
       F(torch::batch_norm(x[0], x[1], x[2], {}, {}, true, 0.1, 1e-5, false))},
      {"batch_norm_3d", kWide, {volumes}, F(torch::batch_norm(x[0], {}, {}, {}, {}, true, 0.1, 1e-5, false))},
      {"weight_norm", kWide, {grid, column}, F(torch::_weight_norm(x[0], x[1]))},
  };
}

std::vector<Row> losses() {
  return {
      {"poisson_nll", kFloats, {grid, positive}, F(torch::poisson_nll_loss(x[0], x[1].detach(), true, false, 1e-8, 1))},
      {"margin_ranking", kWide, {grid, grid, signs}, F(torch::margin_ranking_loss(x[0], x[1], x[2].detach()))},
      {"soft_margin", kFloats, {grid, signs}, F(torch::soft_margin_loss(x[0], x[1].detach()))},
      {"multi_margin", kWide, {grid, indices}, F(torch::multi_margin_loss(x[0], x[1]))},
      {"multilabel_margin", kWide, {grid, places}, F(torch::multilabel_margin_loss(x[0], x[1])), 256},
      {"kl_div_log", kFloats, {grid, grid}, F(torch::kl_div(x[0], x[1].detach(), 1, true))},
      {"mse_none", kFloats, {grid, grid}, F(torch::mse_loss(x[0], x[1], 0))},
      {"bce_weighted",
       kFloats,
       {grid, truth, positive},
       F(torch::binary_cross_entropy_with_logits(x[0], x[1].detach(), x[2].detach()))},
      {"cross_entropy_smooth", kFloats, {grid, indices}, F(torch::cross_entropy_loss(x[0], x[1], {}, 1, -100, 0.1))},
      {"cross_entropy_soft", kFloats, {grid, positive}, F(torch::cross_entropy_loss(x[0], x[1].detach()))},
      {"pairwise_distance", kWide, {grid, grid}, F(torch::pairwise_distance(x[0], x[1]))},
      {"cosine_rows", kWide, {grid, grid}, F(torch::cosine_similarity(x[0], x[1], 1))},
      {"gaussian_nll", kWide, {grid, grid, positive}, F(0.5 * (x[2].log() + (x[0] - x[1]).square() / x[2]).mean())},
  };
}

std::vector<Row> random_numbers() {
  return {
      {"normal_tensors", kWide, {grid, positive}, F(at::normal(x[0].detach(), x[1].detach()))},
      {"poisson", kWide, {positive}, F(torch::poisson(x[0].detach()))},
      {"bernoulli_number", kWide, {grid}, F(torch::bernoulli(x[0].detach(), 0.3))},
      {"exponential_", kWide, {grid}, F(x[0].detach().exponential_())},
      {"cauchy_", kWide, {grid}, F(x[0].detach().cauchy_())},
      {"log_normal_", kWide, {grid}, F(x[0].detach().log_normal_())},
      {"geometric_", kWide, {grid}, F(x[0].detach().geometric_(0.3))},
      {"random_", kNumbers, {grid}, F(x[0].detach().random_(0, 100))},
      {"normal_", kFloats, {grid}, F(x[0].detach().normal_())},
      {"feature_dropout", kFloats, {images}, F(torch::feature_dropout(x[0], 0.3, true))},
      {"alpha_dropout", kFloats, {grid}, F(torch::alpha_dropout(x[0], 0.3, true))},
  };
}

}  // namespace

std::vector<Row> rare_rows() {
  std::vector<Row> all;
  for (const auto& part : {statistics(), shapes(), matrices(), signal_functions(), losses(), random_numbers()})
    all.insert(all.end(), part.begin(), part.end());
  return all;
}

}  // namespace sweep
