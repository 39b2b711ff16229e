#pragma once
// The numbers of <c10/util/MathConstants.h>.

namespace hb::bridge::math_constants {

template <class T>
inline constexpr T e = static_cast<T>(2.718281828459045235360287471352662);
template <class T>
inline constexpr T euler = static_cast<T>(0.577215664901532860606512090082402);
template <class T>
inline constexpr T frac_1_pi = static_cast<T>(0.318309886183790671537767526745028);
template <class T>
inline constexpr T frac_1_sqrt_pi = static_cast<T>(0.564189583547756286948079451560772);
template <class T>
inline constexpr T frac_sqrt_2 = static_cast<T>(0.707106781186547524400844362104849);
template <class T>
inline constexpr T frac_sqrt_3 = static_cast<T>(0.577350269189625764509148780501957);
template <class T>
inline constexpr T golden_ratio = static_cast<T>(1.618033988749894848204586834365638);
template <class T>
inline constexpr T ln_10 = static_cast<T>(2.302585092994045684017991454684364);
template <class T>
inline constexpr T ln_2 = static_cast<T>(0.693147180559945309417232121458176);
template <class T>
inline constexpr T log_10_e = static_cast<T>(0.434294481903251827651128918916605);
template <class T>
inline constexpr T log_2_e = static_cast<T>(1.442695040888963407359924681001892);
template <class T>
inline constexpr T pi = static_cast<T>(3.141592653589793238462643383279502);
template <class T>
inline constexpr T sqrt_2 = static_cast<T>(1.414213562373095048801688724209698);
template <class T>
inline constexpr T sqrt_3 = static_cast<T>(1.732050807568877293527446341505872);

}  // namespace hb::bridge::math_constants
