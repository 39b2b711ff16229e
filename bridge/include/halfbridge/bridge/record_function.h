#pragma once
// <ATen/record_function.h>: callbacks around the library's functions, the steps of backward passes and ranges of a
// program's own.
//
// A callback sees the functions that a program calls, not those that they are made of, and of views, copies and
// factories none; inputs() are a function's tensors. Global callbacks see the threads that call their first function
// later, and the one that adds them.

#include <array>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <variant>
#include <vector>

#include <halfbridge/bridge/small_vector.h>
#include <halfbridge/error.h>
#include <halfbridge/ivalue.h>
#include <halfbridge/profiler.h>

namespace hb::bridge {
inline namespace api {

class FunctionSchema;
struct OperatorName;

/// What a recorded event is. The library's own are FUNCTION and BACKWARD_FUNCTION.
enum class RecordScope : uint8_t {
  FUNCTION,
  BACKWARD_FUNCTION,
  TORCHSCRIPT_FUNCTION,
  KERNEL_FUNCTION_DTYPE,
  CUSTOM_CLASS,
  BUILD_FEATURE,
  LITE_INTERPRETER,
  USER_SCOPE,
  STATIC_RUNTIME_OP,
  STATIC_RUNTIME_MODEL,
  NUM_SCOPES
};

/// What a start callback hands to its end callback.
struct ObserverContext {
  virtual ~ObserverContext() = default;

 protected:
  ObserverContext() = default;
};

inline constexpr std::size_t kSoftLimitCallbacks = 4;
using CallbackHandle = uint64_t;
using RecordFunctionHandle = uint64_t;
using CallbackHandles = SmallVector<CallbackHandle, kSoftLimitCallbacks>;
using ObserverContextList = SmallVector<std::unique_ptr<ObserverContext>, kSoftLimitCallbacks>;
inline constexpr CallbackHandle INVALID_CALLBACK_HANDLE{0};

class RecordFunction;

/// A pair of functions that run where a range begins and ends, and which ranges they want to see.
class HB_API RecordFunctionCallback {
 public:
  using StartCallback = std::unique_ptr<ObserverContext> (*)(const RecordFunction&);
  using EndCallback = void (*)(const RecordFunction&, ObserverContext*);

  explicit RecordFunctionCallback(StartCallback start, EndCallback end = nullptr) : start_(start), end_(end) {
    scopes_.fill(true);
  }

  RecordFunctionCallback& needsInputs(bool needs) { return needs_inputs_ = needs, *this; }
  RecordFunctionCallback& needsOutputs(bool needs) { return needs_outputs_ = needs, *this; }
  RecordFunctionCallback& needsIds(bool needs) { return needs_ids_ = needs, *this; }
  /// With this probability a range is seen, drawn for each.
  RecordFunctionCallback& samplingProb(double probability) {
    HB_CHECK(probability >= 0.0 && probability <= 1.0, "Invalid sampling probability");
    return sampling_prob_ = probability, *this;
  }
  /// No scope at all means every scope.
  RecordFunctionCallback& scopes(const std::unordered_set<RecordScope, std::hash<RecordScope>>& scopes) {
    scopes_.fill(scopes.empty());
    for (const RecordScope scope : scopes) scopes_[static_cast<size_t>(scope)] = true;
    return *this;
  }

  bool needsInputs() const { return needs_inputs_; }
  bool needsOutputs() const { return needs_outputs_; }
  bool needsIds() const { return needs_ids_; }
  double samplingProb() const { return sampling_prob_; }
  bool checkScope(RecordScope scope) const { return scopes_[static_cast<size_t>(scope)]; }
  StartCallback start() const { return start_; }
  EndCallback end() const { return end_; }

 private:
  StartCallback start_;
  EndCallback end_;
  double sampling_prob_ = 1.0;
  std::array<bool, static_cast<size_t>(RecordScope::NUM_SCOPES)> scopes_ = {};
  bool needs_inputs_ = false, needs_outputs_ = false, needs_ids_ = false;
};

struct RecordFunctionCallbacksEntry {
  RecordFunctionCallbacksEntry(RecordFunctionCallback callback, CallbackHandle handle)
      : callback_(callback), handle_(handle) {}
  RecordFunctionCallback callback_;
  bool enabled_{true};
  CallbackHandle handle_;
};
using RecordFunctionCallbacks = std::vector<RecordFunctionCallbacksEntry>;

/// The callbacks of one range.
struct StepCallbacks {
  struct StartEndPair {
    RecordFunctionCallback::StartCallback start_;
    RecordFunctionCallback::EndCallback end_;
  };
  using StartEndPairs = SmallVector<StartEndPair, kSoftLimitCallbacks>;

  StepCallbacks() = default;
  StepCallbacks(uint64_t thread_id, RecordScope scope) : thread_id_(thread_id), scope_(scope) {}
  bool empty() const { return callbacks_.empty() && !profiled_; }

  StartEndPairs callbacks_;
  uint64_t thread_id_{0};
  RecordScope scope_{RecordScope::FUNCTION};
  bool needs_inputs_{false}, needs_outputs_{false}, needs_ids_{false};
  bool profiled_{false};  // the profiler takes the range down
};

/// A range: it begins with before() and ends with the object, or with end().
class HB_API RecordFunction {
 public:
  using schema_ref_t = std::reference_wrapper<const FunctionSchema>;
  using FunctionDescriptor = std::variant<std::string_view, schema_ref_t>;
  using Kwargs = std::unordered_map<std::string, IValue>;

  explicit RecordFunction(RecordScope scope = RecordScope::FUNCTION);
  explicit RecordFunction(StepCallbacks&& callbacks);
  RecordFunction(const RecordFunction&) = delete;
  RecordFunction& operator=(const RecordFunction&) = delete;
  virtual ~RecordFunction();

  /// Begins the range. The inputs must live until then; callbacks see them where one asked for inputs.
  void before(FunctionDescriptor fn, int64_t sequence_nr = -1);
  void before(FunctionDescriptor fn, ArrayRef<const IValue> inputs, int64_t sequence_nr = -1) {
    if (!isActive()) return;
    inputs_ = inputs;
    before(fn, sequence_nr);
  }
  void before(FunctionDescriptor fn, ArrayRef<const IValue> inputs, const Kwargs* kwargs, int64_t sequence_nr = -1) {
    if (!isActive()) return;
    kwinputs_ = *kwargs;
    before(fn, inputs, sequence_nr);
  }
  void before(FunctionDescriptor fn, const Kwargs* kwargs, int64_t sequence_nr = -1) {
    if (!isActive()) return;
    kwinputs_ = *kwargs;
    before(fn, sequence_nr);
  }
  void before(FunctionDescriptor fn, const std::vector<IValue>* inputs, int64_t sequence_nr = -1) {
    before(fn, ArrayRef<const IValue>(inputs->data(), inputs->size()), sequence_nr);
  }
  void before(FunctionDescriptor fn, const std::vector<IValue>* inputs, const Kwargs* kwargs,
              int64_t sequence_nr = -1) {
    before(fn, ArrayRef<const IValue>(inputs->data(), inputs->size()), kwargs, sequence_nr);
  }
  /// Runs the end callbacks.
  void end();

  const char* name() const { return name_.c_str(); }
  const char* overload_name() const { return overload_.c_str(); }
  /// Of a range that a schema named.
  std::optional<OperatorName> operator_name() const;
  std::optional<FunctionSchema> operator_schema() const;
  /// Of a step of the backward pass: the number of its node. -1: none.
  int64_t seqNr() const { return sequence_nr_; }

  ArrayRef<const IValue> inputs() const { return inputs_; }
  Kwargs kwinputs() const { return kwinputs_; }
  const std::vector<IValue>& outputs() const { return outputs_; }
  void setOutputs(std::vector<IValue>&& outputs) { outputs_ = std::move(outputs); }
  void setOutputs(ArrayRef<IValue> outputs) { outputs_ = outputs.vec(); }
  size_t num_inputs() const;
  size_t num_outputs() const;
  void invalidateInputs() {}

  RecordScope scope() const { return callbacks_.scope_; }
  /// Whether any callback, or the profiler, sees the range.
  bool isActive() const { return !callbacks_.empty(); }
  bool needsInputs() const { return callbacks_.needs_inputs_; }
  bool needsOutputs() const { return callbacks_.needs_outputs_; }

  /// A number for each thread; that on which the range began.
  static uint64_t currentThreadId();
  uint64_t threadId() const { return callbacks_.thread_id_; }
  uint64_t forwardThreadId() const { return forward_thread_id_; }
  void setForwardThreadId(uint64_t thread_id) { forward_thread_id_ = thread_id; }
  /// Not 0 where a callback asked for ids.
  RecordFunctionHandle handle() const { return handle_; }
  void setHandle(RecordFunctionHandle handle) { handle_ = handle; }
  int64_t debugHandle() const { return debug_handle_; }
  void setDebugHandle(int64_t handle) { debug_handle_ = handle; }
  static void setDefaultNodeId(int64_t node);
  static int64_t getDefaultNodeId();
  void _setAsync() { async_ = true; }
  bool isAsync() const { return async_; }
  bool isNcclMeta() const { return false; }
  void _setStaticRuntimeOutVariant() { static_runtime_out_ = isActive(); }
  bool isStaticRuntimeOutVariant() const { return static_runtime_out_; }

 private:
  StepCallbacks callbacks_;
  ObserverContextList contexts_;
  std::optional<profiler::Range> range_;
  bool begun_ = false, async_ = false, static_runtime_out_ = false;
  std::string name_, overload_;
  const FunctionSchema* schema_ = nullptr;
  int64_t sequence_nr_ = -1, debug_handle_ = -1;
  ArrayRef<const IValue> inputs_;
  Kwargs kwinputs_;
  std::vector<IValue> outputs_;
  uint64_t forward_thread_id_ = 0;
  RecordFunctionHandle handle_ = 0;
};

/// What a range of this scope would call on this thread now.
HB_API StepCallbacks getStepCallbacks(RecordScope scope);
HB_API std::optional<StepCallbacks> getStepCallbacksUnlessEmpty(RecordScope scope);

/// Callbacks of the calling thread; of all threads. Those of all threads run first.
HB_API CallbackHandle addThreadLocalCallback(RecordFunctionCallback callback);
HB_API bool hasThreadLocalCallbacks();
HB_API void clearThreadLocalCallbacks();
HB_API CallbackHandle addGlobalCallback(RecordFunctionCallback callback);
HB_API bool hasGlobalCallbacks();
HB_API void clearGlobalCallbacks();
inline bool hasCallbacks() { return hasThreadLocalCallbacks() || hasGlobalCallbacks(); }
inline void clearCallbacks() { clearGlobalCallbacks(), clearThreadLocalCallbacks(); }
/// Of a callback of this thread or of all threads; a handle of neither is a warning.
HB_API void removeCallback(CallbackHandle handle);
HB_API void disableCallback(CallbackHandle handle);
HB_API void reenableCallback(CallbackHandle handle);

/// Whether ranges are recorded on this thread.
HB_API void enableRecordFunction(bool enable = true);
HB_API bool isRecordFunctionEnabled();

class HB_API RecordFunctionGuard {
 public:
  explicit RecordFunctionGuard(bool is_enabled = true) : previous_(isRecordFunctionEnabled()) {
    enableRecordFunction(is_enabled);
  }
  RecordFunctionGuard(const RecordFunctionGuard&) = delete;
  RecordFunctionGuard& operator=(const RecordFunctionGuard&) = delete;
  virtual ~RecordFunctionGuard() { enableRecordFunction(previous_); }

 private:
  bool previous_;
};
class HB_API DisableRecordFunctionGuard : public RecordFunctionGuard {
 public:
  DisableRecordFunctionGuard() : RecordFunctionGuard(false) {}
};

/// What a thread has of its own.
struct HB_API RecordFunctionTLS {
  RecordFunctionCallbacks sorted_tls_callbacks_;
  bool tls_record_function_enabled_ = true;
};
HB_API const RecordFunctionTLS& get_record_function_tls_();
HB_API void set_record_function_tls_(const RecordFunctionTLS& tls);
/// The draws of callbacks that see some ranges only, on this thread.
HB_API void set_record_function_seed_for_testing(uint32_t seed);

}  // namespace api

namespace recording {
template <class Inputs, class... Args>
void record_function_with_scope(RecordFunction& guard, RecordFunction::FunctionDescriptor fn, const Inputs& inputs,
                                Args&&... args) {
  if (guard.needsInputs())
    guard.before(fn, ArrayRef<const IValue>(inputs.data(), inputs.size()), std::forward<Args>(args)...);
  else
    guard.before(fn, std::forward<Args>(args)...);
}
template <class... Args>
void record_function_with_scope(RecordFunction& guard, RecordFunction::FunctionDescriptor fn,
                                ArrayRef<const IValue> inputs, Args&&... args) {
  record_function_with_scope<ArrayRef<const IValue>, Args...>(guard, fn, inputs, std::forward<Args>(args)...);
}
}  // namespace recording
}  // namespace hb::bridge

