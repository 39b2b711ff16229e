// Element-wise formulas and update rules are written once: this compiles them for a GPU.
#include "formulas/activation_formulas.h"
#include "formulas/binary_formulas.h"
#include "formulas/parametric_formulas.h"
#include "formulas/unary_formulas.h"
#include "formulas/update_rules/scaled.h"

#include "backend/optim.h"

namespace hb {

template <class F, class T>
__global__ void apply(T* y, const T* a, const T* b, const T* c, const T* params) {
  if constexpr (F::inputs == 1) {
    *y = F::template apply<T>(params, *a);
  } else if constexpr (F::inputs == 2) {
    *y = F::template apply<T>(params, *a, *b);
  } else {
    *y = F::template apply<T>(params, *a, *b, *c);
  }
}

template <class F, class T>
void launch() {
  apply<F, T><<<1, 1>>>(nullptr, nullptr, nullptr, nullptr, nullptr);
}

template <class F>
void launch_all() {
  if constexpr (F::kinds != formula::Kinds::ints) launch<F, float>(), launch<F, double>();
  if constexpr (F::kinds != formula::Kinds::floats && F::kinds != formula::Kinds::field) launch<F, int64_t>();
}

template <class Rule, class T, unsigned flags>
__global__ void update(Rule rule, T* param, const T* grad, T* state, const int64_t* step, double* scalar) {
  *scalar = rule.begin(*step, *scalar);
  const typename Rule::template Formula<T, flags> formula(rule);
  formula(*param, *grad, state);
}

void formulas() {
#define HB_UNARY(name, ...) launch_all<formula::name>();
#include <halfbridge/ops/unary.def>
#define HB_BINARY(name, ...) launch_all<formula::name>();
#include <halfbridge/ops/binary.def>
#define HB_FORMULA(name) launch_all<formula::name>();
#include "formulas/formulas.def"
}

template __global__ void update<AdamRule, float, 7>(AdamRule, float*, const float*, float*, const int64_t*, double*);
template __global__ void update<AdamRule, double, 7>(AdamRule, double*, const double*, double*, const int64_t*, double*);
template __global__ void update<AdamaxRule, float, 1>(AdamaxRule, float*, const float*, float*, const int64_t*, double*);
template __global__ void update<NadamRule, float, 1>(NadamRule, float*, const float*, float*, const int64_t*, double*);
template __global__ void update<RadamRule, float, 1>(RadamRule, float*, const float*, float*, const int64_t*, double*);

}  // namespace hb
