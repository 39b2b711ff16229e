// Gradients: recorded for the comparison, and checked by central differences in f64.
#include <algorithm>
#include <cmath>

#include "recorder.h"

namespace parity {
namespace {

// The weight of element i of a loss: fixed, of mixed sign, and exact in every float dtype.
double weight(int64_t i) { return static_cast<double>((i * 7 + 3) % 16 - 8) / 8.0 + 0.0625; }

Tensor weights_like(const Tensor& output) {
  if (output.is_complex())
    return torch::view_as_complex(weights_like(torch::view_as_real(output.detach().resolve_conj())));
  std::vector<float> data(output.numel());
  for (size_t i = 0; i < data.size(); ++i) data[i] = static_cast<float>(weight(static_cast<int64_t>(i)));
  return torch::from_blob(data.data(), output.sizes(), torch::TensorOptions().dtype(torch::kFloat))
      .clone()
      .to(output.device(), output.scalar_type());
}

// Sum of weight * element over all outputs, in plain doubles.
double weighted_sum(const Tensors& outputs) {
  double sum = 0;
  for (const auto& output : outputs) {
    const Tensor t = output.detach().clone(torch::MemoryFormat::Contiguous);
    const double* data = t.data_ptr<double>();
    for (int64_t i = 0; i < t.numel(); ++i) sum += weight(i) * data[i];
  }
  return sum;
}

Tensors differentiable(const Tensors& outputs) {
  Tensors kept;
  for (const auto& output : outputs) {
    if (output.defined() && output.requires_grad()) kept.push_back(output);
  }
  return kept;
}

std::string describe(size_t input, int64_t element, double got, double expected) {
  std::ostringstream out;
  out.precision(12);
  out << "input " << input << " element " << element << ": gradient " << got << ", central difference " << expected;
  return out.str();
}

// Apart from the order in which sums are taken.
bool same_values(const Tensor& a, const Tensor& b) {
  if (!a.defined() || !b.defined()) return a.defined() == b.defined();
  const bool half = a.scalar_type() == torch::kHalf || a.scalar_type() == torch::kBFloat16;
  const double unit = half ? 1e-2 : a.scalar_type() == torch::kDouble ? 1e-9 : 1e-4;
  return a.scalar_type() == b.scalar_type() && a.sizes() == b.sizes() &&
         torch::allclose(a.to_dense(), b.to_dense(), unit, 10 * unit, /*equal_nan=*/true);
}

}  // namespace

void Case::backward(const std::string& name, const Tensor& output, const Tensors& inputs) {
  const auto grads = torch::autograd::grad({output}, inputs, {weights_like(output)}, /*retain_graph=*/true,
                                           /*create_graph=*/false, /*allow_unused=*/true);
  for (size_t i = 0; i < grads.size(); ++i) out(name + ".grad" + std::to_string(i), grads[i]);
  // A pass that asks for one of them leaves the others out.
  for (size_t i = 0; i < grads.size() && grads.size() > 1; ++i)
    check(same_values(torch::autograd::grad({output}, {inputs[i]}, {weights_like(output)}, true, false, true)[0],
                      grads[i]),
          name + ": gradient " + std::to_string(i) + " by itself is another");
}

void Case::gradients(const std::string& name, const Tensors& inputs, const std::function<Tensor()>& fn) {
  const Tensor result = fn();
  out(name, result);
  backward(name, result, inputs);
}

// Central differences read and write memory element by element: on the CPU alone.
void Case::check_gradients(const std::string& what, const std::function<Tensors()>& fn, const Tensors& inputs) {
  if (!input_device().is_cpu()) return;
  for (const auto& input : inputs) {
    if (input.scalar_type() != torch::kDouble || !input.is_contiguous()) {
      throw std::invalid_argument(what + " takes contiguous kDouble inputs");
    }
  }
  const Tensors outputs = differentiable(fn());
  Tensors weights, grads(inputs.size());
  for (const auto& output : outputs) weights.push_back(weights_like(output));
  if (!outputs.empty()) grads = torch::autograd::grad(outputs, inputs, weights, true, false, true);

  for (size_t k = 0; k < inputs.size(); ++k) {
    const Tensor grad = grads[k].defined() ? grads[k].clone(torch::MemoryFormat::Contiguous) : Tensor();
    double* x = inputs[k].data_ptr<double>();
    for (int64_t i = 0; i < inputs[k].numel(); ++i) {
      const double saved = x[i], step = 1e-5 * std::max(1.0, std::fabs(saved));
      x[i] = saved + step;
      const double above = weighted_sum(differentiable(fn()));
      x[i] = saved - step;
      const double below = weighted_sum(differentiable(fn()));
      x[i] = saved;
      const double expected = (above - below) / (2 * step);
      const double got = grad.defined() ? grad.data_ptr<double>()[i] : 0.0;
      if (!(std::fabs(got - expected) <= 1e-6 + 1e-5 * std::fabs(expected))) {
        fail(what + ": " + describe(k, i, got, expected));
        return;
      }
    }
  }
}

void Case::gradcheck(const std::function<Tensor()>& fn, const Tensors& inputs) {
  if (!fn().requires_grad()) fail("gradcheck: the output does not require grad");
  check_gradients(
      "gradcheck", [&] { return Tensors{fn()}; }, inputs);
}

void Case::gradgradcheck(const std::function<Tensor()>& fn, const Tensors& inputs) {
  Tensor direction = weights_like(fn()).requires_grad_(true);
  Tensors all = inputs;
  all.push_back(direction);
  const auto first = [&] {
    auto grads = torch::autograd::grad({fn()}, inputs, {direction}, true, /*create_graph=*/true, true);
    return Tensors(grads.begin(), grads.end());
  };
  check_gradients("gradgradcheck", first, all);
}

}  // namespace parity
