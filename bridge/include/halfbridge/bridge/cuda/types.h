#pragma once
// The types of CUDA's runtime that LibTorch's names mention. CUDA's own where its headers are on the include path, so
// that programs mix both; else the few of them, opaque, under CUDA's tags.

#if defined(__has_include)
#if __has_include(<cuda_runtime_api.h>)
#define HB_HAS_CUDA_HEADERS 1
#endif
#endif

#ifdef HB_HAS_CUDA_HEADERS
#include <cuda_runtime_api.h>
#else
using cudaStream_t = struct CUstream_st*;
using cudaEvent_t = struct CUevent_st*;
using cudaGraph_t = struct CUgraph_st*;
using cudaGraphExec_t = struct CUgraphExec_st*;
enum cudaError { cudaSuccess = 0, cudaErrorNoDevice = 100 };
using cudaError_t = cudaError;
enum cudaMemcpyKind {
  cudaMemcpyHostToHost = 0,
  cudaMemcpyHostToDevice = 1,
  cudaMemcpyDeviceToHost = 2,
  cudaMemcpyDeviceToDevice = 3,
  cudaMemcpyDefault = 4
};
enum cudaStreamCaptureMode {
  cudaStreamCaptureModeGlobal = 0,
  cudaStreamCaptureModeThreadLocal = 1,
  cudaStreamCaptureModeRelaxed = 2
};
constexpr unsigned cudaEventDefault = 0, cudaEventBlockingSync = 1, cudaEventDisableTiming = 2,
                   cudaEventInterprocess = 4;
/// What programs read of a device's properties.
struct cudaDeviceProp {
  char name[256];
  size_t totalGlobalMem, sharedMemPerBlock, sharedMemPerBlockOptin, sharedMemPerMultiprocessor;
  int major, minor, multiProcessorCount, warpSize, regsPerBlock, maxThreadsPerBlock, maxThreadsPerMultiProcessor;
  int maxThreadsDim[3], maxGridSize[3], l2CacheSize;
};
#endif
