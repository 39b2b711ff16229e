// Reductions, scans and what sorts.
#include "parity/layouts.h"

using parity::compare_layouts;
using torch::Tensor;
#define R LAYOUT_ROW
#define FIRST(...) LAYOUT_ROW(std::get<0>(__VA_ARGS__))
#define SECOND(...) LAYOUT_ROW(std::get<1>(__VA_ARGS__))

PARITY_CASE(layouts_reductions, sums) {
  compare_layouts(c, c.rand({2, 4, 6, 6}, torch::kFloat, 0.1, 0.9),
                  {R(x.sum()),
                   R(x.sum(1)),
                   R(x.sum(0)),
                   R(x.sum(-1)),
                   R(x.sum(at::IntArrayRef({2, 3}))),
                   R(x.sum(1, true)),
                   R(x.sum(at::IntArrayRef({0, 2, 3}), true)),
                   R(x.nansum(1)),
                   R(x.mean(1)),
                   R(x.mean(at::IntArrayRef({2, 3}), true)),
                   R(x.nanmean(1)),
                   R(x.prod(1)),
                   R(x.prod(3, true)),
                   R(x.var(1)),
                   R(x.var(at::IntArrayRef({2, 3}), true, true)),
                   R(x.std(1)),
                   R(x.std(0)),
                   FIRST(torch::var_mean(x, 1)),
                   SECOND(torch::var_mean(x, 1)),
                   FIRST(torch::std_mean(x, 1)),
                   R(x.norm(2, 1)),
                   R(x.norm(2, 1, true)),
                   R(x.norm(1, 1)),
                   R(x.renorm(2, 1, 0.5)),
                   R(torch::linalg_vector_norm(x, 2, at::IntArrayRef({1}))),
                   R(x.logsumexp(1)),
                   R(x.logsumexp(1, true)),
                   R(x.count_nonzero(at::IntArrayRef({1}))),
                   R((x > 0.5).any(1)),
                   R((x > 0.5).all(1, true)),
                   R(torch::trapezoid(x)),
                   R(torch::trapezoid(x, 1, 1)),
                   OTHER_NODE(torch::cumulative_trapezoid(x, 1, 1)),
                   R(torch::diff(x)),
                   R(torch::diff(x, 1, 1)),
                   R(x[0][0].cov()),
                   R(x[0][0].corrcoef())});
}

PARITY_CASE(layouts_reductions, extremes) {
  compare_layouts(c, c.rand({2, 4, 6, 6}, torch::kFloat, 0.1, 0.9),
                  {R(x.max()),
                   FIRST(x.max(1)),
                   SECOND(x.max(1)),
                   FIRST(x.max(3, true)),
                   FIRST(x.min(1)),
                   R(x.amax(1)),
                   R(x.amax({1}, true)),
                   R(x.amin({2, 3})),
                   OTHER_NODE(std::get<0>(x.aminmax(1))),
                   R(x.argmax(1)),
                   R(x.argmax(1, true)),
                   R(x.argmin(3)),
                   R(x.median()),
                   FIRST(x.median(1)),
                   SECOND(x.median(1, true)),
                   OTHER_NODE(std::get<0>(x.nanmedian(1))),
                   FIRST(x.mode(1)),
                   FIRST(x.kthvalue(2, 1)),
                   SECOND(x.kthvalue(2, 1, true)),
                   OTHER_NODE(x.quantile(0.4, 1)),
                   OTHER_NODE(x.quantile(0.4, 1, true)),
                   OTHER_NODE(x.quantile(torch::tensor({0.25f, 0.5f}), 1)),
                   OTHER_NODE(x.nanquantile(0.4, 1)),
                   R(x.histc(5, 0, 1))});
}

PARITY_CASE(layouts_reductions, scans) {
  compare_layouts(c, c.rand({2, 4, 6, 6}, torch::kFloat, 0.1, 0.9),
                  {R(x.cumsum(1)),
                   R(x.cumsum(3)),
                   R(x.cumsum(0, torch::kDouble)),
                   R(x.cumprod(1)),
                   FIRST(x.cummax(1)),
                   SECOND(x.cummax(1)),
                   FIRST(x.cummin(3)),
                   R(x.logcumsumexp(1)),
                   FIRST(x.sort(1)),
                   SECOND(x.sort(1)),
                   FIRST(x.sort(-1, true)),
                   R(torch::argsort(x, int64_t{1}, true)),
                   R(x.msort()),
                   FIRST(x.topk(2, 1)),
                   SECOND(x.topk(2, 1)),
                   FIRST(x.topk(2)),
                   OTHER_NODE(std::get<0>(torch::_unique(x))),
                   R(std::get<1>(torch::_unique2(x, true, true, true))),
                   R(std::get<1>(torch::unique_consecutive(x, true))),
                   R(torch::searchsorted(torch::arange(0., 1., 0.1).to(torch::kFloat), x)),
                   R(torch::bucketize(x, torch::arange(0., 1., 0.1).to(torch::kFloat))),
                   R(torch::isin(x, y)),
                   OTHER_NODE(torch::segment_reduce(x, "sum", torch::tensor({1, 1})))});
}

PARITY_CASE(layouts_reductions, softmaxes) {
  compare_layouts(c, c.rand({2, 4, 6, 6}, torch::kFloat, 0.1, 0.9),
                  {R(x.softmax(1)), R(x.softmax(3)), R(x.softmax(0)), R(x.softmax(1, torch::kDouble)),
                   R(x.log_softmax(1)), R(x.log_softmax(3)), R(torch::nn::functional::normalize(x)),
                   R(torch::nn::functional::softmin(x, 1)), R(torch::cosine_similarity(x, y)),
                   R(torch::cosine_similarity(x, y, 3)), R(torch::pairwise_distance(x, y)), R(torch::dist(x, y))});
}
