// Short programs: views, steps in place, new tensors, functions of their own and changes of what wants a gradient, in
// random order. Of all tensors are shown the values, gradients and what is known of each.
#include <algorithm>

#include "calls.h"
#include "own_functions.h"

using random_calls::Inputs;
using random_calls::Shape;
using random_calls::Tensors;
using torch::Tensor;

namespace {

constexpr double kRefused = -77777;  // as compare.py knows it

int64_t dim_of(Inputs& in, const Tensor& t) { return t.dim() == 0 ? 0 : in.between(-t.dim(), t.dim() - 1); }

Tensor view_of(Inputs& in, const Tensor& t) {
  const int64_t d = dim_of(in, t), kind = in.between(0, 15);
  in.note("view");
  switch (kind) {
    case 0:
      return t.select(d, -1);
    case 1:
      return t.slice(d, 0, std::nullopt, 2);
    case 2:
      return t.transpose(d, 0);
    case 3:
      return t.unsqueeze(d);
    case 4:
      return t.view({-1});
    case 5:
      return t.diagonal(0, 0, 1);
    case 6:
      return t.expand({2, -1, -1});
    case 7:
      return t.detach();
    case 8:
      return t.narrow(d, 0, 1);
    case 9:
      return t.squeeze();
    case 10:
      return t.flatten();
    case 11:
      return t.movedim(d, 0);
    case 12:
      return t.swapaxes(d, -1);
    case 13:
      return t.view_as(t);
    case 14:
      return t.alias();
    default:
      return t.reshape({t.numel(), 1});
  }
}

Tensor result_of(Inputs& in, const Tensor& t, const Tensor& u) {
  const int64_t kind = in.between(0, 13);
  in.note("result");
  switch (kind) {
    case 0:
      return t * u;
    case 1:
      return t + u;
    case 2:
      return t.sigmoid();
    case 3:
      return t.exp().clamp_max(5);
    case 4:
      return t.sum(dim_of(in, t), true);
    case 5:
      return t.clone();
    case 6:
      return t.contiguous();
    case 7:
      return torch::cat({t.flatten(), u.flatten()});
    case 8:
      return t.to(torch::kFloat);
    case 9:
      return t.max();
    case 10:
      return torch::where(t > 0, t, u);
    case 11:
      return t.relu();
    case 12:
      return t.tanh();
    default:
      return t.mean() * u;
  }
}

void step_in_place(Inputs& in, Tensor t, const Tensor& other, bool alone) {
  const int64_t kind = in.between(0, 17);
  in.note("in place");
  // Where the two overlap in part, LibTorch refuses some and computes anything of others.
  const Tensor u = t.is_alias_of(other) && !t.is_same(other) ? other.clone() : other;
  const bool leaf = t.requires_grad() && t.is_leaf();
  switch (kind) {
    case 0:
      t.mul_(u);
      break;
    case 1:
      t.add_(u, 0.5);
      break;
    case 2:
      t.zero_();
      break;
    case 3:
      t.copy_(u);
      break;
    case 4:
      t.sigmoid_();
      break;
    case 5:
      t.masked_fill_(t > 0.5, 0.25);
      break;
    case 6:
      t.select(dim_of(in, t), 0).mul_(3);
      break;
    case 7:
      if (!leaf) t.t_();
      break;
    case 8:
      if (!leaf) t.squeeze_();
      break;
    case 9:
      if (!leaf) t.unsqueeze_(0);  // the accumulator has the leaf's earlier shape
      break;
    case 10:
      if (alone) t.detach_();
      break;
    case 11:
      t.requires_grad_(in.coin());
      break;
    case 12:
      t.index_put_({0}, u);
      break;
    case 13:
      t.sub_(t.mean());
      break;
    case 14:
      if (t.is_leaf() && !t.is_view()) t.set_data(t.detach() * 1.25);
      break;
    case 15:
      if (t.is_leaf()) t.data().mul_(2);
      break;
    case 16:
      t.relu_();
      break;
    default:
      t.fill_(0.75);
      break;
  }
}

void backward_of(Inputs& in, const Tensor& t) {
  in.note("backward");
  t.sum().backward({}, in.coin());
}

/// Hooks, kept gradients, gradients of some tensors alone and changes of gradients.
void differentiate(Inputs& in, std::vector<Tensor>& all, Tensor t, const Tensor& u) {
  const int64_t kind = in.between(0, 8);
  in.note("differentiate");
  switch (kind) {
    case 0:
      t.retain_grad();
      break;
    case 1:
      t.register_hook([](const Tensor& gradient) { return gradient * 0.5; });
      break;
    case 2:
      t.register_hook([t](const Tensor& gradient) { return gradient + t.detach(); });
      break;
    case 3:
      all.push_back(torch::autograd::grad({t.square().sum()}, {u}, {}, in.coin(), in.coin(), true)[0]);
      if (!all.back().defined()) all.back() = torch::zeros({});
      break;
    case 4:
      t.square().sum().backward({}, in.coin(), false, std::vector<Tensor>{u});
      break;
    case 5:
      t.square().sum().backward({}, true, true);
      break;
    case 6:
      if (t.grad().defined()) t.mutable_grad().mul_(0.5);
      break;
    case 7:
      t.mutable_grad() = in.coin() ? torch::Tensor() : torch::ones_like(t).detach();
      break;
    default:
      if (t.grad().defined()) t.add_(t.grad(), -0.1);
      break;
  }
}

/// One step; what is refused leaves a mark among the results.
void step(Inputs& in, std::vector<Tensor>& all, std::vector<double>& marks) {
  const auto any = [&] { return all[in.between(0, static_cast<int64_t>(all.size()) - 1)]; };
  const Tensor t = any(), u = any();
  const int64_t kind = in.between(0, 24);
  const bool unrecorded = in.one_of(6);
  if (unrecorded) in.note("no_grad");
  double mark = static_cast<double>(kind);
  try {
    const torch::AutoGradMode mode(!unrecorded);
    if (kind < 6)
      all.push_back(view_of(in, t));
    else if (kind < 12)
      all.push_back(result_of(in, t, u));
    else if (kind < 18)
      step_in_place(in, t, u,
                    std::none_of(all.begin(), all.end(), [&](auto& v) { return v.is_alias_of(t) && !v.is_same(t); }));
    else if (kind < 20)
      backward_of(in, t);
    else if (kind < 23)
      differentiate(in, all, t, u);
    else
      for (const Tensor& result : random_calls::own_function(in, t, u)) all.push_back(result);
  } catch (const c10::Error&) {
    mark = kRefused;
  }
  marks.push_back(mark);
}

/// Flags, version and place in memory; nothing where the graph refuses to say.
std::vector<double> known_of(const Tensor& t) try {
  return {static_cast<double>(t.grad_fn() != nullptr),
          static_cast<double>(t.requires_grad()),
          static_cast<double>(t.is_leaf()),
          static_cast<double>(t.is_view()),
          static_cast<double>(t._version()),
          static_cast<double>(t.storage_offset()),
          static_cast<double>(t.is_contiguous()),
          static_cast<double>(t.output_nr())};
} catch (const c10::Error&) {
  return {};
}

Tensors program(Inputs& in) {
  in.dtype = torch::kDouble;
  std::vector<Tensor> all{in.tensor(in.numbers(2, 1, 4)), in.tensor(in.numbers(in.between(0, 2), 1, 4)), in.tensor({})};
  for (Tensor& t : all)
    if (!t.requires_grad()) t = t.clone();
  std::vector<double> marks;
  for (int64_t n = in.between(2, 9); n > 0; --n) step(in, all, marks);
  Tensors shown{torch::tensor(marks)};
  for (const Tensor& t : all) {
    const auto known = known_of(t);
    shown.push_back(torch::tensor(known));
    shown.push_back(known.empty() ? t.detach() : t);
    if ((t.is_leaf() || t.retains_grad()) && t.grad().defined()) shown.push_back(t.grad().detach().clone());
  }
  return shown;
}

}  // namespace

DRAWN(program(in))
