#pragma once
// Automatic mixed precision: while autocast is on, every function runs in the precision that suits it.
// docs/mixed-precision.md lists the class of every function.

#include <optional>
#include <string_view>
#include <vector>

#include <halfbridge/tensor.h>

namespace hb {

namespace autocast {

/// What autocast does with a function, for one type of device. Only floating tensors of that device are cast, and never
/// float64 ones.
enum class OpClass : uint8_t {
  as_is,       ///< runs on what it is given; the functions it is made of have classes of their own
  closed,      ///< runs on what it is given, and so does all that it is made of
  half,        ///< casts to the dtype of autocast
  fp32,        ///< casts to float32
  fp32_dtype,  ///< computes its result in float32 unless the program asks for a dtype
  widest,      ///< casts to float32 if any argument is float32, else to the dtype of autocast
  banned       ///< throws: unsafe in half precision
};
HB_API const char* to_string(OpClass op_class);

/// A function and its class in the list of each type of device.
struct OpEntry {
  const char* name;
  OpClass cpu, cuda;
};
/// Every function that declares a class, by name; overloads share an entry unless they differ.
HB_API std::vector<OpEntry> ops();
/// The class of a function in the list of a device type; as_is for functions that declare none. With overloads that
/// differ, the first that is not as_is.
HB_API OpClass op_class(std::string_view name, DeviceType device_type);

// --- the state of the calling thread; every thread starts with autocast off

HB_API bool is_autocast_available(DeviceType device_type);
HB_API bool is_autocast_enabled(DeviceType device_type);
HB_API void set_autocast_enabled(DeviceType device_type, bool enabled);
/// Until it is set: bfloat16 on the CPU (and XLA), float16 on CUDA (and MPS).
HB_API ScalarType get_autocast_dtype(DeviceType device_type);
HB_API void set_autocast_dtype(DeviceType device_type, ScalarType dtype);
/// Whether half copies of float32 leaves that require gradients are kept until the outermost guard ends.
HB_API bool is_autocast_cache_enabled();
HB_API void set_autocast_cache_enabled(bool enabled);
/// Forgets the half copies of this thread.
HB_API void clear_cache();
/// Enters and leaves a guard; returns the depth reached.
HB_API int increment_nesting();
HB_API int decrement_nesting();
/// How many half copies this thread keeps.
HB_API size_t cache_size();

/// Which list of classes the functions follow on a type of device: the list of kCPU or that of kCUDA. Every type but
/// the CPU follows CUDA's until it is set. CUDA's list keeps more in float32, which float16 needs to train.
HB_API DeviceType get_op_list(DeviceType device_type);
HB_API void set_op_list(DeviceType device_type, DeviceType list);

// --- what a function of a program's own may use to cast its arguments

/// `arg` in `to_type`, if autocast casts it: a floating tensor of this device type, not float64. Half copies of
/// parameters come from the cache.
HB_API Tensor cached_cast(ScalarType to_type, const Tensor& arg, DeviceType device_type = kCUDA);
HB_API std::optional<Tensor> cached_cast(ScalarType to_type, const std::optional<Tensor>& arg,
                                         DeviceType device_type = kCUDA);
HB_API std::vector<Tensor> cached_cast(ScalarType to_type, TensorList arg, DeviceType device_type = kCUDA);
/// Whether cached_cast would cast this tensor.
HB_API bool is_eligible(const Tensor& arg, DeviceType device_type = kCUDA);
/// The widest of `current` and the dtype of `next`, for OpClass::widest.
HB_API ScalarType prioritize(ScalarType current, const Tensor& next, DeviceType device_type = kCUDA);
HB_API ScalarType prioritize(ScalarType current, TensorList list, DeviceType device_type = kCUDA);
HB_API ScalarType get_lower_precision_fp_from_device_type(DeviceType device_type);
inline std::optional<ScalarType> set_opt_dtype(ScalarType to_type, const std::optional<ScalarType>& dtype) {
  return dtype ? dtype : to_type;
}

// --- LibTorch's older names

[[deprecated("use is_autocast_enabled(kCUDA)")]] inline bool is_enabled() { return is_autocast_enabled(kCUDA); }
[[deprecated("use set_autocast_enabled(kCUDA, enabled)")]] inline void set_enabled(bool enabled) {
  set_autocast_enabled(kCUDA, enabled);
}
[[deprecated("use get_autocast_dtype(kCUDA)")]] inline ScalarType get_autocast_gpu_dtype() {
  return get_autocast_dtype(kCUDA);
}
[[deprecated("use set_autocast_dtype(kCUDA, dtype)")]] inline void set_autocast_gpu_dtype(ScalarType dtype) {
  set_autocast_dtype(kCUDA, dtype);
}
#define HB_OLD_AUTOCAST_NAMES(name, type)                                                                           \
  [[deprecated("use is_autocast_enabled")]] inline bool is_##name##_enabled() { return is_autocast_enabled(type); } \
  [[deprecated("use set_autocast_enabled")]] inline void set_##name##_enabled(bool enabled) {                       \
    set_autocast_enabled(type, enabled);                                                                            \
  }                                                                                                                 \
  [[deprecated("use get_autocast_dtype")]] inline ScalarType get_autocast_##name##_dtype() {                        \
    return get_autocast_dtype(type);                                                                                \
  }                                                                                                                 \
  [[deprecated("use set_autocast_dtype")]] inline void set_autocast_##name##_dtype(ScalarType dtype) {              \
    set_autocast_dtype(type, dtype);                                                                                \
  }
