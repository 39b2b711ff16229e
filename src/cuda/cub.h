#pragma once
// CUB under nvcc; on the software device a stand-in with the same calls.
#ifdef HB_SOFTWARE_CUDA
#include "software_cuda/cub.h"
#else
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>
#include <cub/device/device_select.cuh>
#endif

#include "cuda/scratch.h"
#include "cuda/streams.h"

/// Calls a function of CUB twice, as it wants: for the size of its workspace, then with one.
#define HB_CUB(function, ...)                                                                                       \
  do {                                                                                                              \
    size_t bytes_ = 0;                                                                                              \
    cudaGetLastError();                                                                                             \
    ::hb::cuda::check(function(nullptr, bytes_, __VA_ARGS__, ::hb::cuda::current_stream()), #function);             \
    const ::hb::cuda::Scratch<char> room_(static_cast<int64_t>(bytes_));                                            \
    cudaGetLastError(); /* CUB takes what another call left for its own */                                          \
    ::hb::cuda::check(function(static_cast<void*>(room_.get()), bytes_, __VA_ARGS__, ::hb::cuda::current_stream()), \
                      #function);                                                                                   \
  } while (0)
