#pragma once
// Numbers of rounded.h. Those with a part and a rest are one number in two; the polynomials are of the functions that
// are named, in the argument or in its square.

#include <array>
#include <cstdint>

namespace hb::math::rounded {

template <class T>
struct Constants;
template <>
struct Constants<float> {
  using Bits = uint32_t;
  static constexpr int mantissa = 23, bias = 127;
  static constexpr float magic = 0x1.8p23f, smallest = 0x1p-126f, sqrt_half = 0x1.6a09e6p-1f;
  static constexpr float exp_low = -104, exp_high = 89, exp_plain_end = 87, exp2_low = -151, cosh_high = 90,
                         expm1_low = -18, large_angle = 65536;
  static constexpr float ln2 = 0x1.62e43p-1f, ln2_rest = -0x1.05c61p-29f;
  static constexpr float ln2_short = 0x1.62e4p-1f, ln2_short_rest = 0x1.7f7d1cp-20f;  // times an exponent it is exact
  static constexpr float log10_2_short = 0x1.344p-2f, log10_2_short_rest = 0x1.3509f8p-18f;
  static constexpr float log2_e = 0x1.715476p+0f, log2_e_rest = 0x1.4ae0cp-26f;
  static constexpr float log10_e = 0x1.bcb7b2p-2f, log10_e_rest = -0x1.5b235ep-27f;
  static constexpr float half_pi = 0x1.921fb6p+0f, half_pi_2 = -0x1.777a5cp-25f, half_pi_3 = -0x1.ee59dap-50f;
  static constexpr std::array<float, 5> exp_q{0.5f, 0.166665767f, 0.0416665542f, 8.36323288e-3f, 1.39262512e-3f};
  static constexpr std::array<float, 3> sin_s{-0.166666647f, 8.3327471e-3f, -1.9587639e-4f};
  static constexpr std::array<float, 3> cos_c{0.0416666647f, -1.38883019e-3f, 2.45476897e-5f};
  static constexpr std::array<float, 7> tan_t{0.33333334f,   0.133332302f,  0.0539946242f, 0.0216198725f,
                                              9.9665457e-3f, 1.1782981e-3f, 3.84730533e-3f};
  static constexpr std::array<float, 6> asin_p{0.166666663f,  0.0750009454f, 0.0445994015f,
                                               0.0311006627f, 0.0171492384f, 0.0336908472f};
  static constexpr std::array<float, 9> atan_p{-0.333333317f, 0.199997393f,   -0.142785687f,
                                               0.110337641f,  -0.0865688043f, 0.0625016944f,
                                               -0.035871539f, 0.0135077714f,  -2.38699732e-3f};
  static constexpr std::array<float, 8> log_p{0.333333307f, -0.250003064f, 0.200010451f, -0.166412815f,
                                              0.142144959f, -0.129981838f, 0.126223198f, -0.0790274377f};
  static constexpr std::array<float, 7> erf_small{0.128379167f,   -0.37612634f,    0.112836994f,  -0.0268595881f,
                                                  5.20145633e-3f, -8.14708112e-4f, 8.38707456e-5f};
  static constexpr std::array<float, 9> erf_tail{3.23185627e-4f, -1.13025194f,    -0.631784466f,
                                                 -0.110128096f,  0.026453158f,    -4.77243459e-3f,
                                                 5.99859686e-4f, -4.64552362e-5f, 1.6589021e-6f};
};
template <>
struct Constants<double> {
  using Bits = uint64_t;
  static constexpr int mantissa = 52, bias = 1023;
  static constexpr double magic = 0x1.8p52, smallest = 0x1p-1022, sqrt_half = 0x1.6a09e667f3bcdp-1;
  static constexpr double exp_low = -746, exp_high = 710, exp_plain_end = 708, exp2_low = -1076, cosh_high = 711,
                          expm1_low = -38, large_angle = 1048576;
  static constexpr double ln2 = 0x1.62e42fefa39efp-1, ln2_rest = 0x1.abc9e3b39803fp-56;
  static constexpr double log10_2_short = 0x1.34413509f8p-2, log10_2_short_rest = -0x1.80433b83b532ap-44;
  static constexpr double log2_e = 0x1.71547652b82fep+0, log2_e_rest = 0x1.777d0ffda0d24p-56;
  static constexpr double log10_e = 0x1.bcb7b1526e50ep-2, log10_e_rest = 0x1.95355baaafad3p-57;
  static constexpr double half_pi = 0x1.921fb54442d18p+0, half_pi_2 = 0x1.1a62633145c07p-54,
                          half_pi_3 = -0x1.f1976b7ed8fbcp-110;
  static constexpr std::array<double, 10> exp_q{0.5000000000000001,    0.16666666666666667,   0.041666666666623821,
                                                8.3333333333300382e-3, 1.3888888917367081e-3, 1.9841269863171556e-4,
                                                2.4801521057868205e-5, 2.7557268276905696e-6, 2.7620201591031549e-7,
                                                2.5100472505694996e-8};
  static constexpr std::array<double, 6> sin_s{-0.16666666666666665,  8.3333333333309366e-3,  -1.9841269836740528e-4,
                                               2.7557316093196064e-6, -2.5051129895962806e-8, 1.5917988944318715e-10};
  static constexpr std::array<double, 6> cos_c{0.041666666666666665,   -1.388888888888739e-3, 2.4801587298754398e-5,
                                               -2.7557317265876616e-7, 2.087614504910828e-9,  -1.138254462340429e-11};
  static constexpr std::array<double, 15> tan_t{0.33333333333333334,   0.13333333333332995,    0.053968253968661657,
                                                0.021869488516799371,  8.8632360098277169e-3,  3.5921208932931169e-3,
                                                1.4559035143147493e-3, 5.8957094621759298e-4,  2.4124581635344912e-4,
                                                8.9928091055854959e-5, 5.5705161669413974e-5,  -1.1178739990301611e-5,
                                                3.66678778392268e-5,   -1.8397257114776145e-5, 8.5030631284451258e-6};
  static constexpr std::array<double, 13> asin_p{
      0.16666666666666668,  0.074999999999984329,  0.04464285714635543,  0.030381944138531247, 0.022372172942149888,
      0.017352392720869973, 0.013971212973552933,  0.011479177415184906, 0.010322814350185779, 5.4575067186403583e-3,
      0.017400879442694022, -0.014851887071247203, 0.028757851367421565};
  static constexpr std::array<double, 20> atan_p{
      -0.3333333333333333,    0.19999999999997532,   -0.14285714285384132,   0.11111111093490828,
      -0.090909085908919342,  0.076922989710332169,  -0.066665646992891042,  0.058815068777936561,
      -0.052579733342841108,  0.04737749579527779,   -0.042603566326016521,  0.037494868125352471,
      -0.031277189066996385,  0.023696731580048622,  -0.015535152475414176,  8.3689311784501621e-3,
      -3.4958859739163095e-3, 1.0496035084968515e-3, -1.9996189377901382e-4, 1.8061954618612152e-5};
  static constexpr std::array<double, 7> log_q{0.66666666666666697, 0.39999999999898891, 0.28571428626253838,
                                               0.22222211089379496, 0.18182892432536871, 0.15331611722055008,
                                               0.14617807153417325};
  static constexpr std::array<double, 8> erf_small{0.12837916709551257,   -0.3761263890318375,   0.1128379167095434,
                                                   -0.026866170644125456, 5.2239775621696917e-3, -8.5483053976090631e-4,
                                                   1.2051234109119238e-4, -1.45201080142086e-5};
  static constexpr std::array<double, 10> sinh_p{0.16666666666666667,    8.3333333333333333e-3,  1.9841269841269837e-4,
                                                 2.7557319223987146e-6,  2.5052108385242795e-8,  1.6059043854920925e-10,
                                                 7.6471627297055355e-13, 2.8114915707764054e-15, 8.2135433460265795e-18,
                                                 2.038169423633376e-20};
};

}  // namespace hb::math::rounded
