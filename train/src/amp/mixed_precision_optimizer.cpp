#include <halfbridge/amp/mixed_precision_optimizer.h>

#include <cmath>

namespace hb::amp {

namespace {
GradScalerOptions with_first_scale(GradScalerOptions options, double fixed) {
  if (fixed > 0) options.init_scale(fixed);
  return options;
}
Device device_of(const bridge::optim::Optimizer& optimizer) {
  for (const auto& group : optimizer.param_groups())
    if (!group.params().empty()) return group.params()[0].device();
  HB_CHECK(false, "[enable_mixed_precision] expected an optimizer with parameters");
}
}  // namespace

FixedOrDynamic::FixedOrDynamic(double scale) : fixed_(scale) {
  if (!(scale > 0) || !std::isfinite(scale))
    hb::detail::fail<ValueError>("[loss_scale] expected a number above 0 or \"dynamic\", got ", scale);
}
FixedOrDynamic::FixedOrDynamic(const char* word) {
  if (std::string("dynamic") != word)
    hb::detail::fail<ValueError>("[loss_scale] expected a number above 0 or \"dynamic\", got '", word, "'");
}

MixedPrecisionOptimizer::MixedPrecisionOptimizer(Optimizer& optimizer, const FixedOrDynamic& loss_scale,
                                                 GradScalerOptions options)
    : optimizer_(optimizer),
      fixed_(loss_scale.fixed()),
      scaler_(device_of(optimizer), with_first_scale(std::move(options), fixed_)) {}

Tensor MixedPrecisionOptimizer::step() {
  const Tensor result = scaler_.step(optimizer_);
  adapt();
  return result;
}
Tensor MixedPrecisionOptimizer::step(const std::vector<Tensor>& grads) {
  const Tensor result = scaler_.step(optimizer_, grads);
  adapt();
  return result;
}
void MixedPrecisionOptimizer::adapt() { fixed_ > 0 ? scaler_.update(fixed_) : scaler_.update(); }

}  // namespace hb::amp
