// The functions of unary.def: forms and gradients.
#include <halfbridge/ops.h>

#include "autocast/autocast.h"
#include "autograd/record.h"
#include "ops/common/inplace.h"
#include "ops/common/refused_dtypes.h"
#include "ops/elementwise/elementwise_op.h"
#include "ops/elementwise/fused_gradients.h"
#include "ops/linalg/late_product.h"
#include "ops/sparse/sparse.h"

namespace hb {
namespace {

using ops::Domain;
enum class Saves { none, x, y };

struct Plan {
  const FormulaKernel* formula;
  ScalarType compute, result;
  bool unchanged = false;  // rounding of integers
};

/// How one function is computed for a dtype.
Plan plan_of(const char* name, const FormulaKernel& formula, Domain domain, ScalarType t) {
  Plan p{&formula, compute_type(t), t};
  switch (domain) {
    case Domain::floating:
      p.result = ops::floating_result(t);
      p.compute = compute_type(p.result);
      break;
    case Domain::fraction:
      ops::refuse_integers(name, t);
      break;
    case Domain::numeric:
      if (t == kBool && &formula == &square_formula) {
        p.result = kLong;
        break;
      }
      HB_CHECK(t != kBool, "[", name,
               "] not implemented for 'Bool': Negation, the `-` operator, on a bool tensor is not supported. If you "
               "are trying to invert a mask, "
               "use the `~` "
               "or `logical_not()` operator instead.");
      if (&formula == &abs_formula) p.result = to_real_type(t);
      break;
    case Domain::real:
      HB_CHECK(t != kBool, "[", name, "] is not supported for dtype Bool");
      p.unchanged = is_integral_type(t, true);
      break;
    case Domain::test:
      p.result = kBool;
      break;
    default:
      if (t == kBool) {
        HB_CHECK(&formula != &relu_formula, "[relu] Boolean inputs not supported for relu");
        if (&formula == &bitwise_not_formula) p.formula = &logical_not_formula;
      } else {
        HB_CHECK_SUPPORTED(&formula != &bitwise_not_formula || is_integral_type(t, false), "[", name,
                           "] not implemented for '", toString(t), "': expected integers or bool");
      }
  }
  return p;
}

/// Whether a formula asks integers what is known of them: they are finite.
bool is_known(const FormulaKernel& formula, ScalarType t) {
  return is_integral_type(t, true) &&
         (&formula == &isfinite_formula || &formula == &isinf_formula || &formula == &isnan_formula ||
          &formula == &isposinf_formula || &formula == &isneginf_formula);
}

Tensor forward(const char* name, const FormulaKernel& formula, Domain domain, const Tensor& x) {
  const Plan p = plan_of(name, formula, domain, x.impl().dtype());
  if (p.unchanged) return x.clone();
  if (is_known(formula, x.impl().dtype())) return full_like(x, &formula == &isfinite_formula, kBool);
  return ops::launch_new(name, *p.formula, p.compute, p.result, {x});
}

Tensor& forward_inplace(const char* name, const FormulaKernel& formula, Domain domain, Tensor& x) {
  const Plan p = plan_of(name, formula, domain, x.impl().dtype());
  const ScalarType result = domain == Domain::test ? x.impl().dtype() : p.result;
  HB_CHECK(!is_complex_type(x.impl().dtype()) || is_complex_type(result), "[", name,
           "] In-place abs is not supported for complex tensors.");
  if (p.unchanged) {
    check_inplace(name, x);
    return x;
  }
  return ops::launch_inplace(name, *p.formula, p.compute, result, x, {x});
}

template <class Row>
void attach_gradient(Tensor& out, const Tensor& x) {
  static constexpr ops::NodeName node(Row::label);
  if constexpr (Row::saves == Saves::none) {
    record(node.text, out, {&x},
           [](Backward& b) -> variable_list { return ops::gradients(Row::gradient(b.grad(), {}, {})); });
  } else if constexpr (Row::saves == Saves::x) {
    record(node.text, out, {&x}, {SavedTensor::input(x)},
           [](Backward& b, auto& s) -> variable_list { return ops::gradients(Row::gradient(b.grad(), s[0], {})); });
  } else {
    record(node.text, out, {&x}, {SavedTensor::output(out)},
           [](Backward& b, auto& s) -> variable_list { return ops::gradients(Row::gradient(b.grad(), {}, s[0])); });
  }
}

struct log_sigmoid_row;
struct neg_row;
struct relu_row;

template <class Row>
Tensor unary(const Tensor& x);

template <class Row>
Tensor sparse_unary(const Tensor& x) {
  if (std::is_same_v<Row, neg_row>) return sparse::neg(x);
  return sparse::map(Row::label, x, [](const Tensor& values) { return unary<Row>(values); });
}

/// What it saves, it also saves as bits where a product computed it.
void attach_relu_gradient(Tensor& out, const Tensor& x) {
  record("ReluBackward0", out, {&x}, {SavedTensor::output(out)},
         [signs = ops::signs_of_relu(out, x)](Backward& b, auto& s) -> variable_list {
           const Tensor& y = s[0];
           if (signs.defined() && !needs_grad(b.grad(), y))
             if (Tensor g = ops::relu_gradient_of_product(b.grad(), signs); g.defined()) return ops::gradients(g);
           return ops::gradients(threshold_backward(b.grad(), y, 0));
         });
}

template <class Row>
Tensor unary(const Tensor& x) {
  if (HB_UNLIKELY(!x.impl().is_strided())) return sparse_unary<Row>(x);
  if constexpr (std::is_same_v<Row, log_sigmoid_row>)
    if (needs_grad(x) && ops::keeps_slope(x.impl().dtype())) return ops::log_sigmoid_with_slope(x);
  Tensor out = forward(Row::label, Row::formula(), Row::domain, x);
  if (Row::domain != Domain::test && HB_UNLIKELY(needs_grad(x)) && is_differentiable_type(out.impl().dtype()))
    std::is_same_v<Row, relu_row> ? attach_relu_gradient(out, x) : attach_gradient<Row>(out, x);
  return out;
}

template <class Row>
Tensor& unary_inplace(Tensor& x) {
  if (HB_UNLIKELY(needs_grad(x) || x.layout() != kStrided))
    return inplace(Row::inplace_label, x, [](const Tensor& old) { return unary<Row>(old); });
  return forward_inplace(Row::inplace_label, Row::formula(), Row::domain, x);
}

template <class Row>
Tensor& unary_out(const char* name, Tensor& out, const Tensor& x) {
  if (HB_LIKELY(x.impl().is_strided())) {
    const Plan p = plan_of(Row::label, Row::formula(), Row::domain, x.impl().dtype());
    const bool computed = !p.unchanged && !is_known(Row::formula(), x.impl().dtype());
    if (computed && ops::writes_into(name, out, x, x, p.result)) {
      ops::launch(*p.formula, p.compute, out, {x});
      out.impl().bump_version();
      return out;
    }
  }
  return assign_out(name, out, unary<Row>(x));
}

#define HB_UNARY(name, kind, on_cpu, on_cuda, kept, ...)                                              \
  struct name##_row {                                                                                 \
    static constexpr char label[] = #name;                                                            \
    static constexpr const char* inplace_label = #name "_";                                           \
    static constexpr Domain domain = Domain::kind;                                                    \
    static constexpr Saves saves = Saves::kept;                                                       \
    static const FormulaKernel& formula() { return name##_formula; }                                  \
    static Tensor gradient(const Tensor& g, const Tensor& x, const Tensor& y) { return __VA_ARGS__; } \
  };
#include "ops/elementwise/unary.def"

// Every function that is declared has a row; a row that is not declared has no formula.
#define HB_UNARY(name) static_assert(sizeof(name##_row) > 0);
#include <halfbridge/ops/unary.def>

}  // namespace

#define HB_UNARY(name, kind, on_cpu, on_cuda, ...) \
  Tensor name(const Tensor& self) {                \
    HB_AUTOCAST(name, on_cpu, on_cuda, self);      \
    return unary<name##_row>(self);                \
  }                                                \
  Tensor& name##_(Tensor& self) {                  \
    HB_FUNCTION(name##_, self);                    \
    return unary_inplace<name##_row>(self);        \
  }                                                \
  Tensor& name##_out(Tensor& out, const Tensor& self) { return unary_out<name##_row>(#name "_out", out, self); }
#include "ops/elementwise/unary.def"

}  // namespace hb
