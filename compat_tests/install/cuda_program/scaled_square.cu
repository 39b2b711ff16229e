#include <torch/extension.h>

#include <ATen/cuda/CUDAContext.h>
#include <ATen/cuda/detail/KernelUtils.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>
#include <ATen/cuda/Atomic.cuh>

#include "scaled_square.h"

namespace {

template <typename scalar_t>
__global__ void scaled_square_kernel(const scalar_t* __restrict__ x, scalar_t* __restrict__ y, double scale,
                                     int64_t n) {
  using acc_t = at::acc_type<scalar_t, true>;
  CUDA_KERNEL_LOOP_TYPE(i, n, int64_t) {
    const acc_t v = static_cast<acc_t>(x[i]);
    y[i] = static_cast<scalar_t>(v * v * static_cast<acc_t>(scale));
  }
}
template <typename scalar_t>
__global__ void complex_square_kernel(torch::PackedTensorAccessor64<scalar_t, 1, torch::RestrictPtrTraits> x,
                                      torch::PackedTensorAccessor64<scalar_t, 1, torch::RestrictPtrTraits> y,
                                      double scale) {
  const int64_t i = blockIdx.x * int64_t{blockDim.x} + threadIdx.x;
  if (i < x.size(0)) y[i] = x[i] * x[i] * scalar_t(scale);
}
template <typename scalar_t>
__global__ void row_sums_kernel(const torch::PackedTensorAccessor32<scalar_t, 2, torch::RestrictPtrTraits> x,
                                torch::PackedTensorAccessor32<scalar_t, 1, torch::RestrictPtrTraits> sums) {
  __shared__ scalar_t part[32];
  const int row = blockIdx.x, lane = threadIdx.x;
  part[lane] = scalar_t(0);
  for (int j = lane; j < x.size(1); j += 32) part[lane] += x[row][j];
  __syncwarp();
  gpuAtomicAdd(&sums[row], part[lane]);
}

}  // namespace

torch::Tensor scaled_square_cuda(const torch::Tensor& x, double scale) {
  const c10::cuda::OptionalCUDAGuard guard(device_of(x));
  auto y = torch::empty_like(x);
  const cudaStream_t stream = at::cuda::getCurrentCUDAStream();
  const int blocks = at::cuda::detail::GET_BLOCKS(x.numel());
  if (x.is_complex()) {
    AT_DISPATCH_COMPLEX_TYPES(x.scalar_type(), "scaled_square", [&] {
      complex_square_kernel<scalar_t>
          <<<blocks, 1024, 0, stream>>>(x.packed_accessor64<scalar_t, 1, torch::RestrictPtrTraits>(),
                                        y.packed_accessor64<scalar_t, 1, torch::RestrictPtrTraits>(), scale);
    });
  } else {
    AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, x.scalar_type(), "scaled_square", [&] {
      scaled_square_kernel<scalar_t>
          <<<blocks, 1024, 0, stream>>>(x.data_ptr<scalar_t>(), y.data_ptr<scalar_t>(), scale, x.numel());
    });
  }
  C10_CUDA_KERNEL_LAUNCH_CHECK();
  return y;
}

torch::Tensor row_sums_cuda(const torch::Tensor& x) {
  const c10::cuda::OptionalCUDAGuard guard(device_of(x));
  auto sums = torch::zeros({x.size(0)}, x.options());
  AT_DISPATCH_FLOATING_TYPES_AND_HALF(x.scalar_type(), "row_sums", [&] {
    row_sums_kernel<scalar_t><<<x.size(0), 32, 0, at::cuda::getCurrentCUDAStream()>>>(
        x.packed_accessor32<scalar_t, 2, torch::RestrictPtrTraits>(),
        sums.packed_accessor32<scalar_t, 1, torch::RestrictPtrTraits>());
  });
  C10_CUDA_CHECK(cudaGetLastError());
  return sums;
}
