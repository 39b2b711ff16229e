#pragma once
// 2_if and 2.5_id: imaginary numbers, after `using namespace c10::complex_literals`.

#include <halfbridge/complex.h>

namespace hb::imaginary {

constexpr Complex<float> operator""_if(long double imag) { return {0.0f, static_cast<float>(imag)}; }
constexpr Complex<double> operator""_id(long double imag) { return {0.0, static_cast<double>(imag)}; }
constexpr Complex<float> operator""_if(unsigned long long imag) { return {0.0f, static_cast<float>(imag)}; }
constexpr Complex<double> operator""_id(unsigned long long imag) { return {0.0, static_cast<double>(imag)}; }

}  // namespace hb::imaginary
