#include <halfbridge/ops/random.h>

#include <cmath>
#include <limits>

#include <halfbridge/ops.h>

#include "autograd/record.h"
#include "backend/distributions.h"
#include "core/function_watch.h"
#include "ops/common/inplace.h"
#include "ops/random/fill.h"

namespace hb {

namespace {

/// Gives random values to self; its earlier values get a gradient of zero.
template <typename F>
Tensor& fill_random(const char* name, const char* node, Tensor& self, F fill) {
  if (self.numel() == 0) return self;
  const auto compute = [&](const Tensor& old) {
    Tensor out = empty_like(old);
    fill(out);
    if (needs_grad(old)) record(node, out, {&old}, [](Backward& b) -> variable_list { return {zeros_like(b.grad())}; });
    return out;
  };
  return inplace(name, self, compute, fill);
}

/// Calls `f` with a value of the floating element type.
template <typename F>
void with_floating(const char* op, ScalarType t, F f) {
  switch (t) {
    case kFloat:
      return f(float{});
    case kDouble:
      return f(double{});
    case kHalf:
      return f(Half{});
    case kBFloat16:
      return f(BFloat16{});
    default:
      HB_NOT_SUPPORTED("\"", op, "\" not implemented for '", toString(t), "'");
  }
}

template <typename T>
double as_double(T value) {
  if constexpr (std::is_arithmetic_v<T>) {
    return static_cast<double>(value);
  } else {
    return static_cast<double>(static_cast<float>(value));
  }
}
template <typename T>
int64_t through(int64_t value) {
  return static_cast<int64_t>(
      as_double(T(static_cast<std::conditional_t<std::is_same_v<T, double>, double, float>>(value))));
}
int log2_floor(int64_t value) { return 63 - __builtin_clzll(static_cast<uint64_t>(value)); }

/// A floating type rounds integers beyond its digits: moves a bound inwards to one that it holds, so that no
/// drawn value rounds past it.
template <typename T>
int64_t lower_bound_in(int64_t from) {
  if (from == std::numeric_limits<int64_t>::max()) return from;
  const int64_t next = through<T>(from + 1);
  if (next >= from) return from;
  return next + (int64_t{1} << (log2_floor(std::abs(from + 1)) - std::numeric_limits<T>::digits + 1));
}
template <typename T>
int64_t upper_bound_in(int64_t to) {
  const int64_t previous = through<T>(to - 1);
  if (previous < to) return to;
  return previous - (int64_t{1} << (log2_floor(std::abs(to - 1)) - std::numeric_limits<T>::digits + 1));
}

struct Bounds {
  double lowest, highest;
  int digits;  // of a floating type, else 0
};
Bounds bounds_of(ScalarType t) {
  switch (t) {
#define HB_BOUNDS(T, Name)                                                                         \
  case ScalarType::Name:                                                                           \
    return {as_double(std::numeric_limits<T>::lowest()), as_double(std::numeric_limits<T>::max()), \
            is_floating_type(t) ? std::numeric_limits<T>::digits : 0};
    HB_FORALL_REAL_DTYPES(HB_BOUNDS)
    HB_FORALL_WIDE_UNSIGNED_DTYPES(HB_BOUNDS)
#undef HB_BOUNDS
    default:
      HB_CHECK(false, "check_random_bounds handles only integral, floating-point and boolean types");
  }
}

void check_bound(const char* what, int64_t value, ScalarType t) {
  const Bounds bounds = bounds_of(t);
  const auto v = static_cast<double>(value);
  HB_CHECK(t == kLong || (v >= bounds.lowest && v <= bounds.highest), what, " is out of bounds for ",
           type_meta_name(t));
  if (bounds.digits > 0 && bounds.digits < 63 && std::fabs(v) > std::ldexp(1.0, bounds.digits))
    detail::warn(detail::str(what, " is out of bounds [-(2^", bounds.digits, "), 2^", bounds.digits,
                             "]. Due to precision limitations ", type_meta_name(t),
                             " can support discrete uniform distribution only within this range."));
}

/// The number of values from `from` on and, in `from`, the first of them.
uint64_t range_to(const Tensor& self, int64_t& from, int64_t to) {
  HB_CHECK(from < to, "random_ expects 'from' to be less than 'to', but got from=", from, " >= to=", to);
  if (self.is_floating_point()) {
    with_floating("random_update_from_to", self.scalar_type(), [&](auto zero) {
      from = lower_bound_in<decltype(zero)>(from);
      to = upper_bound_in<decltype(zero)>(to);
    });
    HB_CHECK(from < to,
             "random_ expects 'from' casted to dtype to be less than 'to' casted to dtype, but got from=", from,
             " >= to=", to);
  }
  check_bound("from", from, self.scalar_type());
  check_bound("to - 1", to - 1, self.scalar_type());
  return static_cast<uint64_t>(to) - static_cast<uint64_t>(from);
}

uint64_t range_upwards(const Tensor& self, int64_t& from) {
  if (from == std::numeric_limits<int64_t>::lowest()) return 0;
  int64_t last = std::numeric_limits<int64_t>::max();
  if (self.is_floating_point()) {
    with_floating("random_from_to_range_calc", self.scalar_type(), [&](auto zero) {
      last = int64_t{1} << std::numeric_limits<decltype(zero)>::digits;
      from = lower_bound_in<decltype(zero)>(from);
    });
    HB_CHECK(from < last,
             "random_ expects 'from' casted to dtype to be less than or equal to 'to_inc' casted to dtype, "
             "but got from=",
             from, " > to_inc=", last);
  } else if (self.scalar_type() != kLong) {
    last = static_cast<int64_t>(bounds_of(self.scalar_type()).highest);
  }
  check_bound("from", from, self.scalar_type());
  check_bound("to - 1", last, self.scalar_type());
  return static_cast<uint64_t>(last) - static_cast<uint64_t>(from) + 1;
}

void check_uniform(const Tensor& self, double from, double to) {
  with_floating("check_uniform_bounds", self.scalar_type(), [&](auto zero) {
    using T = decltype(zero);
    const double low = as_double(std::numeric_limits<T>::lowest()), high = as_double(std::numeric_limits<T>::max());
    HB_CHECK(from >= low && from <= high, "from is out of bounds for ", type_meta_name(self.scalar_type()));
    HB_CHECK(to >= low && to <= high, "to is out of bounds for ", type_meta_name(self.scalar_type()));
    HB_CHECK(from <= to, "uniform_ expects to return a [from, to) range, but found from=", from, " > to=", to);
    HB_CHECK(to - from <= high, "uniform_ expects to-from <= std::numeric_limits<", toString(self.scalar_type()),
             ">::max(), but found to=", to, " and from=", from, " which result in to-from to exceed the limit");
  });
}
void check_std(double std) { HB_CHECK(std >= 0.0, "normal expects std >= 0.0, but found std ", std); }
void check_normal(const Tensor& self) {
  if (self.impl().numel() > 0) with_floating("normal_kernel_cpu", self.scalar_type(), [](auto) {});
}
/// Of the standard deviation of a complex number, which has half of the variance in each part.
double part_of_std(double std) { return std / std::sqrt(2.0); }
void check_probability(double p) { HB_CHECK(p >= 0 && p <= 1, "bernoulli_ expects p to be in [0, 1], but got p=", p); }
void check_probabilities(const Tensor& self, const Tensor& p) {
  if (self.numel() > 0) with_floating("bernoulli_tensor_cpu_p_", p.scalar_type(), [](auto) {});
}

}  // namespace

namespace draws {

void fill_uniform(const Tensor& fresh, double from, double to, const std::optional<Generator>& generator) {
  if (fresh.is_complex()) return fill_uniform(view_as_real(fresh), from, to, generator);
  check_uniform(fresh, from, to);
  if (fresh.numel() > 0) uniform_kernel(fresh.device())(fresh, from, to, generator);
}
void fill_normal(const Tensor& fresh, double mean, double std, const std::optional<Generator>& generator) {
  check_std(std);
  if (fresh.is_complex()) return fill_normal(view_as_real(fresh), mean, part_of_std(std), generator);
  check_normal(fresh);
  if (fresh.numel() > 0) normal_kernel(fresh.device())(fresh, mean, std, generator);
}
void fill_integers(const Tensor& fresh, int64_t from, int64_t to, const std::optional<Generator>& generator) {
  const uint64_t range = range_to(fresh, from, to);
  if (fresh.numel() > 0) random_from_to_kernel(fresh.device())(fresh, range, from, generator);
}
void fill_bernoulli(const Tensor& fresh, double p, const std::optional<Generator>& generator) {
  check_probability(p);
  if (fresh.numel() > 0) bernoulli_kernel(fresh.device())(fresh, p, 1.0, generator);
}
void fill_bernoulli(const Tensor& fresh, const Tensor& p, const std::optional<Generator>& generator) {
  check_probabilities(fresh, p);
  if (fresh.numel() > 0) bernoulli_each_kernel(fresh.device())(fresh, p, generator);
}

}  // namespace draws

Tensor& method::uniform_(Tensor& self, double from, double to, std::optional<Generator> generator) {
  HB_OBSERVED(uniform_, self, from, to, generator);
  if (self.is_complex()) return view_as_real(self).uniform_(from, to, std::move(generator)), self;
  check_uniform(self, from, to);
  return fill_random("uniform_", "UniformBackward0", self,
                     [&](const Tensor& out) { uniform_kernel(out.device())(out, from, to, generator); });
}

Tensor& method::normal_(Tensor& self, double mean, double std, std::optional<Generator> generator) {
  HB_OBSERVED(normal_, self, mean, std, generator);
  check_std(std);
  if (self.is_complex()) return view_as_real(self).normal_(mean, part_of_std(std), std::move(generator)), self;
  check_normal(self);
  return fill_random("normal_", "NormalBackward0", self,
                     [&](const Tensor& out) { normal_kernel(out.device())(out, mean, std, generator); });
}

Tensor& method::random_(Tensor& self, int64_t from, std::optional<int64_t> to, std::optional<Generator> generator) {
  HB_OBSERVED(random_, self, from, to, generator);
  const uint64_t range = to ? range_to(self, from, *to) : range_upwards(self, from);
  HB_CHECK(range != 0 || self.scalar_type() == kLong || self.scalar_type() == kFloat || self.scalar_type() == kDouble ||
               self.scalar_type() == kBFloat16,
           "random_full_64_bits_range_kernel_cpu handles only int64, double, float and bfloat16");
  return fill_random("random_", "RandomBackward0", self,
                     [&](const Tensor& out) { random_from_to_kernel(out.device())(out, range, from, generator); });
}
Tensor& method::random_(Tensor& self, int64_t to, std::optional<Generator> generator) {
  return self.random_(0, to, std::move(generator));
}
Tensor& method::random_(Tensor& self, std::optional<Generator> generator) {
  HB_OBSERVED(random_, self, generator);
  return fill_random("random_", "RandomBackward0", self,
                     [&](const Tensor& out) { random_kernel(out.device())(out, generator); });
}

Tensor& method::bernoulli_(Tensor& self, double p, std::optional<Generator> generator) {
  HB_OBSERVED(bernoulli_, self, p, generator);
  check_probability(p);
  return fill_random("bernoulli_", "BernoulliBackward2", self,
                     [&](const Tensor& out) { bernoulli_kernel(out.device())(out, p, 1.0, generator); });
}
Tensor& method::bernoulli_(Tensor& self, const Tensor& p, std::optional<Generator> generator) {
  HB_ONE_DEVICE(bernoulli_, self, p);
  check_probabilities(self, p);
  const Tensor each = p.detach().expand(self.sizes());
  return fill_random("bernoulli_", "BernoulliBackward1", self,
                     [&](const Tensor& out) { bernoulli_each_kernel(out.device())(out, each, generator); });
}

Tensor& method::exponential_(Tensor& self, double lambd, std::optional<Generator> generator) {
  HB_OBSERVED(exponential_, self, lambd, generator);
  HB_CHECK(lambd > 0.0, "exponential_ expects lambda > 0.0, but found lambda=", lambd);
  HB_CHECK(self.is_floating_point() || self.numel() == 0,
           "Exponential distribution is a continuous probability distribution. dtype must be a floating "
           "point but you "
           "specified ",
           self.scalar_type());
  return fill_random("exponential_", "ExponentialBackward0", self,
                     [&](const Tensor& out) { exponential_kernel(out.device())(out, lambd, generator); });
}

Tensor& method::geometric_(Tensor& self, double p, std::optional<Generator> generator) {
  HB_CHECK(p > 0 && p < 1, "geometric_ expects p to be in (0, 1), but got p=", p);
  if (self.scalar_type() == kBool && self.numel() > 0) HB_NOT_SUPPORTED("\"geometric_cpu\" not implemented for 'Bool'");
  return fill_random("geometric_", "GeometricBackward0", self,
                     [&](const Tensor& out) { geometric_kernel(out.device())(out, p, generator); });
}

Tensor& method::log_normal_(Tensor& self, double mean, double std, std::optional<Generator> generator) {
  HB_OBSERVED(log_normal_, self, mean, std, generator);
  HB_CHECK(std > 0.0, "log_normal_ expects std > 0.0, but found std=", std);
  return fill_random("log_normal_", "LogNormalBackward0", self,
                     [&](const Tensor& out) { log_normal_kernel(out.device())(out, mean, std, generator); });
}

Tensor& method::cauchy_(Tensor& self, double median, double sigma, std::optional<Generator> generator) {
  HB_CHECK(sigma > 0.0, "cauchy_ expects sigma > 0.0, but found sigma=", sigma);
  HB_CHECK(self.is_floating_point(),
           "Cauchy distribution is a continuous probability distribution. dtype must be a floating point but "
           "you specified ",
           type_meta_name(self.scalar_type()));
  return fill_random("cauchy_", "CauchyBackward0", self,
                     [&](const Tensor& out) { cauchy_kernel(out.device())(out, median, sigma, generator); });
}

}  // namespace hb
