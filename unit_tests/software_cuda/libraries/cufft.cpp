// cuFFT's stand-in: computes the plans that it is given through the CPU back end.
#include "software_cuda/cufft.h"

#include <halfbridge/engine.h>

#include <map>
#include <mutex>

#include "backend/fft.h"
#include "software_cuda/libraries/symbols.h"
#include "software_cuda/memory.h"
#include "software_cuda/queue.h"

namespace {

constexpr size_t kWorkspace = 512;  // what each plan wants, and spoils

struct Plan {
  cufftType type{};
  int64_t n = 0, batch = 0, stride = 0, distance = 0, out_distance = 0;
  bool own_memory = true;
  void* workspace = nullptr;
  cudaStream_t stream = nullptr;
};
std::mutex mutex;
std::map<cufftHandle, Plan>& plans() {
  static auto* const made = new std::map<cufftHandle, Plan>;
  return *made;
}

hb::ScalarType complex_of(hb::ScalarType real) { return real == hb::kDouble ? hb::kComplexDouble : hb::kComplexFloat; }

/// Runs `compute(plan)` in the plan's stream.
template <class F>
cufftResult run(const char* name, cufftHandle handle, cufftType type, F compute) {
  const std::lock_guard lock(mutex);
  const Plan plan = plans().at(handle);
  if (plan.type != type || (!plan.own_memory && !plan.workspace)) return CUFFT_INVALID_PLAN;
  software_cuda::enqueue_library_call(plan.stream, name, [=] {
    if (plan.workspace) software_cuda::fill_garbage(plan.workspace, kWorkspace);
    const hb::NoGradGuard no_grad;
    compute(plan);
  });
  return CUFFT_SUCCESS;
}
hb::Tensor lines(void* data, int64_t batch, int64_t n, int64_t distance, int64_t stride, hb::ScalarType dtype) {
  return hb::from_blob(data, {batch, n}, {distance, stride}, hb::TensorOptions().dtype(dtype));
}

cufftResult complex_lines(const char* name, cufftHandle handle, cufftType type, void* in, void* out, int direction,
                          hb::ScalarType dtype) {
  if (in != out) return CUFFT_INVALID_VALUE;
  return run(name, handle, type, [=](const Plan& p) {
    hb::Tensor all = lines(in, p.batch, p.n, p.distance, p.stride, dtype);
    const hb::Tensor copy = all.clone(hb::MemoryFormat::Contiguous);
    hb::fft_c2c_kernel(hb::kCPU)(copy, {p.batch, p.n, 1}, direction == CUFFT_FORWARD, 1);
    all.copy_(copy);
  });
}
cufftResult to_spectrum(const char* name, cufftHandle handle, cufftType type, void* in, void* out,
                        hb::ScalarType real) {
  return run(name, handle, type, [=](const Plan& p) {
    hb::fft_r2c_kernel(hb::kCPU)(lines(out, p.batch, p.n / 2 + 1, p.out_distance, 1, complex_of(real)),
                                 lines(in, p.batch, p.n, p.distance, 1, real), 1);
  });
}
cufftResult to_signal(const char* name, cufftHandle handle, cufftType type, void* in, void* out, hb::ScalarType real) {
  return run(name, handle, type, [=](const Plan& p) {
    const hb::Tensor spectrum = lines(in, p.batch, p.n / 2 + 1, p.distance, 1, complex_of(real));
    hb::fft_c2r_kernel(hb::kCPU)(lines(out, p.batch, p.n, p.out_distance, 1, real), spectrum, 1);
    software_cuda::fill_garbage(in, static_cast<size_t>(spectrum.numel()) * spectrum.itemsize());
  });
}

}  // namespace