/// A range until the end of the block. As in LibTorch it is called `guard`.
#define RECORD_FUNCTION_WITH_SCOPE(scope, fn, inputs, ...) \
  ::hb::bridge::RecordFunction guard(scope);               \
  if (guard.isActive()) ::hb::bridge::recording::record_function_with_scope(guard, fn, inputs, ##__VA_ARGS__)
#define RECORD_FUNCTION(fn, inputs, ...) \
  RECORD_FUNCTION_WITH_SCOPE(::hb::bridge::RecordScope::FUNCTION, fn, inputs, ##__VA_ARGS__)
#define RECORD_TORCHSCRIPT_FUNCTION(fn, inputs) \
  RECORD_FUNCTION_WITH_SCOPE(::hb::bridge::RecordScope::TORCHSCRIPT_FUNCTION, fn, inputs)
#define RECORD_USER_SCOPE(fn) \
  RECORD_FUNCTION_WITH_SCOPE(::hb::bridge::RecordScope::USER_SCOPE, fn, ::hb::ArrayRef<const ::hb::IValue>{})
#define RECORD_USER_SCOPE_WITH_INPUTS(fn, inputs) \
  RECORD_FUNCTION_WITH_SCOPE(::hb::bridge::RecordScope::USER_SCOPE, fn, inputs)
#define RECORD_USER_SCOPE_WITH_KWARGS_ONLY(fn, kwargs) \
  RECORD_FUNCTION_WITH_SCOPE(::hb::bridge::RecordScope::USER_SCOPE, fn, ::hb::ArrayRef<const ::hb::IValue>{}, kwargs)
#define RECORD_OUTPUTS(outputs) \
  if (guard.needsOutputs()) guard.setOutputs(std::vector<::hb::IValue>(outputs.begin(), outputs.end()))
#define RECORD_FUNCTION_WITH_SCOPE_INPUTS_OUTPUTS(scope, fn, inputs, outputs, ...) \
  RECORD_FUNCTION_WITH_SCOPE(scope, fn, inputs, ##__VA_ARGS__);                    \
  if (guard.needsOutputs()) guard.setOutputs(outputs)
#define RECORD_FUNCTION_WITH_INPUTS_OUTPUTS(fn, inputs, outputs, ...) \
  RECORD_FUNCTION_WITH_SCOPE_INPUTS_OUTPUTS(::hb::bridge::RecordScope::FUNCTION, fn, inputs, outputs, ##__VA_ARGS__)
