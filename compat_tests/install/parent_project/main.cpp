#include <halfbridge/version.h>
#include <torch/torch.h>

#include <iostream>

static_assert(__cplusplus == 201703L, "the parent's standard");

int main() {
  auto x = torch::ones({2, 3}).requires_grad_(true);
  (x * x).sum().backward();
  std::cout << HALFBRIDGE_VERSION << std::endl;
  return x.grad().sum().item<float>() == 12.0f ? 0 : 1;
}
