#include "inputs.h"

#include <optional>
#include <vector>

namespace random_calls {
namespace {

using Shape = std::vector<int64_t>;

torch::ScalarType random_dtype(Random& r) {
  static const torch::ScalarType kinds[] = {torch::kFloat, torch::kFloat, torch::kDouble,      torch::kLong,
                                            torch::kBool,  torch::kHalf,  torch::kBFloat16,    torch::kByte,
                                            torch::kInt,   torch::kShort, torch::kComplexFloat};
  return kinds[r.between(0, 10)];
}

/// Up to four dimensions, some of one element and some of none.
Shape random_shape(Random& r) {
  Shape shape(r.between(0, 4));
  for (int64_t& size : shape) {
    const int64_t kind = r.between(0, 9);
    size = kind == 0 ? 0 : kind < 3 ? 1 : r.between(2, 5);
  }
  return shape;
}

/// The shape of a second operand: that of the first, one that it is broadcast with, or any.
Shape second_shape(Random& r, const Shape& first) {
  Shape shape = first;
  switch (r.between(0, 5)) {
    case 0:
      return random_shape(r);
    case 1:
      if (!shape.empty()) shape[r.between(0, shape.size() - 1)] = 1;
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
std::vector<double> random_numbers(Random& r, int64_t n) {
  std::vector<double> numbers(n);
  for (double& x : numbers) {
    const int64_t kind = r.between(0, 40);
    x = kind < 3 ? static_cast<double>(kind) - 1 : static_cast<double>(r.between(-2000, 2000)) / 500;
  }
  return numbers;
}

Tensor random_tensor(Random& r, const Shape& shape, torch::ScalarType dtype) {
  int64_t n = 1;
  for (const int64_t size : shape) n *= size;
  const auto drawn = [&] { return torch::tensor(random_numbers(r, n), torch::kDouble).reshape(shape); };
  const Tensor real = drawn();
  if (dtype == torch::kBool) return real.gt(0);
  if (dtype == torch::kByte) return real.abs().to(dtype);
  if (dtype == torch::kComplexFloat) return torch::complex(real, drawn()).to(dtype);
  return real.to(dtype);
}

/// The same sizes in another order of memory, with gaps, or with a first dimension that repeats itself.
Tensor laid_out(Random& r, const Tensor& t) {
  switch (r.between(0, 5)) {
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
      return t.dim() >= 1 && t.size(0) > 0 ? t.select(0, 0).unsqueeze(0).expand(t.sizes()) : t;
    default:
      return t;
  }
}

Parameters random_parameters(Random& r, int64_t dims) {
  Parameters p;
  p.any = r.between(-3, 3);
  p.count = r.between(0, 3);
  p.norm = static_cast<double>(r.between(0, 3));
  p.keepdim = r.one_of(2);
  p.flag = r.one_of(2);
  const int64_t first = dims > 0 && !r.one_of(4) ? -dims : -3, last = first == -3 ? 3 : dims - 1;
  p.dim = r.between(first, last);
  p.other_dim = r.between(first, last);
  return p;
}

}  // namespace

Arguments random_arguments(Random& r) {
  const auto dtype = random_dtype(r), other = r.one_of(3) ? random_dtype(r) : dtype;
  Shape shape = random_shape(r);
  if (shape.size() >= 2 && r.one_of(4)) shape.back() = shape[shape.size() - 2];  // matrices are often square
  const Shape second = second_shape(r, shape);
  Arguments a;
  a.x = laid_out(r, random_tensor(r, shape, dtype));
  a.y = laid_out(r, random_tensor(r, second, other));
  a.p = random_parameters(r, static_cast<int64_t>(shape.size()));
  for (Tensor* t : {&a.x, &a.y})
    if (t->is_floating_point() && r.one_of(2)) *t = t->detach().requires_grad_(true);
  return a;
}

}  // namespace random_calls
