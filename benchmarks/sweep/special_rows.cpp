// Element-wise functions that few programs call, and those of mathematical physics.
#include "sweep.h"

#define F HB_SWEEP

namespace sweep {
namespace {

Tensor above_one(int64_t n, torch::Dtype dtype) { return positive(n, dtype) + 1; }
Tensor degrees(int64_t n, torch::Dtype dtype) { return torch::remainder(grid(n, dtype).abs(), 4); }

std::vector<Row> elementary() {
  return {
      {"acos", kFloats, {positive}, F(torch::acos(x[0]))},
      {"acosh", kFloats, {above_one}, F(torch::acosh(x[0]))},
      {"asinh", kFloats, {grid}, F(torch::asinh(x[0]))},
      {"cosh", kFloats, {grid}, F(torch::cosh(x[0]))},
      {"ceil", kFloats, {grid}, F(torch::ceil(x[0]))},
      {"trunc", kFloats, {grid}, F(torch::trunc(x[0]))},
      {"exp2", kFloats, {grid}, F(torch::exp2(x[0]))},
      {"log10", kFloats, {positive}, F(torch::log10(x[0]))},
      {"sinc", kFloats, {grid}, F(torch::sinc(x[0]))},
      {"sgn", kNumbers, {grid}, F(torch::sgn(x[0]))},
      {"signbit", kNumbers, {grid}, F(torch::signbit(x[0]))},
      {"positive", kNumbers, {grid}, F(torch::positive(x[0]))},
      {"deg2rad", kFloats, {grid}, F(torch::deg2rad(x[0]))},
      {"angle", kFloats, {grid}, F(torch::angle(x[0]))},
      {"relu6", kFloats, {grid}, F(torch::relu6(x[0]))},
      {"softsign", kFloats, {grid}, F(x[0] / (x[0].abs() + 1))},
      {"tanhshrink", kFloats, {grid}, F(x[0] - torch::tanh(x[0]))},
      {"rrelu", kFloats, {grid}, F(torch::rrelu(x[0]))},
      {"isposinf", kFloats, {grid}, F(torch::isposinf(x[0]))},
      {"isclose", kNumbers, {grid, grid}, F(torch::isclose(x[0], x[1]))},
      {"fmax", kNumbers, {grid, grid}, F(torch::fmax(x[0], x[1]))},
      {"minimum", kNumbers, {grid, grid}, F(torch::minimum(x[0], x[1]))},
      {"lcm", kInt64, {positive, positive}, F(torch::lcm(x[0], x[1]))},
      {"ldexp", kFloats, {grid, places}, F(torch::ldexp(x[0], x[1] % 4))},
      {"float_power", kWide, {positive, grid}, F(torch::float_power(x[0], x[1]))},
      {"logaddexp2", kWide, {grid, grid}, F(torch::logaddexp2(x[0], x[1]))},
      {"logical_xor", kNumbers, {grid, grid}, F(torch::logical_xor(x[0], x[1]))},
      {"bitwise_xor", kInt64, {grid, grid}, F(torch::bitwise_xor(x[0], x[1]))},
      {"shift_right", kInt64, {positive, positive}, F(torch::bitwise_right_shift(x[0], x[1]))},
      {"frexp", kWide, {grid}, F(std::get<0>(torch::frexp(x[0])))},
      {"rsub", kNumbers, {grid}, F(torch::rsub(x[0], 2))},
      {"pow_of_number", kFloats, {grid}, F(torch::pow(2, x[0]))},
      {"pow_half", kFloats, {positive}, F(x[0].pow(0.5))},
      {"ge", kNumbers, {grid, grid}, F(x[0] >= x[1])},
      {"div_floor", kNumbers, {grid, positive}, F(torch::div(x[0], x[1], "floor"))},
      {"polar", kWide, {positive, grid}, F(torch::polar(x[0], x[1]))},
      {"where_numbers", kF32, {mask}, F(torch::where(x[0], 1.0, 0.0))},
      {"clamp_tensors", kNumbers, {grid, row, positive}, F(torch::clamp(x[0], x[1], x[2]))},
      {"lerp_tensor", kFloats, {grid, grid, positive}, F(torch::lerp(x[0], x[1], x[2]))},
  };
}

std::vector<Row> gammas() {
  return {
      {"igamma", kWide, {positive, positive}, F(torch::igamma(x[0].detach(), x[1]))},
      {"igammac", kWide, {positive, positive}, F(torch::igammac(x[0].detach(), x[1]))},
      {"mvlgamma", kWide, {above_one}, F(torch::mvlgamma(x[0], 2))},
      {"polygamma", kWide, {positive}, F(torch::polygamma(2, x[0]))},
      {"zeta", kWide, {above_one, positive}, F(torch::special_zeta(x[0].detach(), x[1]))},
      {"entr", kWide, {positive}, F(torch::special_entr(x[0]))},
      {"ndtr", kWide, {grid}, F(torch::special_ndtr(x[0]))},
      {"ndtri", kWide, {positive}, F(torch::special_ndtri(x[0]))},
      {"log_ndtr", kWide, {grid}, F(torch::special_log_ndtr(x[0]))},
      {"erfcx", kWide, {grid}, F(torch::special_erfcx(x[0]))},
      {"xlog1py", kWide, {grid, positive}, F(torch::special_xlog1py(x[0], x[1]))},
      {"expit", kFloats, {grid}, F(torch::special_expit(x[0]))},
  };
}

std::vector<Row> bessel() {
  return {
      {"bessel_j0", kWide, {grid}, F(torch::special_bessel_j0(x[0].detach()))},
      {"bessel_j1", kWide, {grid}, F(torch::special_bessel_j1(x[0].detach()))},
      {"bessel_y0", kWide, {positive}, F(torch::special_bessel_y0(x[0].detach()))},
      {"bessel_y1", kWide, {positive}, F(torch::special_bessel_y1(x[0].detach()))},
      {"i0e", kWide, {grid}, F(torch::special_i0e(x[0]))},
      {"i1", kWide, {grid}, F(torch::special_i1(x[0]))},
      {"i1e", kWide, {grid}, F(torch::special_i1e(x[0]))},
      {"modified_bessel_i0", kWide, {grid}, F(torch::special_modified_bessel_i0(x[0].detach()))},
      {"modified_bessel_k0", kWide, {positive}, F(torch::special_modified_bessel_k0(x[0].detach()))},
      {"modified_bessel_k1", kWide, {positive}, F(torch::special_modified_bessel_k1(x[0].detach()))},
      {"scaled_bessel_k0", kWide, {positive}, F(torch::special_scaled_modified_bessel_k0(x[0].detach()))},
      {"spherical_bessel_j0", kWide, {grid}, F(torch::special_spherical_bessel_j0(x[0].detach()))},
      {"airy_ai", kWide, {grid}, F(torch::special_airy_ai(x[0].detach()))},
  };
}

std::vector<Row> polynomials() {
  return {
      {"chebyshev_t",
       kWide,
       {positive, degrees},
       F(torch::special_chebyshev_polynomial_t(x[0].detach(), x[1].detach()))},
      {"chebyshev_u",
       kWide,
       {positive, degrees},
       F(torch::special_chebyshev_polynomial_u(x[0].detach(), x[1].detach()))},
      {"hermite_h", kWide, {grid, degrees}, F(torch::special_hermite_polynomial_h(x[0].detach(), x[1].detach()))},
      {"hermite_he", kWide, {grid, degrees}, F(torch::special_hermite_polynomial_he(x[0].detach(), x[1].detach()))},
      {"laguerre_l", kWide, {grid, degrees}, F(torch::special_laguerre_polynomial_l(x[0].detach(), x[1].detach()))},
      {"legendre_p", kWide, {positive, degrees}, F(torch::special_legendre_polynomial_p(x[0].detach(), x[1].detach()))},
  };
}

}  // namespace

std::vector<Row> special_rows() {
  std::vector<Row> all;
  for (const auto& part : {elementary(), gammas(), bessel(), polynomials()})
    all.insert(all.end(), part.begin(), part.end());
  return all;
}

}  // namespace sweep
