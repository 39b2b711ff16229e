#include "backend/log_sigmoid.h"

#include "cpu/isa/formula_loop.h"
#include "formulas/log_sigmoid.h"

namespace hb::cpu::HB_ISA {
namespace {

template <class T>
void values_and_slopes(T* const* out, const T* const* in, int64_t n, const double*, const FormulaRows&) {
  T *y = out[0], *slope = out[1];
  const T* x = in[0];
  HB_INDEPENDENT
  for (int64_t i = 0; i < n; ++i) {
    const T at = x[i];
    y[i] = formula::log_sigmoid::apply<T>(nullptr, at);
    slope[i] = formula::log_sigmoid_slope(at);
  }
}

void log_sigmoid_slope(const Loop& loop) {
  static constexpr ElementwiseFn fn = [] {
    ElementwiseFn made = make_formula<formula::log_sigmoid>("log_sigmoid");
    made.takes_rows = false;
    made.f32 = values_and_slopes<float>, made.f64 = values_and_slopes<double>;
    return made;
  }();
  run_elementwise(fn, {nullptr, &loop, loop.op[0].dtype == kDouble ? kDouble : kFloat, {}});
}
HB_REGISTER_ISA(log_sigmoid_slope_kernel, log_sigmoid_slope);

}  // namespace
}  // namespace hb::cpu::HB_ISA
