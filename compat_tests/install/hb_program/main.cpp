#include <halfbridge/halfbridge.h>

#include <iostream>

int main() {
  auto x = hb::ones({2, 3}, hb::TensorOptions().dtype(hb::kBFloat16)).requires_grad_(true);
  auto y = (x * x).sum();
  y.backward();
  std::cout << x.grad() << std::endl;
  return x.grad().sum().item<float>() == 12.0f ? 0 : 1;
}
