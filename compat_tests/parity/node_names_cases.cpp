// grad_fn()->name(): the overload's number is part of it.
#include <functional>

#include "parity/case.h"

using torch::Tensor;

namespace {
struct Row {
  const char* label;
  std::function<Tensor(const Tensor& x, const Tensor& y)> f;
};
void compare_names(parity::Case& c, const std::vector<Row>& rows) {
  const Tensor x = c.leaf_in(0.1, 0.9, {3, 4}), y = c.leaf_in(0.1, 0.9, {3, 4});
  for (const Row& row : rows) {
    const Tensor out = row.f(x, y);
    c.text(row.label, out.grad_fn() ? out.grad_fn()->name() : "none");
  }
}
}  // namespace

#define ROW(expression)                                                                                  \
  {                                                                                                      \
#expression, [](const Tensor& x, const Tensor& y) -> Tensor { return (void)x, (void)y, expression; } \
  }
#define INPLACE(call)                                     \
  {                                                       \
#call, [](const Tensor& x, const Tensor& y) -> Tensor { \
      (void)y;                                            \
      Tensor t = x.clone();                               \
      t.call;                                             \
      return t;                                           \
    } \
  }

PARITY_CASE(node_names, arithmetic) {
  compare_names(c, {ROW(x + y),
                    ROW(x + 1),
                    ROW(1 + x),
                    ROW(x.add(y, 2)),
                    ROW(x.add(1, 2)),
                    ROW(x - y),
                    ROW(x - 1),
                    ROW(x * y),
                    ROW(x * 2),
                    ROW(2 * x),
                    ROW(x / y),
                    ROW(x / 2),
                    ROW(x.true_divide(2)),
                    ROW(-x),
                    ROW(x.pow(2)),
                    ROW(x.pow(y)),
                    ROW(torch::pow(2, x)),
                    ROW(x.fmod(2)),
                    ROW(x.fmod(y)),
                    ROW(x.remainder(2)),
                    ROW(x.remainder(y)),
                    ROW(x.xlogy(y)),
                    ROW(x.xlogy(2)),
                    ROW(x.atan2(y)),
                    ROW(torch::addcmul(x, y, y)),
                    ROW(x.lerp(y, 0.5)),
                    ROW(x.lerp(y, y)),
                    ROW(torch::where(y > 0.5, x, y))});
}

PARITY_CASE(node_names, reductions) {
  compare_names(c, {ROW(x.sum()), ROW(x.sum(0)), ROW(x.sum(torch::kDouble)), ROW(x.mean()), ROW(x.mean(0)),
                    ROW(x.prod()), ROW(x.prod(0)), ROW(x.max()), ROW(x.amax(0)), ROW(x.logsumexp(0)), ROW(x.softmax(0)),
                    ROW(x.cumsum(0)), ROW(x.std()), ROW(x.var(0)), ROW(x.median())});
}

PARITY_CASE(node_names, elementwise_and_views) {
  compare_names(c, {ROW(x.clamp(0, 1)),
                    ROW(x.clamp_min(0)),
                    ROW(x.clamp_max(1)),
                    ROW(x.clamp(y, y)),
                    ROW(x.clamp_min(y)),
                    ROW(x.clamp_max(y)),
                    ROW(x.round()),
                    ROW(x.round(1)),
                    ROW(x.tanh()),
                    ROW(x.atanh()),
                    ROW(torch::celu(x)),
                    ROW(torch::elu(x)),
                    ROW(x.masked_fill(y > 0.5, 1)),
                    ROW(x.masked_fill(y > 0.5, y.sum())),
                    ROW(x.squeeze()),
                    ROW(x.squeeze(0)),
                    ROW(x.squeeze(at::IntArrayRef({0, 1}))),
                    ROW(x.unsqueeze(0)),
                    ROW(x.view({12})),
                    ROW(x.transpose(0, 1)),
                    ROW(x[0]),
                    ROW(x.to(torch::kDouble)),
                    ROW(x.clone()),
                    ROW(torch::cat({x, y}))});
}

