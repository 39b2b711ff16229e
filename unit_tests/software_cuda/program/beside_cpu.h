#pragma once
// What functions and networks give on the software device, beside the CPU.
#include <torch/torch.h>

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

namespace {

using torch::Tensor;
namespace nn = torch::nn;
namespace F = torch::nn::functional;

const torch::Device kGpu(torch::kCUDA, 0);

inline void expect_close(const std::string& name, const Tensor& got, const Tensor& expected, double step) {
  ASSERT_EQ(got.sizes(), expected.sizes()) << name;
  ASSERT_EQ(got.scalar_type(), expected.scalar_type()) << name;
  const Tensor a = got.cpu().to(torch::kDouble), b = expected.to(torch::kDouble);
  const double scale = b.numel() > 0 ? b.abs().nan_to_num(0, 0, 0).max().item<double>() : 0;
  EXPECT_TRUE(torch::allclose(a, b, step, step * std::max(scale, 1e-3), true)) << name << "\n" << a << "\n" << b;
}
inline double step_of(torch::Dtype t) {
  return t == torch::kHalf ? 4e-3 : t == torch::kBFloat16 ? 3e-2 : t == torch::kFloat ? 2e-5 : 1e-10;
}

using Function = std::function<Tensor(const std::vector<Tensor>&)>;

/// The result, and the gradients of the floating inputs, on both devices.
inline void expect_same(const std::string& name, const Function& f, const std::vector<Tensor>& inputs) {
  const auto run = [&](const torch::Device& device) {
    std::vector<Tensor> in, results;
    for (const Tensor& t : inputs) in.push_back(t.detach().clone().to(device).requires_grad_(t.is_floating_point()));
    const Tensor out = f(in);
    results.push_back(out.detach());
    if (out.requires_grad()) {
      const Tensor weight =
          torch::arange(out.numel(), torch::kFloat).mul(0.7).sin().view(out.sizes()).to(out.options());
      out.backward(weight);
      for (const Tensor& t : in) results.push_back(t.grad().defined() ? t.grad() : torch::zeros({0}));
    }
    return results;
  };
  std::vector<Tensor> expected, got;
  ASSERT_NO_THROW(expected = run(torch::kCPU)) << name;
  try {
    got = run(kGpu);
  } catch (const c10::Error& e) {
    FAIL() << name << " of " << inputs[0].scalar_type() << ": " << e.what();
  }
  ASSERT_EQ(got.size(), expected.size()) << name;
  for (size_t i = 0; i < got.size(); ++i)
    expect_close(name + (i == 0 ? "" : ".grad" + std::to_string(i - 1)), got[i], expected[i],
                 step_of(inputs[0].scalar_type()));
}

inline Tensor values(torch::IntArrayRef size, torch::Dtype dtype = torch::kFloat, double phase = 0) {
  const Tensor n = torch::arange(torch::zeros(size).numel(), torch::kDouble);
  return n.mul(1.7).add(phase).sin().add(n.mul(0.3).cos()).view(size).to(dtype);
}
const std::vector<torch::Dtype> kFloats{torch::kFloat, torch::kDouble, torch::kHalf, torch::kBFloat16};

}  // namespace
