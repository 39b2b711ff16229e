#pragma once
// exp(-|x|) I_0(x) and exp(-|x|) I_1(x). Numbers of at most 8, which nearly all are, by themselves take half the time.
// Of a float there are as many terms as a float can show, in double.

#include "formulas/vector_special.h"

namespace hb::math {

HB_HD_ALWAYS bool scaled_bessel_i_range(double x) { return abs(x) <= 8; }

template <int kOrder>
HB_HD_ALWAYS double small_scaled_bessel_i(double x) {
  const double y = small_bessel_i<kOrder, true>(abs(x));
  return kOrder ? copysign(y, x) : y;
}
template <int kOrder>
HB_HD_ALWAYS float small_scaled_bessel_i(float x) {
  const double size = abs(x), q = size * size * 0.25;
  double series;
  if constexpr (kOrder == 0)
    series = horner(q, 1.0, 1.0, 0.25, 0.027777777777777776, 0.001736111111111111, 6.944444444444444e-05,
                    1.9290123456790124e-06, 3.936759889140842e-08, 6.151187326782565e-10, 7.594058428126624e-12,
                    7.594058428126623e-14, 6.276081345559193e-16, 4.358389823304995e-18, 2.5789288895295828e-20,
                    1.3157800456783586e-22);
  else
    series = size * horner(q, 0.5, 0.25, 0.041666666666666664, 0.003472222222222222, 0.00017361111111111112,
                           5.787037037037037e-06, 1.3778659611992944e-07, 2.460474930713026e-09, 3.417326292656981e-11,
                           3.7970292140633116e-13, 3.451844740057556e-15, 2.615033893982997e-17, 1.676303778194229e-19,
                           9.21046031974851e-22, 4.385933485594529e-24);
  const double y = series * quick_exp(-size);
  return static_cast<float>(kOrder ? copysign(y, static_cast<double>(x)) : y);
}

template <int kOrder>
HB_HD_ALWAYS double large_scaled_bessel_i(double x) {
  const double y = large_bessel_i<kOrder, true>(abs(x));
  return kOrder ? copysign(y, x) : y;
}
template <int kOrder>
HB_HD_ALWAYS float large_scaled_bessel_i(float x) {
  const double u = 1 / abs(static_cast<double>(x)), s = fma(16.0, u, -1.0);
  double series;
  if constexpr (kOrder == 0)
    series = horner(s, 0.4021765094053054, 0.0033605520313900634, 0.000136217407834547, 1.1141542189580863e-05,
                    1.4754756356201013e-06, 3.0383309086686276e-07, 1.0910232941075882e-07, 3.3635802235185296e-08);
  else
    series = horner(s, 0.3893984590744713, -0.009749577241315432, -0.00021923738535629923, -1.5037047143805947e-05,
                    -1.8250069387125121e-06, -3.5481954165334105e-07, -1.2318419674047784e-07, -3.7856024793316294e-08);
  const double y = series * sqrt(u);
  return static_cast<float>(kOrder ? copysign(y, static_cast<double>(x)) : y);
}

template <int kOrder, class T>
HB_HD_ALWAYS T scaled_bessel_i(T x) {
  const T low = scaled_bessel_i_range(x) ? x : T(8), high = scaled_bessel_i_range(x) ? T(8) : x;
  const T near = small_scaled_bessel_i<kOrder>(low), far = large_scaled_bessel_i<kOrder>(high);
  return scaled_bessel_i_range(x) ? near : far;
}

}  // namespace hb::math
