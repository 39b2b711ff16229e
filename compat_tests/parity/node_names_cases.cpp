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
                    ROW(1 - x),
                    ROW(x * y),
                    ROW(x * 2),
                    ROW(2 * x),
                    ROW(x / y),
                    ROW(x / 2),
                    ROW(2 / x),
                    ROW(x.true_divide(2)),
                    ROW(x.div(y, std::nullopt)),
                    ROW(x.div(y, "floor")),
                    ROW(x.div(2, "trunc")),
                    ROW(torch::soft_margin_loss(x, y.detach())),
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
  compare_names(
      c, {INPLACE(add_(1)), INPLACE(add_(y)), INPLACE(sub_(1)), INPLACE(mul_(2)), INPLACE(mul_(y)), INPLACE(div_(2)),
          INPLACE(div_(y, "floor")), INPLACE(div_(2, "trunc")), INPLACE(pow_(2)), INPLACE(pow_(y)),
          INPLACE(clamp_min_(0)), INPLACE(copy_(y)), INPLACE(select(0, 0).mul_(2)), INPLACE(slice(0, 0, 2).add_(1))});
#define INPLACE_FUNCTION(name, ...)                                                                                            \
  {                                                                                                                            \
#name, [](const Tensor& x, const Tensor&) -> Tensor { Tensor t = x.clone(); return torch::name(t __VA_OPT__(,) __VA_ARGS__); } \
  }
  compare_names(c, {INPLACE_FUNCTION(elu_), INPLACE_FUNCTION(celu_), INPLACE_FUNCTION(selu_), INPLACE_FUNCTION(rrelu_),
                    INPLACE_FUNCTION(rrelu_, 0.1, 0.2, true), INPLACE_FUNCTION(hardtanh_), INPLACE_FUNCTION(relu6_),
                    INPLACE_FUNCTION(leaky_relu_), INPLACE_FUNCTION(threshold_, 0.5, 0), INPLACE_FUNCTION(relu_)});
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
                    ROW(torch::cdist(x, y, 1)),
                    ROW(torch::cdist(x, y, 2, 1)),
                    ROW(torch::cdist(x.repeat({10, 1}), y)),
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

// The nodes of gradients that are to be differentiated again.
PARITY_CASE(node_names, second_gradients) {
  const auto name = [&](const std::string& label, const Tensor& x, const std::function<Tensor(const Tensor&)>& f) {
    const Tensor y = f(x);
    const Tensor g = c.leaf(y.sizes().vec(), y.scalar_type());
    const Tensor gradient = torch::autograd::grad({y}, {x}, {g}, std::nullopt, true)[0];
    c.text(label, gradient.grad_fn() ? gradient.grad_fn()->name() : "none");
  };
#define SECOND(input, expression) name(#expression, input, [&](const Tensor& x) -> Tensor { return expression; })
  const Tensor x = c.leaf_in(0.1, 0.9, {3, 4}), y = c.rand({3, 4}, torch::kFloat, 0.1, 0.9);
  const Tensor line = c.leaf({2, 3, 6}), image = c.leaf({2, 3, 6, 6}), volume = c.leaf({1, 2, 4, 4, 4});
  const Tensor classes = c.randint(0, 4, {3}, torch::kLong);
  SECOND(x, torch::gelu(x));
  SECOND(x, torch::gelu(x, "tanh"));
  SECOND(x, torch::glu(x));
  SECOND(x, torch::hardtanh(x));
  SECOND(x, torch::relu6(x));
  SECOND(x, torch::leaky_relu(x));
  SECOND(x, torch::elu(x));
  SECOND(x, torch::celu(x));
  SECOND(x, torch::selu(x));
  SECOND(x, torch::softplus(x));
  SECOND(x, torch::hardswish(x));
  SECOND(x, torch::softshrink(x));
  SECOND(x, torch::hardshrink(x));
  SECOND(x, torch::log_sigmoid(x));
  SECOND(x, torch::silu(x));
  SECOND(x, torch::mish(x));
  SECOND(x, torch::logit(x));
  SECOND(x, torch::prelu(x, y[0]));
  SECOND(x, torch::relu(x));
  SECOND(x, torch::threshold(x, 0.5, 1));
  SECOND(x, x.softmax(1));
  SECOND(x, x.log_softmax(1));
  SECOND(x, torch::mse_loss(x, y));
  SECOND(x, torch::smooth_l1_loss(x, y));
  SECOND(x, torch::huber_loss(x, y));
  SECOND(x, torch::binary_cross_entropy(x, y));
  SECOND(x, torch::nll_loss(x, classes));
  SECOND(image, torch::nll_loss2d(x, c.randint(0, 3, {2, 6, 6}, torch::kLong)));
  SECOND(x, torch::embedding(x, c.randint(0, 3, {5}, torch::kLong)));
  SECOND(x, torch::layer_norm(x, {4}));
  SECOND(image, torch::max_pool2d(x, 2));
  SECOND(image, torch::avg_pool2d(x, 2));
  SECOND(volume, torch::max_pool3d(x, 2));
  SECOND(volume, torch::avg_pool3d(x, 2));
  SECOND(image, torch::adaptive_avg_pool2d(x, {2, 2}));
  SECOND(volume, torch::adaptive_avg_pool3d(x, {2, 2, 2}));
  SECOND(image, std::get<0>(torch::adaptive_max_pool2d(x, {2, 2})));
  SECOND(volume, std::get<0>(torch::adaptive_max_pool3d(x, {2, 2, 2})));
  SECOND(line, torch::reflection_pad1d(x, {1, 1}));
  SECOND(image, torch::reflection_pad2d(x, {1, 1, 1, 1}));
  SECOND(line, torch::replication_pad1d(x, {1, 1}));
  SECOND(image, torch::replication_pad2d(x, {1, 1, 1, 1}));
  SECOND(volume, torch::replication_pad3d(x, {1, 1, 1, 1, 1, 1}));
  SECOND(line, torch::upsample_nearest1d(x, {8}));
  SECOND(image, torch::upsample_nearest2d(x, {8, 8}));
  SECOND(volume, torch::upsample_nearest3d(x, {8, 8, 8}));
  SECOND(line, torch::upsample_linear1d(x, {8}, false));
  SECOND(image, torch::upsample_bilinear2d(x, {8, 8}, false));
  SECOND(image, torch::upsample_bicubic2d(x, {8, 8}, false));
  SECOND(volume, torch::upsample_trilinear3d(x, {8, 8, 8}, false));
  SECOND(image, torch::conv2d(x, c.randn({4, 3, 3, 3})));
  SECOND(x, x.index_select(0, torch::tensor({0, 2})));
  SECOND(x, x.gather(0, torch::tensor({{0, 2}})));
  SECOND(x, x.select(0, 1));
  SECOND(x, x.slice(0, 1, 3));
  SECOND(x, x.diagonal());
  SECOND(x, x.unfold(0, 2, 1));
  SECOND(x, x.cumsum(0));
  SECOND(x, x.masked_select(y > 0.5));
  SECOND(x, std::get<0>(x.max(0)));
  SECOND(x, std::get<0>(x.sort(0)));
#undef SECOND
}
