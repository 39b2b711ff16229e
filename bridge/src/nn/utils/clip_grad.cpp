#include "nn/utils/clip_grad.h"

#include <limits>

#include <halfbridge/bridge/nn/utils.h>
#include <halfbridge/grad_mode.h>

#include "amp/scaled_grads.h"
#include "autograd/overlooked.h"
#include "backend/amp.h"
#include "core/recorder.h"

namespace hb::bridge::nn::utils {

namespace {
Tensor largest_of(const Tensor& grad) {
  if (!grad.is_sparse()) return grad.abs().max();
  const Tensor values = grad.coalesce()._values();
  return values.numel() == 0 ? hb::zeros({}, values.options()) : values.abs().max();
}
// As LibTorch, which writes through grad.data(): graphs that saved the gradient do not mind.
void scale(const Tensor& grad, const Tensor& factor) {
  const OverlookedWrites overlooked(grad);
  grad.mul_(factor);
}
void clamp(const Tensor& grad, double most) {
  const OverlookedWrites overlooked(grad);
  grad.clamp_(-most, most);
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
  // A call of a kernel: a captured step looks again at each replay.
  if (error_if_nonfinite) check_norm_kernel(kCPU)(total.cpu().to(kDouble), norm_type);
  // In the dtype of the norm, as LibTorch computes it.
  const Tensor factor = hb::clamp(max_norm / (total + 1e-6), std::nullopt, 1.0);
  // To look at a number costs nothing on the CPU alone, unless the step is recorded.
  if (!factor.is_cpu() || hb::capture::any_recording() || factor.item().toDouble() != 1.0)
    for (const Tensor& g : grads) scale(g, factor);
  return total;
}

inline namespace functions {

double clip_grad_norm_(const std::vector<Tensor>& parameters, double max_norm, double norm_type,
                       bool error_if_nonfinite) {
  const Tensor total = clip_by_norm(parameters, max_norm, norm_type, error_if_nonfinite);
  if (!total.defined()) return 0.0;
  if (hb::capture::Recorder* const recorder = hb::capture::recorder()) {
    // The gradients are clipped without that number; few programs look at it.
    NoGradGuard no_grad;
    const Tensor number = total.to(kDouble);
    double value = 0;
    {
      const hb::capture::Inside unrecorded;
      value = number.item().toDouble();
    }
    recorder->returns(number, value);
    return value;
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
    if (p.grad().defined()) clamp(p.grad(), clip_value);
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
