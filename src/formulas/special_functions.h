#pragma once
// Functions of statistics, computed in double.

#include "formulas/vector_special.h"

namespace hb::math {

/// ζ(s, q) beyond the terms before q, which is large, by Euler-Maclaurin summation.
HB_HD_ALWAYS double zeta_tail(double s, double q) {
  const double last = pow(q, -s), square = 1 / (q * q);
  // B_2k / (2 k)!
  const double share[] = {
      1.0 / 12, -1.0 / 720, 1.0 / 30240, -1.0 / 1209600, 1.0 / 47900160, -691.0 / 1307674368000.0, 1.0 / 74724249600.0};
  double sum = last * q / (s - 1) + 0.5 * last, factor = s * last / q;
#ifndef __CUDACC__
#pragma GCC unroll 7
#endif
  for (int k = 0; k < 7; ++k) {
    sum += factor * share[k];
    factor *= (s + 2 * k + 1) * (s + 2 * k + 2) * square;
  }
  return sum;
}
/// Hurwitz ζ(s, q) for s > 1.
HB_HD double hurwitz_zeta(double s, double q) {
  if (q <= 0) {
    if (q == ::floor(q)) return infinity<double>;
    if (s != ::floor(s)) return nan<double>;
  }
  double sum = 0;
  for (int i = 0; i < 12 || q < 9; ++i, q += 1) sum += ::pow(q, -s);
  return sum + zeta_tail(s, q);
}
/// For q > 0.
HB_HD_ALWAYS double hurwitz_zeta_of_positive(double s, double q) {
  double sum = 0;
#ifndef __CUDACC__
#pragma GCC unroll 12
#endif
  for (int i = 0; i < 12; ++i) sum += pow(q + i, -s);
  return sum + zeta_tail(s, q + 12);
}

HB_HD double polygamma(int n, double x) {
  if (n == 0) return digamma(x);
  if (n == 1) return trigamma(x);
  const double sign = n % 2 ? 1 : -1;
  return sign * ::exp(::lgamma(n + 1.0)) * hurwitz_zeta(n + 1, x);
}

/// exp(x^2) erfc(x) for x >= 0: its product with 1 + 2 x, of t from -1 to 1.
HB_HD_ALWAYS double erfcx_of_positive(double x) {
  const double t = x < infinity<double> ? (x - 4) / (x + 4) : 1.0;
  return horner(t, 1.2329951186255526, -0.1396211168405625, 0.015379652102620042, 0.06809705425469036,
                -0.10103906603632504, 0.09373283499843951, -0.0663303658116485, 0.03716751553591141,
                -0.01619773406595253, 0.005031969992810925, -0.0007577732195352293, -0.0001992567764579197,
                0.00015062130746391778, -2.4398942309069806e-05, -1.1220753452725425e-05, 5.709201212226352e-06,
                2.909062968371427e-07, -8.249127434964572e-07, 7.89343963476142e-08, 1.1009041560728304e-07,
                -2.1917128684776733e-08, -1.470518755238763e-08, 3.979908209935334e-09, 1.7887492189077536e-09,
                -5.47796315403793e-10, -1.37212432109558e-10, 4.335744696880128e-11) /
         fma(2.0, x, 1.0);
}
HB_HD_ALWAYS double erfcx(double x) {
  const double y = erfcx_of_positive(abs(x)), below = x < 0 ? x : 0.0;
  const double square = below * below, rest = fma(below, below, -square);  // exp doubles no rounding error of it
  const double grown = exp(square), twice = 2 * (grown < infinity<double> ? fma(grown, rest, grown) : grown);
  return x < 0 ? twice - y : y;
}
/// Of a float in floats.
HB_HD_ALWAYS float erfcx(float x) {
  const float size = abs(x), t = size < infinity<float> ? (size - 4) / (size + 4) : 1.0f;
  const float y =
      horner(t, 1.23299512f, -0.139621084f, 0.0153796837f, 0.0680961321f, -0.101039951f, 0.0937404438f, -0.0663232595f,
             0.0371399169f, -0.0162222746f, 0.00508280915f, -0.000716339472f, -0.000248632297f, 0.000116607997f) /
      fma(2.0f, size, 1.0f);
  const float below = x < 0 ? x : 0.0f, square = below * below, rest = fma(below, below, -square);
  const float grown = quick_exp(square), twice = 2 * (grown < infinity<float> ? fma(grown, rest, grown) : grown);
  return x < 0 ? twice - y : y;
}

/// log of the distribution function of the standard normal distribution.
HB_HD_ALWAYS double log_ndtr(double x) {
  const double t = x * M_SQRT1_2, size = abs(t), y = erfcx_of_positive(size);
  const double tail = log(y * 0.5) - t * t;
  const double low = x < -1 ? 0.0 : size, above = exp(-low * low) * y;  // erfc(|t|)
  const double body = log1p(-0.5 * (t < 0 ? 2 - above : above));
  return x == -infinity<double> ? x : x < -1 ? tail : body;
}

/// The inverse of that distribution function where its logarithm has to be used: by Newton's method, as it is concave,
/// so that the steps from the left never pass the solution.
HB_HD double ndtri_of_tiny(double p) {
  const double target = ::log(p);
  double x = -::sqrt(-2 * target);
  for (int i = 0; i < 30; ++i) {
    const double step = (log_ndtr(x) - target) * erfcx(-x * M_SQRT1_2) * 1.25331413731550025121;
    x -= step;
    if (::fabs(step) <= 1e-15 * ::fabs(x)) break;
  }
  return x;
}
/// The same for 1e-15 <= p < 1: sqrt(2) erfinv(2 p - 1), of which 1 - (2 p - 1)^2 is known to all digits.
HB_HD_ALWAYS double ndtri_in_range(double p) { return M_SQRT2 * erfinv_of(2 * p - 1, -log(4 * p * (1 - p))); }
HB_HD double ndtri(double p) {
  if (!(p >= 0 && p <= 1)) return nan<double>;
  if (p == 0 || p == 1) return p == 0 ? -infinity<double> : infinity<double>;
  return p < 1e-15 ? ndtri_of_tiny(p) : ndtri_in_range(p);
}

}  // namespace hb::math
