#include "read_double.h"

#include <cstring>

#include <halfbridge/error.h>

namespace hb::layer_diff {
namespace {

// Without a branch, so that the loop is vectorised: the exponent is rebased by a multiplication, which normalises
// subnormals too.
float widen_half(uint16_t half) {
  const uint32_t magnitude = half & 0x7fffu;
  uint32_t bits = magnitude << 13;
  float value;
  std::memcpy(&value, &bits, 4);
  value *= 0x1p112f;
  std::memcpy(&bits, &value, 4);
  bits |= magnitude >= 0x7c00u ? 0x7f800000u : 0u;
  bits |= (half & 0x8000u) << 16;
  std::memcpy(&value, &bits, 4);
  return value;
}

float widen_bfloat16(uint16_t half) {
  const uint32_t bits = uint32_t{half} << 16;
  float value;
  std::memcpy(&value, &bits, 4);
  return value;
}

template <typename T, typename F>
void convert(const char* bytes, int64_t count, double* values, F widen) {
  for (int64_t i = 0; i < count; ++i) {
    T element;
    std::memcpy(&element, bytes + i * static_cast<int64_t>(sizeof(T)), sizeof(T));
    values[i] = static_cast<double>(widen(element));
  }
}

}  // namespace

void to_double(Dtype dtype, const char* bytes, int64_t count, double* values) {
  const auto same = [](auto x) { return x; };
  switch (dtype) {
    case kDouble:
      return convert<double>(bytes, count, values, same);
    case kFloat:
      return convert<float>(bytes, count, values, same);
    case kHalf:
      return convert<uint16_t>(bytes, count, values, widen_half);
    case kBFloat16:
      return convert<uint16_t>(bytes, count, values, widen_bfloat16);
    case kLong:
      return convert<int64_t>(bytes, count, values, same);
    case kInt:
      return convert<int32_t>(bytes, count, values, same);
    case kShort:
      return convert<int16_t>(bytes, count, values, same);
    case kChar:
      return convert<int8_t>(bytes, count, values, same);
    case kByte:
      return convert<uint8_t>(bytes, count, values, same);
    // A file may hold any byte as a truth value.
    case kBool:
      return convert<uint8_t>(bytes, count, values, [](uint8_t x) { return x != 0; });
    default:
      throw TypeError(detail::str("[trace] cannot read elements of dtype ", toString(dtype)));
  }
}

}  // namespace hb::layer_diff
