// What autocast does with the arguments of one call.
#include "autocast/autocast.h"
#include "autocast/devices.h"

namespace hb::autocast {

void Inspector::see(const Tensor& t) {
  if (!t.defined()) return;
  if (!first_) first_ = &t;
  const int slot = slot_of(t.impl().device().type());
  if (slot < 0) return;
  const auto bit = static_cast<uint8_t>(1u << slot);
  found_ = static_cast<uint8_t>(found_ | (active & bit));
  const ScalarType dtype = t.impl().dtype();
  if (dtype == kFloat) floats_ |= bit;
  if (dtype == kHalf) halves_ |= bit;
  if (dtype == kBFloat16) bfloats_ |= bit;
}

namespace {
constexpr DeviceType kTypes[kDeviceSlots] = {kCPU, kCUDA, kXLA, kMPS};
}

Plan Inspector::plan(const OpEntry& entry) const {
  Plan p;
  if (!found_) return p;
  int slot = kDeviceSlots - 1;
  while (!(found_ >> slot & 1)) --slot;
  p.device = kTypes[slot];
  p.op_class = get_op_list(p.device) == kCPU ? entry.cpu : entry.cuda;
  const uint8_t bit = static_cast<uint8_t>(1u << slot);
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

Tensor cast(const Plan& plan, const Tensor& t) { return plan.cast ? cached_cast(plan.dtype, t, plan.device) : t; }
std::vector<Tensor> cast(const Plan& plan, TensorList list) {
  return plan.cast ? cached_cast(plan.dtype, list, plan.device) : std::vector<Tensor>(list.begin(), list.end());
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
