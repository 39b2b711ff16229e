// cuDNN's recurrent networks: interprets the descriptors, refuses what cuDNN would, and computes by recurrence.h.
#include "software_cuda/cudnn_rnn.h"

#include <algorithm>

#include "software_cuda/libraries/cudnn_objects.h"
#include "software_cuda/libraries/recurrence.h"
#include "software_cuda/libraries/symbols.h"
#include "software_cuda/memory.h"
#include "software_cuda/queue.h"

struct cudnnDropoutStruct {
  bool set = false;
};
struct cudnnRNNStruct {
  software_cuda::RnnShape net;
  cudnnDataType_t type;
  bool padded_io = false;
};
struct cudnnRNNDataStruct {
  software_cuda::RnnData data;
  cudnnDataType_t type;
  cudnnRNNDataLayout_t layout;
  int64_t width;
};

namespace {

constexpr size_t kWorkspace = 1024;  // what each call wants, and spoils

hb::ScalarType dtype_of(cudnnDataType_t type) {
  return type == CUDNN_DATA_DOUBLE     ? hb::kDouble
         : type == CUDNN_DATA_HALF     ? hb::kHalf
         : type == CUDNN_DATA_BFLOAT16 ? hb::kBFloat16
                                       : hb::kFloat;
}

size_t weight_bytes_of(const cudnnRNNStruct& rnn) { return static_cast<size_t>(rnn.net.weights() * rnn.net.element()); }
size_t reserve_bytes_of(const cudnnRNNStruct& rnn, const cudnnRNNDataStruct& x) {
  return static_cast<size_t>(software_cuda::reserve_bytes(rnn.net, x.data));
}

bool fits(const cudnnRNNStruct& rnn, const cudnnRNNDataStruct& data, int64_t width) {
  const bool packed = data.layout == CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_PACKED;
  return data.type == rnn.type && data.width == width && (packed || rnn.padded_io);
}
bool is_state(const cudnnRNNStruct& rnn, const cudnnTensorStruct* t, int64_t batch, int64_t width) {
  const std::vector<int64_t> sizes{rnn.net.layers * rnn.net.directions, batch, width};
  return t && t->type == rnn.type && t->sizes == sizes && t->strides == std::vector<int64_t>{batch * width, width, 1};
}
/// What all calls have in common.
bool fits(const cudnnRNNStruct& rnn, const cudnnRNNDataStruct& x, const cudnnRNNDataStruct& y,
          const cudnnTensorStruct* h, const int32_t* lengths, size_t weight_bytes, size_t workspace_bytes) {
  const auto batch = static_cast<int64_t>(x.data.lengths.size());
  return !lengths && fits(rnn, x, rnn.net.features) && fits(rnn, y, rnn.net.directions * rnn.net.out) &&
         x.layout == y.layout && x.data.lengths == y.data.lengths && is_state(rnn, h, batch, rnn.net.out) &&
         weight_bytes >= weight_bytes_of(rnn) && workspace_bytes >= kWorkspace;
}
bool cell_fits(const cudnnRNNStruct& rnn, const cudnnRNNDataStruct& x, const cudnnTensorStruct* c) {
  return rnn.net.mode != CUDNN_LSTM || is_state(rnn, c, static_cast<int64_t>(x.data.lengths.size()), rnn.net.hidden);
}

/// Runs `compute` in the stream's order; what it refuses leaves NaN where results should be.
template <class F>
cudnnStatus_t run(const char* name, cudnnHandle_t handle, bool good, void* workspace, size_t bytes, F compute) {
  if (!good) return CUDNN_STATUS_BAD_PARAM;
  software_cuda::enqueue_library_call(handle->stream, name, [=] {
    software_cuda::fill_garbage(workspace, bytes);
    compute();
  });
  return CUDNN_STATUS_SUCCESS;
}

}  // namespace

