// A file of kernels: <torch/types.h> alone brings what its authors did not include.
#include <torch/types.h>

int64_t largest_below(const at::Tensor& values, int64_t limit = INT_MAX) {
  assert(values.dim() == 1);
  std::deque<int64_t> kept;
  for (int64_t i = 0; i < values.size(0); ++i)
    if (values[i].item<int64_t>() < limit) kept.push_back(values[i].item<int64_t>());
  std::cout << std::setw(4) << kept.size() << std::endl;
  return *std::max_element(kept.begin(), kept.end());
}
