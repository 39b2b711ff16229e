// The functions of binary.def: forms and gradients.
#include <halfbridge/ops.h>

#include "autocast/autocast.h"
#include "autograd/record.h"
#include "core/value_range.h"
#include "ops/common/inplace.h"
#include "ops/common/out_dtype.h"
#include "ops/common/refused_dtypes.h"
#include "ops/elementwise/elementwise_op.h"
#include "ops/sparse/sparse.h"

namespace hb {
namespace {

/// x / (a² + b²), and 0 where that is one by zero: the gradient has no direction there.
Tensor over_squares(const Tensor& x, const Tensor& a, const Tensor& b) {
  if (GradMode::is_enabled()) {
    const Tensor squares = a * a + b * b;
    return x * masked_fill(reciprocal(squares), squares == 0, 0);
  }
  Tensor squares = addcmul(a * a, b, b);
  const Tensor zero = squares == 0;
  return x * squares.reciprocal_().masked_fill_(zero, 0);
}

using ops::Domain;
using ops::Input;
enum class Saves { none, other, ab, ab_y };

struct Plan {
  ScalarType compute, result;
};

Plan plan_of(const char* name, Domain domain, ScalarType t) {
  switch (domain) {
    case Domain::floating:
      t = ops::floating_result(t);
      return {compute_type(t), t};
    case Domain::fraction:
      ops::refuse_integers(name, t);
      return {compute_type(t), t};
    case Domain::integral:
      HB_CHECK_SUPPORTED(is_integral_type(t, true), "[", name, "] not implemented for '", toString(t),
                         "': expected integers or bool");
      return {kLong, t};
    case Domain::test:
      return {compute_type(t), kBool};
    default:
      return {compute_type(t), t};
  }
}

/// What integers alone must fulfil.
void check_integers(const char* name, const FormulaKernel& formula, ScalarType t, const Tensor& a, const Input& b) {
  if (&formula == &floor_divide_formula || &formula == &fmod_formula || &formula == &remainder_formula) {
    HB_CHECK(t != kBool, "[", name, "] is not supported for dtype Bool");
    ops::check_no_zero(name, a, b);
  } else if (&formula == &pow_formula) {
    HB_CHECK(t != kBool, "[pow] is not supported for dtype Bool");
    HB_CHECK(b.tensor || b.number.toLong() >= 0, "[pow] Integers to negative integer powers are not allowed.");
  } else if (&formula == &bitwise_left_shift_formula || &formula == &bitwise_right_shift_formula ||
             &formula == &gcd_formula || &formula == &lcm_formula) {
    HB_CHECK(t != kBool, "[", name, "] is not supported for dtype Bool");
  }
}

/// Halves are computed in float, but compared in their own dtype, also with numbers and tensors without dimensions.
/// `held` keeps what is made for it.
Input comparable(Domain domain, ScalarType t, const Input& in, Tensor& held) {
  if (HB_LIKELY(domain != Domain::test || !is_half_type(t))) return in;
  if (in.tensor) return in.tensor->scalar_type() == t || in.tensor->dim() > 0 ? in : Input(held = in.tensor->to(t));
  const float value = static_cast<float>(in.number.toDouble());
  return Scalar(t == kHalf ? static_cast<float>(Half(value)) : static_cast<float>(BFloat16(value)));
}

/// Integers are computed in int64, but in LibTorch an operand first becomes one of dtype t, in which what does not fit
/// wraps around: numbers, and tensors without dimensions beside others.
Input in_dtype(ScalarType t, const Input& in, Tensor& held) {
  if (!is_integral_type(t, false) || element_size(t) == 8) return in;
  if (!in.tensor) return in.number.isBoolean() ? in : Input(Scalar(wrapped(t, in.number)));
  const ScalarType own = in.tensor->scalar_type();
  if (own == t || own == kBool || in.tensor->dim() > 0) return in;
  return held = in.tensor->to(t);
}

Tensor forward(const char* name, const FormulaKernel& formula, Domain domain, const Tensor& a, const Input& b) {
  const ScalarType t = ops::promoted({a, b});
  const Plan p = plan_of(name, domain, t);
  Tensor held_a, held_b;
  if (HB_LIKELY(p.compute != kLong))
    return ops::launch_new(name, formula, p.compute, p.result,
                           {comparable(domain, t, a, held_a), comparable(domain, t, b, held_b)});
  const Input x = in_dtype(t, a, held_a), y = in_dtype(t, b, held_b);
  check_integers(name, formula, t, a, y);
  return ops::launch_new(name, formula, p.compute, p.result, {x, y});
}

Tensor& forward_inplace(const char* name, const FormulaKernel& formula, Domain domain, Tensor& a, const Input& b) {
  const ScalarType t = ops::promoted({a, b});
  if (domain == Domain::integral) check_cast(name, t, a.impl().dtype());  // before plan_of() refuses t: another error
  const Plan p = plan_of(name, domain, t);
  const ScalarType result = domain == Domain::test ? a.impl().dtype() : p.result;
  Tensor held;
  if (HB_LIKELY(p.compute != kLong))
    return ops::launch_inplace(name, formula, p.compute, result, a, {a, comparable(domain, t, b, held)});
  const Input y = in_dtype(t, b, held);
  check_integers(name, formula, t, a, y);
  return ops::launch_inplace(name, formula, p.compute, result, a, {a, y});
}

Tensor* forward_out(const char* name, const FormulaKernel& formula, Domain domain, Tensor& out, const Tensor& a,
                    const Tensor& b) {
  const ScalarType t = ops::promoted({a, b});
  const Plan p = plan_of(name, domain, t);
  if (!ops::writes_into(name, out, a, b, p.result)) return nullptr;
  Tensor held_a, held_b;
  Input x = comparable(domain, t, a, held_a), y = comparable(domain, t, b, held_b);
  if (HB_UNLIKELY(p.compute == kLong)) {
    x = in_dtype(t, a, held_a), y = in_dtype(t, b, held_b);
    check_integers(name, formula, t, a, y);
  }
  ops::launch(formula, p.compute, out, {x, y});
  out.impl().bump_version();
  return &out;
}

template <class Row>
variable_list both(Backward& c, const Tensor& a, const Tensor& b, const Tensor& y) {
  return ops::gradients(c.needs(0) ? Row::grad_a(c.grad(), a, b, y) : Tensor(),
                        c.needs(1) ? Row::grad_b(c.grad(), a, b, y) : Tensor());
}

// The rows of binary.def, a type each.
#define HB_BINARY(name, ...) struct name##_row;
#include "ops/elementwise/binary.def"

template <class Row, class... Named>
constexpr bool is_one_of = (std::is_same_v<Row, Named> || ...);

// The overloads' numbers in LibTorch's list of functions.
template <class Row>
constexpr char overload_of_tensors = is_one_of<Row, pow_row, fmod_row, remainder_row> ? '1' : '0';
template <class Row>
constexpr char overload_of_number = is_one_of<Row, mul_row, div_row> ? '1'
                                    : is_one_of<Row, xlogy_row>      ? '2'
                                                                     : '0';

template <class Row>
void attach_gradient(Tensor& out, const Tensor& a, const Tensor& b) {
  static constexpr ops::NodeName node(Row::label, overload_of_tensors<Row>);
  if constexpr (Row::saves == Saves::none) {
    record(node.text, out, {&a, &b}, [](Backward& c) { return both<Row>(c, {}, {}, {}); });
  } else if constexpr (Row::saves == Saves::other) {
    record(node.text, out, {&a, &b},
           {b.requires_grad() ? SavedTensor::input(a) : SavedTensor(),
            a.requires_grad() ? SavedTensor::input(b) : SavedTensor()},
           [](Backward& c, auto& s) { return both<Row>(c, s[0], s[1], {}); });
  } else if constexpr (Row::saves == Saves::ab) {
    record(node.text, out, {&a, &b}, {SavedTensor::input(a), SavedTensor::input(b)},
           [](Backward& c, auto& s) { return both<Row>(c, s[0], s[1], {}); });
  } else {
    record(node.text, out, {&a, &b}, {SavedTensor::input(a), SavedTensor::input(b), SavedTensor::output(out)},
           [](Backward& c, auto& s) { return both<Row>(c, s[0], s[1], s[2]); });
  }
}

/// The second operand is a number, which has no gradient.
template <class Row>
void attach_scalar_gradient(Tensor& out, const Tensor& a, const Scalar& b) {
  static constexpr ops::NodeName node(Row::label, overload_of_number<Row>);
  if constexpr (is_one_of<Row, mul_row>) {
    record(node.text, out, {&a}, [b](Backward& c) -> variable_list { return ops::gradients(c.grad() * ops::conj(b)); });
  } else if constexpr (is_one_of<Row, div_row>) {
    record(node.text, out, {&a}, [b](Backward& c) -> variable_list { return ops::gradients(c.grad() / ops::conj(b)); });
  } else {
    record(node.text, out, {&a}, {SavedTensor::input(a), SavedTensor::output(out)},
           [b](Backward& c, auto& s) -> variable_list {
             return ops::gradients(Row::grad_a(c.grad(), s[0], wrapped_scalar(b, s[0].device()), s[1]));
           });
  }
}

template <class Row>
Tensor binary(const Tensor& a, const Tensor& b) {
  if (HB_UNLIKELY(sparse::either(a, b))) {
    if (is_one_of<Row, mul_row>) return sparse::mul(a, b);
    if (is_one_of<Row, div_row>) return sparse::div(a, b);
  }
  Tensor out = forward(Row::label, Row::formula(), Row::domain, a, b);
  if (Row::domain != Domain::test && HB_UNLIKELY(needs_grad(a, b))) attach_gradient<Row>(out, a, b);
  return out;
}

template <class Row>
Tensor binary(const Tensor& a, const Scalar& b) {
  if (HB_UNLIKELY(a.layout() != kStrided)) {
    if (is_one_of<Row, mul_row, div_row>) return sparse::scaled(a, b, is_one_of<Row, div_row>);
    if (is_one_of<Row, pow_row>) return sparse::pow(a, b);
    if (is_one_of<Row, floor_divide_row>)
      return sparse::map(Row::label, a, [&](const Tensor& values) { return binary<Row>(values, b); });
  }
  if constexpr (is_one_of<Row, pow_row>) return ops::pow_number(a, b);
  Tensor out = forward(Row::label, Row::formula(), Row::domain, a, b);
  if (Row::domain != Domain::test && HB_UNLIKELY(needs_grad(a))) attach_scalar_gradient<Row>(out, a, b);
  return out;
}

template <class Row>
Tensor& binary_inplace(Tensor& a, const Tensor& b) {
  if (HB_UNLIKELY(needs_grad(a, b) || sparse::either(a, b)))
    return inplace(Row::inplace_label, a, [&](const Tensor& old) { return binary<Row>(old, b); }, nullptr, {&b});
  return forward_inplace(Row::inplace_label, Row::formula(), Row::domain, a, b);
}

template <class Row>
Tensor& binary_inplace(Tensor& a, const Scalar& b) {
  if (HB_UNLIKELY(a.layout() != kStrided) && (is_one_of<Row, mul_row, div_row>))
    return sparse::scale_(a, b, is_one_of<Row, div_row>);
  if (is_one_of<Row, pow_row> || HB_UNLIKELY(needs_grad(a) || a.layout() != kStrided))
    return inplace(Row::inplace_label, a, [&](const Tensor& old) { return binary<Row>(old, b); });
  return forward_inplace(Row::inplace_label, Row::formula(), Row::domain, a, b);
}

#define HB_BINARY(name, kind, on_cpu, on_cuda, kept, ga, gb)                                                \
  struct name##_row {                                                                                       \
    static constexpr char label[] = #name;                                                                  \
    static constexpr const char* inplace_label = #name "_";                                                 \
    static constexpr Domain domain = Domain::kind;                                                          \
    static constexpr Saves saves = Saves::kept;                                                             \
    static const FormulaKernel& formula() { return name##_formula; }                                        \
    static Tensor grad_a(const Tensor& g, const Tensor& a, const Tensor& b, const Tensor& y) { return ga; } \
    static Tensor grad_b(const Tensor& g, const Tensor& a, const Tensor& b, const Tensor& y) { return gb; } \
  };
#include "ops/elementwise/binary.def"

// Every function that is declared has a row; a row that is not declared has no formula.
#define HB_BINARY(name) static_assert(sizeof(name##_row) > 0);
#include <halfbridge/ops/binary.def>

}  // namespace

#define HB_BINARY(name, kind, on_cpu, on_cuda, ...)                                                  \
  Tensor name(const Tensor& self, const Tensor& other) {                                             \
    HB_AUTOCAST(name, on_cpu, on_cuda, self, other);                                                 \
    return binary<name##_row>(self, other);                                                          \
  }                                                                                                  \
  Tensor name(const Tensor& self, const Scalar& other) {                                             \
    HB_AUTOCAST(name, on_cpu, on_cuda, self, other);                                                 \
    return binary<name##_row>(self, other);                                                          \
  }                                                                                                  \
  Tensor& name##_(Tensor& self, const Tensor& other) {                                               \
    HB_FUNCTION(name##_, self, other);                                                               \
    return binary_inplace<name##_row>(self, other);                                                  \
  }                                                                                                  \
  Tensor& name##_(Tensor& self, const Scalar& other) {                                               \
    HB_FUNCTION(name##_, self, other);                                                               \
    return binary_inplace<name##_row>(self, other);                                                  \
  }                                                                                                  \
  Tensor& name##_out(Tensor& out, const Tensor& self, const Tensor& other) {                         \
    if (forward_out(#name, name##_row::formula(), name##_row::domain, out, self, other)) return out; \
    return assign_out(#name "_out", out, binary<name##_row>(self, other));                           \
  }
#include "ops/elementwise/binary.def"

Tensor extremum_share(const Tensor& a, const Tensor& b) {
  return where(a == b, Scalar(0.5), Scalar(1.0)).to(ops::floating_result(ops::promoted({a, b})));
}

}  // namespace hb
