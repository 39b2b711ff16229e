// Arithmetic of a number and a tensor, for which operators have no overload. The steps are those of LibTorch's own
// functions of these names, so that results are rounded and wrap around as there.
#include <halfbridge/ops.h>

#include "script/builtins.h"

namespace hb::bridge::script {
namespace {

bool is_number(const IValue& value) { return value.isInt() || value.isDouble() || value.isComplexDouble(); }

// Calls f(tensor, number) for a number on the left of a tensor.
template <class F>
bool number_first(Values& a, IValue& out, F f) {
  if (a.size() != 2 || !is_number(a[0]) || !a[1].isTensor()) return false;
  return out = f(a[1].toTensor(), a[0].toScalar()), true;
}

bool add(Values& a, IValue& out) {
  return number_first(a, out, [](const Tensor& x, const Scalar& n) { return hb::add(x, n); });
}
bool sub(Values& a, IValue& out) {
  return number_first(a, out, [](const Tensor& x, const Scalar& n) { return hb::add(hb::neg(x), n); });
}
bool mul(Values& a, IValue& out) {
  return number_first(a, out, [](const Tensor& x, const Scalar& n) { return hb::mul(x, n); });
}
bool div(Values& a, IValue& out) {
  return number_first(a, out, [](const Tensor& x, const Scalar& n) { return hb::mul(hb::reciprocal(x), n); });
}
bool eq(Values& a, IValue& out) {
  return number_first(a, out, [](const Tensor& x, const Scalar& n) { return hb::eq(x, n); });
}
bool ne(Values& a, IValue& out) {
  return number_first(a, out, [](const Tensor& x, const Scalar& n) { return hb::ne(x, n); });
}
bool lt(Values& a, IValue& out) {
  return number_first(a, out, [](const Tensor& x, const Scalar& n) { return hb::gt(x, n); });
}
bool gt(Values& a, IValue& out) {
  return number_first(a, out, [](const Tensor& x, const Scalar& n) { return hb::lt(x, n); });
}
bool le(Values& a, IValue& out) {
  return number_first(a, out, [](const Tensor& x, const Scalar& n) { return hb::ge(x, n); });
}
bool ge(Values& a, IValue& out) {
  return number_first(a, out, [](const Tensor& x, const Scalar& n) { return hb::le(x, n); });
}

// The sign // of tensors.
bool floordiv(Values& a, IValue& out) {
  if (a.size() != 2 || !a[0].isTensor()) return false;
  if (a[1].isTensor()) return out = hb::floor_divide(a[0].toTensor(), a[1].toTensor()), true;
  if (!is_number(a[1])) return false;
  return out = hb::floor_divide(a[0].toTensor(), a[1].toScalar()), true;
}

constexpr Builtin kRows[] = {
    {"aten::add", add, false}, {"aten::sub", sub, false}, {"aten::mul", mul, false},    {"aten::div", div, false},
    {"aten::eq", eq, false},   {"aten::ne", ne, false},   {"aten::lt", lt, false},      {"aten::gt", gt, false},
    {"aten::le", le, false},   {"aten::ge", ge, false},   {"aten::floordiv", floordiv},
};

}  // namespace

std::span<const Builtin> mixed_builtins() { return kRows; }

}  // namespace hb::bridge::script