HB_OLD_AUTOCAST_NAMES(cpu, kCPU)
HB_OLD_AUTOCAST_NAMES(xla, kXLA)
#undef HB_OLD_AUTOCAST_NAMES

}  // namespace autocast

/// Turns autocast on (or off) for a type of device on this thread, until the end of the scope. Guards nest.
///   torch::autocast guard(torch::kCPU, torch::kHalf);
///   torch::autocast off(torch::kCPU, std::nullopt, /*enabled=*/false);
/// dtype: float16 or bfloat16, by default get_autocast_dtype. With another one, or on a device that this machine lacks,
/// the guard warns and turns autocast off, as PyTorch does.
class HB_API AutocastGuard {
 public:
  explicit AutocastGuard(Device device, std::optional<ScalarType> dtype = std::nullopt, bool enabled = true,
                         std::optional<bool> cache_enabled = std::nullopt);
  AutocastGuard(const AutocastGuard&) = delete;
  AutocastGuard& operator=(const AutocastGuard&) = delete;
  ~AutocastGuard();

  // LibTorch offers at::autocast's functions as torch::autocast:: too, where this class takes the name.
  static bool is_autocast_enabled(DeviceType type) { return autocast::is_autocast_enabled(type); }
  static void set_autocast_enabled(DeviceType type, bool enabled) { autocast::set_autocast_enabled(type, enabled); }
  static ScalarType get_autocast_dtype(DeviceType type) { return autocast::get_autocast_dtype(type); }
  static void set_autocast_dtype(DeviceType type, ScalarType dtype) { autocast::set_autocast_dtype(type, dtype); }
  static bool is_autocast_cache_enabled() { return autocast::is_autocast_cache_enabled(); }
  static void set_autocast_cache_enabled(bool enabled) { autocast::set_autocast_cache_enabled(enabled); }
  static void clear_cache() { autocast::clear_cache(); }
  static int increment_nesting() { return autocast::increment_nesting(); }
  static int decrement_nesting() { return autocast::decrement_nesting(); }

 private:
  DeviceType device_;
  ScalarType previous_dtype_;
  bool previous_enabled_, previous_cache_;
};

namespace amp {
using autocast = AutocastGuard;
}

}  // namespace hb
