#include "step.h"

#include <halfbridge/ops/factories.h>

#include "core/recorder.h"
#include "core/thread_object.h"

namespace hb::bridge::optim {

// What the step finds there is not part of it: a recorded step goes on from the state's values.
Tensor zero_state(const Tensor& param, ScalarType dtype) {
  const hb::capture::Inside unrecorded;
  return zeros_like(param, TensorOptions(dtype), MemoryFormat::Preserve);
}

namespace {
bool is_small_float(ScalarType dtype) { return dtype == kFloat || is_half_type(dtype); }

Tensor copy_like(const Tensor& t, const Tensor& like, ScalarType dtype) {
  Tensor copy = empty_strided(like.sizes(), like.strides(), like.options().dtype(dtype));
  copy.copy_(t);
  return copy;
}
bool in_layout(const Tensor& t, const Tensor& like, ScalarType dtype) {
  return t.scalar_type() == dtype && t.strides().equals(like.strides());
}
}  // namespace

void StepTensors::check(const Tensor& param, const Tensor& other, const char* what) const {
  HB_CHECK(other.defined(), "[", name_, "] expected ", what, " for a parameter of shape ", param.sizes(),
           ", got an undefined tensor");
  if (other.sizes().equals(param.sizes()) && other.device() == param.device()) return;
  // Where the dimensions are as many, the phrase of functions that cannot broadcast comes with it.
  std::string why;
  for (int64_t d = 0; why.empty() && other.dim() == param.dim() && d < param.dim(); ++d)
    if (other.size(d) != param.size(d))
      why = hb::detail::str(": The size of tensor a (", param.size(d), ") must match the size of tensor b (",
                            other.size(d), ") at non-singleton dimension ", d);
  HB_CHECK(false, "[", name_, "] expected ", what, " of shape ", param.sizes(), " on ", param.device(),
           " like the parameter, got ", other.sizes(), " on ", other.device(), why);
}

void StepTensors::prepare_states(const Tensor& param, OptimizerParamState* state, const StateRefs& refs,
                                 bool master) const {
  const ScalarType dtype = master ? kFloat : param.scalar_type();
  for (Tensor* t : refs.tensors) {
    if (!t) continue;
    if (!t->defined()) *t = zero_state(param, dtype);
    check(param, *t, "a state");
    // States from before master weights were asked for.
    if (master && is_half_type(t->scalar_type())) *t = t->to(kFloat);
  }
  if (state && !master) state->master_weight().reset();
}

UpdateTensor StepTensors::add(UpdateCall& call, const Tensor& param, const Tensor& grad, OptimizerParamState* state,
                              const StateRefs& refs) {
  HB_CHECK(!grad.is_sparse(), "[", name_, "] ", name_,
           " does not support sparse gradients; use SGD or Adagrad, or a layer with sparse = false");
  if (param.is_complex()) return add_parts(call, param, grad, refs);
  const ScalarType dtype = param.scalar_type();
  if (dtype != kDouble && !is_small_float(dtype))
    HB_NOT_SUPPORTED("[", name_, "] expected a floating-point parameter, got dtype ", dtype);
  const bool master = state && scaling_.master_weights && is_half_type(dtype);
  check(param, grad, "a gradient");
  prepare_states(param, state, refs, master);
  call.param = call.grad = call.state = dtype;
  if (dtype != kDouble && is_small_float(grad.scalar_type())) call.grad = grad.scalar_type();
  // Half parameters whose master weights were given up may have states in f32.
  for (const Tensor* t : refs.tensors)
    if (t && is_half_type(dtype) && t->scalar_type() == kFloat) call.state = kFloat;

  bool direct = grad.scalar_type() == call.grad && param.is_contiguous() && grad.is_contiguous();
  for (const Tensor* t : refs.tensors)
    direct = direct && (!t || (t->scalar_type() == call.state && t->is_contiguous()));
  hb::capture::uses(param), hb::capture::uses(grad);
  param.impl().bump_version();
  for (const Tensor* t : refs.tensors) {
    if (!t) continue;
    hb::capture::uses(*t);
    t->impl().bump_version();
  }
  UpdateTensor result{};
  if (direct) {
    result = {param.impl().visible_data(), nullptr, grad.impl().visible_data(), {}, nullptr, nullptr, param.numel()};
    for (int i = 0; i < UpdateTensor::kMaxStates; ++i)
      if (refs.tensors[i]) result.state[i] = refs.tensors[i]->impl().visible_data();
  } else {
    result = stage(call, param, grad, refs);
  }
  if (master) result.master = master_data(param, *state);
  if (refs.step) result.step = refs.step->data(param.device());
  if (refs.scalar) result.scalar = refs.scalar->data(param.device());
  return result;
}

// Rules are element by element: they update the parts of complex numbers, as Python's optimizers do.
UpdateTensor StepTensors::add_parts(UpdateCall& call, const Tensor& param, const Tensor& grad, const StateRefs& refs) {
  check(param, grad, "a gradient");
  prepare_states(param, nullptr, refs, false);
  StateRefs parts = refs;
  for (Tensor*& t : parts.tensors)
    if (t) t = &parts_.emplace_back(view_as_real(t->detach()));
  const Tensor real_grad = view_as_real(grad.detach().to(param.scalar_type()));
  return add(call, view_as_real(param.detach()), real_grad, nullptr, parts);
}

// Any dense layout will do, as long as all tensors share it.
UpdateTensor StepTensors::stage(const UpdateCall& call, const Tensor& param, const Tensor& grad,
                                const StateRefs& refs) {
  Tensor like = param;
  if (!param.is_non_overlapping_and_dense()) {
    like = empty(param.sizes(), param.options());
    like.copy_(param.detach());
    written_.push_back({param, like});
  }
  UpdateTensor t{like.impl().visible_data(), nullptr, nullptr, {}, nullptr, nullptr, param.numel()};
  kept_.push_back(in_layout(grad, like, call.grad) ? grad : copy_like(grad, like, call.grad));
  t.grad = kept_.back().impl().visible_data();
  for (int i = 0; i < UpdateTensor::kMaxStates; ++i) {
    if (!refs.tensors[i]) continue;
    Tensor& state = *refs.tensors[i];
    if (in_layout(state, like, call.state)) {
      t.state[i] = state.impl().visible_data();
    } else {
      written_.push_back({state, copy_like(state, like, call.state)});
      t.state[i] = written_.back().copy.impl().visible_data();
    }
  }
  return t;
}

float* StepTensors::master_data(const Tensor& param, OptimizerParamState& state) {
  Tensor& master = state.master_weight();
  if (!master.defined()) master = param.detach();
  check(param, master, "a master weight");
  const bool dense = param.is_non_overlapping_and_dense();
  const bool fits =
      master.scalar_type() == kFloat && (dense ? master.strides().equals(param.strides()) : master.is_contiguous());
  if (!fits) {
    const hb::capture::Inside unrecorded;
    Tensor copy = zero_state(param, kFloat);
    copy.copy_(master);
    master = copy;
  }
  hb::capture::uses(master);
  return static_cast<float*>(master.impl().visible_data());
}

const float* StepTensors::number(const Tensor& tensor, const Device& device) {
  if (!tensor.defined()) return nullptr;
  kept_.push_back(tensor.to(device).contiguous());
  hb::capture::uses(kept_.back());
  return static_cast<const float*>(kept_.back().impl().visible_data());
}

void StepTensors::finish() {
  for (auto& [original, copy] : written_) original.copy_(copy);
  written_.clear();
  kept_.clear();
  parts_.clear();
}

std::vector<UpdateBatches::Batch>& UpdateBatches::batches() { return hb::detail::thread_object<std::vector<Batch>>(); }

void UpdateBatches::add(const Tensor& param, const Tensor& grad, OptimizerParamState* state, const StateRefs& refs,
                        unsigned flags, bool maximize) {
  UpdateCall call{};
  call.flags = flags, call.maximize = maximize;
  const UpdateTensor tensor = tensors_.add(call, param, grad, state, refs);
  auto& all = batches();
  for (size_t i = 0; i < used_; ++i) {
    const UpdateCall& c = all[i].call;
    if (all[i].device == param.device() && c.param == call.param && c.grad == call.grad && c.state == call.state) {
      all[i].tensors.push_back(tensor);
      return;
    }
  }
  if (used_ == all.size()) all.emplace_back();
  Batch& b = all[used_++];
  b.device = param.device(), b.call = call;
  b.tensors.push_back(tensor);
}

}  // namespace hb::bridge::optim
