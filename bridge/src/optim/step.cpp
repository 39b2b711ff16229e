#include "step.h"

#include <halfbridge/ops/factories.h>

namespace hb::bridge::optim {

Tensor zero_state(const Tensor& param) { return zeros_like(param, {}, MemoryFormat::Preserve); }

void StepTensors::check(const Tensor& param, const Tensor& other, const char* what) const {
  HB_CHECK(other.defined(), "[", name_, "] expected ", what, " for a parameter of shape ", param.sizes(),
           ", got an undefined tensor");
  HB_CHECK(other.sizes().equals(param.sizes()) && other.device() == param.device(), "[", name_, "] expected ", what,
           " of shape ", param.sizes(), " on ", param.device(), " like the parameter, got ", other.sizes(), " on ",
           other.device());
}

UpdateTensor StepTensors::add(const Tensor& param, const Tensor& grad, std::initializer_list<Tensor*> states) {
  check(param, grad, "a gradient");
  const ScalarType dtype = param.scalar_type();
  bool direct = grad.scalar_type() == dtype && param.is_contiguous() && grad.is_contiguous();
  for (const Tensor* state : states) {
    if (!state) continue;
    check(param, *state, "a state");
    direct = direct && state->scalar_type() == dtype && state->is_contiguous();
  }
  param.impl().bump_version();
  if (!direct) return stage(param, grad, states);
  UpdateTensor t{param.data_ptr(), grad.data_ptr(), {}, param.numel()};
  int i = 0;
  for (const Tensor* state : states) t.state[i++] = state ? state->data_ptr() : nullptr;
  return t;
}

// Any dense layout will do, as long as all tensors share it.
UpdateTensor StepTensors::stage(const Tensor& param, const Tensor& grad, std::initializer_list<Tensor*> states) {
  const bool dense = param.is_non_overlapping_and_dense();
  Tensor like = param;
  const auto in_layout = [&](const Tensor& t) {
    return t.scalar_type() == like.scalar_type() && t.strides().equals(like.strides());
  };
  const auto copy_of = [&](const Tensor& t) {
    Tensor copy = empty_strided(like.sizes(), like.strides(), like.options());
    copy.copy_(t);
    return copy;
  };
  const auto writable = [&](const Tensor& t) -> void* {
    if (in_layout(t)) return t.data_ptr();
    written_.push_back({t, copy_of(t)});
    return written_.back().copy.data_ptr();
  };
  if (!dense) {
    like = empty(param.sizes(), param.options());
    like.copy_(param.detach());
    written_.push_back({param, like});
  }
  UpdateTensor t{like.data_ptr(), nullptr, {}, param.numel()};
  kept_.push_back(in_layout(grad) ? grad : copy_of(grad));
  t.grad = kept_.back().data_ptr();
  int i = 0;
  for (const Tensor* state : states) t.state[i++] = state ? writable(*state) : nullptr;
  return t;
}

void StepTensors::finish() {
  for (auto& [original, copy] : written_) original.copy_(copy);
  written_.clear();
  kept_.clear();
}

}  // namespace hb::bridge::optim
