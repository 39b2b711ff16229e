#include <halfbridge/ops/amp.h>

#include <halfbridge/grad_mode.h>
#include <halfbridge/ops.h>

#include "backend/amp.h"
#include "core/geometry.h"
#include "core/recorder.h"

namespace hb {

namespace {

void check_flag(const char* name, const Tensor& t, const char* what, ScalarType dtype) {
  HB_CHECK(t.defined() && t.numel() == 1 && t.scalar_type() == dtype, "[", name, "] expected ", what,
           " to be a tensor of one element of dtype ", dtype, ", got ",
           t.defined() ? t.toString() : "an undefined tensor");
}

/// Gives the kernel all gradients of a dtype together. Those with holes in their memory are worked on as copies.
class GradBatches {
 public:
  GradBatches(const char* name, Device device) : name_(name), device_(device) {}

  void add(const Tensor& grad, bool writes) {
    HB_CHECK(is_floating_type(grad.scalar_type()), "[", name_, "] expected floating gradients, got dtype ",
             grad.scalar_type());
    HB_CHECK(grad.device() == device_, "[", name_, "] expected gradients on ", device_, ", got ", grad.device());
    if (grad.numel() == 0) return;
    if (grad.is_sparse()) return add_sparse(grad, writes);
    capture::uses(grad);
    TensorImpl& impl = grad.impl();
    Tensor dense = grad;
    if (!geometry::is_dense(impl.sizes(), impl.physical_strides())) {
      dense = grad.contiguous();
      if (writes) copies_.emplace_back(grad, dense);
    }
    if (writes) impl.bump_version();
    spans(grad.scalar_type()).push_back({dense.impl().raw_data(), grad.numel()});
    kept_.push_back(std::move(dense));
  }
  void run(const float* inv_scale, float* found_inf) {
    for (size_t i = 0; i < kDtypes; ++i)
      if (!spans_[i].empty()) check_unscale_kernel(device_)(dtypes_[i], spans_[i], inv_scale, found_inf);
    for (auto& [grad, copy] : copies_) grad.copy_(copy);
  }

 private:
  // The check sees sums of the entries of one place.
  void add_sparse(const Tensor& grad, bool writes) {
    const Tensor coalesced = grad.coalesce();
    add(coalesced._values(), writes);
    if (writes && !coalesced.is_same(grad)) copies_.emplace_back(grad, coalesced);
  }

  static constexpr size_t kDtypes = 4;
  static constexpr ScalarType dtypes_[kDtypes] = {kFloat, kDouble, kHalf, kBFloat16};
  std::vector<GradSpan>& spans(ScalarType dtype) {
    for (size_t i = 0; i < kDtypes; ++i)
      if (dtypes_[i] == dtype) return spans_[i];
    HB_NOT_SUPPORTED("[", name_, "] dtype ", dtype, " is not supported");
  }

  const char* name_;
  Device device_;
  std::vector<GradSpan> spans_[kDtypes];
  std::vector<std::pair<Tensor, Tensor>> copies_;
  std::vector<Tensor> kept_;
};

float* float_at(const Tensor& t) {
  capture::uses(t);
  return static_cast<float*>(t.impl().raw_data());
}

}  // namespace

void _amp_foreach_non_finite_check_and_unscale_(TensorList self, const Tensor& found_inf, const Tensor& inv_scale) {
  const char* name = "_amp_foreach_non_finite_check_and_unscale_";
  check_flag(name, found_inf, "found_inf", kFloat);
  const bool unscale = inv_scale.defined();
  if (unscale) check_flag(name, inv_scale, "inv_scale", kFloat);
  HB_CHECK(!unscale || inv_scale.device() == found_inf.device(), "[", name, "] expected inv_scale on ",
           found_inf.device(), " like found_inf, got ", inv_scale.device());
  NoGradGuard no_grad;
  GradBatches batches(name, found_inf.device());
  for (const Tensor& grad : self) batches.add(grad, unscale);
  batches.run(unscale ? float_at(inv_scale) : nullptr, float_at(found_inf));
  found_inf.impl().bump_version();
}

Tensor& _amp_update_scale_(Tensor& self, Tensor& growth_tracker, const Tensor& found_inf, double scale_growth_factor,
                           double scale_backoff_factor, int64_t growth_interval) {
  const char* name = "_amp_update_scale_";
  check_flag(name, self, "the scale", kFloat);
  check_flag(name, growth_tracker, "growth_tracker", kInt);
  check_flag(name, found_inf, "found_inf", kFloat);
  HB_CHECK(growth_tracker.device() == self.device() && found_inf.device() == self.device(), "[", name,
           "] expected growth_tracker and found_inf on ", self.device(), " like the scale, got ",
           growth_tracker.device(), " and ", found_inf.device());
  capture::uses(growth_tracker);
  update_scale_kernel(self.device())(float_at(self), static_cast<int32_t*>(growth_tracker.impl().raw_data()),
                                     float_at(found_inf), {scale_growth_factor, scale_backoff_factor, growth_interval});
  self.impl().bump_version();
  growth_tracker.impl().bump_version();
  return self;
}

namespace amp {

Tensor all_finite(TensorList tensors) {
  NoGradGuard no_grad;
  const Tensor* first = nullptr;
  for (const Tensor& t : tensors)
    if (t.defined() && !first) first = &t;
  if (!first) return ones({}, kBool);
  const Device device = first->device();
  const Tensor found_inf = zeros({}, TensorOptions(kFloat).device(device));
  GradBatches batches("all_finite", device);
  for (const Tensor& t : tensors)
    if (t.defined()) batches.add(t, false);
  batches.run(nullptr, float_at(found_inf));
  return found_inf.eq(0);
}

}  // namespace amp
}  // namespace hb
