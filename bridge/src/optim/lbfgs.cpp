#include <halfbridge/bridge/optim/lbfgs.h>

#include <algorithm>
#include <cmath>

#include <halfbridge/autograd.h>
#include <halfbridge/ops.h>

#include "checks.h"
#include "fields.h"
#include "step_observer.h"
#include "step_watcher.h"
#include "strong_wolfe.h"

namespace hb::bridge::optim {

#define LBFGS_OPTIONS(_) \
  _(lr) _(max_iter) _(max_eval) _(tolerance_grad) _(tolerance_change) _(history_size) _(line_search_fn)
#define LBFGS_STATE(_) \
  _(func_evals) _(n_iter) _(t) _(prev_loss) _(d) _(H_diag) _(prev_flat_grad) _(old_dirs) _(old_stps) _(ro) _(al)
HB_OPTIMIZER_BOILERPLATE(LBFGS, LBFGS_OPTIONS, HB_NO_FIELDS, LBFGS_STATE)

LBFGSOptions::LBFGSOptions(double lr) : lr_(lr) {}

LBFGS::LBFGS(const std::vector<OptimizerParamGroup>& param_groups, LBFGSOptions defaults)
    : Optimizer(param_groups, std::make_unique<LBFGSOptions>(defaults)) {
  HB_CHECK(param_groups_.size() == 1, "LBFGS doesn't support per-parameter options (parameter groups)");
  if (!defaults.max_eval()) {
    const int64_t max_eval = defaults.max_iter() * 5 / 4;
    static_cast<LBFGSOptions&>(param_groups_[0].options()).max_eval(max_eval);
    static_cast<LBFGSOptions&>(*defaults_).max_eval(max_eval);
  }
}

int64_t LBFGS::numel() const {
  int64_t total = 0;
  for (const auto& p : param_groups_[0].params()) total += p.numel();
  return total;
}

Tensor LBFGS::gather_flat_grad() const {
  std::vector<Tensor> parts;
  for (const auto& p : param_groups_[0].params()) {
    const Tensor& grad = p.grad();
    if (!grad.defined())
      parts.push_back(p.new_zeros({p.numel()}));
    else
      parts.push_back((grad.is_sparse() ? grad.to_dense() : grad).reshape({-1}));
  }
  return hb::cat(parts, 0);
}

void LBFGS::add_update(double step_size, const Tensor& update) {
  int64_t offset = 0;
  for (auto& p : param_groups_[0].params()) {
    p.add_(update.narrow(0, offset, p.numel()).view(p.sizes()), step_size);
    offset += p.numel();
  }
}

std::vector<Tensor> LBFGS::clone_params() const {
  std::vector<Tensor> copies;
  for (const auto& p : param_groups_[0].params()) copies.push_back(p.clone(MemoryFormat::Contiguous));
  return copies;
}

void LBFGS::set_params(const std::vector<Tensor>& values) {
  auto& params = param_groups_[0].params();
  for (size_t i = 0; i < params.size(); ++i) params[i].copy_(values[i]);
}

namespace {
// Gradients of an evaluation overflowed in half precision (the HALFBRIDGE_AMP variable): the step is taken back.
struct Overflowed {};

void check_overflow(Optimizer& optimizer) {
  bool overflowed = false;
  StepWatchers::each([&](StepWatcher& w) { overflowed = w.evaluation_overflowed(optimizer) || overflowed; });
  if (overflowed) throw Overflowed();
}
}  // namespace

LBFGS::Start LBFGS::start(const LossClosure& closure) {
  const Tensor loss = [&] {
    AutoGradMode enable_grad(true);
    return closure();
  }();
  return {loss, {loss.item<double>(), gather_flat_grad()}};
}

LBFGS::Evaluation LBFGS::evaluate(const LossClosure& closure) {
  const Evaluation result = start(closure).at;
  check_overflow(*this);
  return result;
}

LBFGS::Evaluation LBFGS::evaluate_at(const LossClosure& closure, const std::vector<Tensor>& x, double t,
                                     const Tensor& d) {
  add_update(t, d);
  Evaluation result = evaluate(closure);
  set_params(x);
  return result;
}

namespace {
double largest(const Tensor& t) { return t.abs().max().item<double>(); }

/// Remembers the last step and the change of the gradient along it, where it curves upwards.
void update_history(LBFGSParamState& state, const LBFGSOptions& options, const Tensor& flat_grad) {
  const Tensor y = flat_grad.sub(state.prev_flat_grad()), s = state.d().mul(state.t());
  const Tensor ys = y.dot(s);
  if (ys.item<double>() <= 1e-10) return;
  if (static_cast<int64_t>(state.old_dirs().size()) >= options.history_size()) {
    state.old_dirs().pop_front();
    state.old_stps().pop_front();
    state.ro().pop_front();
  }
  state.old_dirs().push_back(y);
  state.old_stps().push_back(s);
  state.ro().push_back(ys.reciprocal());
  state.H_diag(ys / y.dot(y));
}

/// The product of the approximate inverse Hessian and -gradient, by the two loops over the history.
Tensor two_loops(LBFGSParamState& state, const Tensor& flat_grad) {
  const size_t count = state.old_dirs().size();
  std::vector<Tensor> al(count);
  Tensor q = flat_grad.neg();
  for (size_t i = count; i-- > 0;) {
    al[i] = state.old_stps()[i].dot(q) * state.ro()[i];
    q.add_(state.old_dirs()[i], -al[i].item<double>());
  }
  Tensor d = q.mul(state.H_diag());
  for (size_t i = 0; i < count; ++i) {
    const Tensor be = state.old_dirs()[i].dot(d) * state.ro()[i];
    d.add_(state.old_stps()[i], (al[i] - be).item<double>());
  }
  state.al(std::move(al));
  return d;
}
}  // namespace

void LBFGS::update_direction(LBFGSParamState& state, const LBFGSOptions& options, const Tensor& flat_grad) {
  state.n_iter(state.n_iter() + 1);
  if (state.n_iter() == 1) {
    state.d(flat_grad.neg());
    state.H_diag(scalar_tensor(1, flat_grad.options()));
    state.old_dirs({});
    state.old_stps({});
    state.ro({});
  } else {
    update_history(state, options, flat_grad);
    state.d(two_loops(state, flat_grad));
  }
  state.prev_flat_grad(flat_grad.clone());
}

Tensor LBFGS::step(const std::vector<Tensor>&, LossClosure) {
  HB_NOT_SUPPORTED("[LBFGS] step(grads) is not supported: it needs a closure that computes the gradients anew");
}

int64_t LBFGS::search_line(LBFGSParamState& state, const LossClosure& closure, double slope, Evaluation& now) {
  const auto& options = static_cast<const LBFGSOptions&>(param_groups_[0].options());
  const auto x = clone_params();
  const auto at = [&](double t) {
    auto e = evaluate_at(closure, x, t, state.d());
    const double gtd = e.flat_grad.dot(state.d()).item<double>();
    return LinePoint{t, e.loss, e.flat_grad, gtd};
  };
  const auto found = strong_wolfe(at, state.t(), largest(state.d()), LinePoint{0, now.loss, now.flat_grad, slope},
                                  options.tolerance_change());
  now = {found.point.loss, found.point.grad};
  state.t(found.point.t);
  add_update(state.t(), state.d());
  return found.evaluations;
}

int64_t LBFGS::take_full_step(LBFGSParamState& state, const LossClosure& closure, bool last, Evaluation& now) {
  add_update(state.t(), state.d());
  if (last) return 0;
  now = evaluate(closure);
  return 1;
}

void LBFGS::minimize(LBFGSParamState& state, const LossClosure& closure, Evaluation now) {
  const auto& options = static_cast<const LBFGSOptions&>(param_groups_[0].options());
  const int64_t max_eval = options.max_eval().value_or(options.max_iter() * 5 / 4);
  int64_t evals = 1;
  state.func_evals(state.func_evals() + 1);
  bool optimal = largest(now.flat_grad) <= options.tolerance_grad();
  for (int64_t n = 1; n <= options.max_iter() && !optimal; ++n) {
    update_direction(state, options, now.flat_grad);
    state.prev_loss(now.loss);
    const double first_t = std::min(1.0, 1.0 / now.flat_grad.abs().sum().item<double>()) * options.lr();
    state.t(state.n_iter() == 1 ? first_t : options.lr());
    const double slope = now.flat_grad.dot(state.d()).item<double>();
    if (slope > -options.tolerance_change()) break;

    const bool last = n == options.max_iter();
    const int64_t more =
        options.line_search_fn() ? search_line(state, closure, slope, now) : take_full_step(state, closure, last, now);
    if (options.line_search_fn() || !last) optimal = largest(now.flat_grad) <= options.tolerance_grad();
    evals += more;
    state.func_evals(state.func_evals() + more);
    if (evals >= max_eval || largest(state.d().mul(state.t())) <= options.tolerance_change() ||
        std::abs(now.loss - state.prev_loss()) < options.tolerance_change())
      break;
  }
}

Tensor LBFGS::step(LossClosure closure) {
  NoGradGuard no_grad;
  HB_CHECK(closure != nullptr, "LBFGS requires a closure function");
  HB_CHECK(param_groups_.size() == 1, "[LBFGS] param_groups_.size() == 1 expected, got ", param_groups_.size(),
           " groups");
  HB_CHECK_INDEX(!param_groups_[0].params().empty(), "[LBFGS] expected at least one parameter, got none");
  const auto& options = static_cast<const LBFGSOptions&>(param_groups_[0].options());
  HB_CHECK(!options.line_search_fn() || *options.line_search_fn() == "strong_wolfe",
           "only 'strong_wolfe' is supported");
  auto& slot = state_[param_groups_[0].params()[0].unsafeGetTensorImpl()];
  if (!slot) slot = std::make_unique<LBFGSParamState>();

  const Start first = start(closure);
  const ObservedStep observed(*this);
  std::vector<Tensor> params_before;
  std::unique_ptr<OptimizerParamState> state_before;
  try {
    check_overflow(*this);
    if (StepWatchers::any()) params_before = clone_params(), state_before = slot->clone();
    minimize(static_cast<LBFGSParamState&>(*slot), closure, first.at);
  } catch (const Overflowed&) {
    if (!params_before.empty()) set_params(params_before), slot = std::move(state_before);
  }
  return first.loss;
}

}  // namespace hb::bridge::optim
