#pragma once
// What the element-wise operations of this folder share: operands, promotion, allocation, launch.

#include <array>

#include <halfbridge/tensor.h>

#include "backend/elementwise.h"
#include "core/floating_default.h"
#include "ops/common/inplace.h"

namespace hb::ops {

using hb::FormulaKernel;

/// The number whose imaginary part has the other sign.
inline Scalar conj(const Scalar& s) { return s.isComplex() ? Scalar(conj(s.toComplexDouble())) : s; }

/// Which dtypes a function takes and gives; the tables in unary.def and binary.def say what each means.
enum class Domain { numeric, floating, fraction, integral, test, any, real };

/// One input: a tensor, or a number that is the same for every element.
struct Input {
  Input(const Tensor& t) : tensor(&t) {}  // NOLINT
  Input(const Scalar& s) : number(s) {}   // NOLINT
  const Tensor* tensor = nullptr;
  Scalar number;
};

/// Runs a formula on inputs that broadcast to the shape of `out`, on the device of `out`. Tensors are there too, but
/// for 0-d ones on the CPU, which count as numbers.
void launch(const FormulaKernel& formula, ScalarType compute, const Tensor& out, std::initializer_list<Input> inputs,
            ArrayRef<double> params = {});
/// The same into a new tensor of the broadcast shape.
Tensor launch_new(const char* name, const FormulaKernel& formula, ScalarType compute, ScalarType result,
                  std::initializer_list<Input> inputs, ArrayRef<double> params = {});

/// The dtype of an operation on a tensor and a number.
ScalarType scalar_result_type(ScalarType tensor, const Scalar& number);
/// The promoted dtype of all inputs.
ScalarType promoted(std::initializer_list<Input> inputs);
/// An operand that gives way to the others' dtype `t`: of integers, what does not fit wraps around before the function
/// sees it.
Tensor giving_way(ScalarType t, const Tensor& x);
Scalar giving_way(ScalarType t, const Scalar& x);
/// What a floating function of inputs that promote to `t` gives.
inline ScalarType floating_result(ScalarType t) { return is_differentiable_type(t) ? t : floating_default(); }

/// Before writing a result of dtype `result` and shape `sizes` into `self` in place.
void check_inplace_result(const char* name, const Tensor& self, ScalarType result, const DimVector& sizes);
/// Throws where `other` is a different piece of the memory of `self`, so that writing one would change the other.
void check_no_overlap(const char* name, const Tensor& self, const Tensor& other);
/// Runs a formula into `self`, which takes part in no graph: checks, result in self's dtype, version.
Tensor& launch_inplace(const char* name, const FormulaKernel& formula, ScalarType compute, ScalarType result,
                       Tensor& self, std::initializer_list<Input> inputs, ArrayRef<double> params = {});

/// Whether an operation on `a` and `b` whose result has dtype `result` can write straight into `out`: it has the shape
/// and dtype already, no history is involved, and neither input is another piece of its memory. Throws where the inputs
/// cannot be broadcast.
bool writes_into(const char* name, const Tensor& out, const Tensor& a, const Tensor& b, ScalarType result);

/// A formula of floating operands into a new tensor of their promoted dtype.
Tensor floating_op(const char* name, const FormulaKernel& formula, std::initializer_list<Input> inputs,
                   ArrayRef<double> params = {});

/// tensor ^ number, with the cheap exponents made cheap; has its gradient.
Tensor pow_number(const Tensor& base, const Scalar& exponent);

/// Division of integers has no result for zero.
void check_no_zero(const char* name, const Tensor& dividend, const Input& divisor);

/// Where a gradient would be and none is known.
[[noreturn]] Tensor no_gradient(const char* name, const char* of);

/// "mul" -> "MulBackward0", as LibTorch names nodes; the last digit is the overload's number.
template <size_t N>
struct NodeName {
  char text[N + 16] = {};
  constexpr NodeName(const char (&name)[N], char overload = '0') {  // NOLINT
    size_t n = 0;
    bool upper = true;
    for (size_t i = 0; i + 1 < N; ++i) {
      if (name[i] == '_') {
        upper = true;
        continue;
      }
      const char c = name[i];
      text[n++] = upper && c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
      upper = c >= '0' && c <= '9';
    }
    for (const char* tail = "Backward"; *tail; ++tail) text[n++] = *tail;
    text[n++] = overload;
  }
};

/// Gradients without a copy.
template <class... Ts>
std::vector<Tensor> gradients(Ts&&... tensors) {
  std::vector<Tensor> list;
  list.reserve(sizeof...(Ts));
  (list.push_back(std::forward<Ts>(tensors)), ...);
  return list;
}

}  // namespace hb::ops
