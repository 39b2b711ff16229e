// A program that chooses its device and works with streams of CUDA where there are any.
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <torch/torch.h>

int main() {
  const torch::Device device(torch::cuda::is_available() ? torch::kCUDA : torch::kCPU);
  torch::Tensor x = torch::ones({2, 2}, device);
  if (device.is_cuda()) {
    const auto stream = at::cuda::getCurrentCUDAStream();
    stream.synchronize();
    c10::cuda::CUDACachingAllocator::emptyCache();
    torch::cuda::nccl::is_available({x});
    at::cuda::CUDAEvent event;
    event.record(stream);
  }
  torch::cuda::synchronize();
  return x.sum().item<int>() == 4 ? 0 : static_cast<int>(torch::cuda::device_count());
}
