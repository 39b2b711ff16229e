// cuDNN's stand-in: interprets the descriptors that it is given, refuses what cuDNN would, and computes through the CPU
// back end.
#include "software_cuda/cudnn.h"

#include <halfbridge/engine.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <vector>

#include "backend/conv.h"
#include "software_cuda/libraries/cudnn_objects.h"
#include "software_cuda/libraries/symbols.h"
#include "software_cuda/memory.h"
#include "software_cuda/queue.h"

struct cudnnFilterStruct : cudnnTensorStruct {};
struct cudnnConvolutionStruct {
  hb::ConvParams p;
  cudnnDataType_t compute;
  cudnnMathType_t math;
};

namespace {

/// The algorithms, as heuristics rank them; the first cannot compute anything here: callers look at the status.
struct Algorithm {
  cudnnStatus_t status;
  float milliseconds;  // what it takes when it is tried
  size_t workspace;    // what it wants, and spoils
  cudnnDeterminism_t determinism;
};
constexpr Algorithm kAlgorithms[] = {{CUDNN_STATUS_NOT_SUPPORTED, -1, 0, CUDNN_NON_DETERMINISTIC},
                                     {CUDNN_STATUS_SUCCESS, 3, 2048, CUDNN_DETERMINISTIC},
                                     {CUDNN_STATUS_SUCCESS, 1, 4096, CUDNN_NON_DETERMINISTIC},
                                     {CUDNN_STATUS_SUCCESS, 2, 1024, CUDNN_DETERMINISTIC}};
constexpr int kByTime[] = {2, 3, 1, 0};

bool channels_last(const cudnnTensorStruct& t) {
  int64_t next = t.sizes[1];
  bool good = t.sizes[1] == 1 || t.strides[1] == 1;
  for (size_t d = t.sizes.size() - 1; d >= 2; --d) {
    good = good && (t.sizes[d] == 1 || t.strides[d] == next);
    next *= t.sizes[d];
  }
  return good && (t.sizes[0] == 1 || t.strides[0] == next);
}

bool fits(const cudnnTensorStruct& x, const cudnnFilterStruct& w, const cudnnTensorStruct& y,
          const cudnnConvolutionStruct& conv) {
  const hb::ConvParams& p = conv.p;
  bool good = x.type == w.type && x.type == y.type && channels_last(x) && channels_last(y) &&
              x.sizes.size() == static_cast<size_t>(p.dims) + 2 && w.sizes[1] * p.groups == x.sizes[1] &&
              w.sizes[0] == y.sizes[1] && w.sizes[0] % p.groups == 0 && x.sizes[0] == y.sizes[0] &&
              (conv.compute == CUDNN_DATA_DOUBLE) == (x.type == CUDNN_DATA_DOUBLE);
  for (size_t d = 0; good && d < static_cast<size_t>(p.dims); ++d) {
    const int64_t reach = p.dilation[d] * (w.sizes[2 + d] - 1) + 1;
    good = y.sizes[2 + d] == (x.sizes[2 + d] + 2 * p.padding[d] - reach) / p.stride[d] + 1;
  }
  return good;
}

hb::ScalarType dtype_of(cudnnDataType_t type) {
  return type == CUDNN_DATA_DOUBLE     ? hb::kDouble
         : type == CUDNN_DATA_HALF     ? hb::kHalf
         : type == CUDNN_DATA_BFLOAT16 ? hb::kBFloat16
                                       : hb::kFloat;
}

template <class Perf>
cudnnStatus_t list(bool good, int most, int* count, Perf* found, bool by_time = false) {
  *count = 0;
  if (!good || most < 1) return CUDNN_STATUS_BAD_PARAM;
  for (; *count < std::min<int>(most, std::size(kAlgorithms)); ++*count) {
    const int algo = by_time ? kByTime[*count] : *count;
    const Algorithm& a = kAlgorithms[algo];
    found[*count] = {static_cast<decltype(Perf::algo)>(algo),
                     a.status,
                     by_time ? a.milliseconds : -1,
                     a.workspace,
                     a.determinism,
                     CUDNN_DEFAULT_MATH,
                     {}};
  }
  return CUDNN_STATUS_SUCCESS;
}

/// Tries each algorithm, which writes the result, and waits. No graph can hold that.
template <class Perf>
cudnnStatus_t try_all(const char* name, cudnnHandle_t handle, bool good, int most, int* count, Perf* found,
                      const cudnnTensorStruct& result, void* written, void* workspace, size_t bytes) {
  cudaStreamCaptureStatus capture = cudaStreamCaptureStatusNone;
  cudaStreamIsCapturing(handle->stream, &capture);
  if (capture != cudaStreamCaptureStatusNone) return CUDNN_STATUS_EXECUTION_FAILED;
  const cudnnStatus_t status = list(good, most, count, found, /*by_time=*/true);
  if (status != CUDNN_STATUS_SUCCESS) return status;
  for (int i = 0; i < *count; ++i)
    if (found[i].memory > bytes) found[i].status = CUDNN_STATUS_NOT_SUPPORTED;
  size_t size = hb::element_size(dtype_of(result.type));
  for (const int64_t n : result.sizes) size *= static_cast<size_t>(n);
  software_cuda::enqueue_library_call(handle->stream, name, [=] {
    software_cuda::fill_garbage(workspace, bytes);
    software_cuda::fill_garbage(written, size);
  });
  return cudaStreamSynchronize(handle->stream) == cudaSuccess ? status : CUDNN_STATUS_EXECUTION_FAILED;
}

hb::Tensor tensor(const cudnnTensorStruct& t, const void* data) {
  return hb::from_blob(const_cast<void*>(data), t.sizes, t.strides, hb::TensorOptions().dtype(dtype_of(t.type)));
}

/// Runs `compute` in the stream's order, if the algorithm and the memory are what was found.
template <class F>
cudnnStatus_t run(const char* name, cudnnHandle_t handle, int algo, void* workspace, size_t bytes, bool good,
                  F compute) {
  if (algo < 0 || algo >= static_cast<int>(std::size(kAlgorithms)) || bytes < kAlgorithms[algo].workspace || !good)
    return CUDNN_STATUS_BAD_PARAM;
  if (kAlgorithms[algo].status != CUDNN_STATUS_SUCCESS) return kAlgorithms[algo].status;
  const char* const full_name = software_cuda::lasting(name + std::string(" by ") + std::to_string(algo));
  software_cuda::enqueue_library_call(handle->stream, full_name, [=] {
    software_cuda::fill_garbage(workspace, bytes);
    const hb::NoGradGuard no_grad;
    compute();
  });
  return CUDNN_STATUS_SUCCESS;
}

}  // namespace

