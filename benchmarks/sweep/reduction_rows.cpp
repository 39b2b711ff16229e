#include "sweep.h"

#define F HB_SWEEP

namespace sweep {
namespace {

std::vector<Row> sums() {
  return {
      {"sum", kNumbers, {grid}, F(x[0].sum())},
      {"sum_rows", kNumbers, {grid}, F(x[0].sum(1))},
      {"sum_columns", kNumbers, {grid}, F(x[0].sum(0))},
      {"sum_middle", kNumbers, {images}, F(x[0].sum(1))},
      {"sum_channels", kNumbers, {images}, F(x[0].sum({0, 2, 3}))},
      {"mean", kFloats, {grid}, F(x[0].mean())},
      {"mean_rows", kFloats, {grid}, F(x[0].mean(1))},
      {"mean_columns", kFloats, {grid}, F(x[0].mean(0))},
      {"prod", kNumbers, {near_one}, F(x[0].prod())},
      {"prod_rows", kNumbers, {near_one}, F(x[0].prod(1))},
      {"var", kFloats, {grid}, F(x[0].var())},
      {"var_rows", kFloats, {grid}, F(x[0].var(1))},
      {"std_columns", kFloats, {grid}, F(x[0].std(0))},
      {"norm", kFloats, {grid}, F(x[0].norm())},
      {"norm_rows", kFloats, {grid}, F(x[0].norm(2, 1))},
      {"norm_1_columns", kFloats, {grid}, F(x[0].norm(1, 0))},
      {"logsumexp_rows", kFloats, {grid}, F(x[0].logsumexp(1))},
      {"logsumexp_columns", kFloats, {grid}, F(x[0].logsumexp(0))},
      {"all", kF32, {mask}, F(x[0].all())},
      {"any_rows", kF32, {mask}, F(x[0].any(1))},
      {"count_nonzero", kNumbers, {grid}, F(x[0].count_nonzero())},
      {"nansum", kFloats, {grid}, F(x[0].nansum())},
      {"trace", kReals, {grid}, F(x[0].trace())},
      {"cosine", kWide, {grid, grid}, F(torch::cosine_similarity(x[0], x[1], 1))},
  };
}

std::vector<Row> extremes() {
  return {
      {"max", kNumbers, {grid}, F(x[0].max())},
      {"max_rows", kNumbers, {grid}, F(std::get<0>(x[0].max(1)))},
      {"max_columns", kNumbers, {grid}, F(std::get<0>(x[0].max(0)))},
      {"amax_rows", kNumbers, {grid}, F(x[0].amax(1))},
      {"amin_columns", kNumbers, {grid}, F(x[0].amin(0))},
      {"argmax", kNumbers, {grid}, F(x[0].argmax())},
      {"argmax_rows", kNumbers, {grid}, F(x[0].argmax(1))},
      {"argmin_columns", kNumbers, {grid}, F(x[0].argmin(0))},
      {"aminmax", kNumbers, {grid}, F(std::get<0>(torch::aminmax(x[0])).detach())},
      {"median", kNumbers, {grid}, F(x[0].median())},
      {"median_rows", kNumbers, {grid}, F(std::get<0>(x[0].median(1)))},
      {"kthvalue", kNumbers, {grid}, F(std::get<0>(x[0].kthvalue(5, 1)))},
      {"quantile", kWide, {grid}, F(torch::quantile(x[0], 0.3, 1))},
      {"mode", kReals, {grid}, F(std::get<0>(x[0].mode(1))), 256},
  };
}

std::vector<Row> sorted() {
  return {
      {"sort_rows", kNumbers, {grid}, F(std::get<0>(x[0].sort(1)))},
      {"sort_columns", kNumbers, {grid}, F(std::get<0>(x[0].sort(0)))},
      {"sort_flat", kNumbers, {flat}, F(std::get<0>(x[0].sort(0)))},
      {"argsort", kNumbers, {grid}, F(x[0].argsort(int64_t{1}))},
      {"topk", kNumbers, {grid}, F(std::get<0>(x[0].topk(5, 1)))},
      {"topk_flat", kNumbers, {flat}, F(std::get<0>(x[0].topk(20, 0)))},
      {"topk_100", kNumbers, {flat}, F(std::get<0>(x[0].topk(100, 0)))},
      {"unique", kReals, {grid}, F(std::get<0>(torch::_unique(x[0])).detach())},
      {"unique_counts", kReals, {grid}, F(std::get<2>(torch::_unique2(x[0], true, true, true)))},
      {"unique_consecutive", kReals, {grid}, F(std::get<0>(torch::unique_consecutive(x[0])).detach())},
      {"searchsorted", kReals, {row, grid}, F(torch::searchsorted(std::get<0>(x[0].sort()), x[1]))},
      {"bincount", kF32, {indices}, F(torch::bincount(x[0]))},
      {"histc", kWide, {grid}, F(torch::histc(x[0], 50))},
  };
}

std::vector<Row> scans() {
  return {
      {"cumsum_rows", kNumbers, {grid}, F(x[0].cumsum(1))},
      {"cumsum_columns", kNumbers, {grid}, F(x[0].cumsum(0))},
      {"cumprod_rows", kNumbers, {near_one}, F(x[0].cumprod(1))},
      {"cummax_rows", kNumbers, {grid}, F(std::get<0>(x[0].cummax(1)))},
      {"logcumsumexp", kFloats, {grid}, F(x[0].logcumsumexp(1))},
      {"diff", kNumbers, {grid}, F(torch::diff(x[0]))},
  };
}

}  // namespace

std::vector<Row> reduction_rows() {
  std::vector<Row> all;
  for (auto part : {sums, extremes, sorted, scans})
    for (auto& row : part()) all.push_back(row);
  return all;
}

}  // namespace sweep
