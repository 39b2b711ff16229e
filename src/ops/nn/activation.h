#pragma once
// What the activations share. Every fused gradient is differentiable itself, by way of its composed form.

#include <array>

#include <halfbridge/ops.h>

#include "autocast/autocast.h"
#include "autograd/named.h"
#include "autograd/record.h"
#include "ops/common/inplace.h"
#include "ops/elementwise/elementwise_op.h"

namespace hb::ops {

inline void check_floating(const char* name, const Tensor& x) {
  HB_CHECK_SUPPORTED(x.is_floating_point(), "[", name, "] not implemented for '", toString(x.scalar_type()),
                     "': expected a floating tensor");
}

/// Runs a fused gradient; where a graph is being made, gives the composed form, which has a history of its own. `node`:
/// its node's name, null where LibTorch composes the gradient too.
template <class Composed>
Tensor fused(const char* name, const char* node, const FormulaKernel& formula, const Tensor& g, const Tensor& x,
             ArrayRef<double> p, const Composed& composed) {
  if (!needs_grad(g, x)) return floating_op(name, formula, {g, x}, p);
  return node ? named(node, composed(), g) : composed();
}

/// The gradient of a function that is linear piece by piece: itself linear in g; its own gradient by x is zero. Of `p`
/// the first `parameters` are the formula's.
Tensor piecewise_gradient(const char* name, const char* node, const FormulaKernel& formula, const Tensor& g,
                          const Tensor& x, const std::array<double, 3>& p, size_t parameters);

/// The in-place form of a function that a formula computes: straight into `self` where nobody wants a gradient.
/// `compute` is the other form, which checks the numbers, too.
template <class Compute>
Tensor& formula_inplace(const char* name, Tensor& self, const FormulaKernel& formula,
                        std::initializer_list<Input> inputs, ArrayRef<double> p, const Compute& compute) {
  return inplace(name, self, compute, [&](Tensor& t) { launch(formula, compute_type(t.scalar_type()), t, inputs, p); });
}

}  // namespace hb::ops

/// The in-place form of a function that has no direct one.
#define HB_INPLACE(name, params, ...)                                                                  \
  Tensor& name##_ params {                                                                             \
    HB_FUNCTION(name##_, self __VA_OPT__(, ) __VA_ARGS__);                                             \
    return inplace(#name "_", self,                                                                    \
                   [&](const Tensor& old) -> Tensor { return name(old __VA_OPT__(, ) __VA_ARGS__); }); \
  }
/// The same for those whose node in the graph has another name than that of `name`.
#define HB_INPLACE_NODE(node, name, params, ...)                       \
  Tensor& name##_ params {                                             \
    HB_FUNCTION(name##_, self __VA_OPT__(, ) __VA_ARGS__);             \
    return inplace(#name "_", self, [&](const Tensor& old) -> Tensor { \
      return named(node, name(old __VA_OPT__(, ) __VA_ARGS__), old);   \
    });                                                                \
  }