cudnnStatus_t cudnnCreate(cudnnHandle_t* handle) { return create(handle); }
cudnnStatus_t cudnnSetStream(cudnnHandle_t handle, cudaStream_t stream) {
  handle->stream = stream;
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnCreateTensorDescriptor(cudnnTensorDescriptor_t* made) { return create(made); }
cudnnStatus_t cudnnDestroyTensorDescriptor(cudnnTensorDescriptor_t tensor) { return destroy(tensor); }
cudnnStatus_t cudnnSetTensorNdDescriptor(cudnnTensorDescriptor_t tensor, cudnnDataType_t type, int rank,
                                         const int* sizes, const int* strides) {
  if (rank < 3 || rank > 5) return CUDNN_STATUS_BAD_PARAM;
  *tensor = {type, {sizes, sizes + rank}, {strides, strides + rank}};
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnCreateFilterDescriptor(cudnnFilterDescriptor_t* made) { return create(made); }
cudnnStatus_t cudnnDestroyFilterDescriptor(cudnnFilterDescriptor_t filter) { return destroy(filter); }
cudnnStatus_t cudnnSetFilterNdDescriptor(cudnnFilterDescriptor_t filter, cudnnDataType_t type,
                                         cudnnTensorFormat_t format, int rank, const int* sizes) {
  if (format != CUDNN_TENSOR_NHWC || rank < 4 || rank > 5) return CUDNN_STATUS_BAD_PARAM;
  filter->type = type;
  filter->sizes.assign(sizes, sizes + rank);
  filter->strides.assign(static_cast<size_t>(rank), 1);
  int64_t next = sizes[1];
  for (int d = rank - 1; d >= 2; --d) filter->strides[static_cast<size_t>(d)] = next, next *= sizes[d];
  filter->strides[0] = next;
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnCreateConvolutionDescriptor(cudnnConvolutionDescriptor_t* made) { return create(made); }
cudnnStatus_t cudnnDestroyConvolutionDescriptor(cudnnConvolutionDescriptor_t convolution) {
  return destroy(convolution);
}
cudnnStatus_t cudnnSetConvolutionNdDescriptor(cudnnConvolutionDescriptor_t convolution, int dims, const int* padding,
                                              const int* stride, const int* dilation, cudnnConvolutionMode_t mode,
                                              cudnnDataType_t compute) {
  if (mode != CUDNN_CROSS_CORRELATION || dims < 2 || dims > 3) return CUDNN_STATUS_BAD_PARAM;
  convolution->p.dims = dims, convolution->compute = compute;
  for (int d = 0; d < dims; ++d) {
    convolution->p.padding[d] = padding[d];
    convolution->p.stride[d] = stride[d];
    convolution->p.dilation[d] = dilation[d];
  }
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnSetConvolutionGroupCount(cudnnConvolutionDescriptor_t convolution, int groups) {
  convolution->p.groups = groups;
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnSetConvolutionMathType(cudnnConvolutionDescriptor_t convolution, cudnnMathType_t math) {
  convolution->math = math;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnGetConvolutionForwardAlgorithm_v7(cudnnHandle_t, cudnnTensorDescriptor_t x,
                                                     cudnnFilterDescriptor_t w, cudnnConvolutionDescriptor_t conv,
                                                     cudnnTensorDescriptor_t y, int most, int* count,
                                                     cudnnConvolutionFwdAlgoPerf_t* found) {
  return list(fits(*x, *w, *y, *conv), most, count, found);
}
cudnnStatus_t cudnnGetConvolutionBackwardDataAlgorithm_v7(cudnnHandle_t, cudnnFilterDescriptor_t w,
                                                          cudnnTensorDescriptor_t dy, cudnnConvolutionDescriptor_t conv,
                                                          cudnnTensorDescriptor_t dx, int most, int* count,
                                                          cudnnConvolutionBwdDataAlgoPerf_t* found) {
  return list(fits(*dx, *w, *dy, *conv), most, count, found);
}
cudnnStatus_t cudnnGetConvolutionBackwardFilterAlgorithm_v7(cudnnHandle_t, cudnnTensorDescriptor_t x,
                                                            cudnnTensorDescriptor_t dy,
                                                            cudnnConvolutionDescriptor_t conv,
                                                            cudnnFilterDescriptor_t dw, int most, int* count,
                                                            cudnnConvolutionBwdFilterAlgoPerf_t* found) {
  return list(fits(*x, *dw, *dy, *conv), most, count, found);
}

cudnnStatus_t cudnnFindConvolutionForwardAlgorithmEx(cudnnHandle_t handle, cudnnTensorDescriptor_t x, const void*,
                                                     cudnnFilterDescriptor_t w, const void*,
                                                     cudnnConvolutionDescriptor_t conv, cudnnTensorDescriptor_t y_desc,
                                                     void* y, int most, int* count,
                                                     cudnnConvolutionFwdAlgoPerf_t* found, void* workspace,
                                                     size_t bytes) {
  return try_all("cudnnFindConvolutionForwardAlgorithmEx", handle, fits(*x, *w, *y_desc, *conv), most, count, found,
                 *y_desc, y, workspace, bytes);
}
cudnnStatus_t cudnnFindConvolutionBackwardDataAlgorithmEx(cudnnHandle_t handle, cudnnFilterDescriptor_t w, const void*,
                                                          cudnnTensorDescriptor_t dy, const void*,
                                                          cudnnConvolutionDescriptor_t conv,
                                                          cudnnTensorDescriptor_t dx_desc, void* dx, int most,
                                                          int* count, cudnnConvolutionBwdDataAlgoPerf_t* found,
                                                          void* workspace, size_t bytes) {
  return try_all("cudnnFindConvolutionBackwardDataAlgorithmEx", handle, fits(*dx_desc, *w, *dy, *conv), most, count,
                 found, *dx_desc, dx, workspace, bytes);
}
cudnnStatus_t cudnnFindConvolutionBackwardFilterAlgorithmEx(cudnnHandle_t handle, cudnnTensorDescriptor_t x,
                                                            const void*, cudnnTensorDescriptor_t dy, const void*,
                                                            cudnnConvolutionDescriptor_t conv,
                                                            cudnnFilterDescriptor_t dw_desc, void* dw, int most,
                                                            int* count, cudnnConvolutionBwdFilterAlgoPerf_t* found,
                                                            void* workspace, size_t bytes) {
  return try_all("cudnnFindConvolutionBackwardFilterAlgorithmEx", handle, fits(*x, *dw_desc, *dy, *conv), most, count,
                 found, *dw_desc, dw, workspace, bytes);
}

cudnnStatus_t cudnnConvolutionForward(cudnnHandle_t handle, const void*, cudnnTensorDescriptor_t x_desc, const void* x,
                                      cudnnFilterDescriptor_t w_desc, const void* w, cudnnConvolutionDescriptor_t conv,
                                      cudnnConvolutionFwdAlgo_t algo, void* workspace, size_t bytes, const void*,
                                      cudnnTensorDescriptor_t y_desc, void* y) {
  return run("cudnnConvolutionForward", handle, algo, workspace, bytes, fits(*x_desc, *w_desc, *y_desc, *conv),
             [=, xd = *x_desc, wd = *w_desc, yd = *y_desc, p = conv->p] {
               hb::conv_forward_kernel(hb::kCPU)(tensor(yd, y), tensor(xd, x), tensor(wd, w).contiguous(), {}, p);
             });
}
cudnnStatus_t cudnnConvolutionBackwardData(cudnnHandle_t handle, const void*, cudnnFilterDescriptor_t w_desc,
                                           const void* w, cudnnTensorDescriptor_t dy_desc, const void* dy,
                                           cudnnConvolutionDescriptor_t conv, cudnnConvolutionBwdDataAlgo_t algo,
                                           void* workspace, size_t bytes, const void*, cudnnTensorDescriptor_t dx_desc,
                                           void* dx) {
  return run("cudnnConvolutionBackwardData", handle, algo, workspace, bytes, fits(*dx_desc, *w_desc, *dy_desc, *conv),
             [=, dxd = *dx_desc, wd = *w_desc, dyd = *dy_desc, p = conv->p] {
               hb::conv_backward_data_kernel(hb::kCPU)(tensor(dxd, dx), tensor(dyd, dy), tensor(wd, w).contiguous(), p);
             });
}
cudnnStatus_t cudnnConvolutionBackwardFilter(cudnnHandle_t handle, const void*, cudnnTensorDescriptor_t x_desc,
                                             const void* x, cudnnTensorDescriptor_t dy_desc, const void* dy,
                                             cudnnConvolutionDescriptor_t conv, cudnnConvolutionBwdFilterAlgo_t algo,
                                             void* workspace, size_t bytes, const void*,
                                             cudnnFilterDescriptor_t dw_desc, void* dw) {
  return run("cudnnConvolutionBackwardFilter", handle, algo, workspace, bytes, fits(*x_desc, *dw_desc, *dy_desc, *conv),
             [=, xd = *x_desc, wd = *dw_desc, dyd = *dy_desc, p = conv->p] {
               const hb::Tensor result = tensor(wd, dw), dense = hb::empty(wd.sizes, result.options());
               hb::conv_backward_weight_kernel(hb::kCPU)(dense, {}, tensor(xd, x), tensor(dyd, dy), p);
               hb::Tensor(result).copy_(dense);
             });
}

SOFTWARE_CUDA_SYMBOL(cudnnCreate);
SOFTWARE_CUDA_SYMBOL(cudnnSetStream);
SOFTWARE_CUDA_SYMBOL(cudnnCreateTensorDescriptor);
SOFTWARE_CUDA_SYMBOL(cudnnDestroyTensorDescriptor);
SOFTWARE_CUDA_SYMBOL(cudnnSetTensorNdDescriptor);
SOFTWARE_CUDA_SYMBOL(cudnnCreateFilterDescriptor);
SOFTWARE_CUDA_SYMBOL(cudnnDestroyFilterDescriptor);
SOFTWARE_CUDA_SYMBOL(cudnnSetFilterNdDescriptor);
SOFTWARE_CUDA_SYMBOL(cudnnCreateConvolutionDescriptor);
SOFTWARE_CUDA_SYMBOL(cudnnDestroyConvolutionDescriptor);
SOFTWARE_CUDA_SYMBOL(cudnnSetConvolutionNdDescriptor);
SOFTWARE_CUDA_SYMBOL(cudnnSetConvolutionGroupCount);
SOFTWARE_CUDA_SYMBOL(cudnnSetConvolutionMathType);
SOFTWARE_CUDA_SYMBOL(cudnnGetConvolutionForwardAlgorithm_v7);
SOFTWARE_CUDA_SYMBOL(cudnnGetConvolutionBackwardDataAlgorithm_v7);
SOFTWARE_CUDA_SYMBOL(cudnnGetConvolutionBackwardFilterAlgorithm_v7);
SOFTWARE_CUDA_SYMBOL(cudnnFindConvolutionForwardAlgorithmEx);
SOFTWARE_CUDA_SYMBOL(cudnnFindConvolutionBackwardDataAlgorithmEx);
SOFTWARE_CUDA_SYMBOL(cudnnFindConvolutionBackwardFilterAlgorithmEx);
SOFTWARE_CUDA_SYMBOL(cudnnConvolutionForward);
SOFTWARE_CUDA_SYMBOL(cudnnConvolutionBackwardData);
SOFTWARE_CUDA_SYMBOL(cudnnConvolutionBackwardFilter);
