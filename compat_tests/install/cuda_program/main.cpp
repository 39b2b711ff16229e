// Runs with and without a GPU: where there is one, its kernels must give what the CPU gives.
#include <cstdio>

#include <torch/library.h>

#include "scaled_square.h"

int main() {
  const auto op = c10::Dispatcher::singleton()
                      .findSchemaOrThrow("stranger::scaled_square", "")
                      .typed<torch::Tensor(const torch::Tensor&, double)>();
  for (const auto dtype : {torch::kFloat, torch::kDouble, torch::kHalf, torch::kBFloat16, torch::kComplexFloat}) {
    const auto x = torch::randn({500}).to(dtype);
    const auto expected = op.call(x, 0.5);
    if (!torch::allclose(expected, x * x * 0.5)) return std::puts("wrong on the CPU"), 1;
    if (!torch::cuda::is_available()) continue;
    if (!torch::allclose(op.call(x.to(torch::kCUDA), 0.5).cpu(), expected, 1e-2, 1e-2))
      return std::puts("wrong on the GPU"), 1;
  }
  if (torch::cuda::is_available()) {
    const auto x = torch::rand({7, 100});
    if (!torch::allclose(row_sums_cuda(x.to(torch::kCUDA)).cpu(), x.sum(1), 1e-4, 1e-4))
      return std::puts("wrong sums on the GPU"), 1;
    return 0;
  }
  try {
    scaled_square_cuda(torch::ones({2}), 1);
  } catch (const c10::Error& e) {
    return 0;  // says that there is no GPU
  }
  return std::puts("no error without a GPU"), 1;
}
