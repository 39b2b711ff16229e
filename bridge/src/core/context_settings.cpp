// Settings of Context that the engine obeys or that are only remembered, and what this build has not.
#include <iterator>
#include <limits>

#include <xmmintrin.h>

#include <halfbridge/bridge/context.h>
#include <halfbridge/bridge/warning.h>
#include <halfbridge/error.h>
#include <halfbridge/tensor.h>

#include "core/attention_settings.h"
#include "core/cuda_api.h"
#include "core/cuda_settings.h"
#include "core/fill_new_memory.h"

namespace hb::bridge {
inline namespace api {

#define HB_ATTENTION(getter, setter, member)                           \
  bool Context::getter() const { return attention_settings().member; } \
  void Context::setter(bool on) { attention_settings().member = on; }
HB_ATTENTION(userEnabledFlashSDP, setSDPUseFlash, flash)
HB_ATTENTION(userEnabledMathSDP, setSDPUseMath, math)
HB_ATTENTION(userEnabledMemEfficientSDP, setSDPUseMemEfficient, memory_efficient)
HB_ATTENTION(userEnabledCuDNNSDP, setSDPUseCuDNN, cudnn)
HB_ATTENTION(userEnabledFA3SDP, setSDPUseFA3, flash_3)
HB_ATTENTION(userEnabledOverrideableSDP, setSDPUseOverrideable, overrideable)
HB_ATTENTION(allowFP16BF16ReductionMathSDP, setAllowFP16BF16ReductionMathSDP, half_math)
#undef HB_ATTENTION

bool Context::setFlushDenormal(bool on) {
  constexpr unsigned kFlushAndZero = 0x8040;  // results and operands
  _mm_setcsr(on ? _mm_getcsr() | kFlushAndZero : _mm_getcsr() & ~kFlushAndZero);
  return true;
}

void Context::setQEngine(QEngine engine) {
  HB_CHECK(engine == QEngine::NoQEngine, "quantized engine ", toString(engine), " is not supported");
}
const std::vector<QEngine>& Context::supportedQEngines() {
  static const std::vector<QEngine> none{QEngine::NoQEngine};
  return none;
}
std::string toString(QEngine engine) {
  constexpr const char* kNames[] = {"NoQEngine", "FBGEMM", "QNNPACK", "ONEDNN", "X86"};
  const auto at = static_cast<size_t>(engine);
  HB_CHECK(at < std::size(kNames), "Unrecognized Quantized Engine: ", at);
  return kNames[at];
}

namespace {
// As LibTorch's deterministic mode.
void fill_new(const Tensor& t) {
  const Tensor values = t.variable_data();  // another version than the tensor's
  const ScalarType dtype = t.scalar_type();
  if (is_differentiable_type(dtype))
    values.fill_(std::numeric_limits<double>::quiet_NaN());
  else if (dtype == kBool)
    values.fill_(true);
  else if (dtype == kByte || is_wide_unsigned_type(dtype))
    values.fill_(-1);  // it wraps
  else
    values.fill_(std::numeric_limits<int64_t>::max() >> 8 * (sizeof(int64_t) - element_size(dtype)));
}
void fill_new_memory(bool on) { detail::fill_new_memory = on ? fill_new : nullptr; }
}  // namespace
void Context::setDeterministicAlgorithms(bool on, bool warn_only) {
  deterministic_ = on, deterministic_warn_only_ = warn_only;
  cuda_settings().deterministic_algorithms = on;
  fill_new_memory(deterministic_ && deterministic_fill_);
}
void Context::setDeterministicFillUninitializedMemory(bool on) {
  deterministic_fill_ = on;
  fill_new_memory(deterministic_ && deterministic_fill_);
}

void Context::alertNotDeterministic(std::string_view caller) {
  const Context& context = globalContext();
  if (!context.deterministicAlgorithms()) return;
  HB_CHECK(context.deterministicAlgorithmsWarnOnly(), caller,
           " does not have a deterministic implementation, but you set 'torch.use_deterministic_algorithms(True)', or "
           "'at::globalContext().setDeterministicAlgorithms(true)'");
  warn(Warning(SourceLocation{__func__, __FILE__, __LINE__},
               std::string(caller) + " does not have a deterministic implementation, but you set "
                                     "'torch.use_deterministic_algorithms(True, warn_only=True)'."));
}

namespace {
[[noreturn]] void no_version(const char* library) {
  HB_NOT_SUPPORTED("Cannot query ", library, " version: this build does not link it");
}
}  // namespace
long Context::versionCUDART() { no_version("CUDART"); }
long Context::versionCuDNN() { no_version("cuDNN"); }

void Context::lazyInitDevice(DeviceType type) {
  if (type == kCPU) return;
  HB_CHECK(type == kCUDA && hasCUDA(), "Cannot initialize ", type, ": there is no such device");
}
bool Context::isPinnedPtr(const void* data, std::optional<DeviceType> /*type*/) const {
  CudaApi* const api = find_cuda_api();
  return api && api->is_pinned(data);
}

}  // namespace api
}  // namespace hb::bridge
