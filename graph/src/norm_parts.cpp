#include "norm_parts.h"

#include <algorithm>

#include "call_types.h"
#include "operands.h"

namespace hb::graph {

namespace {

/// The last thing that batch_norm_kernel does on the CPU (src/cpu/batch_norm.cpp).
void normalize(ScalarType dtype, const NormShape& s, void* y, const void* x, const void* scale, const void* shift) {
  channel_affine_kernel(kCPU)(dtype, s, y, x, scale, shift);
}

}  // namespace

int result_of_norm(const RecordedCall& c) {
  const auto* const norm = as_call_of(batch_norm_kernel, *c.call);
  const Place* const y = norm ? place_at(c, &std::get<3>(norm->kept).value) : nullptr;
  return y ? y->memory : -1;
}

std::optional<RecordedCall> affine_of(const RecordedCall& c) {
  const auto* const norm = as_call_of(batch_norm_kernel, *c.call);
  if (!norm) return std::nullopt;
  const auto& [dtype, shape, channels, y, x] = norm->kept;
  const BatchNormChannels& p = channels.value;
  auto affine =
      std::make_unique<Affine>(c.call->name, normalize, dtype.value, shape.value, y.value, x.value, p.scale, p.shift);
  RecordedCall part;
  const auto put = [&](void* pointer, const void* from, Access access) {
    if (const Place* const at = place_at(c, from)) part.places.push_back({pointer, at->memory, at->offset, access});
  };
  put(&std::get<2>(affine->kept).value, &y.value, Access::changes);
  put(&std::get<3>(affine->kept).value, &x.value, Access::reads);
  put(&std::get<4>(affine->kept).value, &p.scale, Access::reads);
  put(&std::get<5>(affine->kept).value, &p.shift, Access::reads);
  if (part.places.size() != 4) return std::nullopt;
  part.call = std::move(affine);
  return part;
}

void leave_out_affine(RecordedCall& c) {
  const auto* const norm = as_call_of(batch_norm_kernel, *c.call);
  const void* const at = &std::get<3>(norm->kept).value;
  c.places.erase(std::remove_if(c.places.begin(), c.places.end(), [&](const Place& p) { return p.pointer == at; }),
                 c.places.end());
  void* const none = nullptr;
  std::memcpy(const_cast<void*>(at), &none, sizeof none);
}

}  // namespace hb::graph
