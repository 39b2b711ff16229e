#include "inputs.h"

#include <cmath>
#include <functional>
#include <limits>
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
  autocast = one_of(10);
  if (autocast) note("autocast BFloat16");
  wild = one_of(8);
  if (wild) note("wild");
  large = one_of(6);
  if (large) note("large");
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

int64_t Inputs::size(int64_t low, int64_t high) {
  static const int64_t factors[] = {1, 2, 4, 8, 16};
  return between(low, large ? high * factors[drawn(0, 4)] : high);
}
Shape Inputs::sizes(int64_t n, int64_t low, int64_t high) {
  Shape all(n);
  for (int64_t& size : all) size = this->size(low, high);
  return all;
}

torch::ScalarType Inputs::any_dtype() {
  static const torch::ScalarType kinds[] = {torch::kFloat,        torch::kFloat, torch::kDouble,   torch::kLong,
                                            torch::kBool,         torch::kHalf,  torch::kBFloat16, torch::kByte,
                                            torch::kInt,          torch::kShort, torch::kChar,     torch::kComplexFloat,
                                            torch::kComplexDouble};
  return kinds[drawn(0, 12)];
}

/// About as many elements as a block, a thread's part or a cache holds, around the numbers where loops begin anew.
Shape Inputs::large_shape() {
  static const int64_t lengths[] = {1,    2,    3,    4,    7,    8,    9,    16,   17,   31,    32,    33,   63,
                                    64,   65,   100,  127,  128,  129,  250,  256,  257,  300,   511,   512,  513,
                                    1000, 1024, 1025, 2047, 2048, 2049, 4096, 5000, 8192, 16385, 32768, 40000};
  static const int64_t most[] = {3000, 20000, 70000};
  const int64_t limit = most[drawn(0, 2)], last = std::size(lengths) - 1;
  Shape shape(drawn(1, 4), 1);
  for (int tries = 0; tries < 12; ++tries) {
    int64_t& size = shape[drawn(0, shape.size() - 1)];
    const int64_t wanted = lengths[drawn(0, last)];
    if (elements(shape) / size * wanted <= limit) size = wanted;
  }
  return shape;
}

/// Up to four dimensions, some of one element and some of none; now and then one of several vectors' length.
Shape Inputs::any_shape() {
  if (large) return large_shape();
  Shape shape(drawn(0, 4));
  for (int64_t& size : shape) {
    const int64_t kind = drawn(0, 9);
    size = kind == 0 ? 0 : kind < 3 ? 1 : drawn(2, 5);
  }
  if (!shape.empty() && one_of(6)) shape[drawn(0, shape.size() - 1)] = drawn(7, 70);
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

double Inputs::wild_value() {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  static const double kinds[] = {std::nan(""), kInfinity, -kInfinity, -0.0, 1e30, -1e30,
                                 1e-30,        88.8,      -104,       1e5,  0.5,  -2.5};
  return kinds[drawn(0, 11)];
}

/// Multiples of 1/500 from -4 to 4, and now and then 0, 1 or -1.
std::vector<double> Inputs::values(int64_t n) {
  std::vector<double> all(n);
  for (double& x : all) {
    const int64_t kind = drawn(0, 40);
    x = kind < 3           ? static_cast<double>(kind) - 1
        : wild && kind < 9 ? wild_value()
        : large            ? static_cast<double>(drawn(-2'000'000'000, 2'000'000'000)) / 5e8
                           : static_cast<double>(drawn(-2000, 2000)) / 500;
  }
  return all;
}

/// From -4 to 4, and where they may be wild the ends of the dtype's range.
Tensor Inputs::integers_of(const Shape& shape, torch::ScalarType dtype) {
  static const int64_t bits[] = {7, 8, 15, 31, 63};
  std::vector<int64_t> all(elements(shape));
  for (int64_t& x : all) {
    x = drawn(-4, 4);
    if (!wild || !one_of(5)) continue;
    const int64_t last = std::numeric_limits<int64_t>::max() >> (63 - bits[drawn(0, 4)]);
    x = one_of(2) ? last : -last - 1;
  }
  return torch::tensor(all, torch::kLong).reshape(shape).to(dtype);
}

Tensor Inputs::filled(const Shape& shape, torch::ScalarType dtype) {
  if (torch::isIntegralType(dtype, false)) return integers_of(shape, dtype);
  const int64_t n = elements(shape);
  const auto draw = [&] { return torch::tensor(values(n), torch::kDouble).reshape(shape); };
  const Tensor real = draw();
  if (dtype == torch::kBool) return real.gt(0);
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
  if (shape.size() >= 2 && one_of(4) && shape[shape.size() - 2] <= 70)
    shape.back() = shape[shape.size() - 2];  // square
  Arguments a;
  a.x = laid_out(filled(shape, first));
  a.y = laid_out(filled(second_shape(shape), second));
  for (Tensor* t : {&a.x, &a.y}) {
    if (t == &a.y && operands < 2) break;
    if (one_of(2)) *t = leaf(*t);
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