PARITY_CASE(node_names, in_place) {
  compare_names(c, {INPLACE(add_(1)), INPLACE(add_(y)), INPLACE(sub_(1)), INPLACE(mul_(2)), INPLACE(mul_(y)),
                    INPLACE(div_(2)), INPLACE(pow_(2)), INPLACE(pow_(y)), INPLACE(clamp_min_(0)), INPLACE(copy_(y)),
                    INPLACE(select(0, 0).mul_(2)), INPLACE(slice(0, 0, 2).add_(1))});
}

PARITY_CASE(node_names, pooling) {
  const Tensor x4 = c.leaf({2, 4, 6, 6}), x5 = c.leaf({1, 2, 4, 4, 4});
  const auto name = [&](const char* label, const Tensor& t) { c.text(label, t.grad_fn()->name()); };
  name("max2", torch::max_pool2d(x4, 2));
  name("max3", torch::max_pool3d(x5, 2));
  name("avg2", torch::avg_pool2d(x4, 2));
  name("avg3", torch::avg_pool3d(x5, 2));
  name("adaptive_avg2", torch::adaptive_avg_pool2d(x4, {2, 2}));
  name("adaptive_avg3", torch::adaptive_avg_pool3d(x5, {2, 2, 2}));
  name("adaptive_max2", std::get<0>(torch::adaptive_max_pool2d(x4, {2, 2})));
  name("adaptive_max3", std::get<0>(torch::adaptive_max_pool3d(x5, {2, 2, 2})));
}

// Functions that are composed of others here and one node in LibTorch.
PARITY_CASE(node_names, composed) {
  compare_names(c, {ROW(torch::addbmm(x.mm(y.t()), torch::stack({x, x}), torch::stack({y.t(), y.t()}))),
                    ROW(torch::combinations(x[0])),
                    ROW(at::sigmoid_backward(x, y)),
                    ROW(at::tanh_backward(x, y)),
                    ROW(x.repeat({2, 2})),
                    ROW(x.tile({2})),
                    ROW(x.roll(1)),
                    ROW(x.roll({1}, {0})),
                    ROW(x.rot90()),
                    ROW(x.t()),
                    ROW(x.transpose(0, 1)),
                    ROW(torch::stack({x, y})),
                    ROW(torch::block_diag({x, y})),
                    ROW(torch::kron(x, y)),
                    ROW(torch::cdist(x, y)),
                    ROW(torch::dist(x, y)),
                    ROW(torch::pairwise_distance(x, y)),
                    ROW(torch::matrix_exp(x.mm(y.t()))),
                    ROW(torch::mv(x, y[0])),
                    ROW(torch::matmul(x, y[0])),
                    ROW(torch::vdot(x[0], y[0])),
                    ROW(torch::addmv(x.select(1, 0), x, y[0])),
                    ROW(torch::addr(x, x.select(1, 0), y[0])),
                    ROW(x.mm(y.t()).trace()),
                    ROW(x.take(torch::tensor({0, 3}))),
                    ROW(x.index({torch::tensor({0, 2})})),
                    ROW(x.index({x > 0.5})),
                    ROW(x.norm()),
                    ROW(x.norm(1)),
                    ROW(x.norm(2, 0)),
                    ROW(x.renorm(2, 0, 0.5)),
                    ROW(torch::complex(x, y)),
                    ROW(torch::polar(x, y)),
                    ROW(x.sgn()),
                    ROW(torch::complex(x, y).sgn()),
                    ROW(x.deg2rad()),
                    ROW(x.rad2deg()),
                    ROW(x.sinc()),
                    ROW(torch::logaddexp2(x, y)),
                    ROW(torch::rrelu(x)),
                    ROW(torch::prelu(x, y[0])),
                    ROW(torch::mvlgamma(x + 3, 2)),
                    ROW(torch::pixel_shuffle(x.view({1, 4, 1, 3}), 2)),
                    ROW(torch::pixel_unshuffle(x.repeat({2, 2}).view({1, 3, 4, 4}), 2)),
                    ROW(torch::_upsample_bilinear2d_aa(x.view({1, 1, 3, 4}), {2, 2}, false)),
                    ROW(torch::_upsample_bicubic2d_aa(x.view({1, 1, 3, 4}), {2, 2}, false)),
                    ROW(torch::channel_shuffle(x.view({1, 4, 3}), 2))});
}
