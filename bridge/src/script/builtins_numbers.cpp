// Arithmetic of numbers.
#include <cmath>

#include <halfbridge/error.h>

#include "script/builtins.h"

namespace hb::bridge::script {
namespace {

// Sums of integers wrap around instead of being undefined.
int64_t wrapped(uint64_t value) { return static_cast<int64_t>(value); }
uint64_t bits(int64_t value) { return static_cast<uint64_t>(value); }
bool complex_pair(const Values& a) {
  return a.size() == 2 && a[0].isScalar() && a[1].isScalar() && (a[0].isComplexDouble() || a[1].isComplexDouble());
}
Complex<double> complex_of(const IValue& v) {
  return v.isComplexDouble() ? v.toComplexDouble() : Complex<double>(real(v));
}

template <class Whole, class Real>
bool arithmetic(Values& a, IValue& out, Whole of_ints, Real of_reals) {
  if (a.size() != 2) return false;
  if (is_whole(a[0]) && is_whole(a[1])) {
    out = of_ints(whole(a[0]), whole(a[1]));
  } else if (is_real(a[0]) && is_real(a[1])) {
    out = of_reals(real(a[0]), real(a[1]));
  } else {
    return false;
  }
  return true;
}

bool add(Values& a, IValue& out) {
  if (arithmetic(
          a, out, [](int64_t x, int64_t y) { return wrapped(bits(x) + bits(y)); },
          [](double x, double y) { return x + y; }))
    return true;
  if (complex_pair(a)) return out = complex_of(a[0]) + complex_of(a[1]), true;
  if (a.size() != 2) return false;
  if (a[0].isString() && a[1].isString()) return out = a[0].toStringRef() + a[1].toStringRef(), true;
  const bool lists = a[0].isList() && a[1].isList(), tuples = a[0].isTuple() && a[1].isTuple();
  if (!lists && !tuples) return false;
  std::vector<IValue> items = items_of(a[0]);
  for (IValue& item : items_of(a[1])) items.push_back(std::move(item));
  const bool empty = items.empty();
  out = lists ? list_of_items(std::move(items)) : IValue(ivalue::TupleData::create(std::move(items)));
  if (lists && empty) out.toList().data()->element_type = a[0].toList().data()->element_type;
  return true;
}
bool sub(Values& a, IValue& out) {
  if (complex_pair(a)) return out = complex_of(a[0]) - complex_of(a[1]), true;
  return arithmetic(
      a, out, [](int64_t x, int64_t y) { return wrapped(bits(x) - bits(y)); },
      [](double x, double y) { return x - y; });
}

bool repeated(const IValue& what, int64_t times, IValue& out) {
  const size_t n = times < 0 ? 0 : static_cast<size_t>(times);
  const size_t size = what.isString() ? what.toStringRef().size() : what.toListRef().size();
  HB_CHECK(size == 0 || n <= kMostItems / size, "[TorchScript] expected a shorter list or text, got one of ", size,
           " items repeated ", n, " times");
  if (what.isString()) {
    std::string text;
    for (size_t i = 0; i < n; ++i) text += what.toStringRef();
    return out = text, true;
  }
  std::vector<IValue> items;
  for (size_t i = 0; i < n; ++i) items.insert(items.end(), what.toListRef().begin(), what.toListRef().end());
  const TypePtr type = what.toList().data()->element_type;
  out = list_of_items(std::move(items));
  out.toList().data()->element_type = type;
  return true;
}
bool mul(Values& a, IValue& out) {
  if (arithmetic(
          a, out, [](int64_t x, int64_t y) { return wrapped(bits(x) * bits(y)); },
          [](double x, double y) { return x * y; }))
    return true;
  if (complex_pair(a)) return out = complex_of(a[0]) * complex_of(a[1]), true;
  if (a.size() != 2) return false;
  if ((a[0].isList() || a[0].isString()) && is_whole(a[1])) return repeated(a[0], whole(a[1]), out);
  if ((a[1].isList() || a[1].isString()) && is_whole(a[0])) return repeated(a[1], whole(a[0]), out);
  return false;
}

/// Of integers: quotients of floats are infinite, as LibTorch's are.
void check_divisor(bool zero) { HB_CHECK(!zero, "[TorchScript] ZeroDivisionError: division by zero"); }
bool div(Values& a, IValue& out) {
  if (complex_pair(a)) return out = complex_of(a[0]) / complex_of(a[1]), true;
  const auto divide = [](auto x, auto y) { return static_cast<double>(x) / static_cast<double>(y); };
  return arithmetic(a, out, divide, divide);
}
int64_t floor_divided(int64_t x, int64_t y) {
  check_divisor(y == 0);
  if (y == -1) return wrapped(0 - bits(x));
  const int64_t quotient = x / y;
  return x % y != 0 && (x < 0) != (y < 0) ? quotient - 1 : quotient;
}
int64_t remainder_of(int64_t x, int64_t y) {
  check_divisor(y == 0);
  if (y == -1) return 0;
  const int64_t rest = x % y;
  return rest != 0 && (rest < 0) != (y < 0) ? rest + y : rest;
}
double real_remainder(double x, double y) {
  const double rest = std::fmod(x, y);
  if (rest == 0) return std::copysign(rest, y);
  return (rest < 0) != (y < 0) ? rest + y : rest;
}
bool floordiv(Values& a, IValue& out) {
  return arithmetic(a, out, floor_divided, [](double x, double y) { return std::floor(x / y); });
}
bool remainder(Values& a, IValue& out) { return arithmetic(a, out, remainder_of, real_remainder); }
bool divmod(Values& a, IValue& out) {
  Values copy = a;
  IValue quotient, rest;
  if (!floordiv(a, quotient) || !remainder(copy, rest)) return false;
  out = IValue(ivalue::TupleData::create(std::vector<IValue>{quotient, rest}));
  return true;
}
bool pow(Values& a, IValue& out) {
  const auto power = [](auto x, auto y) {
    HB_CHECK(x != 0 || y >= 0, "[TorchScript] 0.0 cannot be raised to a negative power");
    return std::pow(static_cast<double>(x), static_cast<double>(y));
  };
  return arithmetic(a, out, power, power);
}
bool neg(Values& a, IValue& out) {
  if (a.size() != 1) return false;
  if (is_whole(a[0])) return out = wrapped(0 - bits(whole(a[0]))), true;
  if (a[0].isDouble()) return out = -a[0].toDouble(), true;
  if (a[0].isComplexDouble()) return out = Complex<double>(0.0) - a[0].toComplexDouble(), true;
  return false;
}
bool absolute(Values& a, IValue& out) {
  if (a.size() != 1) return false;
  if (is_whole(a[0])) return out = whole(a[0]) < 0 ? wrapped(0 - bits(whole(a[0]))) : whole(a[0]), true;
  if (a[0].isDouble()) return out = std::fabs(a[0].toDouble()), true;
  if (a[0].isComplexDouble())
    return out = std::hypot(a[0].toComplexDouble().real(), a[0].toComplexDouble().imag()), true;
  return false;
}

// --- comparisons

bool has_tensor(const Values& a) { return a.size() != 2 || a[0].isTensor() || a[1].isTensor(); }
bool eq(Values& a, IValue& out) { return has_tensor(a) ? false : (out = equal_values(a[0], a[1]), true); }
bool ne(Values& a, IValue& out) { return has_tensor(a) ? false : (out = !equal_values(a[0], a[1]), true); }
bool lt(Values& a, IValue& out) { return has_tensor(a) ? false : (out = less_value(a[0], a[1]), true); }
bool gt(Values& a, IValue& out) { return has_tensor(a) ? false : (out = less_value(a[1], a[0]), true); }
bool nan_among(const Values& a) {
  return (a[0].isDouble() && std::isnan(a[0].toDouble())) || (a[1].isDouble() && std::isnan(a[1].toDouble()));
}
bool le(Values& a, IValue& out) {
  return has_tensor(a) ? false : (out = !nan_among(a) && !less_value(a[1], a[0]), true);
}
bool ge(Values& a, IValue& out) {
  return has_tensor(a) ? false : (out = !nan_among(a) && !less_value(a[0], a[1]), true);
}
bool same(const IValue& a, const IValue& b) { return a.isNone() || b.isNone() ? a.isNone() && b.isNone() : a.is(b); }
bool is(Values& a, IValue& out) { return a.size() == 2 && (out = same(a[0], a[1]), true); }
bool is_not(Values& a, IValue& out) { return a.size() == 2 && (out = !same(a[0], a[1]), true); }
bool logical_not(Values& a, IValue& out) { return a.size() == 1 && (out = !truth(a[0]), true); }

template <class F>
bool of_bits(Values& a, IValue& out, F f) {
  if (a.size() != 2 || !is_whole(a[0]) || !is_whole(a[1])) return false;
  const int64_t result = f(whole(a[0]), whole(a[1]));
  out = a[0].isBool() && a[1].isBool() ? IValue(result != 0) : IValue(result);
  return true;
}
bool bit_and(Values& a, IValue& out) {
  return of_bits(a, out, [](int64_t x, int64_t y) { return x & y; });
}
bool bit_or(Values& a, IValue& out) {
  return of_bits(a, out, [](int64_t x, int64_t y) { return x | y; });
}
bool bit_xor(Values& a, IValue& out) {
  return of_bits(a, out, [](int64_t x, int64_t y) { return x ^ y; });
}
int64_t shift_width(int64_t y) {
  HB_CHECK(y >= 0 && y < 64, "[TorchScript] expected a shift by 0 to 63 bits, got ", y);
  return y;
}
bool shift_left(Values& a, IValue& out) {
  return of_bits(a, out, [](int64_t x, int64_t y) { return wrapped(bits(x) << shift_width(y)); });
}
bool shift_right(Values& a, IValue& out) {
  return of_bits(a, out, [](int64_t x, int64_t y) { return x >> shift_width(y); });
}
bool bit_not(Values& a, IValue& out) { return a.size() == 1 && is_whole(a[0]) && (out = ~whole(a[0]), true); }

// --- the least and the greatest

bool extreme(Values& a, IValue& out, bool least) {
  if (a.empty()) return false;
  const std::vector<IValue> items = a.size() == 1 && a[0].isList() ? a[0].toListRef() : a;
  HB_CHECK(!items.empty(), "[TorchScript] ValueError: ", least ? "min" : "max", "() arg is an empty sequence");
  size_t best = 0;
  bool reals = false;
  for (size_t i = 0; i < items.size(); ++i) {
    if (items[i].isTensor()) return false;
    reals = reals || items[i].isDouble();
    if (least ? less_value(items[i], items[best]) : less_value(items[best], items[i])) best = i;
  }
  out = reals && items[best].isInt() ? IValue(real(items[best])) : items[best];
  return true;
}
bool min(Values& a, IValue& out) { return extreme(a, out, true); }
bool max(Values& a, IValue& out) { return extreme(a, out, false); }

// --- conversions

bool as_int(Values& a, IValue& out) { return a.size() == 1 && (out = to_int(a[0]), true); }
bool as_float(Values& a, IValue& out) { return a.size() == 1 && (out = to_float(a[0]), true); }
bool as_bool(Values& a, IValue& out) { return a.size() == 1 && (out = truth(a[0]), true); }
bool as_scalar(Values& a, IValue& out) {
  if (a.size() != 1) return false;
  return out = a[0].isTensor() ? IValue(a[0].toTensor().item()) : a[0], true;
}
bool as_complex(Values& a, IValue& out) {
  if (a.empty() || a.size() > 2) return false;
  const auto part = [](const IValue& v) {
    if (v.isTensor()) return IValue(v.toTensor().item());
    return v;
  };
  const Complex<double> first = complex_of(part(a[0]));
  if (a.size() == 1) return out = first, true;
  const Complex<double> second = complex_of(part(a[1]));
  out = Complex<double>(first.real() - second.imag(), first.imag() + second.real());
  return true;
}

bool range_length(Values& a, IValue& out) {
  if (a.size() != 3) return false;
  const int64_t low = whole(a[0]), high = whole(a[1]), step = whole(a[2]);
  HB_CHECK(step != 0, "[TorchScript] ValueError: range() arg 3 must not be zero");
  int64_t count = 0;  // may exceed what a loop ever does
  if (step > 0 && low < high) count = wrapped(1 + (bits(high) - 1 - bits(low)) / bits(step));
  if (step < 0 && low > high) count = wrapped(1 + (bits(low) - 1 - bits(high)) / (0 - bits(step)));
  return out = count, true;
}
bool derive_index(Values& a, IValue& out) {
  if (a.size() != 3) return false;
  return out = wrapped(bits(whole(a[1])) + bits(whole(a[0])) * bits(whole(a[2]))), true;
}

constexpr Builtin kRows[] = {
    {"aten::add", add, false},
    {"aten::sub", sub, false},
    {"aten::mul", mul, false},
    {"aten::div", div, false},
    {"aten::floordiv", floordiv, false},
    {"aten::remainder", remainder, false},
    {"aten::divmod", divmod},
    {"prim::divmod", divmod},
    {"aten::pow", pow, false},
    {"aten::neg", neg, false},
    {"aten::abs", absolute, false},
    {"prim::abs", absolute},
    {"aten::eq", eq, false},
    {"aten::ne", ne, false},
    {"aten::lt", lt, false},
    {"aten::gt", gt, false},
    {"aten::le", le, false},
    {"aten::ge", ge, false},
    {"aten::__is__", is},
    {"aten::__isnot__", is_not},
    {"aten::__not__", logical_not},
    {"aten::__and__", bit_and, false},
    {"aten::__or__", bit_or, false},
    {"aten::__xor__", bit_xor, false},
    {"aten::__lshift__", shift_left},
    {"aten::__rshift__", shift_right},
    {"aten::bitwise_not", bit_not},
    {"prim::min", min},
    {"prim::max", max},
    {"aten::Int", as_int},
    {"prim::Int", as_int},
    {"aten::IntImplicit", as_int},
    {"aten::Float", as_float},
    {"prim::Float", as_float},
    {"aten::FloatImplicit", as_float},
    {"aten::Bool", as_bool},
    {"prim::Bool", as_bool},
    {"aten::Complex", as_complex},
    {"aten::ComplexImplicit", as_complex},
    {"aten::ScalarImplicit", as_scalar},
    {"aten::Scalar", as_scalar},
    {"aten::__range_length", range_length},
    {"aten::__derive_index", derive_index},
};

}  // namespace

std::span<const Builtin> number_builtins() { return kRows; }

}  // namespace hb::bridge::script
