#include "call_types.h"

#include <typeindex>
#include <unordered_map>

#include "backend/amp.h"
#include "backend/attention.h"
#include "backend/channel_pass.h"
#include "backend/complex_gemm.h"
#include "backend/conv.h"
#include "backend/copy_pieces.h"
#include "backend/cross.h"
#include "backend/decompositions.h"
#include "backend/distinct.h"
#include "backend/distributions.h"
#include "backend/elementwise.h"
#include "backend/embedding_bag.h"
#include "backend/factories.h"
#include "backend/fft.h"
#include "backend/fold.h"
#include "backend/gemm_epilogue.h"
#include "backend/grid_sample.h"
#include "backend/group_norm.h"
#include "backend/indexing.h"
#include "backend/log_sigmoid.h"
#include "backend/loss.h"
#include "backend/lstm.h"
#include "backend/moved_rows.h"
#include "backend/norm.h"
#include "backend/optim.h"
#include "backend/pair_distance.h"
#include "backend/pool.h"
#include "backend/reduce.h"
#include "backend/rnn.h"
#include "backend/separable.h"
#include "backend/softmax.h"
#include "backend/sort.h"
#include "backend/tap_sum.h"
#include "backend/triangle.h"
#include "backend/weight_norm.h"
#include "call_numbers.h"
#include "formulas/update_rules/scaled.h"

namespace hb::graph {

namespace {

struct Type {
  std::unique_ptr<capture::Call> (*copy)(capture::Call&);
  std::string (*numbers)(capture::Call&);
};
using Table = std::unordered_map<std::type_index, Type>;

template <class... Args>
void add(Table& table, const Kernel<void(Args...)>&) {
  using CallType = capture::CallOf<Args...>;
  const auto copy = [](capture::Call& call) -> std::unique_ptr<capture::Call> {
    auto& c = static_cast<CallType&>(call);
    return std::apply([&](auto&... k) { return std::make_unique<CallType>(c.name, c.fn, k.get()...); }, c.kept);
  };
  const auto numbers = [](capture::Call& call) {
    NumberBytes n;
    auto& c = static_cast<CallType&>(call);
    n.raw(reinterpret_cast<uintptr_t>(c.fn));
    std::apply([&](auto&... k) { (n.add(k), ...); }, c.kept);
    return std::move(n.bytes);
  };
  table.emplace(typeid(CallType), Type{copy, numbers});
}

template <class... Kernels>
void add_all(Table& table, const Kernels&... kernels) {
  (add(table, kernels), ...);
}

// One kernel of each signature would do: all are listed but those of which no call can be captured, and a test compares
// the list with the headers (unit_tests/graph/call_types.cpp), so that none is forgotten.
Table* make_table() {
  auto* const table = new Table;
  add_all(*table, check_unscale_kernel, update_scale_kernel, check_norm_kernel, check_unit_range_kernel,
          check_info_kernel, check_finite_kernel, attention_kernel, attention_backward_kernel, embedding_kernel,
          conv_forward_kernel, conv_backward_data_kernel, conv_backward_weight_kernel, transpose_kernel,
          add_bias_kernel, lu_factor_kernel, pivot_order_kernel, lu_solve_kernel, cholesky_kernel,
          cholesky_solve_kernel, cholesky_inverse_kernel, ldl_factor_kernel, ldl_solve_kernel, qr_kernel, geqrf_kernel,
          householder_kernel, ormqr_kernel, eigh_kernel, eig_kernel, svd_kernel, uniform_kernel, normal_kernel,
          random_from_to_kernel, random_kernel, bernoulli_kernel, bernoulli_each_kernel, exponential_kernel,
          geometric_kernel, cauchy_kernel, poisson_kernel, binomial_kernel, randperm_kernel, multinomial_kernel,
          copy_kernel, fill_kernel, log_sigmoid_slope_kernel, arange_kernel, linspace_kernel, fft_r2c_kernel,
          fft_c2r_kernel, gemm_kernel, column_sum_kernel, grid_sample_kernel, grid_sample_backward_kernel,
          wrap_index_kernel, select_rows_kernel, select_places_kernel, put_rows_kernel, gather_kernel, scatter_kernel,
          masked_scatter_kernel, nll_kernel, nll_backward_kernel, cross_entropy_kernel, cross_entropy_backward_kernel,
          pair_loss_kernel, pair_loss_backward_kernel, lstm_cell_kernel, lstm_steps_kernel, lstm_cell_backward_kernel,
          channel_stats_kernel, channel_affine_kernel, channel_grad_stats_kernel, channel_grad_kernel,
          batch_norm_kernel, batch_norm_backward_kernel, channel_pass_kernel, batch_norm_backward_of_pass_kernel,
          row_norm_kernel, row_norm_backward_kernel, max_pool_kernel, max_pool_backward_kernel, avg_pool_kernel,
          avg_pool_backward_kernel, reduce_kernel, range_kernel, moments_kernel, extremum_kernel,
          separable_select_kernel, separable_sum_kernel, softmax_kernel, softmax_backward_kernel, order_kernel,
          mode_kernel, searchsorted_kernel, scan_kernel, bincount_kernel, histogram_kernel, transpose_list_kernel,
          log_normal_kernel, standard_gamma_kernel, standard_gamma_grad_kernel, dirichlet_grad_kernel, tap_sum_kernel,
          triangle_kernel, gemm_and_sums_kernel, gemm_epilogue_kernel, complex_gemm_kernel, group_norm_kernel,
          group_norm_backward_kernel, embedding_backward_kernel, embedding_bag_kernel, fold_kernel,
          embedding_bag_backward_kernel, solve_triangular_kernel, least_squares_kernel, fft_c2c_kernel,
          rnn_forward_kernel, rnn_backward_kernel, copy_pieces_kernel, spaced_kernel, turned_kernel, interleaved_kernel,
          joined_rows_kernel, cross_kernel, pair_distance_kernel, pair_distance_backward_kernel, triangle_places_kernel,
          row_order_kernel, weight_norm_backward_kernel);
  add(*table, exp_formula);  // and all other formulas
#define HB_ADD(Rule, kernel, name) add(*table, kernel);
  HB_FORALL_UPDATE_RULES(HB_ADD)
#undef HB_ADD
  add(*table, lamb_update);
  add(*table, adafactor_update);
  return table;
}

const Type* type_of(const capture::Call& call) {
  static const Table* const table = make_table();
  const auto at = table->find(typeid(call));
  return at == table->end() ? nullptr : &at->second;
}

}  // namespace

std::unique_ptr<capture::Call> copy_of(capture::Call& call) {
  const Type* const type = type_of(call);
  return type ? type->copy(call) : nullptr;
}
std::string numbers_of(capture::Call& call) {
  const Type* const type = type_of(call);
  return type ? type->numbers(call) : std::string();
}

}  // namespace hb::graph
