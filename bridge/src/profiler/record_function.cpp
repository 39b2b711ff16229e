// Ranges and the callbacks around them.
#include <halfbridge/bridge/record_function.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <random>

#include <halfbridge/bridge/dispatch/function_schema.h>

#include "core/thread_object.h"
#include "core/warnings.h"
#include "function_observer.h"

namespace hb::bridge {
inline namespace api {

namespace {

struct Global {
  std::mutex mutex;
  RecordFunctionCallbacks callbacks;  // never changed by a thread that does not hold the mutex
  std::atomic<size_t> count{0};
};
Global& global() {
  static Global& only = *new Global;  // threads may compute while the process ends
  return only;
}

struct Own : RecordFunctionTLS {
  std::optional<std::mt19937> draws;  // of callbacks that see some ranges only
  Own() = default;
  Own(const Own&) = delete;
  Own& operator=(const Own&) = delete;
  ~Own() { recording::see_this_thread(false); }
  double draw() {
    if (!draws) draws.emplace(std::random_device{}());
    return std::uniform_real_distribution<double>()(*draws);
  }
  void changed() { recording::see_this_thread(!sorted_tls_callbacks_.empty()); }
};
Own& own() { return hb::detail::thread_object<Own>(); }

CallbackHandle next_handle() {
  static std::atomic<CallbackHandle> last{INVALID_CALLBACK_HANDLE};
  return ++last;
}

RecordFunctionCallbacks::iterator with_handle(RecordFunctionCallbacks& list, CallbackHandle handle) {
  return std::find_if(list.begin(), list.end(), [&](const auto& entry) { return entry.handle_ == handle; });
}

/// Calls `change(list, place)` for the callback of this thread, or of all threads, that has the handle.
template <class Change>
bool change_callback(CallbackHandle handle, const Change& change) {
  RecordFunctionCallbacks& mine = own().sorted_tls_callbacks_;
  if (const auto found = with_handle(mine, handle); found != mine.end()) {
    change(mine, found);
    own().changed();
    return true;
  }
  const std::lock_guard lock(global().mutex);
  RecordFunctionCallbacks& shared = global().callbacks;
  const auto found = with_handle(shared, handle);
  if (found == shared.end()) return false;
  change(shared, found);
  recording::see_all_threads(!shared.empty());
  global().count = shared.size();
  return true;
}

void add(StepCallbacks& step, const RecordFunctionCallbacks& list) {
  for (const RecordFunctionCallbacksEntry& entry : list) {
    const RecordFunctionCallback& c = entry.callback_;
    if (!entry.enabled_ || !c.checkScope(step.scope_)) continue;
    if (c.samplingProb() < 1 && own().draw() >= c.samplingProb()) continue;
    step.callbacks_.push_back({c.start(), c.end()});
    step.needs_inputs_ |= c.needsInputs(), step.needs_outputs_ |= c.needsOutputs(), step.needs_ids_ |= c.needsIds();
  }
}

std::atomic<int64_t>& default_node() {
  static std::atomic<int64_t> node{-1};
  return node;
}

/// What a callback throws does not reach the program, as in LibTorch.
template <class Run>
void run_callback(const RecordFunction& fn, const Run& run) {
  try {
    run();
  } catch (const std::exception& error) {
    hb::detail::warn(
        hb::detail::str("Exception in RecordFunction callback: ", error.what(), " , for the range ", fn.name()));
  } catch (...) {
    hb::detail::warn(hb::detail::str("Exception in RecordFunction callback: unknown , for the range ", fn.name()));
  }
}

}  // namespace

StepCallbacks getStepCallbacks(RecordScope scope) {
  StepCallbacks step = recording::callbacks_of(scope);
  step.profiled_ = own().tls_record_function_enabled_ && profiler::active();
  return step;
}
std::optional<StepCallbacks> getStepCallbacksUnlessEmpty(RecordScope scope) {
  StepCallbacks step = getStepCallbacks(scope);
  if (step.empty()) return std::nullopt;
  return step;
}

// --- ranges

RecordFunction::RecordFunction(RecordScope scope) : RecordFunction(getStepCallbacks(scope)) {}
RecordFunction::RecordFunction(StepCallbacks&& callbacks) : callbacks_(std::move(callbacks)) {
  static std::atomic<RecordFunctionHandle> last{0};
  if (callbacks_.needs_ids_) handle_ = ++last;
}
RecordFunction::~RecordFunction() { end(); }

void RecordFunction::before(FunctionDescriptor fn, int64_t sequence_nr) {
  if (!isActive()) return;
  if (const auto* text = std::get_if<std::string_view>(&fn)) {
    name_ = *text;
  } else {
    schema_ = &std::get<schema_ref_t>(fn).get();
    name_ = schema_->name(), overload_ = schema_->overload_name();
  }
  sequence_nr_ = sequence_nr;
  begun_ = true;
  if (callbacks_.profiled_) range_.emplace(name_);
  for (const StepCallbacks::StartEndPair& pair : callbacks_.callbacks_) {
    std::unique_ptr<ObserverContext> context;
    if (pair.start_) run_callback(*this, [&] { context = pair.start_(*this); });
    contexts_.push_back(std::move(context));
  }
}

void RecordFunction::end() {
  if (!begun_) return;
  begun_ = false;
  for (size_t i = 0; i < callbacks_.callbacks_.size(); ++i)
    if (const auto end = callbacks_.callbacks_[i].end_) run_callback(*this, [&] { end(*this, contexts_[i].get()); });
  range_.reset();
  callbacks_.callbacks_.clear();
  callbacks_.profiled_ = false;
}

std::optional<OperatorName> RecordFunction::operator_name() const {
  if (!schema_) return std::nullopt;
  return schema_->operator_name();
}
std::optional<FunctionSchema> RecordFunction::operator_schema() const {
  if (!schema_) return std::nullopt;
  return *schema_;
}
size_t RecordFunction::num_inputs() const { return schema_ ? schema_->arguments().size() : inputs_.size(); }
size_t RecordFunction::num_outputs() const { return schema_ ? schema_->returns().size() : outputs_.size(); }

uint64_t RecordFunction::currentThreadId() {
  static std::atomic<uint64_t> last{0};
  static thread_local uint64_t id = 0;
  if (id == 0) id = ++last;
  return id;
}
void RecordFunction::setDefaultNodeId(int64_t node) {
  HB_CHECK(node >= 0, "setDefaultNodeId expects an id >= 0.");
  default_node() = node;
}
int64_t RecordFunction::getDefaultNodeId() { return default_node(); }

// --- callbacks

CallbackHandle addThreadLocalCallback(RecordFunctionCallback callback) {
  const CallbackHandle handle = next_handle();
  own().sorted_tls_callbacks_.emplace_back(callback, handle);
  own().changed();
  return handle;
}
bool hasThreadLocalCallbacks() { return !own().sorted_tls_callbacks_.empty(); }
void clearThreadLocalCallbacks() {
  own().sorted_tls_callbacks_.clear();
  own().changed();
}
CallbackHandle addGlobalCallback(RecordFunctionCallback callback) {
  const CallbackHandle handle = next_handle();
  const std::lock_guard lock(global().mutex);
  global().callbacks.emplace_back(callback, handle);
  global().count = global().callbacks.size();
  recording::see_all_threads(true);
  return handle;
}
bool hasGlobalCallbacks() { return global().count != 0; }
void clearGlobalCallbacks() {
  const std::lock_guard lock(global().mutex);
  global().callbacks.clear();
  global().count = 0;
  recording::see_all_threads(false);
}
void removeCallback(CallbackHandle handle) {
  if (!change_callback(handle, [](auto& list, auto place) { list.erase(place); }))
    hb::detail::warn("Requested callback is not found");
}
void disableCallback(CallbackHandle handle) {
  if (!change_callback(handle, [](auto&, auto place) { place->enabled_ = false; }))
    hb::detail::warn("Requested callback is not found");
}
void reenableCallback(CallbackHandle handle) {
  if (!change_callback(handle, [](auto&, auto place) { place->enabled_ = true; }))
    hb::detail::warn("Requested callback is not found");
}

void enableRecordFunction(bool enable) { own().tls_record_function_enabled_ = enable; }
bool isRecordFunctionEnabled() { return own().tls_record_function_enabled_; }
const RecordFunctionTLS& get_record_function_tls_() { return own(); }
void set_record_function_tls_(const RecordFunctionTLS& tls) {
  static_cast<RecordFunctionTLS&>(own()) = tls;
  own().changed();
}
void set_record_function_seed_for_testing(uint32_t seed) { own().draws.emplace(seed); }

}  // namespace api

StepCallbacks recording::callbacks_of(RecordScope scope) {
  StepCallbacks step(RecordFunction::currentThreadId(), scope);
  if (!own().tls_record_function_enabled_) return step;
  if (global().count != 0) {
    const std::lock_guard lock(global().mutex);
    add(step, global().callbacks);
  }
  add(step, own().sorted_tls_callbacks_);
  return step;
}

}  // namespace hb::bridge
