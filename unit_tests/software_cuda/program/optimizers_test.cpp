// Every optimizer on the software device beside the CPU.
#include "optim/every_optimizer.h"

#include "software_cuda/program/beside_cpu.h"

namespace {

using namespace every_optimizer;

Tensors leaves_on(const torch::Device& device, torch::Dtype dtype) {
  Tensors made;
  for (const Tensor& t : leaves(dtype)) made.push_back(t.detach().to(device).requires_grad_());
  made.push_back(values({3, 5, 4}, dtype).to(device).requires_grad_());
  return made;
}

/// Parameters after some steps, the second of which overflows and counts for nothing.
Tensors trained(const Make& make, const torch::Device& device, torch::Dtype dtype) {
  const Tensors params = leaves_on(device, dtype);
  const auto optimizer = make(params);
  torch::amp::GradScaler scaler;
  for (int step = 0; step < 4; ++step) {
    for (size_t i = 0; i < params.size(); ++i) {
      Tensor grad = values(params[i].sizes(), dtype, step + static_cast<double>(i)).mul(step == 1 ? INFINITY : 8);
      Tensor(params[i]).mutable_grad() = grad.to(device);
    }
    if (dtype == torch::kFloat) {
      scaler.scale(torch::ones({}, torch::device(device)));
      scaler.step(*optimizer);
      scaler.update();
    } else if (step != 1) {
      optimizer->step();
    }
  }
  Tensors values;
  for (const Tensor& p : params) values.push_back(p.detach().cpu());
  return values;
}

TEST(SoftwareOptimizers, Steps) {
  for (const auto& [name, make] : optimizers()) {
    for (const torch::Dtype dtype : kFloats) {
      const Tensors expected = trained(make, torch::kCPU, dtype), got = trained(make, kGpu, dtype);
      for (size_t i = 0; i < expected.size(); ++i)
        expect_close(std::string(name) + " " + std::to_string(i), got[i], expected[i], step_of(dtype));
    }
  }
}

}  // namespace
