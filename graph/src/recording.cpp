#include "recording.h"

#include <algorithm>

#include <halfbridge/autograd.h>
#include <halfbridge/grad_mode.h>

#include "core/backtrace.h"
#include "core/calling_function.h"
#include "core/watch_call.h"
#include "program.h"
#include "returned_number.h"

namespace hb::graph {

namespace {
/// The innermost line of the stack that is not this library's.
std::string program_line() {
  const std::string text = detail::backtrace_text(1);
  size_t at = 0;
  while (at < text.size()) {
    const size_t end = std::min(text.find('\n', at), text.size());
    const std::string line = text.substr(at, end - at);
    if (line.find("libhalfbridge") == std::string::npos && line.find("hb::graph::") == std::string::npos)
      return line.substr(std::min(line.find(": ") + 2, line.size()));
    at = end + 1;
  }
  return "?";
}

bool wants_grad(const Tensor& t) {
  const AutogradMeta* meta = t.impl().autograd_meta();
  return meta && (meta->requires_grad || meta->grad_fn);
}
}  // namespace

bool is_watch(const RecordedCall& c) { return dynamic_cast<const capture::WatchCall*>(c.call.get()) != nullptr; }

/// Finds the memory behind each address of a call.
class Recording::Collector final : public capture::Operands {
 public:
  Collector(Recording& recording, RecordedCall& call) : r_(recording), call_(call) {}
  void place(void* pointer, const void* address, Access access) override {
    if (!address) return;
    const int memory = r_.find(address);
    if (memory < 0) return refuse("works on memory of which the recording knows no tensor");
    touch(memory, access);
    const auto offset = static_cast<size_t>(static_cast<const char*>(address) - r_.memories[memory].begin);
    call_.places.push_back({pointer, memory, offset, access});
  }
  void tensor(Tensor& t) override {
    if (!t.defined()) return;
    if (t.layout() != kStrided) return refuse("works on a sparse tensor");
    const StorageImpl& storage = *t.impl().physical_storage();
    int memory = r_.find(storage);
    if (memory < 0) {
      memory = r_.add(Memory::Origin::outside, storage);
      r_.memories[memory].storage = t.impl().physical_storage();
    }
    touch(memory, Access::changes);
    call_.tensors.push_back({&t, memory});
    // What functions may do with a value depends on who holds it: a recording does not.
    t.impl().set_storage(r_.nothing_, t.impl().dtype());
  }
  void refuse(const char* why) override { reason = why; }

  const char* reason = nullptr;

