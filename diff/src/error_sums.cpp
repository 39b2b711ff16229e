#include "error_sums.h"

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <cstring>
#include <limits>

namespace hb::layer_diff {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr int kLanes = 8;  // sums side by side, which the compiler turns into vectors

struct Float {
  int fraction_bits, min_exponent;
};
Float float_of(Dtype dtype) {
  switch (dtype) {
    case kFloat:
      return {23, -126};
    case kHalf:
      return {10, -14};
    case kBFloat16:
      return {7, -126};
    default:
      return {52, -1022};  // doubles, and integers beside a float: they are exact
  }
}

inline int64_t bits_of(double x) {
  int64_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  return bits;
}
inline double double_of(int64_t bits) {
  double x;
  std::memcpy(&x, &bits, sizeof x);
  return x;
}

// d in units of the last place at magnitude m. The inverse of a power of two is made from its exponent.
inline double in_ulps(double d, double m, int64_t min_field, double scale) {
  const int64_t field = bits_of(m) >> 52;
  const int64_t clamped = field > min_field ? field : min_field;
  return d * double_of((2046 - clamped) << 52) * scale;
}

struct Lanes {
  double abs[kLanes] = {}, square[kLanes] = {}, ref_square[kLanes] = {}, test_square[kLanes] = {}, product[kLanes] = {};
  double max_abs[kLanes] = {}, max_rel[kLanes] = {}, max_ulp[kLanes] = {}, max_share[kLanes] = {}, out[kLanes] = {};
  double not_finite[kLanes] = {};
};

void add_lanes(Lanes& s, const double* ref, const double* test, const Tolerance& tolerance, const UlpRule& ulp) {
  const double atol = tolerance.atol, rtol = tolerance.rtol;
  for (int k = 0; k < kLanes; ++k) {
    const double r = ref[k], t = test[k], d = std::fabs(t - r), a = std::fabs(r), b = std::fabs(t);
    const double bound = atol + rtol * a;
    s.abs[k] += d;
    s.square[k] += d * d;
    s.ref_square[k] += r * r;
    s.test_square[k] += t * t;
    s.product[k] += r * t;
    s.out[k] += d > bound ? 1.0 : 0.0;
    s.not_finite[k] += (r - r) + (t - t);
    const double rel = a > atol ? d / a : 0.0;
    const double share = d / (bound > DBL_MIN ? bound : DBL_MIN);
    const double units = in_ulps(d, a > b ? a : b, ulp.min_field, ulp.scale);
    s.max_abs[k] = d > s.max_abs[k] ? d : s.max_abs[k];
    s.max_rel[k] = rel > s.max_rel[k] ? rel : s.max_rel[k];
    s.max_share[k] = share > s.max_share[k] ? share : s.max_share[k];
    s.max_ulp[k] = units > s.max_ulp[k] ? units : s.max_ulp[k];
  }
}

double sum(const double (&lanes)[kLanes]) {
  double total = 0;
  for (double x : lanes) total += x;
  return total;
}
double largest(const double (&lanes)[kLanes]) { return *std::max_element(lanes, lanes + kLanes); }

}  // namespace

UlpRule::UlpRule(Dtype ref, Dtype test) : integral(!is_floating_type(ref) && !is_floating_type(test)) {
  const Float a = float_of(ref), b = float_of(test);
  const Float coarser = a.fraction_bits < b.fraction_bits ? a : b;
  min_field = coarser.min_exponent + 1023;
  scale = std::ldexp(1.0, coarser.fraction_bits);
}

double distance(double ref, double test) {
  if (std::isfinite(ref) && std::isfinite(test)) return std::fabs(test - ref);
  if (std::isnan(ref) && std::isnan(test)) return 0;
  return ref == test ? 0 : kInf;
}

std::vector<int64_t> unravel(int64_t flat, const std::vector<int64_t>& shape) {
  std::vector<int64_t> index(shape.size());
  for (size_t i = shape.size(); i-- > 0;) {
    index[i] = flat % std::max<int64_t>(shape[i], 1);
    flat /= std::max<int64_t>(shape[i], 1);
  }
  return index;
}

void ErrorSums::add(const double* ref, const double* test, int64_t count, int64_t first, const Tolerance& tolerance,
                    const UlpRule& ulp) {
  constexpr int64_t kBlock = 1024;
  for (int64_t i = 0; i < count; i += kBlock) {
    const int64_t n = std::min(kBlock, count - i), whole = n / kLanes * kLanes;
    int64_t done = add_finite(ref + i, test + i, whole, first + i, tolerance, ulp) ? whole : 0;
    for (; done < n; ++done) add_one(ref[i + done], test[i + done], first + i + done, tolerance, ulp);
  }
}

