#include "core/recorder.h"

#include <algorithm>
#include <mutex>
#include <vector>

#include "backend/elementwise.h"

namespace hb::capture {

std::atomic<int> recording_threads{0};

namespace {
thread_local constinit Recorder* current = nullptr;

// Who records on any thread. Never destroyed: threads may free tensors while the process ends.
struct Recorders {
  std::mutex mutex;
  std::vector<Recorder*> list;
};
Recorders& recorders() {
  static Recorders* r = new Recorders;
  return *r;
}
}  // namespace

Call::~Call() = default;

std::atomic<uint64_t> module_modes{0};
static thread_local constinit uint64_t own_modes = 0;
uint64_t modes_of_thread() noexcept { return own_modes; }
void flip_mode(const void* module) noexcept {
  uint64_t h = reinterpret_cast<uintptr_t>(module) * 0x9e3779b97f4a7c15u;
  h = (h ^ h >> 32) * 0xd6e8feb86659fd93u;
  own_modes ^= h ^ h >> 32;
  module_modes.fetch_xor(h ^ h >> 32, std::memory_order_relaxed);
}

Recorder* recorder() noexcept { return current; }
bool records() noexcept { return current != nullptr; }

void set_recorder(Recorder* recorder) noexcept {
  Recorders& all = recorders();
  const std::lock_guard lock(all.mutex);
  if (current) {
    all.list.erase(std::find(all.list.begin(), all.list.end(), current));
    --recording_threads;
  }
  current = recorder;
  if (!recorder) return;
  all.list.push_back(recorder);
  ++recording_threads;
}

void tell_call(std::unique_ptr<Call> call, const Device& device) { current->call(std::move(call), device); }
void tell_refusal(const char* name, const char* why) {
  if (current) current->refuse(name, why);
}
void tell_gone(const TensorImpl& tensor) noexcept {
  Recorders& all = recorders();
  const std::lock_guard lock(all.mutex);
  for (Recorder* r : all.list) r->gone(tensor);
}
void tell_shown(const StorageImpl& storage) {
  if (current) current->shown(storage);
}
void tell_freed(const StorageImpl& storage) noexcept {
  Recorders& all = recorders();
  const std::lock_guard lock(all.mutex);
  for (Recorder* r : all.list) r->freed(storage);
}

Inside::Inside() noexcept : outer_(std::exchange(current, nullptr)) {}
Inside::~Inside() { current = static_cast<Recorder*>(outer_); }

namespace {
// Operands that lie on the host, apart from tensors: `place` gets their copy.
void keep_number(char*& place, ScalarType dtype, char* copy) {
  std::copy_n(place, element_size(dtype), copy);
  place = copy;
}

template <class Operand>
void show_operand(Operands& v, Operand& data, bool output) {
  if (output)
    v.changes(data);
  else
    v.reads(data);
}

/// What a call of a flat loop does, too: graph mode knows more of that (channels-last tensors make loops).
bool is_flat(const Loop& loop) {
  if (loop.sizes.size() != 1) return false;
  for (int k = 0; k < loop.operands; ++k) {
    const int64_t stride = loop.op[k].strides[0];
    const bool single = stride == 0 && k >= loop.outputs;
    if (!single && stride != static_cast<int64_t>(element_size(loop.op[k].dtype))) return false;
  }
  return true;
}
FlatLoop flat_of(const Loop& loop) {
  FlatLoop flat;
  flat.outputs = loop.outputs, flat.operands = loop.operands, flat.numel = loop.numel, flat.numbers = loop.numbers;
  for (int k = 0; k < loop.operands; ++k) {
    flat.data[k] = loop.op[k].data, flat.dtype[k] = loop.op[k].dtype;
    if (loop.op[k].strides[0] == 0) flat.single |= 1u << k;
  }
  return flat;
}
}  // namespace

Kept<Loop>::Kept(const Loop& loop) : value(loop) {
  for (int k = 0; k < value.operands; ++k) value.op[k].held.reset();
}
void Kept<Loop>::show(Operands& v) {
  for (int k = 0; k < value.operands; ++k) show_operand(v, value.op[k].data, k < value.outputs);
}

Kept<ElementwiseCall>::Kept(const ElementwiseCall& call) : params(call.params.begin(), call.params.end()), value(call) {
  if (call.flat || is_flat(*call.loop)) {
    flat = call.flat ? *call.flat : flat_of(*call.loop);
    value.flat = &flat, value.loop = nullptr;
    for (int k = 0; k < flat.operands; ++k)
      if (flat.numbers >> k & 1) keep_number(flat.data[k], flat.dtype[k], numbers[k]);
  } else {
    loop = Kept<Loop>(*call.loop).value;
    value.loop = &*loop;
    for (int k = 0; k < loop->operands; ++k)
      if (loop->numbers >> k & 1) keep_number(loop->op[k].data, loop->op[k].dtype, numbers[k]);
  }
  value.params = params;
}
void Kept<ElementwiseCall>::show(Operands& v) {
  const int operands = loop ? loop->operands : flat.operands, outputs = loop ? loop->outputs : flat.outputs;
  const unsigned on_host = loop ? loop->numbers : flat.numbers;
  for (int k = 0; k < operands; ++k)
    if (!(on_host >> k & 1)) show_operand(v, loop ? loop->op[k].data : flat.data[k], k < outputs);
}

}  // namespace hb::capture
