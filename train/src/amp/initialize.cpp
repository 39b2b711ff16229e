#include <halfbridge/amp/initialize.h>

#include <exception>
#include <memory>
#include <mutex>
#include <unordered_map>

#include <halfbridge/bridge/nn.h>
#include <halfbridge/grad_mode.h>
#include <halfbridge/ops.h>

#include "autograd/weak_tensor.h"
#include "gradients.h"
#include "module_hooks.h"

namespace hb::amp {

using bridge::optim::Optimizer;

namespace {

// Keyed by the optimizer's address: initialize() replaces what an earlier optimizer may have left there.
struct Scaling {
  std::unique_ptr<GradScaler> scaler;
  double fixed;      // 0: dynamic
  WeakTensor first;  // the optimizer's first parameter: another optimizer may come to stand at this address
};
std::unordered_map<const Optimizer*, Scaling>& scalers() {
  static auto& all =
      *new std::unordered_map<const Optimizer*, Scaling>;  // never destroyed: threads may ask while the process ends
  return all;
}
std::mutex scalers_mutex;

Tensor first_parameter(const Optimizer& optimizer) {
  for (const auto& group : optimizer.param_groups())
    if (!group.params().empty()) return group.params()[0];
  return {};
}

}  // namespace

namespace {
// As apex: O2 and O3 store the parameters in half.
FullPrecision bring_to(bridge::nn::Module& model, Level level, const InitializeOptions& options) {
  const ScalarType dtype = options.cast_model_type();
  if (level != Level::O2 && level != Level::O3) {
    apply_level(model, level, LevelOptions().dtype(dtype));
    return {};
  }
  HB_CHECK(is_half_type(dtype), "[initialize] expected cast_model_type Half or BFloat16, got ", dtype);
  level_for(level, device_of(model).type());
  const bool keeps_norms = options.keep_batchnorm_fp32().value_or(level == Level::O2);
  CastList black = level == Level::O2 ? get_black_list() : CastList();
  if (keeps_norms)
    black.add<bridge::nn::BatchNorm1d, bridge::nn::BatchNorm2d, bridge::nn::BatchNorm3d>();
  else
    black.remove<bridge::nn::BatchNorm1d, bridge::nn::BatchNorm2d, bridge::nn::BatchNorm3d>();
  remove_level(model);
  return store_network_in_half(model, black, dtype);
}
}  // namespace

namespace detail {
void initialize(bridge::nn::Module& model, Optimizer& optimizer, const std::string& word,
                const InitializeOptions& options) {
  Level level = parse_level(word);
  HB_CHECK(level != Level::automatic, "[initialize] expected O0, O1, O2 or O3, got '", word, "'");
  const bool dynamic = (level == Level::O1 || level == Level::O2) && options.cast_model_type() == kHalf;
  if (level == Level::O1) level = Level::automatic;
  const bool master = options.master_weights().value_or(level == Level::O2);
  HB_CHECK(!master || optimizer.supports_amp_scaling(),
           "[initialize] master weights are not supported by this optimizer; choose another level or "
           "master_weights(false)");
  const FullPrecision before = bring_to(model, level, options);
  if (master) keep_master_weights(optimizer, before);

  const double fixed = options.loss_scale().value_or(dynamic ? 0 : 1);
  HB_CHECK(fixed >= 0, "[initialize] expected a loss_scale above 0, or 0 for a dynamic one, got ", fixed);
  GradScalerOptions scaling;
  if (fixed > 0) scaling.init_scale(fixed).enabled(fixed != 1);
  std::lock_guard lock(scalers_mutex);
  const Tensor first = first_parameter(optimizer);
  HB_CHECK(first.defined(), "[initialize] expected an optimizer with parameters");
  auto& all = scalers();
  for (auto it = all.begin(); it != all.end();) it = it->second.first.is_gone() ? all.erase(it) : std::next(it);
  all[&optimizer] = {std::make_unique<GradScaler>(first.device(), scaling), fixed, WeakTensor(first)};
}
}  // namespace detail

namespace {
Scaling& scaling_of(const Optimizer& optimizer) {
  std::lock_guard lock(scalers_mutex);
  const auto found = scalers().find(&optimizer);
  const Tensor first = first_parameter(optimizer);
  HB_CHECK(found != scalers().end() && first.defined() && found->second.first.get() == &first.impl(),
           "[scale_loss] expected an optimizer that hb::amp::initialize() has prepared");
  return found->second;
}
}  // namespace

GradScaler& scaler_of(const Optimizer& optimizer) { return *scaling_of(optimizer).scaler; }

ScaledLoss::ScaledLoss(const Tensor& loss, Optimizer& optimizer)
    : optimizer_(optimizer), scaled_(scaler_of(optimizer).scale(loss)), exceptions_(std::uncaught_exceptions()) {}

ScaledLoss::~ScaledLoss() noexcept(false) {
  if (std::uncaught_exceptions() > exceptions_) return;
  const Scaling& scaling = scaling_of(optimizer_);
  GradScaler& scaler = *scaling.scaler;
  auto update = [&] { scaling.fixed > 0 ? scaler.update(scaling.fixed) : scaler.update(); };
  full_precision_grads(optimizer_);
  if (!scaler.is_enabled()) return;
  scaler.unscale_(optimizer_);
  const auto flags = scaler._found_inf_per_device(optimizer_);
  if (flags.empty()) {
    update();
    return;
  }
  const Tensor found_inf = flags[0].clone();
  update();
  if (optimizer_.supports_amp_scaling()) {
    optimizer_.set_amp_scaling({}, found_inf);
  } else if (found_inf.item<float>() != 0) {
    optimizer_.zero_grad();  // parameters without a gradient are not updated
  }
}

}  // namespace hb::amp