 private:
  void touch(int memory, Access access) {
    Memory& m = r_.memories[memory];
    const int now = static_cast<int>(r_.calls.size());
    if (m.first < 0) {
      m.first = now;
      if (m.origin == Memory::Origin::made && access == Access::reads && m.bytes > 0)
        refuse("reads a value that no kernel has made");
    }
    m.last = now;
  }
  Recording& r_;
  RecordedCall& call_;
};

Recording::Recording(const std::vector<Tensor>& arguments, const std::vector<Tensor>& known_leaves)
    : inputs(arguments), nothing_(StorageImpl::allocate(0, kCPU)) {
  for (size_t i = 0; i < inputs.size(); ++i) {
    input_versions.push_back(inputs[i].defined() ? inputs[i].impl().version() : 0);
    if (!inputs[i].defined()) continue;
    const StorageImpl& storage = *inputs[i].impl().storage();  // settled
    if (find(storage) >= 0) continue;                          // two arguments of one memory
    memories[add(Memory::Origin::input, storage)].input = static_cast<int>(i);
  }
  for (const Tensor& t : known_leaves) leaves.push_back({t, t.grad()});
  recording_ = true;
  capture::set_recorder(this);
}
Recording::~Recording() { stop(); }

void Recording::stop() {
  if (!std::exchange(recording_, false)) return;
  capture::set_recorder(nullptr);
  for (const auto& [storage, i] : by_storage_) {
    Memory& m = memories[i];
    if (m.origin == Memory::Origin::made) m.shown = storage->address_shown();
  }
}

void Recording::refuse(const char* name, const char* why) {
  if (refused.empty()) refused = detail::str("[", name, "] ", why, ", called from ", program_line());
}

// Passes take memory of two storages for memory that calls can work on in any order.
bool Recording::overlaps(const StorageImpl& storage) const {
  const auto* const begin = static_cast<const char*>(storage.data());
  const auto after = live_.lower_bound(begin + storage.nbytes());
  if (storage.nbytes() == 0 || after == live_.begin()) return false;
  const Memory& m = memories[std::prev(after)->second];
  return m.bytes > 0 && m.begin + m.bytes > begin;
}

int Recording::add(Memory::Origin origin, const StorageImpl& storage) {
  const int i = static_cast<int>(memories.size());
  if (origin != Memory::Origin::made && overlaps(storage) && refused.empty())
    refused = "[compile] tensors that the step uses lie in one memory, of which they know nothing (from_blob())";
  memories.push_back({origin, static_cast<const char*>(storage.data()), storage.nbytes(), &storage, {}});
  // Empty ones that are gone, where it lies now.
  const char* const begin = memories[i].begin;
  if (memories[i].bytes > 0) live_.erase(live_.upper_bound(begin), live_.lower_bound(begin + memories[i].bytes));
  live_[memories[i].begin] = i;
  by_storage_[&storage] = i;
  return i;
}
int Recording::find(const void* address) const {
  const auto* a = static_cast<const char*>(address);
  auto at = live_.upper_bound(a);
  if (at == live_.begin()) return -1;
  const Memory& m = memories[(--at)->second];
  return a <= m.begin + m.bytes ? at->second : -1;  // an empty part of it may begin at its end
}
int Recording::find(const StorageImpl& storage) const {
  const auto at = by_storage_.find(&storage);
  return at == by_storage_.end() ? -1 : at->second;
}
int Recording::memory_of(const Tensor& t) const {
  return t.defined() && t.layout() == kStrided ? find(*t.impl().physical_storage()) : -1;
}

void Recording::call(std::unique_ptr<capture::Call> call, const Device& device) {
  if (!refused.empty()) return;
  if (!device.is_cpu()) return refuse(call->name, "runs on a device of which graph mode records nothing yet");
  RecordedCall recorded{std::move(call), {}, {}, {}};
  const char* reason = nullptr;
  {
    const std::lock_guard lock(mutex_);
    Collector collector(*this, recorded);
    recorded.call->show(collector);
    reason = collector.reason;
  }
  if (reason) return refuse(recorded.call->name, reason);
  calls.push_back(std::move(recorded));
}

// A tensor of the program's, or a view of one that the step made of it.
void Recording::hold(const Tensor& t) {
  const TensorImpl& impl = t.impl();
  const StorageImpl& storage = *impl.physical_storage();
  int i = find(storage);
  if (i < 0) {
    i = add(Memory::Origin::outside, storage);
    memories[i].storage = impl.physical_storage();
  }
  if (memories[i].origin != Memory::Origin::outside || made_.count(&impl) || !outside_known_.insert(&impl).second)
    return;
  outside.push_back({t, &storage, impl.version(), impl.seen_version(), wants_grad(t)});
}

void Recording::uses(const Tensor& t) {
  if (t.layout() != kStrided) return;
  bool twice = false;
  {
    const std::lock_guard lock(mutex_);
    hold(t);
    const int i = find(*t.impl().physical_storage());
    if (memories[i].origin == Memory::Origin::input && !made_.count(&t.impl()))
      twice = std::none_of(inputs.begin(), inputs.end(), [&](const Tensor& in) { return in.is_same(t); });
  }
  if (twice) refuse("compile", "expected arguments whose memory the step does not use in another way, too");
}
void Recording::keeps(const Tensor& t, capture::Give give) {
  const int i = memory_of(t);
  if (i < 0) return;
  memories[i].keeps = true;
  if (give) memories[i].given.emplace_back(formed(t, nothing_), std::move(give));
}

void Recording::follow(capture::Refresh refresh) {
  ++followed_;
  if (refused.empty()) calls.back().refresh = std::move(refresh);
}
void Recording::returns(const Tensor& number, double value) {
  call(std::make_unique<ReturnedNumber>(number, value), number.device());
}
void Recording::step_begins() { step_calls_ = static_cast<int>(calls.size()), followed_ = 0; }
void Recording::step_ends() {
  if (refused.empty() && static_cast<int>(calls.size()) > step_calls_ && followed_ == 0)
    refuse("step", "is the update of an optimizer whose options graph mode cannot follow");
}

void Recording::leaf(const Tensor& t) {
  if (was_made(t)) return;  // its gradient is one of the step's values
  for (Leaf& known : leaves) {
    if (!known.leaf.is_same(t)) continue;
    if (!std::exchange(known.met, true)) known.dropped = known.before.defined() && !t.grad().is_same(known.before);
    return;
  }
  for (const Tensor& in : inputs)
    if (in.is_same(t)) return refuse("backward", "gives a gradient to an argument");
  found(t);
}

void Recording::looks_at_gradient(const Tensor& t) {
  const auto same = [&](const Tensor& other) { return other.is_same(t); };
  if (was_made(t) || std::any_of(inputs.begin(), inputs.end(), same)) return;
  if (std::none_of(leaves.begin(), leaves.end(), [&](const Leaf& l) { return same(l.leaf); })) found(t);
}

void Recording::found(const Tensor& t) {
  for (const FoundLeaf& known : found_leaves)
    if (known.leaf.is_same(t)) return;
  const AutogradMeta* const meta = t.impl().autograd_meta();
  found_leaves.push_back({t, meta && meta->grad.defined() ? &meta->grad.impl() : nullptr});
}

void Recording::made(const TensorImpl& tensor) {
  const std::lock_guard lock(mutex_);
  made_.insert(&tensor);
}
bool Recording::was_made(const Tensor& tensor) {
  const std::lock_guard lock(mutex_);
  return made_.count(&tensor.impl()) != 0;
}
void Recording::gone(const TensorImpl& tensor) noexcept {
  const std::lock_guard lock(mutex_);
  made_.erase(&tensor);
}
void Recording::allocated(const StorageImpl& storage) {
  const std::lock_guard lock(mutex_);
  add(Memory::Origin::made, storage);
}
// Of values that the step makes, Program asks when it is known which of them calls work on.
void Recording::shown(const StorageImpl& storage) {
  const std::lock_guard lock(mutex_);
  const int memory = find(storage);
  if (memory < 0 || memories[memory].origin != Memory::Origin::made)
    refuse("data_ptr", "takes the address of an argument or of a tensor of the program's (data_ptr(), accessor())");
}
void Recording::freed(const StorageImpl& storage) noexcept {
  const std::lock_guard lock(mutex_);
  const auto at = by_storage_.find(&storage);
  if (at == by_storage_.end()) return;
  Memory& m = memories[at->second];
  m.alive = false, m.shown = storage.address_shown();
  // Empty ones share an address.
  if (const auto place = live_.find(m.begin); m.bytes > 0 && place != live_.end() && place->second == at->second)
    live_.erase(place);
  by_storage_.erase(at);
}

}  // namespace hb::graph
