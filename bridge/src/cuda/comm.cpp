#include <halfbridge/bridge/cuda/comm.h>
#include <halfbridge/bridge/cuda/device.h>
#include <halfbridge/ops.h>

namespace hb::bridge::cuda::comm {
namespace {

Device place(int64_t index) { return index < 0 ? Device(kCPU) : Device(kCUDA, static_cast<DeviceIndex>(index)); }

/// part.to(device), or what it is copied to, queued on the stream that was given for it.
template <class Copy>
void queued(const Streams& streams, size_t i, const Copy& copy) {
  if (!streams || !(*streams)[i]) return copy();
  const CUDAStreamGuard guard(*(*streams)[i]);
  copy();
}

std::vector<int64_t> chunks(const Tensor& tensor, size_t count, const std::optional<std::vector<int64_t>>& sizes,
                            int64_t dim) {
  HB_CHECK(count > 0, "[scatter] Expected at least one device to scatter to");
  if (sizes) {
    HB_CHECK(sizes->size() == count, "[scatter] Expected devices and chunk_sizes to be of same length, but got ", count,
             " devices and ", sizes->size(), " chunk sizes");
    return *sizes;
  }
  std::vector<int64_t> even;
  for (const Tensor& part : tensor.chunk(static_cast<int64_t>(count), dim)) even.push_back(part.size(dim));
  return even;
}

}  // namespace

std::vector<Tensor> broadcast(const Tensor& tensor, IntArrayRef devices) {
  std::vector<Tensor> copies;
  for (const int64_t d : devices) copies.push_back(tensor.to(Device(kCUDA, static_cast<DeviceIndex>(d))));
  return copies;
}

std::vector<Tensor>& broadcast_out(const Tensor& tensor, std::vector<Tensor>& out_tensors) {
  for (Tensor& out : out_tensors) {
    HB_CHECK(out.is_cuda() && out.sizes() == tensor.sizes(),
             "[broadcast_out] Expected all output tensors to be CUDA "
             "tensors of shape ",
             tensor.sizes(), ", got one of shape ", out.sizes(), " on ", out.device());
    out.copy_(tensor, /*non_blocking=*/true);
  }
  return out_tensors;
}

tensor_list2d broadcast_coalesced(TensorList tensors, IntArrayRef devices, size_t /*buffer_size*/) {
  tensor_list2d all;
  for (const int64_t d : devices) {
    all.emplace_back();
    for (const Tensor& t : tensors) all.back().push_back(t.to(Device(kCUDA, static_cast<DeviceIndex>(d))));
  }
  return all;
}

std::vector<Tensor> scatter(const Tensor& tensor, IntArrayRef devices,
                            const std::optional<std::vector<int64_t>>& chunk_sizes, int64_t dim,
                            const Streams& streams) {
  std::vector<Tensor> parts = tensor.split_with_sizes(chunks(tensor, devices.size(), chunk_sizes, dim), dim);
  for (size_t i = 0; i < parts.size(); ++i)
    queued(streams, i, [&] { parts[i] = parts[i].to(place(devices[i]), /*non_blocking=*/true); });
  return parts;
}

std::vector<Tensor>& scatter_out(const Tensor& tensor, std::vector<Tensor>& out_tensors, int64_t dim,
                                 const Streams& streams) {
  HB_CHECK(!out_tensors.empty(), "[scatter_out] Expected at least one output tensor to scatter to");
  std::vector<int64_t> sizes;
  for (const Tensor& out : out_tensors) sizes.push_back(out.size(dim));
  const std::vector<Tensor> parts = tensor.split_with_sizes(sizes, dim);
  for (size_t i = 0; i < parts.size(); ++i)
    queued(streams, i, [&] { out_tensors[i].copy_(parts[i], /*non_blocking=*/true); });
  return out_tensors;
}

Tensor gather(TensorList tensors, int64_t dim, std::optional<int32_t> destination_index) {
  HB_CHECK(!tensors.empty(), "[gather] Expected at least one tensor to gather from");
  const Device device = place(destination_index ? *destination_index : current_device());
  std::vector<Tensor> here;
  for (const Tensor& t : tensors) here.push_back(t.to(device));
  return cat(here, dim);
}

Tensor& gather_out(TensorList tensors, Tensor& out_tensor, int64_t dim) {
  std::vector<Tensor> here;
  for (const Tensor& t : tensors) here.push_back(t.to(out_tensor.device()));
  return cat_out(out_tensor, here, dim);
}

}  // namespace hb::bridge::cuda::comm
