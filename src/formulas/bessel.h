#pragma once
// Bessel functions of order 0 and 1: of the first and second kind (J, Y) and modified of the second kind (K), computed
// in double without branches. The coefficients are of Chebyshev interpolations in 40 digits, of variables from -1 to 1.

#include "formulas/vector_special.h"

namespace hb::math {

/// J for |x| <= 8: the first two zeros are factors, whose squares are numbers of two parts.
template <int kOrder>
HB_HD_ALWAYS double small_bessel_j(double x) {
  const double s = fma(x, x, -32.0) * 0.03125;
  if constexpr (kOrder == 0) {
    const double first = fma(x, x, -5.783185962946784) - 4.123247343506204e-16;
    const double second = fma(x, x, -30.471262343662087) + 2.366534485750659e-16;
    return first * second *
           horner(s, 0.0011434937743762545, -0.002119794289479692, 0.0015636431645931661, -0.0006415390646406127,
                  0.00016977200713997844, -3.157342540223125e-05, 4.366932324640495e-06, -4.677128021500441e-07,
                  3.9988393455463595e-08, -2.7948629190183006e-09, 1.627648933419121e-10, -8.023536504698471e-12,
                  3.3923485209602274e-13, -1.2440365199268069e-14, 3.995431878450121e-16, -1.1360491593488979e-17,
                  2.865730728890263e-19);
  } else {
    const double first = fma(x, x, -14.681970642123893) + 9.858177825793294e-17;
    const double second = fma(x, x, -49.2184563216946) - 5.086354069436341e-16;
    return x * first * second *
           horner(s, 0.00019498936985895625, -0.0002697522746716368, 0.00015860016799369874, -5.408003239085507e-05,
                  1.224217365301561e-05, -1.98909351591414e-06, 2.442522260752042e-07, -2.3521922546334314e-08,
                  1.826854769532134e-09, -1.1696932385923217e-10, 6.284733827928662e-12, -2.8755486539015503e-13,
                  1.1343125417561167e-14, -3.8985659874911057e-16, 1.1811464430757053e-17, -3.1618386969569665e-19);
  }
}
/// Y for 0 < x <= 8: the logarithm times J, and what is without a logarithm.
template <int kOrder>
HB_HD_ALWAYS double small_bessel_y(double x) {
  const double s = fma(x, x, -32.0) * 0.03125, with_log = log(x) * small_bessel_j<kOrder>(x),
               two_over_pi = 0.63661977236758134308;
  if constexpr (kOrder == 0) {
    const double rest =
        horner(s, -0.382250654459425, -0.8284358903604587, 1.6470964788745466, 0.14412632369302442, -1.0775477338215995,
               0.6721770783431723, -0.2189574709617165, 0.046367047681347105, -0.0070257410572698254,
               0.0008061586060550243, -7.279541882784653e-05, 5.321318633837175e-06, -3.2185077885022706e-07,
               1.6391065111246523e-08, -7.130516940301903e-10, 2.681836493410209e-11, -8.81052546459933e-13,
               2.550861655159015e-14, -6.574806994171116e-16, 1.5111118382094027e-17);
    return fma(with_log, two_over_pi, rest);
  } else {
    const double rest =
        horner(s, 0.07075985882118005, -0.24337743079193114, 0.023367571720993584, 0.23507209206669755,
               -0.19639839859930425, 0.07854786922242545, -0.01962875683309943, 0.003422490739918046,
               -0.00044381734351146775, 4.46743301291431e-05, -3.6009998744473813e-06, 2.3804929913922317e-07,
               -1.31533223991362e-08, 6.16974257301963e-10, -2.48876602241918e-11, 8.728846992741433e-13,
               -2.6871218482682002e-14, 7.320632021158841e-16, -1.7815800257405252e-17, 3.879779789058402e-19);
    return x == 0 ? -infinity<double> : fma(with_log - 1 / x, two_over_pi, x * rest);
  }
}

/// J and Y for x >= 8: cos and sin of x less a quarter (or three quarters) of pi, of which each has a share that is a
/// series in 1 / x (DLMF 10.17).
struct LargeBessel {
  double j, y;
};
template <int kOrder>
HB_HD LargeBessel large_bessel(double x) {
  const double r = 8 / x, u = fma(2 * r, r, -1.0), scale = 0.56418958354775628695 / sqrt(x);
  double p, q;
  if constexpr (kOrder == 0) {
    p = horner(u, 0.9994572757882519, -0.0005363673192130046, 6.13741608016085e-06, -2.0527448156495066e-07,
               1.2803760619529231e-08, -1.2121181917899886e-09, 1.5501058085561605e-10, -2.488275527812745e-11,
               4.772925905800956e-12, -1.0635980595216018e-12, 2.659486692682967e-13, -6.423863317028666e-14,
               1.839323047121498e-14, -1.1778137922744418e-14, 4.285344320644563e-15);
    q = horner(u, -0.015555113879513518, 6.833149099344075e-05, -1.4771388326473744e-06, 7.106214852432276e-08,
               -5.668716091144362e-09, 6.432789309241135e-10, -9.470386229469955e-11, 1.702943915933753e-11,
               -3.5891751531936186e-12, 8.68860563656614e-13, -2.330636917551769e-13, 5.765391531338497e-14,
               -1.7256018173230505e-14, 1.2703337763959492e-14, -4.832460403369333e-15);
  } else {
    p = horner(u, 1.0009070262780821, 0.0008988049416705578, -7.959694698492521e-06, 2.453676622286961e-07,
               -1.4708512124130545e-08, 1.3603057890123779e-09, -1.713159495740877e-10, 2.7204123552148816e-11,
               -5.176302123326507e-12, 1.1461306026400314e-12, -2.851410619022524e-13, 6.871916868892792e-14,
               -1.961627571558179e-14, 1.2466964342989236e-14, -4.5247520559705565e-15);
    q = horner(u, 0.04677687402744898, -9.621458822054624e-05, 1.8212018512285427e-06, -8.291960701565042e-08,
               6.4201325429831086e-09, -7.151113407635711e-10, 1.0395068460328534e-10, -1.8520806488547767e-11,
               3.876268151236579e-12, -9.33020006505065e-13, 2.4914316871937574e-13, -6.154174237314398e-14,
               1.8370749899635615e-14, -1.3419652685122838e-14, 5.093381730784018e-15);
  }
  q *= r;
  if (x == infinity<double>) return {0, 0};
  const double sum = sin(x) + cos(x), difference = sin(x) - cos(x);
  if constexpr (kOrder == 0)
    return {(p * sum - q * difference) * scale, (p * difference + q * sum) * scale};
  else
    return {(p * difference + q * sum) * scale, (q * difference - p * sum) * scale};
}

/// Numbers of which they are the forms for small ones.
HB_HD_ALWAYS bool bessel_j_range(double x) { return abs(x) <= 8; }
HB_HD_ALWAYS bool bessel_y_range(double x) { return (x >= 0) & (x <= 8); }

/// A GPU has its own.
template <int kOrder>
HB_HD double bessel_j(double x) {
#ifdef __CUDA_ARCH__
  return kOrder ? ::j1(x) : ::j0(x);
#else
  const double size = abs(x), y = bessel_j_range(x) ? small_bessel_j<kOrder>(size) : large_bessel<kOrder>(size).j;
  return kOrder && x < 0 ? -y : y;
#endif
}
template <int kOrder>
HB_HD double bessel_y(double x) {
#ifdef __CUDA_ARCH__
  return x < 0 ? nan<double> : kOrder ? ::y1(x) : ::y0(x);
#else
  return bessel_y_range(x) ? small_bessel_y<kOrder>(x) : x > 8 ? large_bessel<kOrder>(x).y : nan<double>;
#endif
}

/// K for 0 < x <= 2 by its power series in x^2 / 4 (DLMF 10.31.1 and 10.31.2).
template <int kOrder>
HB_HD_ALWAYS double small_bessel_k(double x) {
  const double q = x * x * 0.25, log_half = log(x * 0.5);
  if constexpr (kOrder == 0) {
    const double i0 = horner(q, 1.0, 1.0, 0.25, 0.027777777777777776, 0.001736111111111111, 6.944444444444444e-05,
                             1.9290123456790124e-06, 3.936759889140842e-08, 6.151187326782565e-10,
                             7.594058428126624e-12, 7.594058428126623e-14, 6.276081345559193e-16);
    const double rest =
        horner(q, -0.5772156649015329, 0.42278433509846713, 0.23069608377461678, 0.0348921574564389,
               0.0026147876188052093, 0.00011848039364109726, 3.6126241031992037e-06, 7.935096521304209e-08,
               1.3167486730385647e-09, 1.709994072705808e-11, 1.785934656987074e-13, 1.5330343403208473e-15);
    return fma(-log_half, i0, rest);
  } else {
    const double i1 =
        horner(q, 1.0, 0.5, 0.08333333333333333, 0.006944444444444444, 0.00034722222222222224, 1.1574074074074073e-05,
               2.755731922398589e-07, 4.920949861426052e-09, 6.834652585313961e-11, 7.594058428126623e-13,
               6.903689480115112e-15, 5.230067787965994e-17);
    const double rest =
        horner(q, -0.15443132980306573, 0.6727843350984671, 0.18157516696085563, 0.019182189839330562,
               0.001115359491966528, 4.142247689271143e-05, 1.071545914091181e-06, 2.045286003593878e-08,
               3.002048746589188e-10, 3.495928729692882e-12, 3.309914735250272e-14, 2.5986411321011286e-16);
    return 1 / x + x * 0.5 * (log_half * i1 - 0.5 * rest);
  }
}
/// K for x >= 2, times exp(x).
template <int kOrder>
HB_HD_ALWAYS double large_bessel_k(double x) {
  const double u = fma(4.0, 1 / x, -1.0);
  if constexpr (kOrder == 0)
    return horner(u, 1.2185953385133905, -0.031071461824889558, 0.0030328918102738114, -0.0004797690567621869,
                  9.956054749222072e-05, -2.4735204685849812e-05, 7.002244303330549e-06, -2.191176013502258e-06,
                  7.427930662849315e-07, -2.6892080372518763e-07, 1.0288069483966884e-07, -4.126918522291483e-08,
                  1.7312995045968196e-08, -7.512457819393254e-09, 3.1783612286634933e-09, -1.4404758651443358e-09,
                  1.0450469654372086e-09, -5.418134445780214e-10, -2.296305052830524e-10, 1.5340126238605654e-10,
                  3.796424611822554e-10, -2.2303328496385004e-10, -1.5419231423351582e-10, 9.239492719735017e-11,
                  4.390754852709943e-11, -2.582452501563754e-11) /
           sqrt(x);
  else
    return horner(u, 1.363151890371342, 0.10334973775386527, -0.005566729880072949, 0.000735724154903766,
                  -0.0001395902196408485, 3.284386569308467e-05, -8.961205929611785e-06, 2.730039509989776e-06,
                  -9.067228220802146e-07, 3.229965620159241e-07, -1.21951894454213e-07, 4.838602136498907e-08,
                  -2.0105919367047817e-08, 8.654462540906392e-09, -3.6475900600687235e-09, 1.644089713355689e-09,
                  -1.166820125045468e-09, 6.014360573864588e-10, 2.420762534801533e-10, -1.6272853347015717e-10,
                  -4.1258147760560677e-10, 2.4182967169209887e-10, 1.6685782786246503e-10, -9.982856117524016e-11,
                  -4.7692737490629826e-11, 2.7995703082404277e-11) /
           sqrt(x);
}
/// K; scaled: times exp(x).
template <int kOrder, bool kScaled>
HB_HD_ALWAYS double bessel_k(double x) {
  const double low = x > 2 ? 2.0 : x, high = x > 2 ? x : 2.0;
  // exp in two factors: one alone falls below the normal numbers before the product does.
  const double near = small_bessel_k<kOrder>(low) * (kScaled ? exp(low) : 1.0);
  const double fall = kScaled ? 1.0 : exp(-0.5 * high), far = fall * large_bessel_k<kOrder>(high) * fall;
  return x > 2 ? far : x > 0 ? near : x == 0 ? infinity<double> : nan<double>;
}

/// sin(x) / x.
HB_HD double spherical_bessel_j0(double x) { return x == 0 ? 1 : ::fabs(x) == infinity<double> ? 0 : ::sin(x) / x; }

}  // namespace hb::math