cudnnStatus_t cudnnCreateDropoutDescriptor(cudnnDropoutDescriptor_t* made) { return create(made); }
cudnnStatus_t cudnnDestroyDropoutDescriptor(cudnnDropoutDescriptor_t dropout) { return destroy(dropout); }
// Dropout by cuDNN, which would need its states, is nothing that Halfbridge asks for.
cudnnStatus_t cudnnSetDropoutDescriptor(cudnnDropoutDescriptor_t dropout, cudnnHandle_t, float share, void* states,
                                        size_t bytes, unsigned long long) {
  if (share != 0 || states || bytes != 0) return CUDNN_STATUS_BAD_PARAM;
  dropout->set = true;
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnCreateRNNDescriptor(cudnnRNNDescriptor_t* made) { return create(made); }
cudnnStatus_t cudnnDestroyRNNDescriptor(cudnnRNNDescriptor_t rnn) { return destroy(rnn); }
cudnnStatus_t cudnnSetRNNDescriptor_v8(cudnnRNNDescriptor_t rnn, cudnnRNNAlgo_t algo, cudnnRNNMode_t mode,
                                       cudnnRNNBiasMode_t bias, cudnnDirectionMode_t direction, cudnnRNNInputMode_t,
                                       cudnnDataType_t type, cudnnDataType_t compute, cudnnMathType_t math,
                                       int32_t features, int32_t hidden, int32_t projected, int32_t layers,
                                       cudnnDropoutDescriptor_t dropout, uint32_t flags) {
  const bool wide = type == CUDNN_DATA_DOUBLE;
  const bool known = algo == CUDNN_RNN_ALGO_STANDARD || algo == CUDNN_RNN_ALGO_PERSIST_STATIC_SMALL_H;
  const bool good = known && dropout && dropout->set && features > 0 && hidden > 0 && layers > 0 && projected > 0 &&
                    (projected == hidden || mode == CUDNN_LSTM) && projected <= hidden &&
                    (compute == CUDNN_DATA_DOUBLE) == wide && (wide || compute == CUDNN_DATA_FLOAT) &&
                    !(wide && math == CUDNN_TENSOR_OP_MATH);
  if (!good) return CUDNN_STATUS_BAD_PARAM;
  const int64_t directions = direction == CUDNN_BIDIRECTIONAL ? 2 : 1;
  rnn->net = {dtype_of(type), mode, bias == CUDNN_RNN_DOUBLE_BIAS, directions, layers, features, hidden, projected};
  rnn->type = type, rnn->padded_io = flags == CUDNN_RNN_PADDED_IO_ENABLED;
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnCreateRNNDataDescriptor(cudnnRNNDataDescriptor_t* made) { return create(made); }
cudnnStatus_t cudnnDestroyRNNDataDescriptor(cudnnRNNDataDescriptor_t data) { return destroy(data); }
cudnnStatus_t cudnnSetRNNDataDescriptor(cudnnRNNDataDescriptor_t data, cudnnDataType_t type,
                                        cudnnRNNDataLayout_t layout, int steps, int batch, int width,
                                        const int lengths[], void*) {
  if (steps < 1 || batch < 1 || width < 1) return CUDNN_STATUS_BAD_PARAM;
  *data = {
      {{lengths, lengths + batch}, steps, layout == CUDNN_RNN_DATA_LAYOUT_BATCH_MAJOR_UNPACKED}, type, layout, width};
  const std::vector<int>& all = data->data.lengths;
  const auto [least, most] = std::minmax_element(all.begin(), all.end());
  if (*least < 0 || *most > steps) return CUDNN_STATUS_BAD_PARAM;
  // Packed sequences begin with the longest; of unpacked ones nobody here asks for several lengths.
  const bool packed = layout == CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_PACKED;
  const bool good = packed ? *most == steps && std::is_sorted(all.rbegin(), all.rend()) : *least == steps;
  return good ? CUDNN_STATUS_SUCCESS : CUDNN_STATUS_BAD_PARAM;
}

cudnnStatus_t cudnnGetRNNTempSpaceSizes(cudnnHandle_t, cudnnRNNDescriptor_t rnn, cudnnForwardMode_t mode,
                                        cudnnRNNDataDescriptor_t x, size_t* workspace, size_t* reserve) {
  if (!fits(*rnn, *x, rnn->net.features)) return CUDNN_STATUS_BAD_PARAM;
  *workspace = kWorkspace, *reserve = mode == CUDNN_FWD_MODE_TRAINING ? reserve_bytes_of(*rnn, *x) : 0;
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnGetRNNWeightSpaceSize(cudnnHandle_t, cudnnRNNDescriptor_t rnn, size_t* bytes) {
  *bytes = weight_bytes_of(*rnn);
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnGetRNNWeightParams(cudnnHandle_t, cudnnRNNDescriptor_t rnn, int32_t layer, size_t bytes,
                                      const void* weights, int32_t id, cudnnTensorDescriptor_t matrix, void** matrix_at,
                                      cudnnTensorDescriptor_t bias, void** bias_at) {
  const software_cuda::RnnShape& net = rnn->net;
  if (layer < 0 || layer >= net.layers * net.directions || id < 0 || bytes < weight_bytes_of(*rnn))
    return CUDNN_STATUS_BAD_PARAM;
  const int64_t count = net.matrix(layer, id), rows = id == 2 * net.gates() ? net.out : net.hidden;
  const auto at = [&](int64_t element) {
    return const_cast<char*>(static_cast<const char*>(weights)) + element * net.element();
  };
  const bool biased = net.biased && id < 2 * net.gates();
  *matrix_at = count ? at(net.matrix_at(layer, id)) : nullptr;
  *bias_at = biased ? at(net.bias_at(layer, id)) : nullptr;
  if (count) *matrix = {rnn->type, {1, rows, count / rows}, {count, count / rows, 1}};
  if (biased) *bias = {rnn->type, {1, net.hidden, 1}, {net.hidden, 1, 1}};
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnRNNForward(cudnnHandle_t handle, cudnnRNNDescriptor_t rnn, cudnnForwardMode_t mode,
                              const int32_t lengths[], cudnnRNNDataDescriptor_t x_desc, const void* x,
                              cudnnRNNDataDescriptor_t y_desc, void* y, cudnnTensorDescriptor_t h_desc, const void* hx,
                              void* hy, cudnnTensorDescriptor_t c_desc, const void* cx, void* cy, size_t weight_bytes,
                              const void* weights, size_t workspace_bytes, void* workspace, size_t reserve_bytes,
                              void* reserve) {
  const bool training = mode == CUDNN_FWD_MODE_TRAINING;
  const bool good = fits(*rnn, *x_desc, *y_desc, h_desc, lengths, weight_bytes, workspace_bytes) && x && y && weights &&
                    cell_fits(*rnn, *x_desc, c_desc) &&
                    (!training || (reserve && reserve_bytes >= reserve_bytes_of(*rnn, *x_desc)));
  return run("cudnnRNNForward", handle, good, workspace, workspace_bytes, [=, net = rnn->net, data = x_desc->data] {
    software_cuda::run_forward(net, data, x, y, hx, hy, cx, cy, weights, training ? reserve : nullptr);
  });
}
cudnnStatus_t cudnnRNNBackwardData_v8(cudnnHandle_t handle, cudnnRNNDescriptor_t rnn, const int32_t lengths[],
                                      cudnnRNNDataDescriptor_t y_desc, const void* y, const void* dy,
                                      cudnnRNNDataDescriptor_t x_desc, void* dx, cudnnTensorDescriptor_t h_desc,
                                      const void*, const void* dhy, void* dhx, cudnnTensorDescriptor_t c_desc,
                                      const void*, const void* dcy, void* dcx, size_t weight_bytes, const void* weights,
                                      size_t workspace_bytes, void* workspace, size_t reserve_bytes, void* reserve) {
  const bool good = fits(*rnn, *x_desc, *y_desc, h_desc, lengths, weight_bytes, workspace_bytes) && y && dy && dx &&
                    weights && cell_fits(*rnn, *x_desc, c_desc) && reserve &&
                    reserve_bytes >= reserve_bytes_of(*rnn, *x_desc);
  return run("cudnnRNNBackwardData_v8", handle, good, workspace, workspace_bytes,
             [=, net = rnn->net, data = x_desc->data] {
               software_cuda::run_backward_data(net, data, dy, dx, dhy, dhx, dcy, dcx, weights, reserve);
             });
}
// The mode that sets the gradients is declared by cuDNN, which does not have it.
cudnnStatus_t cudnnRNNBackwardWeights_v8(cudnnHandle_t handle, cudnnRNNDescriptor_t rnn, cudnnWgradMode_t mode,
                                         const int32_t lengths[], cudnnRNNDataDescriptor_t x_desc, const void* x,
                                         cudnnTensorDescriptor_t h_desc, const void*, cudnnRNNDataDescriptor_t y_desc,
                                         const void* y, size_t weight_bytes, void* dweights, size_t workspace_bytes,
                                         void* workspace, size_t reserve_bytes, void* reserve) {
  const bool good = mode == CUDNN_WGRAD_MODE_ADD && x && y && dweights && reserve &&
                    fits(*rnn, *x_desc, *y_desc, h_desc, lengths, weight_bytes, workspace_bytes) &&
                    reserve_bytes >= reserve_bytes_of(*rnn, *x_desc);
  return run("cudnnRNNBackwardWeights_v8", handle, good, workspace, workspace_bytes,
             [=, net = rnn->net, data = x_desc->data] {
               if (!software_cuda::run_backward_weights(net, data, dweights, reserve))
                 software_cuda::fill_garbage(dweights, weight_bytes);
             });
}

SOFTWARE_CUDA_SYMBOL(cudnnCreateDropoutDescriptor);
SOFTWARE_CUDA_SYMBOL(cudnnDestroyDropoutDescriptor);
SOFTWARE_CUDA_SYMBOL(cudnnSetDropoutDescriptor);
SOFTWARE_CUDA_SYMBOL(cudnnCreateRNNDescriptor);
SOFTWARE_CUDA_SYMBOL(cudnnDestroyRNNDescriptor);
SOFTWARE_CUDA_SYMBOL(cudnnSetRNNDescriptor_v8);
SOFTWARE_CUDA_SYMBOL(cudnnCreateRNNDataDescriptor);
SOFTWARE_CUDA_SYMBOL(cudnnDestroyRNNDataDescriptor);
SOFTWARE_CUDA_SYMBOL(cudnnSetRNNDataDescriptor);
SOFTWARE_CUDA_SYMBOL(cudnnGetRNNTempSpaceSizes);
SOFTWARE_CUDA_SYMBOL(cudnnGetRNNWeightSpaceSize);
SOFTWARE_CUDA_SYMBOL(cudnnGetRNNWeightParams);
SOFTWARE_CUDA_SYMBOL(cudnnRNNForward);
SOFTWARE_CUDA_SYMBOL(cudnnRNNBackwardData_v8);
SOFTWARE_CUDA_SYMBOL(cudnnRNNBackwardWeights_v8);
