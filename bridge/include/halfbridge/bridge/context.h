#pragma once
// Global settings, threads and what is known of devices of CUDA.

#include <algorithm>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <halfbridge/device.h>
#include <halfbridge/generator.h>
#include <halfbridge/threads.h>

namespace hb::bridge {
inline namespace api {

/// How float32 products may be rounded inside. Here they are always computed in float32.
enum class Float32MatmulPrecision { HIGHEST, HIGH, MEDIUM };

/// LibTorch's engines of quantized tensors, of which this build has none.
enum class QEngine : uint8_t { NoQEngine, FBGEMM, QNNPACK, ONEDNN, X86 };
constexpr auto kNoQEngine = QEngine::NoQEngine;
constexpr auto kFBGEMM = QEngine::FBGEMM;
constexpr auto kQNNPACK = QEngine::QNNPACK;
constexpr auto kONEDNN = QEngine::ONEDNN;
constexpr auto kX86 = QEngine::X86;
HB_API std::string toString(QEngine engine);

/// Switches that programs set for LibTorch. Results here are deterministic for a given number of threads in any case,
/// so most of them are only remembered.
class HB_API Context {
 public:
  bool deterministicAlgorithms() const { return deterministic_; }
  bool deterministicAlgorithmsWarnOnly() const { return deterministic_warn_only_; }
  void setDeterministicAlgorithms(bool on, bool warn_only = false);
  // What CUDA's libraries are asked for; the CPU's functions do not look at it.
  bool deterministicCuDNN() const;
  void setDeterministicCuDNN(bool on);
  bool benchmarkCuDNN() const;
  void setBenchmarkCuDNN(bool on);
  bool userEnabledCuDNN() const;
  void setUserEnabledCuDNN(bool on);
  bool userEnabledMkldnn() const { return user_enabled_mkldnn_; }
  void setUserEnabledMkldnn(bool on) { user_enabled_mkldnn_ = on; }
  bool allowTF32CuDNN() const;
  void setAllowTF32CuDNN(bool on);
  bool allowTF32CuBLAS() const;
  /// Sets the precision of float32 products, too: high where TF32 is allowed, else highest.
  void setAllowTF32CuBLAS(bool on);
  bool allowFP16ReductionCuBLAS() const;
  void setAllowFP16ReductionCuBLAS(bool on);
  bool allowBF16ReductionCuBLAS() const;
  void setAllowBF16ReductionCuBLAS(bool on);
  Float32MatmulPrecision float32MatmulPrecision() const { return float32_matmul_precision_; }
  void setFloat32MatmulPrecision(Float32MatmulPrecision p);
  /// "highest", "high" or "medium"; throws for another word.
  void setFloat32MatmulPrecision(const std::string& word);
  bool deterministicFillUninitializedMemory() const { return deterministic_fill_; }
  /// While this is on (the default) and algorithms are deterministic, `empty` and `resize_` fill new memory with NaN,
  /// the largest integer or true.
  void setDeterministicFillUninitializedMemory(bool on);
  // Ways of computing attention. `Flash` is the fused kernel and `Math` the formula; with neither
  // scaled_dot_product_attention throws. No device here has the others, which are remembered.
  bool userEnabledFlashSDP() const;
  void setSDPUseFlash(bool on);
  bool userEnabledMathSDP() const;
  void setSDPUseMath(bool on);
  bool userEnabledMemEfficientSDP() const;
  void setSDPUseMemEfficient(bool on);
  bool userEnabledCuDNNSDP() const;
  void setSDPUseCuDNN(bool on);
  bool userEnabledFA3SDP() const;
  void setSDPUseFA3(bool on);
  bool userEnabledOverrideableSDP() const;
  void setSDPUseOverrideable(bool on);
  /// Whether the formula computes half types in themselves; else in float.
  bool allowFP16BF16ReductionMathSDP() const;
  void setAllowFP16BF16ReductionMathSDP(bool on);
  QEngine qEngine() const { return QEngine::NoQEngine; }
  /// Throws for all but NoQEngine.
  void setQEngine(QEngine engine);
  static const std::vector<QEngine>& supportedQEngines();
  /// Whether the CPU takes numbers too small to be normal for zero, in the calling thread.
  static bool setFlushDenormal(bool on);
  // Remembered: what they are about is not here, or always as with the careful answer.
  bool deterministicMkldnn() const { return deterministic_mkldnn_; }
  void setDeterministicMkldnn(bool on) { deterministic_mkldnn_ = on; }
  bool userEnabledNNPACK() const { return user_enabled_nnpack_; }
  void setUserEnabledNNPACK(bool on) { user_enabled_nnpack_ = on; }
  bool allowTF32OneDNN() const { return tf32_onednn_; }
  void setAllowTF32OneDNN(bool on) { tf32_onednn_ = on; }
  bool allowFP16ReductionCPU() const { return fp16_reduction_cpu_; }
  void setAllowFP16ReductionCPU(bool on) { fp16_reduction_cpu_ = on; }
  bool areVmapFallbackWarningsEnabled() const { return vmap_warnings_; }
  void setDisplayVmapFallbackWarnings(bool on) { vmap_warnings_ = on; }
  bool warnOnAccumulateGradStreamMismatch() const { return stream_warnings_; }
  void setWarnOnAccumulateGradStreamMismatch(bool on) { stream_warnings_ = on; }
  bool releaseWeightsWhenPrepacking() const { return release_weights_; }
  void setReleaseWeightsWhenPrepacking(bool on) { release_weights_ = on; }
  /// As functions without a deterministic form call it: throws or warns where only such are allowed.
  static void alertNotDeterministic(std::string_view caller);
  /// Throws where there is no such device.
  void lazyInitDevice(DeviceType type);
  void lazyInitCUDA() { lazyInitDevice(kCUDA); }
  /// Whether that memory is the host's and page-locked for CUDA.
  bool isPinnedPtr(const void* data, std::optional<DeviceType> type = std::nullopt) const;
  /// The generator that functions draw from when they are given none; throws for another device than the CPU.
  const Generator& defaultGenerator(Device device) const;

  static bool hasOpenMP() { return true; }
  static bool hasMKLDNN() { return true; }
  static bool hasMKL() { return false; }
  static bool hasLAPACK() { return true; }
  /// Whether there is a CUDA device.
  static bool hasCUDA();
  static bool hasCUDART() { return hasCUDA(); }
  static bool hasCuDNN();
  static bool hasHIP() { return false; }
  static bool hasMPS() { return false; }
  static bool hasXLA() { return false; }
  static bool hasXPU() { return false; }
  static bool hasHPU() { return false; }
  static bool hasIPU() { return false; }
  static bool hasLazy() { return false; }
  static bool hasMAIA() { return false; }
  static bool hasMTIA() { return false; }
  static bool hasROCM() { return false; }
  static bool hasMAGMA() { return false; }
  // What CUDA's tensors are computed with.
  static bool hasCuSOLVER() { return hasCUDA(); }
  static bool hasCuBLASLt() { return hasCUDA(); }
  static bool hasCKGEMM() { return false; }
  static bool hasCKSDPA() { return false; }
  static bool ckSupported() { return false; }
  static bool hasEigenSparse() { return false; }
  static bool hasKleidiAI() { return false; }
  static bool isXNNPACKAvailable() { return false; }
  /// Throw: neither library is linked.
  [[noreturn]] static long versionCUDART();
  [[noreturn]] static long versionCuDNN();

 private:
  bool deterministic_ = false, deterministic_warn_only_ = false;
  bool user_enabled_mkldnn_ = true, deterministic_fill_ = true;
  bool deterministic_mkldnn_ = false, user_enabled_nnpack_ = true, tf32_onednn_ = false, fp16_reduction_cpu_ = false;
  bool vmap_warnings_ = false, stream_warnings_ = true, release_weights_ = false;
  Float32MatmulPrecision float32_matmul_precision_ = Float32MatmulPrecision::HIGHEST;
};
HB_API Context& globalContext();
inline void init() { globalContext(); }
inline bool hasCUDA() { return Context::hasCUDA(); }
inline bool hasMPS() { return Context::hasMPS(); }
inline bool hasHIP() { return Context::hasHIP(); }
inline bool hasHPU() { return Context::hasHPU(); }
inline bool hasIPU() { return Context::hasIPU(); }
inline bool hasMAIA() { return Context::hasMAIA(); }
inline bool hasMTIA() { return Context::hasMTIA(); }
inline bool hasXPU() { return Context::hasXPU(); }
inline bool hasMAGMA() { return Context::hasMAGMA(); }
inline bool hasMKLDNN() { return Context::hasMKLDNN(); }
inline bool hasEigenSparse() { return Context::hasEigenSparse(); }
inline bool hasKleidiAI() { return Context::hasKleidiAI(); }
inline bool hasXLA() { return Context::hasXLA(); }
inline bool hasMKL() { return Context::hasMKL(); }
inline bool hasLAPACK() { return Context::hasLAPACK(); }
inline bool hasOpenMP() { return Context::hasOpenMP(); }
HB_API size_t getNumGPUs();

// --- threads
inline void init_num_threads() {}
// get_num_threads and set_num_threads are the engine's.
/// Operations never run beside each other here: what is set is only remembered.
HB_API size_t get_num_interop_threads();
HB_API void set_num_interop_threads(int n);
HB_API int get_thread_num();
HB_API bool in_parallel_region();
/// Calls f(from, to) for parts of [begin, end) of at least grain_size, from several threads.
HB_API void parallel_for(int64_t begin, int64_t end, int64_t grain_size,
                         const std::function<void(int64_t, int64_t)>& f);
/// Combines with `combine` what f(from, to, identity) gives for parts of [begin, end). Which numbers meet depends on
/// the number of threads.
template <class Result, class F, class Combine>
Result parallel_reduce(int64_t begin, int64_t end, int64_t grain_size, const Result identity, const F& f,
                       const Combine& combine) {
  if (begin >= end) return identity;
  if (end - begin < grain_size || in_parallel_region() || get_num_threads() == 1) return f(begin, end, identity);
  struct Part {
    int64_t from;
    Result result;
  };
  std::mutex mutex;
  std::vector<Part> parts;
  parallel_for(begin, end, grain_size, [&](int64_t from, int64_t to) {
    Part part{from, f(from, to, identity)};
    std::lock_guard<std::mutex> lock(mutex);
    parts.push_back(std::move(part));
  });
  std::sort(parts.begin(), parts.end(), [](const Part& a, const Part& b) { return a.from < b.from; });
  Result result = identity;
  for (const Part& part : parts) result = combine(result, part.result);
  return result;
}

}  // namespace api

namespace cuda {
/// 0 where there is no CUDA library, no driver or no device.
HB_API DeviceIndex device_count();
HB_API bool is_available();
HB_API bool cudnn_is_available();
/// Seeds the current device's generator, or those of all. As in LibTorch nothing happens without a GPU.
HB_API void manual_seed(uint64_t seed);
HB_API void manual_seed_all(uint64_t seed);
/// Waits for all work of a device (-1: the current one). Throws without a GPU.
HB_API void synchronize(int64_t device_index = -1);
}  // namespace cuda

// Programs for several kinds of devices ask for these, too: seeds need no device, as in LibTorch.
namespace mps {
inline bool is_available() { return false; }
inline void manual_seed(uint64_t) {}
HB_API void synchronize();
HB_API void commit();
}  // namespace mps
namespace xpu {
inline bool is_available() { return false; }
inline size_t device_count() { return 0; }
inline void manual_seed(uint64_t) {}
inline void manual_seed_all(uint64_t) {}
HB_API void synchronize(int64_t device_index);
}  // namespace xpu

}  // namespace hb::bridge
