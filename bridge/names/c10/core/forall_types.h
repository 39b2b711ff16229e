#pragma once
// AT_FORALL_SCALAR_TYPES(_) and its kin: `_(C++ type, enumerator)` for each dtype of a list. Of dtypes that no tensor
// of Halfbridge can have (complex halves, floats of eight bits, quantized ones) there is no row.

#include <halfbridge/bridge/utility.h>
#include <halfbridge/dtype.h>

#define AT_FORALL_INT_TYPES(_) _(uint8_t, Byte) _(int8_t, Char) _(int16_t, Short) _(int, Int) _(int64_t, Long)
#define AT_FORALL_SCALAR_TYPES(_) AT_FORALL_INT_TYPES(_) _(float, Float) _(double, Double)
#define HB_FORALL_NAMED(T, _) _(::hb::bridge::cpp_type_t<::hb::ScalarType::T>, T)
#define AT_FORALL_SCALAR_TYPES_AND(T1, _) AT_FORALL_SCALAR_TYPES(_) HB_FORALL_NAMED(T1, _)
#define AT_FORALL_SCALAR_TYPES_AND2(T1, T2, _) AT_FORALL_SCALAR_TYPES_AND(T1, _) HB_FORALL_NAMED(T2, _)
#define AT_FORALL_SCALAR_TYPES_AND3(T1, T2, T3, _) AT_FORALL_SCALAR_TYPES_AND2(T1, T2, _) HB_FORALL_NAMED(T3, _)
#define AT_FORALL_COMPLEX_TYPES(_) HB_FORALL_COMPLEX_DTYPES(_)
#define AT_FORALL_SCALAR_TYPES_WITH_COMPLEX_EXCEPT_COMPLEX_HALF_F8NZ(_) \
  AT_FORALL_INT_TYPES(_)                                                \
  _(::hb::Half, Half)                                                   \
  _(float, Float)                                                       \
  _(double, Double)                                                     \
  HB_FORALL_COMPLEX_DTYPES(_)                                           \
  _(bool, Bool)                                                         \
  _(::hb::BFloat16, BFloat16)
#define AT_FORALL_SCALAR_TYPES_WITH_COMPLEX(_) AT_FORALL_SCALAR_TYPES_WITH_COMPLEX_EXCEPT_COMPLEX_HALF_F8NZ(_)
