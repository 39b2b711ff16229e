// What autocast does with the arguments of one call.
#include "autocast/autocast.h"
#include "autocast/devices.h"
#include "autocast/level.h"
#include "autograd/arithmetic.h"

namespace hb::autocast {

void Inspector::see(const Tensor& t) {
  if (!t.defined()) return;
  if (!first_) first_ = &t;
  const int slot = slot_of(t.impl().device().type());
  if (slot < 0) return;
  const auto bit = static_cast<uint8_t>(1u << slot);
  found_ = static_cast<uint8_t>(found_ | (active & bit));
  const ScalarType dtype = t.impl().dtype();
  if (dtype == kFloat) {
    floats_ |= bit;
    if (HB_UNLIKELY(current_level != nullptr)) (current_level->copies->applies_to(t) ? weights_ : other_floats_) |= bit;
  }
  if (dtype == kHalf) halves_ |= bit;
  if (dtype == kBFloat16) bfloats_ |= bit;
}

namespace {
constexpr DeviceType kTypes[kDeviceSlots] = {kCPU, kCUDA, kXLA, kMPS};
}

// Tensors that the program cast to float32 itself stay so, unless they meet a half one or a weight.
Plan Inspector::plan_of_level(const OpEntry& entry, Plan p, uint8_t bit) const {
  const FunctionLists& lists = *current_level->functions;
  const ScalarType half = get_autocast_dtype(p.device);
  const bool floats = floats_ & bit, weights = weights_ & bit, others = other_floats_ & bit;
  const bool halves = (halves_ | bfloats_) & bit;
  if (!lists.half_network) {
    if (!floats || !lists.is_white(entry.name)) return p;
    p.op_class = OpClass::half, p.cast = p.cast_results = true, p.dtype = half, p.result_dtype = kFloat;
  } else if (lists.is_black(entry.name)) {
    if (!halves) return p;
    p.op_class = OpClass::fp32, p.cast = p.cast_results = true, p.result_dtype = half;
  } else if (lists.is_white(entry.name)) {
    if (!weights && !(halves && others)) return p;
    p.op_class = OpClass::half, p.cast = true, p.dtype = half;
  } else if (entry.cuda == OpClass::widest && halves && others) {
    p.op_class = OpClass::widest, p.cast = true;
  } else if (weights && !others) {
    p.op_class = OpClass::half, p.cast = p.weights_only = true, p.dtype = half;
  }
  return p;
}

Plan Inspector::plan(const OpEntry& entry) const {
  Plan p;
  if (!found_) return p;
  int slot = kDeviceSlots - 1;
  while (!(found_ >> slot & 1)) --slot;
  p.device = kTypes[slot];
  p.op_class = get_op_list(p.device) == kCPU ? entry.cpu : entry.cuda;
  const uint8_t bit = static_cast<uint8_t>(1u << slot);
  if (HB_UNLIKELY(current_level != nullptr && current_level->functions != nullptr)) {
    p.op_class = OpClass::as_is;
    return plan_of_level(entry, p, bit);
  }
  switch (p.op_class) {
    case OpClass::as_is:
    case OpClass::closed:
      break;
    case OpClass::half:
      p.cast = true, p.dtype = get_autocast_dtype(p.device);
      break;
    case OpClass::fp32:
      p.cast = true;
      break;
    case OpClass::fp32_dtype:
      p.set_dtype = first_ && is_eligible(*first_, p.device);
      break;
    case OpClass::widest: {
      p.dtype = get_autocast_dtype(p.device);
      const uint8_t same = p.dtype == kHalf ? halves_ : bfloats_, others = p.dtype == kHalf ? bfloats_ : halves_;
      // PyTorch throws at half types other than autocast's; here they stay, or join the rest in float32.
      if (floats_ & bit || (same & others & bit)) p.dtype = kFloat;
      p.cast = p.dtype == kFloat || !(others & bit);
      break;
    }
    case OpClass::banned:
      HB_CHECK(false, "[", entry.name, "] is unsafe to autocast: in half precision its logarithms overflow. Use ",
               entry.name, "_with_logits on values before their sigmoid, or switch autocast off around it");
  }
  return p;
}

Tensor cast(const Plan& plan, const Tensor& t) {
  if (!plan.cast || (plan.weights_only && !(t.defined() && current_level->copies->applies_to(t)))) return t;
  return cached_cast(plan.dtype, t, plan.device);
}
std::vector<Tensor> cast(const Plan& plan, TensorList list) {
  std::vector<Tensor> out;
  out.reserve(list.size());
  for (const Tensor& t : list) out.push_back(cast(plan, t));
  return out;
}

// One number, a loss say, stays in float32.
void cast_result(const Plan& plan, Tensor& t) {
  if (!t.defined() || t.scalar_type() != plan.dtype || (plan.result_dtype != kFloat && t.dim() == 0)) return;
  t = autodiff::arithmetic.cast(t, plan.result_dtype);
}

ScalarType prioritize(ScalarType current, const Tensor& next, DeviceType type) {
  HB_CHECK(current != kDouble, "[autocast::prioritize] expected a type other than Double to promote to");
  if (!is_eligible(next, type)) return current;
  if (current == kFloat || next.scalar_type() == kFloat) return kFloat;
  const ScalarType half = get_autocast_dtype(type);
  HB_CHECK(current == half && next.scalar_type() == half, "[autocast::prioritize] expected Float or ", half, ", got ",
           current, " and ", next.scalar_type());
  return half;
}
ScalarType prioritize(ScalarType current, TensorList list, DeviceType type) {
  for (const Tensor& t : list) current = prioritize(current, t, type);
  return current;
}

}  // namespace hb::autocast