cufftResult cufftCreate(cufftHandle* plan) {
  static int last = 0;
  const std::lock_guard lock(mutex);
  plans()[*plan = ++last] = {};
  return CUFFT_SUCCESS;
}
cufftResult cufftDestroy(cufftHandle plan) {
  const std::lock_guard lock(mutex);
  return plans().erase(plan) ? CUFFT_SUCCESS : CUFFT_INVALID_PLAN;
}
cufftResult cufftSetAutoAllocation(cufftHandle plan, int automatic) {
  const std::lock_guard lock(mutex);
  plans().at(plan).own_memory = automatic != 0;
  return CUFFT_SUCCESS;
}
cufftResult cufftMakePlanMany64(cufftHandle plan, int rank, long long* n, long long*, long long in_stride,
                                long long in_distance, long long*, long long out_stride, long long out_distance,
                                cufftType type, long long batch, size_t* workspace) {
  const std::lock_guard lock(mutex);
  const bool complex_only = type == CUFFT_C2C || type == CUFFT_Z2Z;
  if (rank != 1 || n[0] < 1 || batch < 1 || in_stride != out_stride || (!complex_only && in_stride != 1) ||
      (complex_only && in_distance != out_distance))
    return CUFFT_INVALID_VALUE;
  Plan& p = plans().at(plan);
  p.type = type, p.n = n[0], p.batch = batch;
  p.stride = in_stride, p.distance = in_distance, p.out_distance = out_distance;
  *workspace = kWorkspace;
  return CUFFT_SUCCESS;
}
cufftResult cufftSetWorkArea(cufftHandle plan, void* workspace) {
  const std::lock_guard lock(mutex);
  plans().at(plan).workspace = workspace;
  return CUFFT_SUCCESS;
}
cufftResult cufftSetStream(cufftHandle plan, cudaStream_t stream) {
  const std::lock_guard lock(mutex);
  plans().at(plan).stream = stream;
  return CUFFT_SUCCESS;
}
cufftResult cufftExecC2C(cufftHandle plan, cufftComplex* in, cufftComplex* out, int direction) {
  return complex_lines("cufftExecC2C", plan, CUFFT_C2C, in, out, direction, hb::kComplexFloat);
}
cufftResult cufftExecZ2Z(cufftHandle plan, cufftDoubleComplex* in, cufftDoubleComplex* out, int direction) {
  return complex_lines("cufftExecZ2Z", plan, CUFFT_Z2Z, in, out, direction, hb::kComplexDouble);
}
cufftResult cufftExecR2C(cufftHandle plan, float* in, cufftComplex* out) {
  return to_spectrum("cufftExecR2C", plan, CUFFT_R2C, in, out, hb::kFloat);
}
cufftResult cufftExecD2Z(cufftHandle plan, double* in, cufftDoubleComplex* out) {
  return to_spectrum("cufftExecD2Z", plan, CUFFT_D2Z, in, out, hb::kDouble);
}
cufftResult cufftExecC2R(cufftHandle plan, cufftComplex* in, float* out) {
  return to_signal("cufftExecC2R", plan, CUFFT_C2R, in, out, hb::kFloat);
}
cufftResult cufftExecZ2D(cufftHandle plan, cufftDoubleComplex* in, double* out) {
  return to_signal("cufftExecZ2D", plan, CUFFT_Z2D, in, out, hb::kDouble);
}

SOFTWARE_CUDA_SYMBOL(cufftCreate);
SOFTWARE_CUDA_SYMBOL(cufftDestroy);
SOFTWARE_CUDA_SYMBOL(cufftSetAutoAllocation);
SOFTWARE_CUDA_SYMBOL(cufftMakePlanMany64);
SOFTWARE_CUDA_SYMBOL(cufftSetWorkArea);
SOFTWARE_CUDA_SYMBOL(cufftSetStream);
SOFTWARE_CUDA_SYMBOL(cufftExecC2C);
SOFTWARE_CUDA_SYMBOL(cufftExecZ2Z);
SOFTWARE_CUDA_SYMBOL(cufftExecR2C);
SOFTWARE_CUDA_SYMBOL(cufftExecD2Z);
SOFTWARE_CUDA_SYMBOL(cufftExecC2R);
SOFTWARE_CUDA_SYMBOL(cufftExecZ2D);
