// Losses with their weights and reductions, with targets that fit.
#include "calls.h"

using random_calls::Inputs;
using random_calls::Shape;
using torch::Tensor;

namespace {

namespace F = torch::nn::functional;

int64_t reduction(Inputs& in) { return in.between(0, 2); }

/// Classes are the second dimension of several, else the first.
struct Scores {
  int64_t classes;
  Shape shape, targets;
};
Scores scores(Inputs& in) {
  Scores s;
  s.classes = in.size(2, 5);
  const int64_t kind = in.between(0, 3);
  if (kind == 0) {
    s.shape = {s.classes};
  } else {
    s.targets = in.sizes(kind, 1, 4);
    s.shape = s.targets;
    s.shape.insert(s.shape.begin() + 1, s.classes);
  }
  return s;
}

Tensor nll(Inputs& in) {
  const Scores s = scores(in);
  const Tensor x = torch::log_softmax(in.tensor(s.shape), s.shape.size() == 1 ? 0 : 1);
  const Tensor weight = in.coin() ? in.fractions({s.classes}).detach() : Tensor();
  return torch::nll_loss_nd(x, in.integers(s.targets, 0, s.classes - 1), weight, reduction(in), in.between(-1, 2));
}

Tensor cross_entropy(Inputs& in) {
  const Scores s = scores(in);
  const Tensor x = in.tensor(s.shape);
  const Tensor weight = in.coin() ? in.fractions({s.classes}).detach() : Tensor();
  const Tensor target = in.one_of(3) ? in.fractions(s.shape) : in.integers(s.targets, 0, s.classes - 1);
  return torch::cross_entropy_loss(x, target, weight, reduction(in), in.between(-1, 2), 0.1 * in.between(0, 3));
}

Tensor bce(Inputs& in, bool logits) {
  const Shape shape = in.sizes(in.between(0, 3), 1, 4);
  const Tensor target = in.fractions(shape), x = logits ? in.tensor(shape) : in.fractions(shape);
  const Tensor weight = in.coin() ? in.fractions(shape).detach() : Tensor();
  if (!logits) return torch::binary_cross_entropy(x, target, weight, reduction(in));
  const Tensor positive = in.coin() ? in.fractions(shape).detach() : Tensor();
  return torch::binary_cross_entropy_with_logits(x, target.detach(), weight, positive, reduction(in));
}

/// f(x, y) of two tensors of one shape.
template <class Function>
Tensor of_two(Inputs& in, Function f) {
  const Shape shape = in.sizes(in.between(1, 3), 1, 5);
  const Tensor x = in.tensor(shape), y = in.tensor(shape);
  return f(x, y);
}

Tensor triplet(Inputs& in) {
  const Shape shape{in.size(1, 4), in.size(1, 5)};
  const Tensor a = in.tensor(shape), b = in.tensor(shape), c = in.tensor(shape);
  const double norm = static_cast<double>(in.between(1, 3));
  return torch::triplet_margin_loss(a, b, c, 0.7, norm, 1e-6, in.coin(), reduction(in));
}

Tensor multi_margin(Inputs& in) {
  in.full_precision();
  const int64_t n = in.size(1, 4), classes = in.size(2, 5);
  const Tensor x = in.tensor({n, classes});
  const Tensor weight = in.coin() ? in.fractions({classes}).detach() : Tensor();
  return torch::multi_margin_loss(x, in.integers({n}, 0, classes - 1), in.between(1, 2), 0.6, weight, reduction(in));
}

Tensor multilabel_margin(Inputs& in) {
  in.full_precision();
  const int64_t n = in.size(1, 4), classes = in.size(1, 5);
  const Tensor x = in.tensor({n, classes});
  return torch::multilabel_margin_loss(x, in.integers({n, classes}, -1, classes - 1), reduction(in));
}

Tensor ctc(Inputs& in) {
  in.full_precision();
  const int64_t length = in.size(2, 7), batch = in.size(1, 3), classes = in.size(2, 5), longest = in.between(1, 3);
  const Tensor x = torch::log_softmax(in.tensor({length, batch, classes}), 2);
  const Tensor targets = in.integers({batch, longest}, 1, classes - 1), lengths = in.integers({batch}, 2, length),
               target_lengths = in.integers({batch}, 1, longest);
  return torch::ctc_loss(x, targets, lengths, target_lengths, 0, reduction(in), in.coin());
}

}  // namespace

DRAWN(nll(in))
DRAWN(cross_entropy(in))
DRAWN(bce(in, false))
DRAWN(bce(in, true))
DRAWN(of_two(in, [&](auto& x, auto& y) { return torch::mse_loss(x, y, reduction(in)); }))
DRAWN(of_two(in, [&](auto& x, auto& y) { return torch::l1_loss(x, y, reduction(in)); }))
DRAWN(of_two(in, [&](auto& x, auto& y) { return torch::smooth_l1_loss(x, y, reduction(in), 0.5 * in.between(0, 3)); }))
DRAWN(of_two(in, [&](auto& x, auto& y) { return torch::huber_loss(x, y, reduction(in), 0.5 * in.between(1, 3)); }))
DRAWN(of_two(in, [&](auto& x, auto& y) { return torch::soft_margin_loss(x, y.sign(), reduction(in)); }))
DRAWN(of_two(in,
             [&](auto& x, auto& y) { return torch::hinge_embedding_loss(x, y.detach().sign(), 0.8, reduction(in)); }))
DRAWN(of_two(in, [&](auto& x, auto& y) { return torch::kl_div(x, in.coin() ? y.abs() : y, reduction(in), in.coin()); }))
DRAWN(of_two(in, [&](auto& x, auto& y) {
  return torch::poisson_nll_loss(x, y.detach().abs(), in.coin(), in.coin(), 1e-3, reduction(in));
}))
DRAWN(of_two(in, [&](auto& x, auto& y) {
  return torch::margin_ranking_loss(x, y, torch::ones_like(x), 0.3, reduction(in));
}))
DRAWN(of_two(in, [&](auto& x, auto& y) {
  return F::multilabel_soft_margin_loss(x, y.detach().gt(0).to(in.dtype), F::MultilabelSoftMarginLossFuncOptions());
}))
DRAWN(of_two(in, [&](auto& x, auto& y) {
  return torch::cosine_embedding_loss(x, y, x.detach().select(-1, 0).sign(), 0.2, reduction(in));
}))
DRAWN(of_two(in, [&](auto& x, auto& y) { return torch::cosine_similarity(x, y, in.between(-1, 0)); }))
DRAWN(of_two(in, [&](auto& x, auto& y) { return torch::pairwise_distance(x, y, in.between(1, 3), 1e-6, in.coin()); }))
DRAWN(triplet(in))
DRAWN(multi_margin(in))
DRAWN(multilabel_margin(in))
DRAWN(ctc(in))
