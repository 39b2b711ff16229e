#pragma once
// Special functions without branches or loops of unknown length, so that a loop which calls them becomes vector code:
// both sides of a choice are computed. On a GPU, whose threads may part, only the one that is wanted, where it is most
// of the work. The coefficients are of Chebyshev interpolations in 40 digits.

#include "formulas/math.h"

#ifdef __CUDACC__
#define HB_HD_ALWAYS HB_HD
#else
#define HB_HD_ALWAYS inline __attribute__((always_inline))
#endif

namespace hb::math {

/// c + c1 x + c2 x^2 + ...
template <class T>
HB_HD_ALWAYS T horner(T, T c) {
  return c;
}
template <class T, class... More>
HB_HD_ALWAYS T horner(T x, T c, More... more) {
  return fma(x, horner(x, static_cast<T>(more)...), c);
}

/// e^x within 1 ULP or so; where the result is not above the smallest normal numbers it is 0.
HB_HD_ALWAYS float quick_exp(float x) {
#ifdef __CUDA_ARCH__
  return exp(x);
#else
  const float clipped = x < -87.6f ? -87.6f : x;  // one instruction; keeps NaN
  // 1.5 * 2^23 and the bias of 2^(n - 1): adding it rounds to an integer n, which stands in the lowest bits. It is cut
  // off there at 128: two choices among floats would become one of three, which takes six instructions.
  const float magic = 12583038.0f;
  const int32_t most = __builtin_bit_cast(int32_t, 12583038.0f + 128.0f);
  const int32_t rounded = __builtin_bit_cast(int32_t, fma(clipped, 1.44269504088896341f, magic));
  const int32_t shifted = rounded < most ? rounded : most;
  const float n = __builtin_bit_cast(float, shifted) - magic;
  const float r = fma(n, -1.42860677e-6f, fma(n, -0.693145751953125f, clipped));
  const float twice = horner(r, 2.0f, 2.0f, 2 * 0.49999994040f, 2 * 0.16666521132f, 2 * 0.041668388993f,
                             2 * 0.0083687165752f, 2 * 0.0013814598788f);
  // Times 2^(n - 1): 0 at the lower end; what is too large becomes infinite by itself.
  return twice * __builtin_bit_cast(float, static_cast<uint32_t>(shifted) << 23);
#endif
}
HB_HD_ALWAYS double quick_exp(double x) {
#ifdef __CUDA_ARCH__
  return exp(x);
#else
  const double clipped = x < -708.5 ? -708.5 : x;  // as above
  const double magic = 0x1.8p52 + 1022;
  const int64_t most = __builtin_bit_cast(int64_t, 0x1.8p52 + 1022 + 1024);
  const int64_t rounded = __builtin_bit_cast(int64_t, fma(clipped, 1.4426950408889634, magic));
  const int64_t shifted = rounded < most ? rounded : most;
  const double n = __builtin_bit_cast(double, shifted) - magic;
  const double r = fma(n, -0x1.cf79abc9e3b3ap-40, fma(n, -0x1.62e42fefap-1, clipped));
  const double twice = horner(r, 2.0, 2.0, 2 * 0.5000000000000001, 2 * 0.16666666666666669, 2 * 0.04166666666662413,
                              2 * 0.008333333333330062, 2 * 0.0013888888917213717, 2 * 0.00019841269863053618,
                              2 * 2.4801521295954376e-05, 2 * 2.7557268459997064e-06, 2 * 2.7620088445409746e-07,
                              2 * 2.510038549551032e-08);
  return twice * __builtin_bit_cast(double, static_cast<uint64_t>(shifted) << 52);
#endif
}

/// sin(pi r) and cos(pi r) for |r| <= 1/2.
HB_HD_ALWAYS double sin_pi(double r) {
  return r * horner(r * r, 3.141592653589793, -5.167712780049969, 2.5501640398773007, -0.5992645293189447,
                    0.0821458865731029, -0.007370430505916944, 0.0004662998161898394, -2.1903497074626018e-05,
                    7.697826768224191e-07);
}
HB_HD_ALWAYS double cos_pi(double r) {
  return horner(r * r, 1.0, -4.934802200544679, 4.058712126416768, -1.3352627688545549, 0.235330630357995,
                -0.025806891376592964, 0.0019295741872812349, -0.00010463741681752138, 4.300724172734847e-06,
                -1.34352129509532e-07);
}
/// x less the nearest integer.
HB_HD_ALWAYS double from_integer(double x) { return x - rint(x); }

/// log |gamma(x)| within 1e-14 or so of the larger of it and 10: all that float can show. Stirling's series from 8 on,
/// to which smaller numbers are moved; negative ones by reflection.
HB_HD_ALWAYS double log_gamma_for_float(double x) {
  const bool reflected = x < 0.5;
  const double z = reflected ? 1 - x : x, s = abs(sin_pi(from_integer(x)));
  const bool large = z >= 8;
  const double w = large ? z : z + 8, i = 1 / w, u = i * i;
  const double product = z * (z + 1) * (z + 2) * (z + 3) * (z + 4) * (z + 5) * (z + 6) * (z + 7);
  const double steps = large ? 1.0 : product;
  const double stirling = (w - 0.5) * log(w) - w + 0.91893853320467274 +
                          i * horner(u, 1. / 12, -1. / 360, 1. / 1260, -1. / 1680, 1. / 1188, -691. / 360360, 1. / 156);
  const double rest = log(reflected ? M_PI * steps / s : steps);
  const double y = reflected ? rest - stirling : stirling - rest;
  const bool exact = (x == 1) | (x == 2);  // where the two do not cancel to the last bit
  return abs(x) == infinity<double> ? infinity<double> : exact ? 0.0 : y;
}

/// d/dx log gamma(x): the asymptotic series from 10 on, to which smaller numbers are moved by a sum of fractions.
HB_HD_ALWAYS double digamma(double x) {
  const bool reflected = x < 0;
  const double z = reflected ? 1 - x : x;
  const bool large = z >= 10;
  double above = 1, below = z;  // their quotient is the sum of 1 / (z + k)
#define HB_TERM(k) above = fma(above, z + (k), below), below = below * (z + (k));
  HB_TERM(1)
  HB_TERM(2)
  HB_TERM(3)
  HB_TERM(4)
  HB_TERM(5)
  HB_TERM(6)
  HB_TERM(7)
  HB_TERM(8)
  HB_TERM(9)
#undef HB_TERM
  const double w = large ? z : z + 10, i = 1 / w, u = i * i;
  const double series =
      u * horner(u, 1. / 12, -1. / 120, 1. / 252, -1. / 240, 1. / 132, -691. / 32760, 1. / 12, -3617. / 8160);
  const double y = log(w) - 0.5 * i - series - (large ? 0.0 : above / below);
#ifdef __CUDA_ARCH__
  if (x > 0) return y;
#endif
  const double r = from_integer(x);
  const double cotangent = r == 0 ? nan<double> : M_PI * cos_pi(r) / sin_pi(r);
  return x == 0 ? copysign(infinity<double>, -x) : reflected ? y - cotangent : y;
}

/// d^2/dx^2 log gamma(x), in the same way.
HB_HD_ALWAYS double trigamma(double x) {
  const bool reflected = x < 0.5;
  const double z = reflected ? 1 - x : x;
  const bool large = z >= 10;
  double above = 1, below = z * z;
#define HB_TERM(k) above = fma(above, (z + (k)) * (z + (k)), below), below = below * ((z + (k)) * (z + (k)));
  HB_TERM(1)
  HB_TERM(2)
  HB_TERM(3)
  HB_TERM(4)
  HB_TERM(5)
  HB_TERM(6)
  HB_TERM(7)
  HB_TERM(8)
  HB_TERM(9)
#undef HB_TERM
  const double w = large ? z : z + 10, i = 1 / w, u = i * i;
  const double series = horner(u, 1. / 6, -1. / 30, 1. / 42, -1. / 30, 5. / 66, -691. / 2730, 7. / 6, -3617. / 510);
  const double y = i * (1 + 0.5 * i + u * series) + (large ? 0.0 : above / below);
#ifdef __CUDA_ARCH__
  if (!reflected) return y;
#endif
  const double s = sin_pi(from_integer(x)) * (1 / M_PI);
  return reflected ? 1 / (s * s) - y : y;
}

/// The inverse of erf over x of w = -log(1 - x^2), a polynomial that holds for nearly all numbers.
HB_HD_ALWAYS float erfinv_middle(float w) {
  const float c = w - 2.5f;
  return horner(c, 1.50140936f, 0.246640279f, -0.00417739288f, -0.00125272639f, 0.000218349386f, -4.97241969e-6f,
                -3.46398527e-6f, 4.68131348e-7f, 2.33359672e-8f, -8.93192597e-9f);
}
HB_HD_ALWAYS double erfinv_middle(double w) {
  const double c = w - 3.125;
  return horner(c, 1.6536545626831027, 0.2401581824255883, -0.00603367087142785, -0.000740702534154477,
                0.00018673420802464837, -1.3882523394405316e-05, -1.3654691850603575e-06, 4.234788173782339e-07,
                -2.9070382262927266e-08, -4.11266082002324e-09, 1.0512181539804126e-09, -5.414287198084716e-11,
                -1.2976885526532075e-11, 2.6304834740560442e-12, -8.118399443074353e-14, -4.001237735091896e-14,
                6.596407712420834e-15, -4.0282154327661744e-17, -1.3016928016796445e-16, 1.557432024623325e-17,
                1.150022252066253e-18, -3.4996044354754177e-19, -1.113483769832702e-21, 3.240704459379902e-21);
}
/// Numbers of which erfinv is x * erfinv_middle(w).
HB_HD_ALWAYS bool erfinv_range(float x) { return abs(x) <= 0.9966f; }
HB_HD_ALWAYS bool erfinv_range(double x) { return abs(x) <= 0.999; }
template <class T>
HB_HD_ALWAYS T erfinv_in_range(T x) {
  return x * erfinv_middle(-log((1 - x) * (1 + x)));
}
/// The inverse of erf; towards the ends, as polynomials of the root of w.
HB_HD_ALWAYS float erfinv(float x) {
  const float w = -log((1 - x) * (1 + x));
#ifdef __CUDA_ARCH__
  if (w < 5) return x * erfinv_middle(w);
#endif
  const float t = sqrt(w) - 3.179586801558725f;
  const float end = horner(t, 3.01313011f, 1.00444309f, 0.0062437465f, -0.00454320175f, 0.00315987362f, -0.00213031063f,
                           0.00113695308f, -0.000351104777f, -4.97206244e-5f, 0.000106599596f, -3.46924967e-5f);
  return x * (abs(x) == 1 ? infinity<float> : w < 5 ? erfinv_middle(w) : end);
}
/// The same by w.
HB_HD_ALWAYS double erfinv_of(double x, double w) {
#ifdef __CUDA_ARCH__
  if (w < 6.25) return x * erfinv_middle(w);
#endif
  const double root = sqrt(w), t = root - 3.25, e = root - 5.05;
  const double outer =
      horner(t, 3.0838856104922208, 1.0052589676941646, 0.005370914553573593, -0.003751208508030541,
             0.0024914420969979908, -0.0016882755445265592, 0.0009532893618552461, -0.00035503764895782253,
             2.4031286377073694e-05, 6.828561398530996e-05, -4.7319187369358214e-05, 1.2472740144742724e-05,
             2.9264777314239854e-06, -4.008956966932278e-06, 1.497191022600222e-06, 1.3250759477977463e-08,
             -2.697313682066162e-07, 9.284332225420571e-08);
  const double end =
      horner(e, 4.90042105144364, 1.010285017597288, -0.00016985809146880865, -0.0002003119902287639,
             7.124031456011196e-05, -1.837469860138816e-05, 4.193862883080483e-06, -9.06374495836458e-07,
             2.0157441372638498e-07, -5.654622962222564e-08, 2.1940357967268938e-08, -9.213336527627243e-09,
             5.623855604869031e-09, -3.933943151253622e-09, 1.2102108795112606e-09);
  return x * (abs(x) == 1 ? infinity<double> : w < 6.25 ? erfinv_middle(w) : root < 4 ? outer : end);
}
HB_HD_ALWAYS double erfinv(double x) { return erfinv_of(x, -log((1 - x) * (1 + x))); }

/// I_0 and I_1 of a number of at most 8: their power series in x^2 / 4, whose terms are all positive. What the square
/// loses is put back with the slope of the logarithm, to a tenth of it.
HB_HD_ALWAYS double small_i0(double size) {
  const double q = size * size * 0.25, lost = fma(size, size, -4 * q) * 0.25;
  const double y = horner(q, 1.0, 1.0, 0.25, 0.027777777777777776, 0.001736111111111111, 6.944444444444444e-05,
                          1.9290123456790124e-06, 3.936759889140842e-08, 6.151187326782565e-10, 7.594058428126624e-12,
                          7.594058428126623e-14, 6.276081345559193e-16, 4.358389823304995e-18, 2.5789288895295828e-20,
                          1.3157800456783586e-22, 5.8479113141260385e-25, 2.2843403570804838e-27, 7.904291893012054e-30,
                          2.4395962632753253e-32, 6.757884385804225e-35, 1.6894710964510564e-37, 3.8310002187098785e-40,
                          7.915289708078262e-43, 1.4962740468957016e-45, 2.5976979980828152e-48);
  return fma(y, lost / (1 + 0.41 * size), y);
}
HB_HD_ALWAYS double small_i1(double size) {
  const double q = size * size * 0.25, lost = fma(size, size, -4 * q) * 0.25;
  const double y = horner(q, 0.5, 0.25, 0.041666666666666664, 0.003472222222222222, 0.00017361111111111112,
                          5.787037037037037e-06, 1.3778659611992944e-07, 2.460474930713026e-09, 3.417326292656981e-11,
                          3.7970292140633116e-13, 3.451844740057556e-15, 2.615033893982997e-17, 1.676303778194229e-19,
                          9.21046031974851e-22, 4.385933485594529e-24, 1.827472285664387e-26, 6.718648109060246e-29,
                          2.195636636947793e-31, 6.419990166514014e-34, 1.6894710964510563e-36, 4.022550229645372e-39,
                          8.706818678886087e-42, 1.7207151539300568e-44, 3.1172375976993783e-47, 5.195395996165631e-50);
  return size * fma(y, lost / (2 + 0.36 * size), y);
}
/// I_0 and I_1 of 8 and more, times exp(-x) sqrt(x): polynomials of u = 1 / x.
HB_HD_ALWAYS double large_i0(double u) {
  const double t = u - 0.0625005;
  return horner(t, 0.4021765363294327, 0.05376886661003285, 0.034871383507264694, 0.04564206094704899,
                0.09724621493277823, 0.31180856954832065, 1.4885374941172238, 10.557739972543088, 92.58813010560328,
                517.5838671190862, -7484.544375169474, -234332.76990137904, -1452905.1153459428, 32984506.114844445,
                489229363.44968915, -3596056111.532018, -89431941663.24263, 322523911925.6653, 11325016496118.61,
                -20771618636697.984, -903535102718974.2, 682187400649667.6, 3.367871618671363e+16);
}
HB_HD_ALWAYS double large_i1(double u) {
  const double t = u - 0.0625005;
  return horner(t, 0.38939838102924074, -0.15599329121617148, -0.05612444793847461, -0.0615981298836535,
                -0.12025358512827715, -0.36531350555534, -1.6779669125344914, -11.578644800811887, -100.43049576818954,
                -577.7093429092031, 7472.612606028222, 245466.48945284117, 1610573.713374177, -33476612.74809697,
                -520411970.4136165, 3542159098.148968, 93965772152.16913, -309292943377.9023, -11835184851207.27,
                19518042162047.75, 941841130531628.2, -632377259420402.1, -3.5061952506373444e+16);
}
/// I_0 or I_1 of numbers of at most 8, and of others; scaled: times exp(-size).
template <int kOrder, bool kScaled>
HB_HD_ALWAYS double small_bessel_i(double size) {
  const double series = kOrder ? small_i1(size) : small_i0(size);
  return kScaled ? series * exp(-size) : series;
}
template <int kOrder, bool kScaled>
HB_HD_ALWAYS double large_bessel_i(double size) {
  const double u = 1 / size, ends = (kOrder ? large_i1(u) : large_i0(u)) / sqrt(size);
  // exp in two factors: it may be too large where the result is not.
  const double most = size > 700 ? 700.0 : size;
  const double grown = kScaled ? ends : ends * exp(most) * exp(size - most);
  return size == infinity<double> ? (kScaled ? 0.0 : size) : grown;
}
/// I_0 or I_1 of x; scaled: times exp(-|x|).
template <int kOrder, bool kScaled>
HB_HD_ALWAYS double bessel_i(double x) {
  const double size = abs(x);
#ifdef __CUDA_ARCH__
  const double y = size > 8 ? large_bessel_i<kOrder, kScaled>(size) : small_bessel_i<kOrder, kScaled>(size);
#else
  const double low = size > 8 ? 8.0 : size, high = size > 8 ? size : 8.0;
  const double small = small_bessel_i<kOrder, kScaled>(low), large = large_bessel_i<kOrder, kScaled>(high);
  const double y = size > 8 ? large : size == size ? small : size;
#endif
  return kOrder ? copysign(y, x) : y;
}

}  // namespace hb::math
