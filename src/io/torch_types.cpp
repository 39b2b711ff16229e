#include "io/torch_types.h"

#include <halfbridge/io/dtype_name.h>

namespace hb::io {
namespace {

struct Names {
  ScalarType dtype;
  const char* storage;
  const char* name;
  const char* short_name;
};

constexpr Names kNames[] = {
    {kByte, "ByteStorage", "uint8", "uint8"},
    {kChar, "CharStorage", "int8", "int8"},
    {kShort, "ShortStorage", "int16", "short"},
    {kInt, "IntStorage", "int32", "int"},
    {kLong, "LongStorage", "int64", "long"},
    {kHalf, "HalfStorage", "float16", "half"},
    {kFloat, "FloatStorage", "float32", "float"},
    {kDouble, "DoubleStorage", "float64", "double"},
    {kBool, "BoolStorage", "bool", "bool"},
    {kBFloat16, "BFloat16Storage", "bfloat16", "bfloat16"},
    {kUInt16, "UInt16Storage", "uint16", "uint16"},
    {kUInt32, "UInt32Storage", "uint32", "uint32"},
    {kUInt64, "UInt64Storage", "uint64", "uint64"},
    {kComplexFloat, "ComplexFloatStorage", "complex64", "complex64"},
    {kComplexDouble, "ComplexDoubleStorage", "complex128", "complex128"},
};

}  // namespace

const char* storage_class(ScalarType dtype) {
  for (const Names& row : kNames) {
    if (row.dtype == dtype) return row.storage;
  }
  return nullptr;
}

const char* dtype_name(ScalarType dtype) {
  for (const Names& row : kNames) {
    if (row.dtype == dtype) return row.name;
  }
  return "?";
}

std::optional<ScalarType> dtype_of_storage_class(std::string_view name) {
  for (const Names& row : kNames) {
    if (name == row.storage) return row.dtype;
  }
  return std::nullopt;
}

std::optional<ScalarType> dtype_of_name(std::string_view name) {
  for (const Names& row : kNames) {
    if (name == row.name || name == row.short_name) return row.dtype;
  }
  return std::nullopt;
}

}  // namespace hb::io
