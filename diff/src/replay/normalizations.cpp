#include <halfbridge/ops.h>
#include <halfbridge/ops/nn.h>

#include <halfbridge/bridge/nn/normalization.h>

#include "declarations.h"

namespace hb::layer_diff::replay {

namespace F = hb::bridge::nn::functional;

namespace {

struct Statistics {
  Tensor mean, var;
};

// The running statistics in memory of their own: a call in training mode changes them.
Statistics running(Run& run) {
  Statistics s{run.operand("running_mean", 3), run.operand("running_var", 4)};
  if (s.mean.defined()) s.mean = run.updated["running_mean"] = s.mean.clone();
  if (s.var.defined()) s.var = run.updated["running_var"] = s.var.clone();
  return s;
}

// Without a momentum the running statistics are the plain average over all batches.
double momentum(const Run& run) {
  if (run.args.has("momentum")) return run.args.number("momentum");
  const auto count = run.state.find("num_batches_tracked");
  return count == run.state.end() ? 0.0 : 1.0 / (count->second.item<double>() + 1);
}

Tensors batch_norm(Run& run) {
  const Statistics s = running(run);
  const bool from_batch = run.training() || !s.mean.defined();
  return {hb::batch_norm(run.input(0), run.operand("weight", 1), run.operand("bias", 2), s.mean, s.var, from_batch,
                         momentum(run), run.args.number("eps"))};
}

Tensors instance_norm(Run& run) {
  const Statistics s = running(run);
  return {hb::instance_norm(run.input(0), run.operand("weight", 1), run.operand("bias", 2), s.mean, s.var,
                            run.training() || !s.mean.defined(), momentum(run), run.args.number("eps"))};
}

Tensors layer_norm(Run& run) {
  const Tensor& x = run.input(0);
  const Tensor weight = run.operand("weight", 1);
  std::vector<int64_t> shape = run.args.integers("normalized_shape");
  if (shape.empty()) shape = weight.defined() ? weight.sizes().vec() : std::vector<int64_t>{x.size(-1)};
  return {hb::layer_norm(x, shape, weight, run.operand("bias", 2), run.args.number("eps"))};
}

Tensors group_norm(Run& run) {
  return {hb::group_norm(run.input(0), run.args.integer("num_groups"), run.operand("weight", 1), run.operand("bias", 2),
                         run.args.number("eps"))};
}

Tensors rms_norm(Run& run) {
  const Tensor& x = run.input(0);
  std::vector<int64_t> shape = run.args.integers("normalized_shape");
  if (shape.empty()) shape = {x.size(-1)};
  return {hb::rms_norm(x, shape, run.operand("weight", 1), run.args.optional_number("eps"))};
}

Tensors local_response_norm(Run& run) {
  const Arguments& o = run.args;
  F::LocalResponseNormFuncOptions options(o.integer("size"));
  options.alpha(o.number("alpha")).beta(o.number("beta")).k(o.number("k"));
  return {F::local_response_norm(run.input(0), options)};
}

}  // namespace

const Lines& norm_lines() {
  static const Lines lines = {
      {"batch_norm", batch_norm}, {"instance_norm", instance_norm}, {"layer_norm", layer_norm},
      {"rms_norm", rms_norm},     {"group_norm", group_norm},       {"local_response_norm", local_response_norm},
  };
  return lines;
}

}  // namespace hb::layer_diff::replay
