#pragma once
// <torch/csrc/cuda/comm.h>: tensors sent to several GPUs and back. Without CUDA all throw as Tensor::to(kCUDA) does.

#include <cstdint>
#include <optional>
#include <vector>

#include <halfbridge/bridge/cuda/stream.h>
#include <halfbridge/tensor.h>

namespace hb::bridge::cuda::comm {

using tensor_list2d = std::vector<std::vector<Tensor>>;
/// Where copies are queued, a stream for each part; without one: the device's current stream.
using Streams = std::optional<std::vector<std::optional<CUDAStream>>>;

/// A copy of `tensor` on each device; the tensor itself where it is there already.
HB_API std::vector<Tensor> broadcast(const Tensor& tensor, IntArrayRef devices);
HB_API std::vector<Tensor>& broadcast_out(const Tensor& tensor, std::vector<Tensor>& out_tensors);
/// For each device copies of all tensors. How many bytes LibTorch would send at once has no effect.
HB_API tensor_list2d broadcast_coalesced(TensorList tensors, IntArrayRef devices, size_t buffer_size);
/// Parts of `tensor` along `dim`, of `chunk_sizes` or about as many rows each, each on its device (-1: the CPU).
HB_API std::vector<Tensor> scatter(const Tensor& tensor, IntArrayRef devices,
                                   const std::optional<std::vector<int64_t>>& chunk_sizes = std::nullopt,
                                   int64_t dim = 0, const Streams& streams = std::nullopt);
HB_API std::vector<Tensor>& scatter_out(const Tensor& tensor, std::vector<Tensor>& out_tensors, int64_t dim = 0,
                                        const Streams& streams = std::nullopt);
/// The parts in one tensor along `dim`, on the device of that number (-1: the CPU; without one: the current device).
HB_API Tensor gather(TensorList tensors, int64_t dim, std::optional<int32_t> destination_index);
HB_API Tensor& gather_out(TensorList tensors, Tensor& out_tensor, int64_t dim);

}  // namespace hb::bridge::cuda::comm
