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

#define HB_EPS "eps~1e-5|1e-3|1e-6|1e-12|1e-8|1e-4|1e-2|0"

const Lines& norm_lines() {
  static const Lines lines = {
      {"BatchNorm1d BatchNorm2d BatchNorm3d SyncBatchNorm",
       "num_features " HB_EPS " momentum~0.1|0.01|0.9|0.99 affine=true track_running_stats=true", batch_norm},
      {"batch_norm native_batch_norm cudnn_batch_norm", "training=false momentum~0.1|0.01|0.9|0.99 " HB_EPS,
       batch_norm},
      {"InstanceNorm1d InstanceNorm2d InstanceNorm3d",
       "num_features " HB_EPS " momentum~0.1 affine=false track_running_stats=false", instance_norm},
      {"instance_norm", "training=true momentum~0.1 " HB_EPS, instance_norm},
      {"LayerNorm layer_norm native_layer_norm", "normalized_shape " HB_EPS " elementwise_affine=true", layer_norm},
      {"RMSNorm rms_norm", "normalized_shape eps=None|1e-5|1e-6|1e-8 elementwise_affine=true", rms_norm},
      {"GroupNorm", "num_groups=32|1|2|4|8|16 num_channels " HB_EPS " affine=true", group_norm},
      {"group_norm", "num_groups=32|1|2|4|8|16 " HB_EPS, group_norm},
      {"LocalResponseNorm", "size alpha~0.0001 beta~0.75 k~1", local_response_norm},
  };
  return lines;
}

}  // namespace hb::layer_diff::replay
