#pragma once
// c10::cuda: devices. Without a CUDA device what needs one throws c10::CUDAError.

#include <optional>
#include <string>

#include <halfbridge/bridge/context.h>
#include <halfbridge/bridge/cuda/types.h>
#include <halfbridge/data_ptr.h>
#include <halfbridge/error.h>

namespace hb::bridge {

class CUDAError : public Error {
 public:
  using Error::Error;
};

namespace cuda {

/// Throws: "[what] No CUDA GPUs are available …".
[[noreturn]] HB_API void no_device(const char* what);
/// Throws what a call of CUDA's runtime returned, with the runtime's words for it, unless that was success.
HB_API void check_code(int code, const char* file, int line);
/// Throws for a status of one of CUDA's libraries (cuBLAS, cuDNN, …) other than 0.
HB_API void check_library_code(const char* library, int code, const char* file, int line);

// device_count and is_available: context.h.
/// The number of devices; throws where there is none.
HB_API DeviceIndex device_count_ensure_non_zero();
/// This thread's device. These throw where there is none.
HB_API DeviceIndex current_device();
HB_API void set_device(DeviceIndex device, bool force = false);
/// Waits for all work of the current device.
HB_API void device_synchronize();
/// Sets the current device and gives the one before; nothing for a negative one, which gives -1.
HB_API DeviceIndex ExchangeDevice(DeviceIndex device);
inline DeviceIndex MaybeExchangeDevice(DeviceIndex device) { return ExchangeDevice(device); }
// With CUDA's codes in place of exceptions.
HB_API cudaError_t GetDeviceCount(int* count);
HB_API cudaError_t GetDevice(DeviceIndex* device);
HB_API cudaError_t SetDevice(DeviceIndex device, bool force = false);
inline cudaError_t MaybeSetDevice(DeviceIndex device) { return SetDevice(device); }
/// Whether the device is there: its context is made with the library.
HB_API bool hasPrimaryContext(DeviceIndex device);
HB_API std::optional<DeviceIndex> getDeviceIndexWithPrimaryContext();

inline int64_t getNumGPUs() { return device_count(); }
HB_API int warp_size();
HB_API bool canDeviceAccessPeer(DeviceIndex device, DeviceIndex peer);

namespace detail {
/// CUDA's record of a device (-1: the current one), copied into `record` of `bytes`; false where it has another size,
/// and `fields` take the parts that every version has.
struct DeviceFields {
  const char* name;
  size_t total_memory, shared_per_block, shared_per_block_optin, shared_per_multiprocessor;
  int major, minor, multiprocessors, warp_size, registers_per_block, max_threads_per_block;
  int max_threads_per_multiprocessor, l2_cache_bytes, max_threads[3], max_grid[3];
};
HB_API bool device_record(const char* what, DeviceIndex device, void* record, size_t bytes, DeviceFields& fields);
}  // namespace detail

// Two programs' files, one with CUDA's headers and one without, have two kinds of records.
#ifdef HB_HAS_CUDA_HEADERS
inline namespace toolkit {
#else
inline namespace no_toolkit {
#endif
/// The properties of a device (-1: the current one), which live as long as the process.
inline cudaDeviceProp* getDeviceProperties(DeviceIndex device) {
  static cudaDeviceProp records[64];
  const DeviceIndex at = device < 0 ? current_device() : device;
  cudaDeviceProp& record = records[at & 63];
  detail::DeviceFields f{};
  if (detail::device_record("getDeviceProperties", at, &record, sizeof record, f)) return &record;
  for (int i = 0; i < 255 && f.name[i]; ++i) record.name[i] = f.name[i];
  record.totalGlobalMem = f.total_memory;
  record.sharedMemPerBlock = f.shared_per_block, record.sharedMemPerBlockOptin = f.shared_per_block_optin;
  record.sharedMemPerMultiprocessor = f.shared_per_multiprocessor;
  record.major = f.major, record.minor = f.minor, record.multiProcessorCount = f.multiprocessors;
  record.warpSize = f.warp_size, record.regsPerBlock = f.registers_per_block;
  record.maxThreadsPerBlock = f.max_threads_per_block;
  record.maxThreadsPerMultiProcessor = f.max_threads_per_multiprocessor, record.l2CacheSize = f.l2_cache_bytes;
  for (int i = 0; i < 3; ++i) {
    record.maxThreadsDim[i] = f.max_threads[i];
    record.maxGridSize[i] = f.max_grid[i];
  }
  return &record;
}
inline cudaDeviceProp* getCurrentDeviceProperties() { return getDeviceProperties(-1); }
}  // namespace toolkit or no_toolkit

/// The caching allocator of the current device, and of the host's memory that devices read.
HB_API Allocator* getCUDADeviceAllocator();
HB_API Allocator* getPinnedMemoryAllocator();

}  // namespace cuda
}  // namespace hb::bridge

#define HB_CUDA_CHECK(expression) ::hb::bridge::cuda::check_code(static_cast<int>(expression), __FILE__, __LINE__)
#define HB_CUDA_LIBRARY_CHECK(library, expression) \
  ::hb::bridge::cuda::check_library_code(library, static_cast<int>(expression), __FILE__, __LINE__)
