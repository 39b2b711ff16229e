// CUDA's functions for devices, memory, streams, events and errors.
#include "software_cuda/cuda_runtime.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "software_cuda/memory.h"
#include "software_cuda/queue.h"
#include "software_cuda/state.h"

using namespace software_cuda;

namespace {
/// SOFTWARE_CUDA_ERROR=CODE: what a machine without a driver or without a GPU answers.
cudaError_t absence() {
  static const char* const code = std::getenv("SOFTWARE_CUDA_ERROR");
  return code ? static_cast<cudaError_t>(std::atoi(code)) : cudaSuccess;
}
}  // namespace
cudaError_t cudaGetDeviceCount(int* count) {
  if (absence() == cudaSuccess) *count = kDevices;
  return absence();
}
cudaError_t cudaGetDevice(int* device) { return *device = State::device, cudaSuccess; }
cudaError_t cudaSetDevice(int device) {
  if (device < 0 || device >= kDevices) return cudaErrorInvalidDevice;
  return State::device = device, cudaSuccess;
}
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* p, int device) {
  if (device < 0 || device >= kDevices) return cudaErrorInvalidDevice;
  *p = {};
  std::snprintf(p->name, sizeof p->name, "software device");
  p->totalGlobalMem = memory_total();
  p->sharedMemPerBlock = 48 << 10, p->sharedMemPerBlockOptin = 227 << 10;
  p->regsPerBlock = 65536, p->warpSize = 32, p->maxThreadsPerBlock = 1024;
  p->major = 9, p->minor = 0, p->multiProcessorCount = 4, p->l2CacheSize = 1 << 20;
  p->maxThreadsPerMultiProcessor = 2048, p->sharedMemPerMultiprocessor = 228 << 10;
  for (int d = 0; d < 3; ++d) p->maxThreadsDim[d] = d < 2 ? 1024 : 64, p->maxGridSize[d] = d == 0 ? 0x7fffffff : 65535;
  return cudaSuccess;
}
cudaError_t cudaDriverGetVersion(int* version) { return *version = absence() == cudaSuccess ? 13000 : 0, cudaSuccess; }
cudaError_t cudaRuntimeGetVersion(int* version) { return *version = 13000, cudaSuccess; }
cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  return *least = 0, *greatest = -5, cudaSuccess;
}
cudaError_t cudaDeviceCanAccessPeer(int* can, int device, int peer) { return *can = device != peer, cudaSuccess; }
cudaError_t cudaDeviceSynchronize() {
  if (const cudaError_t refused = refuse_in_capture(nullptr)) return refused;
  ++state().counts.synchronisations;
  drain_all();
  return cudaPeekAtLastError();
}
cudaError_t cudaMemGetInfo(size_t* free, size_t* total) {
  *total = memory_total();
  *free = *total - memory_used();
  return cudaSuccess;
}
cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* pointer) {
  auto* p = const_cast<void*>(pointer);
  *attributes = {is_device(pointer)   ? cudaMemoryTypeDevice
                 : is_pinned(pointer) ? cudaMemoryTypeHost
                                      : cudaMemoryTypeUnregistered,
                 device_of(pointer), is_device(pointer) || is_pinned(pointer) ? p : nullptr,
                 is_device(pointer) ? nullptr : p};
  return cudaSuccess;
}

cudaError_t cudaMalloc(void** pointer, size_t bytes) {
  if (const cudaError_t refused = refuse_in_capture(nullptr)) return refused;
  *pointer = allocate_device(bytes, State::device);
  return *pointer ? cudaSuccess : cudaErrorMemoryAllocation;
}
cudaError_t cudaFree(void* pointer) {
  if (!pointer) return cudaSuccess;
  if (const cudaError_t refused = refuse_in_capture(nullptr)) return refused;
  drain_all();
  return free_device(pointer) ? cudaSuccess : cudaErrorInvalidValue;
}
cudaError_t cudaMallocAsync(void** pointer, size_t bytes, cudaStream_t) { return cudaMalloc(pointer, bytes); }
cudaError_t cudaFreeAsync(void* pointer, cudaStream_t stream) {
  enqueue(stream, [pointer] {
    const std::lock_guard lock(device_mutex());
    state().overtaken.erase(static_cast<const char*>(pointer));
    free_device(pointer);
    return true;
  });
  return cudaSuccess;
}
cudaError_t cudaHostAlloc(void** pointer, size_t bytes, unsigned) {
  *pointer = allocate_pinned(bytes);
  return *pointer ? cudaSuccess : cudaErrorMemoryAllocation;
}
cudaError_t cudaFreeHost(void* pointer) {
  drain_all();
  return free_pinned(pointer) ? cudaSuccess : cudaErrorInvalidValue;
}

cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned, int) {
  const std::lock_guard lock(device_mutex());
  auto* made = new Stream;
  made->device = State::device;
  state().streams.push_back(made);
  *stream = reinterpret_cast<cudaStream_t>(made);
  return cudaSuccess;
}
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  drain(stream);
  const std::lock_guard lock(device_mutex());
  auto* s = reinterpret_cast<Stream*>(stream);
  std::erase(state().streams, s);
  delete s;
  return cudaSuccess;
}
cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  if (const cudaError_t refused = refuse_in_capture(&stream_of(stream))) return refused;
  ++state().counts.synchronisations;
  drain(stream);
  return cudaPeekAtLastError();
}
// Who asks often enough finds it done.
cudaError_t cudaStreamQuery(cudaStream_t stream) {
  if (const cudaError_t refused = refuse_in_capture(&stream_of(stream))) return refused;
  const Stream& s = stream ? *reinterpret_cast<Stream*>(stream) : state().default_stream[State::device];
  if (s.queue.empty()) return cudaSuccess;
  drain(stream);
  return cudaErrorNotReady;
}
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned) {
  const auto& e = *reinterpret_cast<Event*>(event);
  if (!e.stream) return cudaSuccess;
  if (e.capture) {  // the stream joins: what is captured keeps the order in which it was asked for
    const std::lock_guard lock(device_mutex());
    Stream& s = stream_of(stream);
    if (s.capture && s.capture != e.capture) return cudaErrorInvalidValue;
    if (!s.capture) e.capture->streams.push_back(&s);
    s.capture = e.capture;
    return cudaSuccess;
  }
  Work work;
  work.waits_for = e.stream, work.waits_until = e.number;
  enqueue_work(stream, std::move(work));
  return cudaSuccess;
}
cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void* argument) {
  enqueue(stream, [=] { return function(argument), true; });
  return cudaSuccess;
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags) {
  auto* made = new Event;
  made->timed = !(flags & cudaEventDisableTiming);
  *event = reinterpret_cast<cudaEvent_t>(made);
  return cudaSuccess;
}
cudaError_t cudaEventDestroy(cudaEvent_t event) { return delete reinterpret_cast<Event*>(event), cudaSuccess; }
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  const std::lock_guard lock(device_mutex());
  auto& e = *reinterpret_cast<Event*>(event);
  e.stream = &stream_of(stream);
  e.capture = e.stream->capture;
  if (e.capture) return cudaSuccess;
  enqueue_work(stream, {});
  e.number = state().queued;
  return cudaSuccess;
}
namespace {
cudaError_t refuse(const Event& e) { return e.capture ? refuse_in_capture(e.stream) : cudaSuccess; }
}  // namespace
cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  ++state().counts.synchronisations;
  const auto& e = *reinterpret_cast<Event*>(event);
  if (const cudaError_t refused = refuse(e)) return refused;
  if (!e.capture) drain_until(e);
  return cudaPeekAtLastError();
}
cudaError_t cudaEventQuery(cudaEvent_t event) {
  const auto& e = *reinterpret_cast<Event*>(event);
  if (const cudaError_t refused = refuse(e)) return refused;
  return e.capture || poll(e) ? cudaSuccess : cudaErrorNotReady;
}
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t end) {
  const auto &a = *reinterpret_cast<Event*>(start), &b = *reinterpret_cast<Event*>(end);
  if (!a.stream || !b.stream || !a.timed || !b.timed) return cudaErrorInvalidResourceHandle;
  if (!happened(a) || !happened(b)) return cudaErrorNotReady;
  *milliseconds = 0.001f * static_cast<float>(static_cast<int64_t>(b.number - a.number));  // in this order, no more
  return cudaSuccess;
}

// An error of this device is told once: tests go on.
cudaError_t cudaGetLastError() {
  const std::lock_guard lock(state().error_mutex);
  return std::exchange(state().error, cudaSuccess);
}
cudaError_t cudaPeekAtLastError() { return state().error; }
const char* cudaGetErrorName(cudaError_t error) {
  switch (error) {
#define NAME(name) \
  case name:       \
    return #name;
    NAME(cudaSuccess)
    NAME(cudaErrorInvalidValue)
    NAME(cudaErrorMemoryAllocation)
    NAME(cudaErrorInvalidConfiguration)
    NAME(cudaErrorInvalidDevice)
    NAME(cudaErrorInvalidResourceHandle)
    NAME(cudaErrorNotReady)
    NAME(cudaErrorIllegalAddress)
    NAME(cudaErrorLaunchFailure)
    NAME(cudaErrorStreamCaptureUnsupported)
    NAME(cudaErrorStreamCaptureInvalidated)
#undef NAME
    default:
      return "cudaErrorUnknown";
  }
}
const char* cudaGetErrorString(cudaError_t error) {
  const State& s = state();
  const bool told =
      error == cudaErrorIllegalAddress || error == cudaErrorLaunchFailure || error == cudaErrorInvalidConfiguration;
  return told && !s.error_text.empty() ? s.error_text.c_str() : cudaGetErrorName(error);
}

extern "C" __attribute__((visibility("default"))) const Control* software_cuda_control() {
  static const Control control = {
      [] { return state().counts; },
      [] { state().counts = {}, state().ran.clear(); },
      [](uint64_t seed) { state().seed = seed; },
      [](bool on) { state().twice = on; },
      [] { return state().ran.c_str(); },
      [](void* stream, const char* name, bool (*ready)(void*), void (*run)(void*), void* argument) {
        enqueue_library_call(
            static_cast<cudaStream_t>(stream), name, [=] { run(argument); }, [=] { return ready(argument); });
      },
  };
  return &control;
}
