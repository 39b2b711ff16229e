#include <cmath>

#include <halfbridge/ops.h>
#include <halfbridge/ops/random.h>

#include "autograd/record.h"
#include "backend/distributions.h"
#include "core/function_watch.h"
#include "ops/common/inplace.h"
#include "ops/nn/mask_watch.h"

namespace hb {

namespace {

enum class Grain { element, feature };

/// Elements side by side in memory for which a thread of PyTorch's dropout on CUDA draws: as many as 16 bytes hold, if
/// they fill the tensor and it begins at a multiple of their size.
int64_t neighbours(const Tensor& input) {
  if (!input.is_non_overlapping_and_dense()) return 1;
  int64_t together = 16 / static_cast<int64_t>(element_size(input.scalar_type()));
  while (together > 1 && (input.numel() % together != 0 || input.storage_offset() % together != 0)) together /= 2;
  return together;
}

/// Whether the input's device draws the masks of dropout in an order of its own.
bool device_draws(const Tensor& input) {
  return dropout_mask_kernel.available(input.device()) && input.is_floating_point();
}
Tensor mask_of_device(const Tensor& input, ScalarType dtype, double p, double yes) {
  const int64_t together = neighbours(input);
  const TensorOptions options = input.options().dtype(dtype);
  // Threads that draw for single elements go through them as they are counted, not as they lie in memory.
  Tensor mask =
      together == 1 || input.impl().is_deferred() ? empty(input.sizes(), options) : empty_like(input.detach(), options);
  dropout_mask_kernel(input.device())(mask, input.scalar_type(), 1 - p, yes, together);
  return mask;
}

/// Memory for a mask that drops single values, or whole channels of (N, C, ...).
Tensor empty_mask(const Tensor& input, Grain grain) {
  HB_CHECK(input.is_floating_point(), "result type Float can't be cast to the desired output type ",
           toString(input.scalar_type()));
  // The mask is drawn in the order in which the input lies in memory, as the program sees it.
  if (grain == Grain::element && !input.impl().is_deferred()) return empty_like(input.detach());
  DimVector sizes(input.sizes());
  if (grain == Grain::feature) {
    HB_CHECK(input.dim() >= 2, "Feature dropout requires at least 2 dimensions in the input");
    for (size_t d = 2; d < sizes.size(); ++d) sizes[d] = 1;
  }
  return empty({sizes.data(), sizes.size()}, input.options());
}

enum class Order { plain, device };

/// `yes` where the input is kept, 0 where it is dropped. Dropout of single values is drawn in the device's own order,
/// but not in place, as in PyTorch.
Tensor mask_for(const Tensor& input, Grain grain, double p, double yes, Order order = Order::plain) {
  Tensor mask;
  if (order == Order::device && grain == Grain::element && device_draws(input)) {
    mask = mask_of_device(input, input.scalar_type(), p, yes);
  } else {
    mask = empty_mask(input, grain);
    bernoulli_kernel(mask.device())(mask, 1 - p, yes, std::nullopt);
  }
  Watchers<MaskWatcher>::each([&](MaskWatcher& w) { w.drawn(mask, yes); });
  return mask;
}

void check_probability(double p) {
  HB_CHECK(p >= 0 && p <= 1, "dropout probability has to be between 0 and 1, but got ", p);
}
bool changes_nothing(const Tensor& input, double p, bool train) { return p == 0 || !train || input.numel() == 0; }

Tensor zero_factor(const Tensor& input) { return zeros({}, input.options()); }

/// 1 / (1 - p) as LibTorch divides: in float, or in double for double.
double keep_scale(const Tensor& input, double p) {
  return input.scalar_type() == kDouble ? 1 / (1 - p) : static_cast<double>(1.0f / static_cast<float>(1 - p));
}

/// Whether the device can multiply where it draws. A watcher wants to see the mask before.
bool multiplies_at_once(const Tensor& input, int64_t together) {
  if (together == 1 || input.impl().is_deferred() || Watchers<MaskWatcher>::any()) return false;
  if (!device_draws(input) || !dropout_kernel.available(input.device())) return false;
  const auto at = reinterpret_cast<uintptr_t>(input.impl().visible_data());
  return at % (static_cast<size_t>(together) * input.itemsize()) == 0;
}
/// input * mask_for(input, …). The mask is kept for a gradient alone.
Tensor times_drawn_mask(const Tensor& input, double p, double yes, int64_t together) {
  const Tensor x = input.detach(), mask = needs_grad(input) ? empty_like(x) : Tensor();
  Tensor out = empty_like(x);
  dropout_kernel(x.device())(out, mask, x, 1 - p, yes, together);
  if (mask.defined())
    record("MulBackward0", out, {&input}, {SavedTensor::input(mask)},
           [](Backward& b, auto& s) -> variable_list { return {b.grad() * s[0]}; });
  return out;
}

Tensor plain(const Tensor& input, double p, bool train, Grain grain) {
  check_probability(p);
  if (changes_nothing(input, p, train)) return input;
  if (p == 1) return input * zero_factor(input);
  if (grain == Grain::element)
    if (const int64_t together = neighbours(input); multiplies_at_once(input, together))
      return times_drawn_mask(input, p, keep_scale(input, p), together);
  return input * mask_for(input, grain, p, keep_scale(input, p), Order::device);
}
Tensor& plain_(Tensor& input, double p, bool train, Grain grain) {
  check_probability(p);
  if (changes_nothing(input, p, train)) return input;
  return input.mul_(p == 1 ? zero_factor(input) : mask_for(input, grain, p, keep_scale(input, p)));
}

/// Factor and offset that keep mean and variance of a SELU network's values: dropped values become -alpha'.
struct AlphaNoise {
  Tensor factor, offset;
};
AlphaNoise alpha_noise(const Tensor& input, double p, Grain grain) {
  constexpr double alpha = 1.7580993408473766;
  const double a = 1.0 / std::sqrt((alpha * alpha * p + 1) * (1 - p));
  Tensor mask = mask_for(input, grain, p, 1.0);
  Tensor offset = mask.add(-1).mul_(alpha * a).add_(alpha * a * p);
  return {mask.mul_(a), offset};
}
Tensor alpha(const Tensor& input, double p, bool train, Grain grain) {
  check_probability(p);
  if (changes_nothing(input, p, train)) return input;
  if (p == 1) return input * zero_factor(input);
  const AlphaNoise noise = alpha_noise(input, p, grain);
  return (input * noise.factor).add_(noise.offset);
}
Tensor& alpha_(Tensor& input, double p, bool train, Grain grain) {
  check_probability(p);
  if (changes_nothing(input, p, train)) return input;
  if (p == 1) return input.mul_(zero_factor(input));
  const AlphaNoise noise = alpha_noise(input, p, grain);
  return input.mul_(noise.factor).add_(noise.offset);
}

}  // namespace

std::tuple<Tensor, Tensor> native_dropout(const Tensor& input, double p, std::optional<bool> train) {
  HB_FUNCTION(native_dropout, input, p, train);
  check_probability(p);
  const TensorOptions bools = input.options().dtype(kBool);
  if (!train.value_or(true) || input.numel() == 0) return {input.clone(), ones_like(input.detach(), bools)};
  if (p < 1 && device_draws(input)) {
    const Tensor mask = mask_of_device(input, kBool, p, 1);
    return {input * mask * keep_scale(input, p), mask};
  }
  const Tensor mask = empty_like(input.detach(), bools).bernoulli_(1 - p);
  return {input * mask * (p == 1 ? 0 : 1 / (1 - p)), mask};
}
// These take undefined tensors, which come back as they are: nothing is dropped of them.
Tensor dropout(const Tensor& input, double p, bool train) {
  HB_WATCHED_FUNCTION(dropout, input, p, train);
  return plain(input, p, train, Grain::element);
}
Tensor& dropout_(Tensor& input, double p, bool train) {
  HB_WATCHED_FUNCTION(dropout_, input, p, train);
  return plain_(input, p, train, Grain::element);
}
Tensor feature_dropout(const Tensor& input, double p, bool train) {
  HB_WATCHED_FUNCTION(feature_dropout, input, p, train);
  return plain(input, p, train, Grain::feature);
}
Tensor& feature_dropout_(Tensor& input, double p, bool train) {
  HB_WATCHED_FUNCTION(feature_dropout_, input, p, train);
  return plain_(input, p, train, Grain::feature);
}
Tensor alpha_dropout(const Tensor& input, double p, bool train) {
  HB_WATCHED_FUNCTION(alpha_dropout, input, p, train);
  return alpha(input, p, train, Grain::element);
}
Tensor& alpha_dropout_(Tensor& input, double p, bool train) {
  HB_WATCHED_FUNCTION(alpha_dropout_, input, p, train);
  return alpha_(input, p, train, Grain::element);
}
Tensor feature_alpha_dropout(const Tensor& input, double p, bool train) {
  HB_WATCHED_FUNCTION(feature_alpha_dropout, input, p, train);
  return alpha(input, p, train, Grain::feature);
}
Tensor& feature_alpha_dropout_(Tensor& input, double p, bool train) {
  HB_WATCHED_FUNCTION(feature_alpha_dropout_, input, p, train);
  return alpha_(input, p, train, Grain::feature);
}

}  // namespace hb
