#include "inputs.h"

#include <functional>
#include <numeric>
#include <optional>
#include <sstream>

namespace random_calls {
namespace {
int64_t elements(const Shape& shape) {
  return std::accumulate(shape.begin(), shape.end(), int64_t{1}, std::multiplies<>());
}
}  // namespace

Inputs::Inputs(uint64_t seed) : engine_(seed) {
  const int64_t kind = drawn(0, 9);
  second_gradients = one_of(3);
  if (second_gradients) note("second");
  dtype = kind < 6 ? torch::kFloat : kind < 8 ? torch::kDouble : kind == 8 ? torch::kBFloat16 : torch::kHalf;
}

void Inputs::full_precision() {
  if (dtype != torch::kDouble) dtype = torch::kFloat;
}

int64_t Inputs::between(int64_t low, int64_t high) {
  const int64_t number = drawn(low, high);
  description_ += ' ' + std::to_string(number);
  return number;
}

Shape Inputs::numbers(int64_t n, int64_t low, int64_t high) {
  Shape all(n);
  for (int64_t& number : all) number = between(low, high);
  return all;
}

torch::ScalarType Inputs::any_dtype() {
  static const torch::ScalarType kinds[] = {torch::kFloat, torch::kFloat, torch::kDouble,      torch::kLong,
                                            torch::kBool,  torch::kHalf,  torch::kBFloat16,    torch::kByte,
                                            torch::kInt,   torch::kShort, torch::kComplexFloat};
  return kinds[drawn(0, 10)];
}

/// Up to four dimensions, some of one element and some of none.
Shape Inputs::any_shape() {
  Shape shape(drawn(0, 4));
  for (int64_t& size : shape) {
    const int64_t kind = drawn(0, 9);
    size = kind == 0 ? 0 : kind < 3 ? 1 : drawn(2, 5);
  }
  return shape;
}

/// The shape of a second operand: that of the first, one that it is broadcast with, or any.
Shape Inputs::second_shape(const Shape& first) {
  Shape shape = first;
  switch (drawn(0, 5)) {
    case 0:
      return any_shape();
    case 1:
      if (!shape.empty()) shape[drawn(0, shape.size() - 1)] = 1;
      break;
    case 2:
      if (!shape.empty()) shape.erase(shape.begin());
      break;
    case 3:
      return {};
    default:
      break;
  }
  return shape;
}

/// Multiples of 1/500 from -4 to 4, and now and then 0, 1 or -1.
std::vector<double> Inputs::values(int64_t n) {
  std::vector<double> all(n);
  for (double& x : all) {
    const int64_t kind = drawn(0, 40);
    x = kind < 3 ? static_cast<double>(kind) - 1 : static_cast<double>(drawn(-2000, 2000)) / 500;
  }
  return all;
}

Tensor Inputs::filled(const Shape& shape, torch::ScalarType dtype) {
  const int64_t n = elements(shape);
  const auto draw = [&] { return torch::tensor(values(n), torch::kDouble).reshape(shape); };
  const Tensor real = draw();
  if (dtype == torch::kBool) return real.gt(0);
  if (dtype == torch::kByte) return real.abs().to(dtype);
  if (torch::isComplexType(dtype)) return torch::complex(real, draw()).to(dtype);
  return real.to(dtype);
}

/// The same sizes in another order of memory, with gaps, or with a first dimension that repeats itself.
Tensor Inputs::laid_out(const Tensor& t) {
  switch (drawn(0, 5)) {
    case 0:
      return t.dim() >= 2 ? t.transpose(0, -1).contiguous().transpose(0, -1) : t;
    case 1: {
      auto sizes = t.sizes().vec();
      if (sizes.empty()) return torch::stack({t, t}).select(0, 1);
      sizes.back() *= 2;
      const Tensor part = torch::zeros(sizes, t.options()).slice(-1, 0, std::nullopt, 2);
      return part.copy_(t);
    }
    case 2:
      return t.dim() == 4 ? t.contiguous(torch::MemoryFormat::ChannelsLast) : t;
    case 3:
      return t.dim() >= 1 && t.size(0) > 0 && repeats ? t.select(0, 0).unsqueeze(0).expand(t.sizes()) : t;
    default:
      return t;
  }
}

Parameters Inputs::parameters(int64_t dims) {
  Parameters p;
  p.any = drawn(-3, 3);
  p.count = drawn(0, 3);
  p.norm = static_cast<double>(drawn(0, 3));
  p.keepdim = one_of(2);
  p.flag = one_of(2);
  const int64_t first = dims > 0 && !one_of(4) ? -dims : -3, last = first == -3 ? 3 : dims - 1;
  p.dim = drawn(first, last);
  p.other_dim = drawn(first, last);
  std::ostringstream text;
  text << " dim " << p.dim << ' ' << p.other_dim << " any " << p.any << " count " << p.count << " norm " << p.norm
       << " flags " << p.keepdim << p.flag;
  description_ += text.str();
  return p;
}

void Inputs::describe(const Tensor& t) {
  std::ostringstream text;
  text << ' ' << t.scalar_type() << t.sizes();
  if (t.numel() > 0) text << t.strides();
  text << (t.requires_grad() ? "g" : "");
  description_ += text.str();
}

Tensor Inputs::leaf(const Tensor& t) {
  Tensor wanted = t.detach();
  if (t.is_floating_point() || t.is_complex()) leaves_.push_back(wanted.requires_grad_(true));
  return wanted;
}

Arguments Inputs::any(int operands) {
  const auto first = any_dtype(), second = one_of(3) ? any_dtype() : first;
  Shape shape = any_shape();
  if (shape.size() >= 2 && one_of(4)) shape.back() = shape[shape.size() - 2];  // matrices are often square
  Arguments a;
  a.x = laid_out(filled(shape, first));
  a.y = laid_out(filled(second_shape(shape), second));
  for (Tensor* t : {&a.x, &a.y}) {
    if (t == &a.y && operands < 2) break;
    if (t->is_floating_point() && one_of(2)) *t = leaf(*t);
    describe(*t);
  }
  a.p = parameters(static_cast<int64_t>(shape.size()));
  return a;
}

Tensor Inputs::tensor(const Shape& shape) {
  Tensor t = laid_out(filled(shape, dtype));
  if (one_of(2)) t = leaf(t);
  describe(t);
  return t;
}

Tensor Inputs::fractions(const Shape& shape) {
  Tensor t = (laid_out(filled(shape, torch::kDouble)).abs() / 4.2 + 0.02).to(dtype);
  if (one_of(2)) t = leaf(t);
  describe(t);
  return t;
}

Tensor Inputs::integers(const Shape& shape, int64_t low, int64_t high) {
  std::vector<int64_t> all(elements(shape));
  for (int64_t& number : all) number = drawn(low, high);
  return torch::tensor(all, torch::kLong).reshape(shape);
}

Tensor Inputs::mask(const Shape& shape) { return integers(shape, 0, 2).to(torch::kBool); }

}  // namespace random_calls
