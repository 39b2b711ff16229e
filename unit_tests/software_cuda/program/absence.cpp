// Says why there is no CUDA device, and computes on the CPU.
#include <torch/torch.h>

#include <iostream>

int main() {
  const bool available = torch::cuda::is_available();
  try {
    torch::ones({2}, torch::kCUDA);
    std::cout << "CUDA works";
  } catch (const c10::Error& error) {
    std::cout << (available ? "is_available is wrong: " : "") << error.what();
  }
  const bool right = torch::ones({2, 2}).mm(torch::ones({2, 2})).sum().item<float>() == 8;
  std::cout << (right ? " -- the CPU works\n" : " -- the CPU does not work\n");
}
