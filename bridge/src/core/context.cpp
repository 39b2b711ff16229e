#include <halfbridge/bridge/context.h>

#include <algorithm>

#include <omp.h>

#include <halfbridge/error.h>
#include <halfbridge/parallel.h>

#include "core/cuda_api.h"
#include "core/cuda_settings.h"
#include "core/device_backend.h"

namespace hb::bridge {
inline namespace api {

Context& globalContext() {
  static auto& context = *new Context;  // never destroyed: threads may ask while the process ends
  return context;
}

void Context::setFloat32MatmulPrecision(const std::string& word) {
  if (word == "highest") return setFloat32MatmulPrecision(Float32MatmulPrecision::HIGHEST);
  if (word == "high") return setFloat32MatmulPrecision(Float32MatmulPrecision::HIGH);
  if (word == "medium") return setFloat32MatmulPrecision(Float32MatmulPrecision::MEDIUM);
  HB_CHECK(false, "[setFloat32MatmulPrecision] expected highest, high or medium, got '", word, "'");
}

#define HB_CUDA_SETTING(getter, setter, member)                   \
  bool Context::getter() const { return cuda_settings().member; } \
  void Context::setter(bool on) { cuda_settings().member = on; }
HB_CUDA_SETTING(deterministicCuDNN, setDeterministicCuDNN, cudnn_deterministic)
HB_CUDA_SETTING(benchmarkCuDNN, setBenchmarkCuDNN, cudnn_benchmark)
HB_CUDA_SETTING(userEnabledCuDNN, setUserEnabledCuDNN, cudnn_enabled)
HB_CUDA_SETTING(allowTF32CuDNN, setAllowTF32CuDNN, cudnn_tf32)
HB_CUDA_SETTING(allowFP16ReductionCuBLAS, setAllowFP16ReductionCuBLAS, cublas_fp16_reduction)
HB_CUDA_SETTING(allowBF16ReductionCuBLAS, setAllowBF16ReductionCuBLAS, cublas_bf16_reduction)
#undef HB_CUDA_SETTING
bool Context::allowTF32CuBLAS() const { return cuda_settings().cublas_tf32; }
void Context::setAllowTF32CuBLAS(bool on) {
  setFloat32MatmulPrecision(on ? Float32MatmulPrecision::HIGH : Float32MatmulPrecision::HIGHEST);
}
void Context::setFloat32MatmulPrecision(Float32MatmulPrecision p) {
  float32_matmul_precision_ = p;
  cuda_settings().cublas_tf32 = p != Float32MatmulPrecision::HIGHEST;
}

bool Context::hasCUDA() { return cuda::is_available(); }
bool Context::hasCuDNN() {
  CudaApi* const api = find_cuda_api();
  return api && api->cudnn_available();
}
size_t getNumGPUs() { return static_cast<size_t>(cuda::device_count()); }

const Generator& Context::defaultGenerator(Device device) const {
  if (device.is_cpu()) return detail::getDefaultCPUGenerator();
  const Device at = indexed_device("defaultGenerator", device);
  return device_backend("defaultGenerator", at).default_generator(at.index());
}

namespace {
int interop_threads = 0;
}

size_t get_num_interop_threads() {
  return interop_threads > 0 ? static_cast<size_t>(interop_threads)
                             : static_cast<size_t>(std::max(1, omp_get_num_procs()));
}

void set_num_interop_threads(int n) {
  HB_CHECK(n > 0, "[set_num_interop_threads] expected a positive number of threads, got ", n);
  interop_threads = n;
}

int get_thread_num() { return chunk_number(); }
bool in_parallel_region() { return in_chunk(); }

void parallel_for(int64_t begin, int64_t end, int64_t grain_size, const std::function<void(int64_t, int64_t)>& f) {
  HB_CHECK(grain_size >= 0, "[parallel_for] expected a grain size of at least 0, got ", grain_size);
  if (begin >= end) return;
  const int64_t n = end - begin;
  int64_t parts = std::min<int64_t>(get_num_threads(), n / std::max<int64_t>(grain_size, 1));
  if (parts <= 1 || in_chunk()) return f(begin, end);
  const int64_t step = (n + parts - 1) / parts;
  run_chunks(static_cast<int>(parts), [&](int part) {
    const int64_t from = begin + part * step, to = std::min(end, from + step);
    if (from < to) f(from, to);
  });
}

}  // namespace api

namespace cuda {
DeviceIndex device_count() {
  const DeviceBackend* const backend = find_device_backend(kCUDA);
  return backend ? backend->count() : 0;
}
bool is_available() { return device_count() > 0; }
bool cudnn_is_available() { return is_available() && Context::hasCuDNN(); }
void manual_seed(uint64_t seed) {
  if (!is_available()) return;
  DeviceBackend& backend = *find_device_backend(kCUDA);
  Generator generator = backend.default_generator(backend.current());
  generator.manual_seed(seed);
}
void manual_seed_all(uint64_t seed) {
  for (DeviceIndex i = 0; i < device_count(); ++i) {
    Generator generator = find_device_backend(kCUDA)->default_generator(i);
    generator.manual_seed(seed);
  }
}
void synchronize(int64_t device_index) {
  HB_CHECK(is_available(), "No CUDA GPUs are available");
  DeviceBackend& backend = *find_device_backend(kCUDA);
  HB_CHECK(device_index >= -1 && device_index < backend.count(), "Device index out of range: ", device_index);
  backend.synchronize(device_index < 0 ? backend.current() : static_cast<DeviceIndex>(device_index));
}
}  // namespace cuda

namespace mps {
void synchronize() { HB_CHECK(false, "Cannot execute deviceSynchronize() without MPS backend."); }
void commit() { HB_CHECK(false, "Cannot execute commitStream() without MPS backend."); }
}  // namespace mps
namespace xpu {
void synchronize(int64_t device_index) {
  HB_CHECK(false, "Cannot synchronize XPU device ", device_index, " without ATen_xpu library.");
}
}  // namespace xpu

}  // namespace hb::bridge
