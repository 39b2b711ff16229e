#pragma once

#include <deque>
#include <optional>
#include <string>

#include <halfbridge/bridge/optim/declare.h>

namespace hb::bridge::optim {

struct HB_API LBFGSOptions : public OptimizerCloneableOptions<LBFGSOptions> {
  LBFGSOptions(double lr = 1);  // NOLINT: implicit as in LibTorch
  HB_ARG(double, lr) = 1;
  HB_ARG(int64_t, max_iter) = 20;
  HB_ARG(std::optional<int64_t>, max_eval) = std::nullopt;
  HB_ARG(double, tolerance_grad) = 1e-7;
  HB_ARG(double, tolerance_change) = 1e-9;
  HB_ARG(int64_t, history_size) = 100;
  HB_ARG(std::optional<std::string>, line_search_fn) = std::nullopt;

  HB_OPTIONS_METHODS(LBFGSOptions);
};
extern template class OptimizerCloneableOptions<LBFGSOptions>;

struct HB_API LBFGSParamState : public OptimizerCloneableParamState<LBFGSParamState> {
  HB_ARG(int64_t, func_evals) = 0;
  HB_ARG(int64_t, n_iter) = 0;
  HB_ARG(double, t) = 0;
  HB_ARG(double, prev_loss) = 0;
  HB_ARG(Tensor, d);
  HB_ARG(Tensor, H_diag);
  HB_ARG(Tensor, prev_flat_grad);
  HB_ARG(std::deque<Tensor>, old_dirs);
  HB_ARG(std::deque<Tensor>, old_stps);
  HB_ARG(std::deque<Tensor>, ro);
  HB_ARG(std::optional<std::vector<Tensor>>, al) = std::nullopt;

  HB_STATE_METHODS(LBFGSParamState);
};
extern template class OptimizerCloneableParamState<LBFGSParamState>;

/// Limited-memory BFGS, with a strong-Wolfe line search if line_search_fn is "strong_wolfe". Takes one parameter group;
/// its state is that of the first parameter.
class HB_API LBFGS : public Optimizer {
  HB_OPTIMIZER_METHODS(LBFGS, = {})
  using Optimizer::step;
  Tensor step(LossClosure closure) override;
  /// Not supported: every step needs gradients at several points.
  Tensor step(const std::vector<Tensor>& grads, LossClosure closure = nullptr) override;

 private:
  struct Evaluation {
    double loss;
    Tensor flat_grad;
  };
  int64_t numel() const;
  Tensor gather_flat_grad() const;
  /// p += step_size * (its part of update)
  void add_update(double step_size, const Tensor& update);
  std::vector<Tensor> clone_params() const;
  void set_params(const std::vector<Tensor>& values);
  /// The point that a step begins with: the closure's loss as it gave it, for step() to return, and that as a number.
  struct Start {
    Tensor loss;
    Evaluation at;
  };
  Start start(const LossClosure& closure);
  Evaluation evaluate(const LossClosure& closure);
  Evaluation evaluate_at(const LossClosure& closure, const std::vector<Tensor>& x, double t, const Tensor& d);
  void update_direction(LBFGSParamState& state, const LBFGSOptions& options, const Tensor& flat_grad);
  /// Goes along the direction, `now` with it; the number of evaluations.
  int64_t search_line(LBFGSParamState& state, const LossClosure& closure, double slope, Evaluation& now);
  /// Evaluates at the end of the full step; the last point's gradient is of no use to anybody.
  int64_t take_full_step(LBFGSParamState& state, const LossClosure& closure, bool last, Evaluation& now);
  void minimize(LBFGSParamState& state, const LossClosure& closure, Evaluation now);
};

}  // namespace hb::bridge::optim
