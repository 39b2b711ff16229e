// Arithmetic of a number and a tensor, for which operators have no overload. The steps are those of LibTorch's own
// functions of these names, so that results are rounded and wrap around as there.
#include <halfbridge/ops.h>

#include "script/builtins.h"

namespace hb::bridge::script {
namespace {

bool is_number(const IValue& value) { return value.isInt() || value.isDouble() || value.isComplexDouble(); }

Tensor plus(const Tensor& x, const Scalar& n) { return hb::add(x, n); }
Tensor from(const Tensor& x, const Scalar& n) { return hb::add(hb::neg(x), n); }
Tensor over(const Tensor& x, const Scalar& n) { return hb::mul(hb::reciprocal(x), n); }

// f(tensor, number), for a number on the left of a tensor.
template <Tensor (*f)(const Tensor&, const Scalar&)>
bool number_first(Values& a, IValue& out) {
  if (a.size() != 2 || !is_number(a[0]) || !a[1].isTensor()) return false;
  return out = f(a[1].toTensor(), a[0].toScalar()), true;
}

// The sign // of tensors.
bool floordiv(Values& a, IValue& out) {
  if (a.size() != 2 || !a[0].isTensor()) return false;
  if (a[1].isTensor()) return out = hb::floor_divide(a[0].toTensor(), a[1].toTensor()), true;
  if (!is_number(a[1])) return false;
  return out = hb::floor_divide(a[0].toTensor(), a[1].toScalar()), true;
}

constexpr Builtin kRows[] = {
    {"aten::add", number_first<plus>, false},
    {"aten::sub", number_first<from>, false},
    {"aten::mul", number_first<hb::mul>, false},
    {"aten::div", number_first<over>, false},
    {"aten::eq", number_first<hb::eq>, false},
    {"aten::ne", number_first<hb::ne>, false},
    {"aten::lt", number_first<hb::gt>, false},
    {"aten::gt", number_first<hb::lt>, false},
    {"aten::le", number_first<hb::ge>, false},
    {"aten::ge", number_first<hb::le>, false},
    {"aten::floordiv", floordiv},
};

}  // namespace

std::span<const Builtin> mixed_builtins() { return kRows; }

}  // namespace hb::bridge::script
