// Functions that write into a tensor of the caller's.
#include "sweep.h"

// A function of the inputs `x` that writes into the last of them, `out`. It has no gradient: where one is asked for, it
// gives a tensor that has none.
#define INTO(...)                                     \
  [](const sweep::In& x) -> sweep::Tensor {           \
    torch::NoGradGuard no_grad;                       \
    Tensor out = x.back();                            \
    if (out.requires_grad()) return torch::zeros({}); \
    return (static_cast<void>(__VA_ARGS__), out);     \
  }

namespace sweep {
namespace {

Tensor double_grid(int64_t n, torch::Dtype dtype) { return any({2 * n, n}, dtype); }
Tensor two_rows(int64_t n, torch::Dtype dtype) { return any({2, n}, dtype); }

std::vector<Row> elements() {
  return {
      {"add_out", kNumbers, {grid, grid, grid}, INTO(torch::add_out(out, x[0], x[1]))},
      {"mul_out", kNumbers, {grid, grid, grid}, INTO(torch::mul_out(out, x[0], x[1]))},
      {"div_out", kFloats, {grid, positive, grid}, INTO(torch::div_out(out, x[0], x[1]))},
      {"pow_out", kFloats, {positive, grid}, INTO(torch::pow_out(out, x[0], 2))},
      {"maximum_out", kNumbers, {grid, grid, grid}, INTO(torch::maximum_out(out, x[0], x[1]))},
      {"exp_out", kFloats, {grid, grid}, INTO(torch::exp_out(out, x[0]))},
      {"sigmoid_out", kFloats, {grid, grid}, INTO(torch::sigmoid_out(out, x[0]))},
      {"tanh_out", kFloats, {grid, grid}, INTO(torch::tanh_out(out, x[0]))},
      {"sqrt_out", kFloats, {positive, grid}, INTO(torch::sqrt_out(out, x[0]))},
      {"abs_out", kNumbers, {grid, grid}, INTO(torch::abs_out(out, x[0]))},
      {"clamp_out", kNumbers, {grid, grid}, INTO(torch::clamp_out(out, x[0], -1, 1))},
      {"lerp_out", kFloats, {grid, grid, grid}, INTO(torch::lerp_out(out, x[0], x[1], 0.5))},
      {"addcmul_out", kFloats, {grid, grid, grid, grid}, INTO(torch::addcmul_out(out, x[0], x[1], x[2]))},
      {"eq_out", kNumbers, {grid, grid, mask}, INTO(torch::eq_out(out, x[0], x[1]))},
      {"where_out", kNumbers, {mask, grid, grid, grid}, INTO(torch::where_out(out, x[0], x[1], x[2]))},
      {"gelu_out", kFloats, {grid, grid}, INTO(torch::gelu_out(out, x[0]))},
      {"leaky_relu_out", kFloats, {grid, grid}, INTO(torch::leaky_relu_out(out, x[0]))},
  };
}

std::vector<Row> reductions() {
  return {
      {"sum_out", kNumbers, {grid, row}, INTO(torch::sum_out(out, x[0], 1))},
      {"mean_out", kFloats, {grid, row}, INTO(torch::mean_out(out, x[0], 0))},
      {"amax_out", kNumbers, {grid, row}, INTO(torch::amax_out(out, x[0], 1))},
      {"argmax_out", kNumbers, {grid, indices}, INTO(torch::argmax_out(out, x[0], 1))},
      {"norm_out", kFloats, {grid, row}, INTO(torch::norm_out(out, x[0], 2, 1))},
      {"var_out", kFloats, {grid, row}, INTO(torch::var_out(out, x[0], 1))},
      {"cumsum_out", kNumbers, {grid, grid}, INTO(torch::cumsum_out(out, x[0], 1))},
      {"softmax_out", kFloats, {grid, grid}, INTO(torch::softmax_out(out, x[0], 1))},
      {"log_softmax_out", kFloats, {grid, grid}, INTO(torch::log_softmax_out(out, x[0], 1))},
      {"logsumexp_out", kFloats, {grid, row}, INTO(torch::logsumexp_out(out, x[0], 1))},
      {"max_out", kNumbers, {grid, indices, row}, INTO(torch::max_out(out, const_cast<Tensor&>(x[1]), x[0], 1))},
      {"sort_out", kNumbers, {grid, places, grid}, INTO(torch::sort_out(out, const_cast<Tensor&>(x[1]), x[0], 1))},
  };
}

std::vector<Row> places_and_products() {
  return {
      {"cat_out", kNumbers, {grid, grid, double_grid}, INTO(torch::cat_out(out, {x[0], x[1]}, 0))},
      {"stack_out", kNumbers, {row, row, two_rows}, INTO(torch::stack_out(out, {x[0], x[1]}, 0))},
      {"index_select_out", kNumbers, {grid, indices, grid}, INTO(torch::index_select_out(out, x[0], 0, x[1]))},
      {"gather_out", kNumbers, {grid, places, grid}, INTO(torch::gather_out(out, x[0], 1, x[1]))},
      {"take_out", kNumbers, {grid, places, grid}, INTO(torch::take_out(out, x[0], x[1]))},
      {"tril_out", kNumbers, {grid, grid}, INTO(torch::tril_out(out, x[0]))},
      {"mm_out", kNumbers, {half_grid, half_grid, half_grid}, INTO(torch::mm_out(out, x[0], x[1]))},
      {"matmul_out", kFloats, {half_grid, half_grid, half_grid}, INTO(torch::matmul_out(out, x[0], x[1]))},
      {"mv_out", kFloats, {grid, row, row}, INTO(torch::mv_out(out, x[0], x[1]))},
      {"addmm_out",
       kFloats,
       {half_grid, half_grid, half_grid, half_grid},
       INTO(torch::addmm_out(out, x[0], x[1], x[2]))},
      {"bmm_out", kFloats, {stack_of_medium, stack_of_medium, stack_of_medium}, INTO(torch::bmm_out(out, x[0], x[1]))},
      {"outer_out", kFloats, {row, row, grid}, INTO(torch::outer_out(out, x[0], x[1]))},
      {"arange_out", kReals, {flat}, INTO(torch::arange_out(out, out.numel()))},
  };
}

}  // namespace

std::vector<Row> out_rows() {
  std::vector<Row> all;
  for (const auto& some : {elements(), reductions(), places_and_products()})
    all.insert(all.end(), some.begin(), some.end());
  return all;
}

}  // namespace sweep
