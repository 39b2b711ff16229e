// Functions of one or two numbers, which code calls torch.NAME or math.NAME.
#include <algorithm>
#include <cmath>
#include <limits>

#include <halfbridge/error.h>

#include "script/builtins.h"

namespace hb::bridge::script {
namespace {

constexpr double kPi = 3.14159265358979323846;

template <double (*f)(double)>
bool of_one(Values& a, IValue& out) {
  return a.size() == 1 && is_real(a[0]) && (out = f(real(a[0])), true);
}
template <double (*f)(double, double)>
bool of_two(Values& a, IValue& out) {
  return a.size() == 2 && is_real(a[0]) && is_real(a[1]) && (out = f(real(a[0]), real(a[1])), true);
}
template <double (*f)(double)>
bool to_whole(Values& a, IValue& out) {
  return a.size() == 1 && is_real(a[0]) && (out = to_int(IValue(f(real(a[0])))), true);
}
template <bool (*f)(double)>
bool is(Values& a, IValue& out) {
  return a.size() == 1 && is_real(a[0]) && (out = f(real(a[0])), true);
}

double degrees(double x) { return x * 180 / kPi; }
double radians(double x) { return x * kPi / 180; }
double log_of(double x) {
  HB_CHECK(x > 0 || std::isnan(x), "[TorchScript] ValueError: math domain error");
  return std::log(x);
}
double round_even(double x) { return std::nearbyint(x); }
double remainder_of(double x, double y) { return std::remainder(x, y); }
bool is_nan(double x) { return std::isnan(x); }
bool is_inf(double x) { return std::isinf(x); }
bool is_finite(double x) { return std::isfinite(x); }

// round(x, digits) of a float.
bool round(Values& a, IValue& out) {
  if (a.empty() || a.size() > 2 || !is_real(a[0])) return false;
  if (a.size() == 1) return out = is_whole(a[0]) ? IValue(whole(a[0])) : IValue(round_even(real(a[0]))), true;
  const double scale = std::pow(10.0, static_cast<double>(to_int(a[1])));
  return out = round_even(real(a[0]) * scale) / scale, true;
}
bool log(Values& a, IValue& out) {
  if (a.size() == 2) return is_real(a[0]) && is_real(a[1]) && (out = log_of(real(a[0])) / log_of(real(a[1])), true);
  return of_one<log_of>(a, out);
}
bool gcd(Values& a, IValue& out) {
  if (a.size() != 2 || !is_whole(a[0]) || !is_whole(a[1])) return false;
  const auto size = [](int64_t v) { return v < 0 ? 0 - static_cast<uint64_t>(v) : static_cast<uint64_t>(v); };
  uint64_t x = size(whole(a[0])), y = size(whole(a[1]));
  while (y != 0) {
    const uint64_t rest = x % y;
    x = y;
    y = rest;
  }
  return out = static_cast<int64_t>(x), true;
}
bool factorial(Values& a, IValue& out) {
  if (a.size() != 1 || !is_whole(a[0])) return false;
  const int64_t n = whole(a[0]);
  HB_CHECK(n >= 0 && n <= 20, "[TorchScript] expected the factorial of 0 to 20, got ", n);
  int64_t product = 1;
  for (int64_t i = 2; i <= n; ++i) product *= i;
  return out = product, true;
}
bool frexp(Values& a, IValue& out) {
  if (a.size() != 1 || !is_real(a[0])) return false;
  int exponent = 0;
  const double part = std::frexp(real(a[0]), &exponent);
  return out = IValue(ivalue::TupleData::create(std::vector<IValue>{part, int64_t{exponent}})), true;
}
bool modf(Values& a, IValue& out) {
  if (a.size() != 1 || !is_real(a[0])) return false;
  double whole_part = 0;
  const double rest = std::modf(real(a[0]), &whole_part);
  return out = IValue(ivalue::TupleData::create(std::vector<IValue>{rest, whole_part})), true;
}
bool ldexp(Values& a, IValue& out) {
  if (a.size() != 2 || !is_real(a[0]) || !is_whole(a[1])) return false;
  const int64_t exponent = std::clamp<int64_t>(whole(a[1]), -5000, 5000);  // beyond any double's
  return out = std::ldexp(real(a[0]), static_cast<int>(exponent)), true;
}
bool angle(Values& a, IValue& out) {
  if (a.size() != 1) return false;
  if (a[0].isComplexDouble())
    return out = std::atan2(a[0].toComplexDouble().imag(), a[0].toComplexDouble().real()), true;
  return is_real(a[0]) && (out = std::isnan(real(a[0])) ? real(a[0]) : real(a[0]) < 0 ? kPi : 0.0, true);
}
bool polar(Values& a, IValue& out) {
  if (a.size() != 2 || !is_real(a[0]) || !is_real(a[1])) return false;
  const double size = real(a[0]), at = real(a[1]);
  return out = Complex<double>(size * std::cos(at), size * std::sin(at)), true;
}
bool int_of_float(Values& a, IValue& out) { return a.size() == 1 && is_real(a[0]) && (out = to_int(a[0]), true); }

constexpr Builtin kRows[] = {
    {"aten::sqrt", of_one<std::sqrt>},
    {"aten::exp", of_one<std::exp>},
    {"aten::expm1", of_one<std::expm1>},
    {"aten::log", log},
    {"aten::log2", of_one<std::log2>},
    {"aten::log10", of_one<std::log10>},
    {"aten::log1p", of_one<std::log1p>},
    {"aten::sin", of_one<std::sin>},
    {"aten::cos", of_one<std::cos>},
    {"aten::tan", of_one<std::tan>},
    {"aten::asin", of_one<std::asin>},
    {"aten::acos", of_one<std::acos>},
    {"aten::atan", of_one<std::atan>},
    {"aten::sinh", of_one<std::sinh>},
    {"aten::cosh", of_one<std::cosh>},
    {"aten::tanh", of_one<std::tanh>},
    {"aten::asinh", of_one<std::asinh>},
    {"aten::acosh", of_one<std::acosh>},
    {"aten::atanh", of_one<std::atanh>},
    {"aten::erf", of_one<std::erf>},
    {"aten::erfc", of_one<std::erfc>},
    {"aten::gamma", of_one<std::tgamma>},
    {"aten::lgamma", of_one<std::lgamma>},
    {"aten::fabs", of_one<std::fabs>},
    {"aten::degrees", of_one<degrees>},
    {"aten::radians", of_one<radians>},
    {"aten::floor", to_whole<std::floor>},
    {"aten::ceil", to_whole<std::ceil>},
    {"aten::trunc", int_of_float},
    {"aten::round", round},
    {"aten::isnan", is<is_nan>},
    {"aten::isinf", is<is_inf>},
    {"aten::isfinite", is<is_finite>},
    {"aten::atan2", of_two<std::atan2>},
    {"aten::fmod", of_two<std::fmod>},
    {"aten::copysign", of_two<std::copysign>},
    {"aten::mathremainder", of_two<remainder_of>},
    {"aten::gcd", gcd},
    {"aten::factorial", factorial},
    {"aten::frexp", frexp},
    {"aten::modf", modf},
    {"aten::ldexp", ldexp},
    {"aten::angle", angle},
    {"aten::polar", polar},
};

}  // namespace

std::span<const Builtin> math_builtins() { return kRows; }

}  // namespace hb::bridge::script