// `count` is a multiple of kLanes. Does nothing and returns false where an element is not finite.
bool ErrorSums::add_finite(const double* ref, const double* test, int64_t count, int64_t first,
                           const Tolerance& tolerance, const UlpRule& ulp) {
  Lanes lanes;
  for (int64_t i = 0; i < count; i += kLanes) add_lanes(lanes, ref + i, test + i, tolerance, ulp);
  if (std::isnan(sum(lanes.not_finite))) return false;
  abs += sum(lanes.abs);
  square += sum(lanes.square);
  ref_square += sum(lanes.ref_square);
  test_square += sum(lanes.test_square);
  product += sum(lanes.product);
  max_abs = std::max(max_abs, largest(lanes.max_abs));
  max_rel = std::max(max_rel, largest(lanes.max_rel));
  max_ulp = std::max(max_ulp, ulp.integral ? largest(lanes.max_abs) : largest(lanes.max_ulp));
  finite += count;
  out += static_cast<int64_t>(sum(lanes.out));
  const double share = largest(lanes.max_share);
  if (share > max_share) {
    max_share = share;
    for (int64_t i = 0; i < count; ++i) {
      const double bound = tolerance.atol + tolerance.rtol * std::fabs(ref[i]);
      if (std::fabs(test[i] - ref[i]) / (bound > DBL_MIN ? bound : DBL_MIN) == share) {
        worst = first + i;
        worst_ref = ref[i];
        worst_test = test[i];
        break;
      }
    }
  }
  return true;
}

void ErrorSums::add_one(double ref, double test, int64_t index, const Tolerance& tolerance, const UlpRule& ulp) {
  nan_ref += std::isnan(ref);
  nan_test += std::isnan(test);
  inf_ref += std::isinf(ref);
  inf_test += std::isinf(test);
  const double d = distance(ref, test), a = std::fabs(ref), b = std::fabs(test);
  const double bound = tolerance.atol + tolerance.rtol * a;
  double share = d == kInf ? kInf : 0;
  if (std::isfinite(ref) && std::isfinite(test)) {
    abs += d;
    square += d * d;
    ref_square += ref * ref;
    test_square += test * test;
    product += ref * test;
    if (a > tolerance.atol) max_rel = std::max(max_rel, d / a);
    max_ulp = std::max(max_ulp, ulp.integral ? d : in_ulps(d, std::max(a, b), ulp.min_field, ulp.scale));
    share = d / (bound > DBL_MIN ? bound : DBL_MIN);
    finite += 1;
    out += d > bound;
  } else if (d > 0) {
    max_rel = max_ulp = kInf;
    out += 1;
  }
  max_abs = std::max(max_abs, d);
  if (share > max_share) {
    max_share = share;
    worst = index;
    worst_ref = ref;
    worst_test = test;
  }
}

void ErrorSums::add(const ErrorSums& later) {
  abs += later.abs;
  square += later.square;
  ref_square += later.ref_square;
  test_square += later.test_square;
  product += later.product;
  max_abs = std::max(max_abs, later.max_abs);
  max_rel = std::max(max_rel, later.max_rel);
  max_ulp = std::max(max_ulp, later.max_ulp);
  if (later.max_share > max_share) {
    max_share = later.max_share;
    worst = later.worst;
    worst_ref = later.worst_ref;
    worst_test = later.worst_test;
  }
  finite += later.finite;
  out += later.out;
  nan_ref += later.nan_ref;
  nan_test += later.nan_test;
  inf_ref += later.inf_ref;
  inf_test += later.inf_test;
}

Metrics ErrorSums::metrics(const std::vector<int64_t>& shape) const {
  Metrics m;
  m.numel = 1;
  for (int64_t size : shape) m.numel *= size;
  const double n = static_cast<double>(std::max<int64_t>(finite, 1));
  m.max_abs = max_abs;
  m.max_rel = max_rel;
  m.max_ulp = max_ulp;
  m.mean_abs = abs / n;
  m.rms = std::sqrt(square / n);
  m.ref_rms = std::sqrt(ref_square / n);
  if (ref_square > 0 || test_square > 0) {
    const double lengths = std::sqrt(ref_square) * std::sqrt(test_square);
    m.cosine = lengths > 0 ? std::clamp(product / lengths, -1.0, 1.0) : 0;
  }
  m.snr_db = m.rms > 0 ? 20 * std::log10(m.ref_rms / m.rms) : kInf;
  m.count_out = out;
  m.share_out = m.numel > 0 ? static_cast<double>(out) / static_cast<double>(m.numel) : 0;
  m.nan_ref = nan_ref;
  m.nan_test = nan_test;
  m.inf_ref = inf_ref;
  m.inf_test = inf_test;
  m.pass = out == 0;
  if (worst >= 0) m.worst = unravel(worst, shape);
  m.worst_ref = worst_ref;
  m.worst_test = worst_test;
  return m;
}

}  // namespace hb::layer_diff
