#include "nn/utils/clip_grad.h"

#include <cmath>
#include <limits>

#include <halfbridge/bridge/nn/utils.h>
#include <halfbridge/grad_mode.h>

#include "amp/scaled_grads.h"
#include "core/recorder.h"
#include "core/warnings.h"

namespace hb::bridge::nn::utils {

namespace {
Tensor largest_of(const Tensor& grad) {
  if (!grad.is_sparse()) return grad.abs().max();
  const Tensor values = grad.coalesce()._values();
  return values.numel() == 0 ? hb::zeros({}, values.options()) : values.abs().max();
}
}  // namespace

Tensor clip_by_norm(const std::vector<Tensor>& parameters, double max_norm, double norm_type, bool error_if_nonfinite) {
  NoGradGuard no_grad;
  amp::warn_if_scaled(parameters, "clip_grad_norm_");
  std::vector<Tensor> grads, norms;
  for (const Tensor& p : parameters)
    if (p.grad().defined()) grads.push_back(p.grad());
  if (grads.empty()) return {};
  const bool largest = norm_type == std::numeric_limits<double>::infinity();
  Tensor total;
  if (norm_type == 0) {
    total = hb::full({}, static_cast<double>(grads.size()), TensorOptions().device(grads[0].device()));
  } else {
    for (const Tensor& g : grads) norms.push_back(largest ? largest_of(g) : g.norm(norm_type));
    if (norms.size() == 1)
      total = norms[0];
    else
      total = largest ? hb::stack(norms).max() : hb::stack(norms).norm(norm_type);
  }
  HB_CHECK(
      !error_if_nonfinite || std::isfinite(total.item().toDouble()), "The total norm of order ", norm_type,
      " for gradients from `parameters` is non-finite, so it cannot be clipped. To disable this error and scale the "
      "gradients with the non-finite norm anyway, set `error_if_nonfinite=false`");
  // In the dtype of the norm, as LibTorch computes it.
  const Tensor factor = hb::clamp(max_norm / (total + 1e-6), std::nullopt, 1.0);
  // To look at a number costs nothing on the CPU alone, unless the step is recorded.
  if (!factor.is_cpu() || hb::capture::any_recording() || factor.item().toDouble() != 1.0)
    for (const Tensor& g : grads) g.mul_(factor);
  return total;
}

inline namespace functions {

double clip_grad_norm_(const std::vector<Tensor>& parameters, double max_norm, double norm_type,
                       bool error_if_nonfinite) {
  const Tensor total = clip_by_norm(parameters, max_norm, norm_type, error_if_nonfinite);
  if (!total.defined()) return 0.0;
  if (HB_UNLIKELY(hb::capture::any_recording()) && hb::capture::records()) {
    // The gradients are clipped without that number; few programs look at it.
    HB_WARN_ONCE("[clip_grad_norm_] in a captured step it returns the norm of the call that is recorded; replays give ",
                 "none to the host. clip_by_global_norm() gives none in any case");
    const hb::capture::Inside unrecorded;
    return total.item().toDouble();
  }
  return total.item().toDouble();
}
double clip_grad_norm_(std::initializer_list<Tensor> parameters, double max_norm, double norm_type,
                       bool error_if_nonfinite) {
  return clip_grad_norm_(std::vector<Tensor>(parameters), max_norm, norm_type, error_if_nonfinite);
}
double clip_grad_norm_(Tensor parameter, double max_norm, double norm_type, bool error_if_nonfinite) {
  return clip_grad_norm_(std::vector<Tensor>{std::move(parameter)}, max_norm, norm_type, error_if_nonfinite);
}

void clip_grad_value_(const std::vector<Tensor>& parameters, double clip_value) {
  NoGradGuard no_grad;
  amp::warn_if_scaled(parameters, "clip_grad_value_");
  for (const Tensor& p : parameters)
    if (p.grad().defined()) p.grad().clamp_(-clip_value, clip_value);
}
void clip_grad_value_(std::initializer_list<Tensor> parameters, double clip_value) {
  clip_grad_value_(std::vector<Tensor>(parameters), clip_value);
}
void clip_grad_value_(Tensor parameter, double clip_value) {
  clip_grad_value_(std::vector<Tensor>{std::move(parameter)}, clip_value);
}

Tensor parameters_to_vector(const std::vector<Tensor>& parameters) {
  std::vector<Tensor> flat;
  for (const Tensor& p : parameters) {
    HB_CHECK(p.device() == parameters[0].device(),
             "Found two parameters on different devices, this is currently not supported.");
    flat.push_back(p.view(-1));
  }
  return hb::cat(flat);
}

void vector_to_parameters(const Tensor& vec, const std::vector<Tensor>& parameters) {
  int64_t at = 0;
  for (const Tensor& p : parameters) {
    p.set_data(vec.slice(0, at, at + p.numel()).view_as(p).data());
    at += p.numel();
  }
}

}  // namespace functions
}  // namespace hb::bridge::nn::utils
