#include <halfbridge/ops/factories.h>

#include <algorithm>
#include <cmath>

#include <halfbridge/autograd.h>
#include <halfbridge/ops/combine.h>
#include <halfbridge/ops/complex.h>

#include "backend/elementwise.h"
#include "backend/factories.h"
#include "core/function_watch.h"
#include "core/loop.h"
#include "core/value_range.h"
#include "ops/sparse/compressed.h"

namespace hb {

namespace {

Tensor finish(Tensor t, const TensorOptions& options) {
  if (HB_UNLIKELY(options.requires_grad())) t.requires_grad_(true);
  if (HB_UNLIKELY(InferenceMode::is_enabled())) t.impl().set_inference(true);
  return t;
}

Tensor filled(IntArrayRef size, const Scalar& value, const TensorOptions& options) {
  if (HB_UNLIKELY(sparse::is_made_of_parts(options.layout()))) {
    HB_CHECK(value.equal(0), "[full] full(...) is not implemented for sparse layout");
    return empty(size, options);
  }
  // As in LibTorch, empty() alone looks at a memory format.
  Tensor t = empty(size, TensorOptions(options).requires_grad(false).memory_format(std::nullopt));
  check_filling_fits("full", t.scalar_type(), t.numel(), value);
  fill_kernel(t.device())(Loop({&t}, {}), value);
  return finish(std::move(t), options);
}
}  // namespace

Tensor zeros(IntArrayRef size, const TensorOptions& options) {
  HB_OBSERVED(zeros, size, options);
  return filled(size, 0, options);
}
Tensor ones(IntArrayRef size, const TensorOptions& options) {
  HB_OBSERVED(ones, size, options);
  return filled(size, 1, options);
}
Tensor full(IntArrayRef size, const Scalar& value, const TensorOptions& options) {
  HB_OBSERVED(full, size, value, options);
  if (options.has_dtype()) return filled(size, value, options);
  const ScalarType natural = value.isBoolean()         ? kBool
                             : value.isIntegral(false) ? kLong
                             : value.isComplex()       ? to_complex_type(get_default_dtype())
                                                       : get_default_dtype().toScalarType();
  return filled(size, value, options.dtype(natural));
}
Tensor scalar_tensor(const Scalar& value, const TensorOptions& options) {
  HB_OBSERVED(scalar_tensor, value, options);
  return filled({}, value, options);
}

namespace {
Tensor filled_like(const Tensor& self, const Scalar& value, const TensorOptions& options,
                   std::optional<MemoryFormat> format = std::nullopt) {
  Tensor t = empty_like(self, TensorOptions(options).requires_grad(false), format);
  if (HB_UNLIKELY(t.layout() != kStrided) && value.equal(0)) return finish(std::move(t), options);
  if (HB_UNLIKELY(t.layout() != kStrided) && sparse::is_compressed(self))
    return finish(sparse::with_values(self, full_like(self.detach().values(), value, t.scalar_type())), options);
  fill_kernel(t.device())(Loop({&t}, {}), value);
  return finish(std::move(t), options);
}
}  // namespace

Tensor zeros_like(const Tensor& self, const TensorOptions& options, std::optional<MemoryFormat> format) {
  HB_OBSERVED(zeros_like, self, options, format);
  return filled_like(self, 0, options, format);
}
Tensor ones_like(const Tensor& self, const TensorOptions& options, std::optional<MemoryFormat> format) {
  HB_OBSERVED(ones_like, self, options, format);
  return filled_like(self, 1, options, format);
}
Tensor full_like(const Tensor& self, const Scalar& value, const TensorOptions& options,
                 std::optional<MemoryFormat> format) {
  HB_OBSERVED(full_like, self, value, options, format);
  check_filling_fits("full_like", options.has_dtype() ? options.dtype().toScalarType() : self.scalar_type(),
                     self.numel(), value);
  return filled_like(self, value, options, format);
}

// --- sequences

namespace {
bool all_integral(std::initializer_list<Scalar> numbers) {
  return std::all_of(numbers.begin(), numbers.end(), [](const Scalar& n) { return n.isIntegral(true); });
}

TensorOptions sequence_options(const TensorOptions& options, std::initializer_list<Scalar> bounds) {
  if (options.has_dtype()) return options;
  for (const Scalar& b : bounds)
    if (b.isFloatingPoint()) return options.dtype(get_default_dtype());
  return options.dtype(kLong);
}

int64_t checked_count(const char* name, double n) {
  HB_CHECK(n >= 0 && n < 0x1p63, "[", name, "] invalid size, possible overflow? ", n, " elements");
  return static_cast<int64_t>(n);
}

Tensor ramp(const char* name, const Scalar& start, const Scalar& step, int64_t n, const TensorOptions& options) {
  HB_CHECK_SUPPORTED(options.dtype() != kBool, "[", name, "] not implemented for 'Bool'");
  Tensor t = empty({n}, TensorOptions(options).requires_grad(false));
  arange_kernel(t.device())(t, start, step);
  return finish(std::move(t), options);
}
}  // namespace

Tensor arange(const Scalar& start, const Scalar& end, const Scalar& step, const TensorOptions& given) {
  HB_OBSERVED(arange, start, end, step, given);
  const TensorOptions options = sequence_options(given, {start, end, step});
  // As in LibTorch, int64 cuts the bounds before it counts, and smaller integers after that.
  if (options.dtype() == kLong && !all_integral({start, end, step}) && std::isfinite(start.toDouble()) &&
      std::isfinite(end.toDouble()))
    return arange(start.toLong(), end.toLong(), step.toLong(), options);
  const double s = step.toDouble(), from = start.toDouble(), to = end.toDouble();
  HB_CHECK(s != 0, "[arange] step must be nonzero");
  HB_CHECK(std::isfinite(from) && std::isfinite(to), "[arange] unsupported range: ", from, " -> ", to);
  HB_CHECK((s > 0 && to >= from) || (s < 0 && to <= from),
           "[arange] upper bound and lower bound inconsistent with step sign: ", from, " -> ", to, ", step ", s);
  int64_t n, span;
  if (all_integral({start, end, step})) {
    const int64_t k = step.toLong();
    HB_CHECK(!__builtin_sub_overflow(end.toLong(), start.toLong(), &span), "[arange] invalid size, possible overflow? ",
             from, " -> ", to);
    n = span / k + (span % k != 0);
  } else {
    n = checked_count("arange", std::ceil((to - from) / s));
  }
  return ramp("arange", start, step, n, options);
}
Tensor arange(const Scalar& start, const Scalar& end, const TensorOptions& options) {
  HB_OBSERVED(arange, start, end, options);
  return arange(start, end, 1, options);
}
Tensor arange(const Scalar& end, const TensorOptions& options) {
  HB_OBSERVED(arange, end, options);
  return arange(0, end, 1, options);
}
Tensor range(const Scalar& start, const Scalar& end, const Scalar& step, const TensorOptions& options) {
  const bool cuts = options.has_dtype() && is_integral_type(options.dtype(), false);
  if (cuts && !all_integral({start, end, step})) return range(start.toLong(), end.toLong(), step.toLong(), options);
  const double s = step.toDouble();
  HB_CHECK(s != 0, "[range] step must be nonzero");
  HB_CHECK(s > 0 ? end.toDouble() >= start.toDouble() : end.toDouble() <= start.toDouble(),
           "[range] upper bound and lower bound inconsistent with step sign");
  const int64_t n = checked_count("range", std::trunc((end.toDouble() - start.toDouble()) / s) + 1);
  return ramp("range", start, step, n, options.has_dtype() ? options : options.dtype(get_default_dtype()));
}

Tensor linspace(const Scalar& start, const Scalar& end, int64_t steps, const TensorOptions& options) {
  HB_OBSERVED(linspace, start, end, steps, options);
  HB_CHECK(steps >= 0, "[linspace] number of steps must be non-negative, got ", steps);
  if (!options.has_dtype() && (start.isComplex() || end.isComplex()))
    return linspace(start, end, steps, TensorOptions(options).dtype(to_complex_type(options.dtype())));
  if (is_complex_type(options.dtype())) {
    const TensorOptions part = TensorOptions(options).requires_grad(false).dtype(to_real_type(options.dtype()));
    const auto from = start.toComplexDouble(), to = end.toComplexDouble();
    return finish(complex(linspace(from.real(), to.real(), steps, part), linspace(from.imag(), to.imag(), steps, part)),
                  options);
  }
  Tensor t = empty({steps}, TensorOptions(options).requires_grad(false));
  HB_CHECK_SUPPORTED(t.scalar_type() != kBool, "[linspace] not implemented for 'Bool'");
  if (steps > 0) check_value_fits("linspace", t.scalar_type(), start);
  if (steps > 1) check_value_fits("linspace", t.scalar_type(), end);
  // Bounds of integers are cut before anything is computed.
  const bool whole = is_integral_type(t.scalar_type(), /*include_bool=*/false);
  const auto bound = [whole](const Scalar& s) { return whole ? std::trunc(s.toDouble()) : s.toDouble(); };
  linspace_kernel(t.device())(t, bound(start), bound(end));
  return finish(std::move(t), options);
}

Tensor logspace(const Scalar& start, const Scalar& end, int64_t steps, double base, const TensorOptions& options) {
  HB_CHECK_SUPPORTED(options.dtype() != kBool, "[logspace] not implemented for 'Bool'");
  // The ends are of the result's dtype, the exponents between them are not.
  const bool whole = is_integral_type(options.dtype(), false);
  const Tensor exponents = whole ? linspace(start.toLong(), end.toLong(), steps, TensorOptions().dtype(kDouble))
                                 : linspace(start, end, steps, TensorOptions().dtype(kDouble));
  return finish(pow(Scalar(base), exponents).to(options.dtype()), options);
}

Tensor eye(int64_t n, int64_t m, const TensorOptions& options) {
  HB_OBSERVED(eye, n, m, options);
  HB_CHECK(n >= 0, "[eye] n must be greater or equal to 0, got ", n);
  HB_CHECK(m >= 0, "[eye] m must be greater or equal to 0, got ", m);
  Tensor t = zeros({n, m}, TensorOptions(options).requires_grad(false));
  const Tensor diagonal = t.diagonal();
  fill_kernel(t.device())(Loop({&diagonal}, {}), 1);
  return finish(std::move(t), options);
}
Tensor eye(int64_t n, const TensorOptions& options) {
  HB_OBSERVED(eye, n, options);
  return eye(n, n, options);
}

}  // namespace hb
