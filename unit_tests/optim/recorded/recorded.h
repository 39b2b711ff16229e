#pragma once
// What recorded_optim/record.py recorded, and the numbers that went into it.

#include <torch/torch.h>

#include <cmath>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>
#include <vector>

namespace optim = torch::optim;
using torch::Tensor;
using Tensors = std::vector<Tensor>;
using Dict = c10::Dict<c10::IValue, c10::IValue>;

namespace recorded_optim {

inline Dict recorded(const std::string& name) {
  std::ifstream file(std::string(HALFBRIDGE_RECORDED_FILES) + "/" + name, std::ios::binary);
  return torch::pickle_load({std::istreambuf_iterator<char>(file), {}}).toGenericDict();
}

inline Tensors numbers(const std::function<double(int)>& fn, torch::Dtype dtype) {
  int at = 0;
  Tensors tensors;
  for (const std::vector<int64_t>& shape : std::vector<std::vector<int64_t>>{{4, 3}, {5}, {2, 2, 2, 2}}) {
    Tensor t = torch::empty(shape, torch::kDouble);
    for (int64_t i = 0; i < t.numel(); ++i) t.data_ptr<double>()[i] = fn(at++);
    tensors.push_back(t.to(dtype));
  }
  return tensors;
}
inline Tensors params(torch::Dtype dtype) {
  auto all = numbers([](int i) { return std::cos(1.7 * i) + 0.1; }, dtype);
  for (auto& p : all) p.requires_grad_();
  return all;
}
inline Tensors gradients(int step, torch::Dtype dtype) {
  return numbers([=](int i) { return std::sin(0.37 * step + 0.91 * i) * (1 + 0.5 * std::cos(0.13 * step * (i % 5))); },
                 dtype);
}

/// Largest difference over the largest number.
inline double difference(const Tensor& got, const Tensor& expected) {
  const Tensor a = got.to(torch::kDouble), b = expected.to(torch::kDouble);
  return ((a - b).abs().max() / b.abs().max()).item<double>();
}

}  // namespace recorded_optim
