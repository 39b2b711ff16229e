// cuDNN's stand-in: interprets the descriptors that it is given, refuses what cuDNN would, and computes through the CPU
// back end.
#include "software_cuda/cudnn.h"

#include <halfbridge/engine.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <vector>

#include "backend/conv.h"
#include "software_cuda/libraries/cudnn_problem.h"
#include "software_cuda/libraries/symbols.h"
#include "software_cuda/memory.h"
#include "software_cuda/queue.h"

namespace {

using namespace software_cuda;

hb::ScalarType dtype_of(cudnnDataType_t type) {
  return type == CUDNN_DATA_DOUBLE     ? hb::kDouble
         : type == CUDNN_DATA_HALF     ? hb::kHalf
         : type == CUDNN_DATA_BFLOAT16 ? hb::kBFloat16
                                       : hb::kFloat;
}

template <class Perf>
cudnnStatus_t list(const Problem& a, int most, int* count, Perf* found, bool by_time = false) {
  *count = 0;
  if (!fits(a) || most < 1) return CUDNN_STATUS_BAD_PARAM;
  for (; *count < std::min<int>(most, std::size(kAlgorithms)); ++*count) {
    const int algo = by_time ? kByTime[*count] : *count;
    const Algorithm& listed = kAlgorithms[algo];
    found[*count] = {static_cast<decltype(Perf::algo)>(algo),
                     by_time             ? status_of(a, algo)
                     : has_algorithms(a) ? listed.status
                                         : CUDNN_STATUS_NOT_SUPPORTED,
                     by_time ? listed.milliseconds : -1,
                     listed.workspace,
                     listed.determinism,
                     CUDNN_DEFAULT_MATH,
                     {}};
  }
  return CUDNN_STATUS_SUCCESS;
}

/// Tries each algorithm, which writes the result, and waits. No graph can hold that.
template <class Perf>
cudnnStatus_t try_all(const char* name, cudnnHandle_t handle, const Problem& a, int most, int* count, Perf* found,
                      void* written, void* workspace, size_t bytes) {
  cudaStreamCaptureStatus capture = cudaStreamCaptureStatusNone;
  cudaStreamIsCapturing(handle->stream, &capture);
  if (capture != cudaStreamCaptureStatusNone) return CUDNN_STATUS_EXECUTION_FAILED;
  const cudnnStatus_t status = list(a, most, count, found, /*by_time=*/true);
  if (status != CUDNN_STATUS_SUCCESS) return status;
  for (int i = 0; i < *count; ++i)
    if (found[i].memory > bytes) found[i].status = CUDNN_STATUS_NOT_SUPPORTED;
  const cudnnTensorStruct& result = a.direction == Direction::forward ? a.y
                                    : a.direction == Direction::data  ? a.x
                                                                      : static_cast<const cudnnTensorStruct&>(a.w);
  size_t size = hb::element_size(dtype_of(result.type));
  for (const int64_t n : result.sizes) size *= static_cast<size_t>(n);
  enqueue_library_call(handle->stream, name, [=] {
    fill_garbage(workspace, bytes);
    fill_garbage(written, size);
  });
  return cudaStreamSynchronize(handle->stream) == cudaSuccess ? status : CUDNN_STATUS_EXECUTION_FAILED;
}

hb::Tensor tensor(const cudnnTensorStruct& t, const void* data) {
  return hb::from_blob(const_cast<void*>(data), t.sizes, t.strides, hb::TensorOptions().dtype(dtype_of(t.type)));
}

/// The CPU's kernels want channels last.
hb::Tensor channels_last(const cudnnTensorStruct& t, const void* data) {
  if (is_packed(t, false)) return tensor(t, data);
  const hb::Tensor given = tensor(t, data);
  return hb::empty_strided(t.sizes, packed_strides(t.sizes, false), given.options()).copy_(given);
}
void write(const cudnnTensorStruct& t, void* data, const hb::Tensor& result) {
  if (result.const_data_ptr() != data) tensor(t, data).copy_(result);
}

/// Runs `compute` in the stream's order, if the algorithm and the memory are what was found.
template <class F>
cudnnStatus_t run(const char* name, cudnnHandle_t handle, int algo, void* workspace, size_t bytes, const Problem& a,
                  F compute) {
  if (algo < 0 || algo >= static_cast<int>(std::size(kAlgorithms)) || bytes < kAlgorithms[algo].workspace || !fits(a))
    return CUDNN_STATUS_BAD_PARAM;
  const cudnnStatus_t status = status_of(a, algo);
  if (status != CUDNN_STATUS_SUCCESS) return status;
  const char* const order = a.w.channels_first ? ", channels first" : "";
  const char* const full_name = lasting(name + std::string(" by ") + std::to_string(algo) + order);
  enqueue_library_call(handle->stream, full_name, [=] {
    fill_garbage(workspace, bytes);
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
  if (rank < 4 || rank > 5) return CUDNN_STATUS_BAD_PARAM;
  filter->type = type;
  filter->channels_first = format == CUDNN_TENSOR_NCHW;
  filter->sizes.assign(sizes, sizes + rank);
  filter->strides = packed_strides(filter->sizes, filter->channels_first);
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
  return list({Direction::forward, *x, *w, *y, *conv}, most, count, found);
}
cudnnStatus_t cudnnGetConvolutionBackwardDataAlgorithm_v7(cudnnHandle_t, cudnnFilterDescriptor_t w,
                                                          cudnnTensorDescriptor_t dy, cudnnConvolutionDescriptor_t conv,
                                                          cudnnTensorDescriptor_t dx, int most, int* count,
                                                          cudnnConvolutionBwdDataAlgoPerf_t* found) {
  return list({Direction::data, *dx, *w, *dy, *conv}, most, count, found);
}
cudnnStatus_t cudnnGetConvolutionBackwardFilterAlgorithm_v7(cudnnHandle_t, cudnnTensorDescriptor_t x,
                                                            cudnnTensorDescriptor_t dy,
                                                            cudnnConvolutionDescriptor_t conv,
                                                            cudnnFilterDescriptor_t dw, int most, int* count,
                                                            cudnnConvolutionBwdFilterAlgoPerf_t* found) {
  return list({Direction::weight, *x, *dw, *dy, *conv}, most, count, found);
}

cudnnStatus_t cudnnFindConvolutionForwardAlgorithmEx(cudnnHandle_t handle, cudnnTensorDescriptor_t x, const void*,
                                                     cudnnFilterDescriptor_t w, const void*,
                                                     cudnnConvolutionDescriptor_t conv, cudnnTensorDescriptor_t y_desc,
                                                     void* y, int most, int* count,
                                                     cudnnConvolutionFwdAlgoPerf_t* found, void* workspace,
                                                     size_t bytes) {
  return try_all("cudnnFindConvolutionForwardAlgorithmEx", handle, {Direction::forward, *x, *w, *y_desc, *conv}, most,
                 count, found, y, workspace, bytes);
}
cudnnStatus_t cudnnFindConvolutionBackwardDataAlgorithmEx(cudnnHandle_t handle, cudnnFilterDescriptor_t w, const void*,
                                                          cudnnTensorDescriptor_t dy, const void*,
                                                          cudnnConvolutionDescriptor_t conv,
                                                          cudnnTensorDescriptor_t dx_desc, void* dx, int most,
                                                          int* count, cudnnConvolutionBwdDataAlgoPerf_t* found,
                                                          void* workspace, size_t bytes) {
  return try_all("cudnnFindConvolutionBackwardDataAlgorithmEx", handle, {Direction::data, *dx_desc, *w, *dy, *conv},
                 most, count, found, dx, workspace, bytes);
}
cudnnStatus_t cudnnFindConvolutionBackwardFilterAlgorithmEx(cudnnHandle_t handle, cudnnTensorDescriptor_t x,
                                                            const void*, cudnnTensorDescriptor_t dy, const void*,
                                                            cudnnConvolutionDescriptor_t conv,
                                                            cudnnFilterDescriptor_t dw_desc, void* dw, int most,
                                                            int* count, cudnnConvolutionBwdFilterAlgoPerf_t* found,
                                                            void* workspace, size_t bytes) {
  return try_all("cudnnFindConvolutionBackwardFilterAlgorithmEx", handle, {Direction::weight, *x, *dw_desc, *dy, *conv},
                 most, count, found, dw, workspace, bytes);
}

cudnnStatus_t cudnnConvolutionForward(cudnnHandle_t handle, const void*, cudnnTensorDescriptor_t x_desc, const void* x,
                                      cudnnFilterDescriptor_t w_desc, const void* w, cudnnConvolutionDescriptor_t conv,
                                      cudnnConvolutionFwdAlgo_t algo, void* workspace, size_t bytes, const void*,
                                      cudnnTensorDescriptor_t y_desc, void* y) {
  return run("cudnnConvolutionForward", handle, algo, workspace, bytes,
             {Direction::forward, *x_desc, *w_desc, *y_desc, *conv},
             [=, xd = *x_desc, wd = *w_desc, yd = *y_desc, p = conv->p] {
               const hb::Tensor result = channels_last(yd, y);
               hb::conv_forward_kernel(hb::kCPU)(result, channels_last(xd, x), tensor(wd, w).contiguous(), {}, p);
               write(yd, y, result);
             });
}
cudnnStatus_t cudnnConvolutionBackwardData(cudnnHandle_t handle, const void*, cudnnFilterDescriptor_t w_desc,
                                           const void* w, cudnnTensorDescriptor_t dy_desc, const void* dy,
                                           cudnnConvolutionDescriptor_t conv, cudnnConvolutionBwdDataAlgo_t algo,
                                           void* workspace, size_t bytes, const void*, cudnnTensorDescriptor_t dx_desc,
                                           void* dx) {
  return run("cudnnConvolutionBackwardData", handle, algo, workspace, bytes,
             {Direction::data, *dx_desc, *w_desc, *dy_desc, *conv},
             [=, dxd = *dx_desc, wd = *w_desc, dyd = *dy_desc, p = conv->p] {
               const hb::Tensor result = channels_last(dxd, dx);
               hb::conv_backward_data_kernel(hb::kCPU)(result, channels_last(dyd, dy), tensor(wd, w).contiguous(), p);
               write(dxd, dx, result);
             });
}
cudnnStatus_t cudnnConvolutionBackwardFilter(cudnnHandle_t handle, const void*, cudnnTensorDescriptor_t x_desc,
                                             const void* x, cudnnTensorDescriptor_t dy_desc, const void* dy,
                                             cudnnConvolutionDescriptor_t conv, cudnnConvolutionBwdFilterAlgo_t algo,
                                             void* workspace, size_t bytes, const void*,
                                             cudnnFilterDescriptor_t dw_desc, void* dw) {
  return run("cudnnConvolutionBackwardFilter", handle, algo, workspace, bytes,
             {Direction::weight, *x_desc, *dw_desc, *dy_desc, *conv},
             [=, xd = *x_desc, wd = *dw_desc, dyd = *dy_desc, p = conv->p] {
               const hb::Tensor result = tensor(wd, dw), dense = hb::empty(wd.sizes, result.options());
               hb::conv_backward_weight_kernel(hb::kCPU)(dense, {}, channels_last(xd, x), channels_last(dyd, dy), p);
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
