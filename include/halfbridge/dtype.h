#pragma once

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <string>
#include <string_view>

#include <halfbridge/complex.h>
#include <halfbridge/half.h>
#include <halfbridge/macros.h>

namespace hb {

/// Element types. The numbers are LibTorch's, which file formats store. No tensor has one of HB_FORALL_NAMED_DTYPES:
/// programs compare and map them.
enum class ScalarType : int8_t {
  Byte = 0,
  Char = 1,
  Short = 2,
  Int = 3,
  Long = 4,
  Half = 5,
  Float = 6,
  Double = 7,
  ComplexHalf = 8,
  ComplexFloat = 9,
  ComplexDouble = 10,
  Bool = 11,
  QInt8 = 12,
  QUInt8 = 13,
  QInt32 = 14,
  BFloat16 = 15,
  QUInt4x2 = 16,
  QUInt2x4 = 17,
  Bits1x8 = 18,
  Bits2x4 = 19,
  Bits4x2 = 20,
  Bits8 = 21,
  Bits16 = 22,
  Float8_e5m2 = 23,
  Float8_e4m3fn = 24,
  Float8_e5m2fnuz = 25,
  Float8_e4m3fnuz = 26,
  UInt16 = 27,
  UInt32 = 28,
  UInt64 = 29,
  Float8_e8m0fnu = 44,
  Float4_e2m1fn_x2 = 45,
  Undefined = 46,
};
using Dtype = ScalarType;

/// (C++ type, enumerator) of each real type that a tensor can have.
#define HB_FORALL_REAL_DTYPES(_) \
  _(uint8_t, Byte)               \
  _(int8_t, Char)                \
  _(int16_t, Short)              \
  _(int32_t, Int)                \
  _(int64_t, Long)               \
  _(::hb::Half, Half)            \
  _(float, Float)                \
  _(double, Double)              \
  _(bool, Bool)                  \
  _(::hb::BFloat16, BFloat16)
#define HB_FORALL_COMPLEX_DTYPES(_)     \
  _(::hb::Complex<float>, ComplexFloat) \
  _(::hb::Complex<double>, ComplexDouble)
/// Of each type that kernels are written for.
#define HB_FORALL_COMPUTED_DTYPES(_) HB_FORALL_REAL_DTYPES(_) HB_FORALL_COMPLEX_DTYPES(_)
/// Of the unsigned types that are stored and converted: element-wise functions and reductions compute them as int64,
/// and what moves elements takes them for the signed type of their size (moved_type).
#define HB_FORALL_WIDE_UNSIGNED_DTYPES(_) \
  _(uint16_t, UInt16)                     \
  _(uint32_t, UInt32)                     \
  _(uint64_t, UInt64)
// clang-format off
/// The types that have a name alone.
#define HB_FORALL_NAMED_DTYPES(_)                                                                                    \
  _(ComplexHalf) _(QInt8) _(QUInt8) _(QInt32) _(QUInt4x2) _(QUInt2x4) _(Bits1x8) _(Bits2x4) _(Bits4x2) _(Bits8) \
  _(Bits16) _(Float8_e5m2) _(Float8_e4m3fn) _(Float8_e5m2fnuz) _(Float8_e4m3fnuz) _(Float8_e8m0fnu) \
  _(Float4_e2m1fn_x2)
// clang-format on
/// Of each type that a tensor can have.
#define HB_FORALL_DTYPES(_) HB_FORALL_COMPUTED_DTYPES(_) HB_FORALL_WIDE_UNSIGNED_DTYPES(_)

constexpr ScalarType kByte = ScalarType::Byte, kUInt8 = ScalarType::Byte, kU8 = ScalarType::Byte;
constexpr ScalarType kChar = ScalarType::Char, kInt8 = ScalarType::Char, kI8 = ScalarType::Char;
constexpr ScalarType kShort = ScalarType::Short, kInt16 = ScalarType::Short, kI16 = ScalarType::Short;
constexpr ScalarType kInt = ScalarType::Int, kInt32 = ScalarType::Int, kI32 = ScalarType::Int;
constexpr ScalarType kLong = ScalarType::Long, kInt64 = ScalarType::Long, kI64 = ScalarType::Long;
constexpr ScalarType kHalf = ScalarType::Half, kFloat16 = ScalarType::Half, kF16 = ScalarType::Half;
constexpr ScalarType kFloat = ScalarType::Float, kFloat32 = ScalarType::Float, kF32 = ScalarType::Float;
constexpr ScalarType kDouble = ScalarType::Double, kFloat64 = ScalarType::Double, kF64 = ScalarType::Double;
constexpr ScalarType kUInt16 = ScalarType::UInt16, kU16 = ScalarType::UInt16;
constexpr ScalarType kUInt32 = ScalarType::UInt32, kU32 = ScalarType::UInt32;
constexpr ScalarType kUInt64 = ScalarType::UInt64, kU64 = ScalarType::UInt64;
constexpr ScalarType kBFloat16 = ScalarType::BFloat16, kBF16 = ScalarType::BFloat16;
constexpr ScalarType kBool = ScalarType::Bool;
constexpr ScalarType kComplexFloat = ScalarType::ComplexFloat, kComplex64 = ScalarType::ComplexFloat;
constexpr ScalarType kComplexDouble = ScalarType::ComplexDouble, kComplex128 = ScalarType::ComplexDouble;
constexpr ScalarType kComplex32 = ScalarType::ComplexHalf;
#define HB_NAMED(Name) constexpr ScalarType k##Name = ScalarType::Name;
HB_FORALL_NAMED_DTYPES(HB_NAMED)
#undef HB_NAMED

template <class T>
struct dtype_of;
#define HB_DTYPE_OF(T, Name)                              \
  template <>                                             \
  struct dtype_of<T> {                                    \
    static constexpr ScalarType value = ScalarType::Name; \
  };
HB_FORALL_DTYPES(HB_DTYPE_OF)
#undef HB_DTYPE_OF
template <>
struct dtype_of<long long> {
  static constexpr ScalarType value = ScalarType::Long;
};
template <>
struct dtype_of<unsigned long long> {
  static constexpr ScalarType value = ScalarType::UInt64;
};

/// Bytes of one element of a tensor; 0 if no tensor has the type.
constexpr size_t element_size(ScalarType t) {
  switch (t) {
#define HB_SIZE(T, Name) \
  case ScalarType::Name: \
    return sizeof(T);
    HB_FORALL_DTYPES(HB_SIZE)
#undef HB_SIZE
    default:
      return 0;
  }
}
/// The type of the parts of complex numbers; other types are their own.
constexpr ScalarType to_real_type(ScalarType t) {
  return t == kComplexFloat ? kFloat : t == kComplexDouble ? kDouble : t;
}
/// The complex type whose parts hold the values of a real type: double parts for double, else float parts.
constexpr ScalarType to_complex_type(ScalarType t) {
  return t == kDouble || t == kComplexDouble ? kComplexDouble : kComplexFloat;
}
/// The largest finite number of a floating type.
constexpr double largest_of(ScalarType t) {
  t = to_real_type(t);
  return t == kDouble ? 0x1.fffffffffffffp1023 : t == kHalf ? 65504 : t == kBFloat16 ? 0x1.fep127 : 0x1.fffffep127;
}
/// The distance from 1 to the next larger number of a floating type.
constexpr double epsilon_of(ScalarType t) {
  t = to_real_type(t);
  return t == kDouble ? 0x1p-52 : t == kHalf ? 0x1p-10 : t == kBFloat16 ? 0x1p-7 : 0x1p-23;
}
constexpr bool is_half_type(ScalarType t) { return t == kHalf || t == kBFloat16; }
constexpr bool is_floating_type(ScalarType t) { return t == kFloat || t == kDouble || is_half_type(t); }
constexpr bool is_wide_unsigned_type(ScalarType t) { return t >= kUInt16 && t <= kUInt64; }
constexpr bool is_integral_type(ScalarType t, bool include_bool) {
  return (t >= kByte && t <= kLong) || is_wide_unsigned_type(t) || (include_bool && t == kBool);
}
constexpr bool is_signed_type(ScalarType t) { return t != kByte && t != kBool && !is_wide_unsigned_type(t); }
/// The type that elements are moved as where their value does not matter.
constexpr ScalarType moved_type(ScalarType t) {
  return t == kUInt16 ? kShort : t == kUInt32 ? kInt : t == kUInt64 ? kLong : t;
}
constexpr bool is_complex_type(ScalarType t) { return t == kComplexFloat || t == kComplexDouble; }
/// Whether tensors of the type may require gradients.
constexpr bool is_differentiable_type(ScalarType t) { return is_floating_type(t) || is_complex_type(t); }
inline bool isFloatingType(ScalarType t) { return is_floating_type(t); }
inline bool isIntegralType(ScalarType t, bool include_bool) { return is_integral_type(t, include_bool); }
inline bool isComplexType(ScalarType t) { return is_complex_type(t); }
inline ScalarType toRealValueType(ScalarType t) { return to_real_type(t); }
inline ScalarType toComplexType(ScalarType t) { return to_complex_type(t); }
/// As element_size, and the bytes of the types that have a name alone. Throws for Undefined.
HB_API size_t elementSize(ScalarType t);

/// "Float", "Long", ...
HB_API const char* toString(ScalarType t);
/// As toString.
HB_API std::ostream& operator<<(std::ostream& out, ScalarType t);
/// "float", "long int", "c10::Half", ...: what LibTorch prints for `tensor.dtype()`.
HB_API const char* type_meta_name(ScalarType t);

/// What `tensor.dtype()` returns: a ScalarType that prints as type_meta_name.
class TypeMeta {
 public:
  constexpr TypeMeta(ScalarType t = ScalarType::Undefined) : t_(t) {}  // NOLINT: implicit as in LibTorch
  constexpr operator ScalarType() const { return t_; }                 // NOLINT
  constexpr ScalarType toScalarType() const { return t_; }
  size_t itemsize() const { return t_ == ScalarType::Undefined ? 0 : elementSize(t_); }
  std::string_view name() const { return type_meta_name(t_); }
  template <class T>
  static constexpr TypeMeta Make() {
    return dtype_of<T>::value;
  }
  static constexpr TypeMeta fromScalarType(ScalarType t) { return t; }
  template <class T>
  static std::string_view TypeName() {
    return Make<T>().name();
  }
  template <class T>
  constexpr bool Match() const {
    return t_ == dtype_of<T>::value;
  }

 private:
  ScalarType t_;
};
HB_API std::ostream& operator<<(std::ostream& out, TypeMeta t);
constexpr ScalarType typeMetaToScalarType(TypeMeta t) { return t; }
constexpr TypeMeta scalarTypeToTypeMeta(ScalarType t) { return t; }
/// The smallest type that holds values of both; throws for an unsigned type of 16 bits or more with another integer.
HB_API ScalarType promote_types(ScalarType a, ScalarType b);
inline ScalarType promoteTypes(ScalarType a, ScalarType b) { return promote_types(a, b); }

/// kFloat unless changed by set_default_dtype.
HB_API TypeMeta get_default_dtype();
HB_API void set_default_dtype(ScalarType t);

}  // namespace hb
