#pragma once
// Where the operands of an element-wise kernel are: any layout, up to 2^31 bytes of each a launch.

#include <optional>

#include <halfbridge/error.h>

#include "backend/elementwise.h"
#include "cuda/runtime.h"
#include "formulas/host_device.h"

namespace hb::cuda {

constexpr int kMostDims = 25, kMostOperands = 4;

/// Division by a number that is not known when the kernel is compiled, for dividends below 2^31 (Granlund and
/// Montgomery).
struct Divider {
  uint32_t divisor = 1, factor = 1, shift = 0;
  Divider() = default;
  explicit Divider(uint32_t d) : divisor(d) {
    while ((uint64_t{1} << shift) < d) ++shift;
    factor = static_cast<uint32_t>((((uint64_t{1} << shift) - d) << 32) / d + 1);
  }
  HB_HD uint32_t operator()(uint32_t n) const {
    return (static_cast<uint32_t>(uint64_t{n} * factor >> 32) + n) >> shift;
  }
};

/// A size by which numbers from 0 to `most` are divided: in 32 bits where they are small enough.
struct Divisor {
  int64_t value;
  Divider by;  // by 0: too large
  Divisor(int64_t size = 1, int64_t most = INT64_MAX) : value(size) {
    if (size > 0 && size <= INT32_MAX && most <= INT32_MAX)
      by = Divider(static_cast<uint32_t>(size));
    else
      by.divisor = 0;
  }
  HB_HD operator int64_t() const { return value; }
  friend HB_HD int64_t operator/(int64_t n, const Divisor& d) {
    return d.by.divisor ? int64_t{d.by(static_cast<uint32_t>(n))} : n / d.value;
  }
  friend HB_HD int64_t operator%(int64_t n, const Divisor& d) { return n - n / d * d.value; }
};

/// Takes numbers up to `most` apart.
struct Splitter {
  Divisor size;
  Splitter() = default;
  Splitter(int64_t of, int64_t most) : size(of, most) {}
  /// What is left of i when it is divided by the size; i becomes the quotient.
  HB_HD int64_t split(int64_t& i) const {
    const int64_t whole = i;
    i = whole / size;
    return whole - i * size.value;
  }
};

/// Operands of one launch. Strides in bytes.
struct Walk {
  int operands = 0, dims = 0;
  uint32_t numel = 0;
  unsigned numbers = 0;  // bit k: operand k is a number of the host
  char* data[kMostOperands] = {};
  ScalarType dtype[kMostOperands] = {};
  Divider size[kMostDims];
  int32_t stride[kMostDims][kMostOperands] = {};

#ifdef HB_DEVICE_CODE
  /// Byte offsets of element i.
  template <int Operands>
  __device__ void offsets(uint32_t i, int32_t* offset) const {
#pragma unroll
    for (int k = 0; k < Operands; ++k) offset[k] = 0;
#pragma unroll 1
    for (int d = 0; d < dims - 1; ++d) {
      const uint32_t rest = size[d](i);
      const auto at = static_cast<int32_t>(i - rest * size[d].divisor);
      i = rest;
#pragma unroll
      for (int k = 0; k < Operands; ++k) offset[k] += at * stride[d][k];
    }
#pragma unroll
    for (int k = 0; k < Operands; ++k) offset[k] += static_cast<int32_t>(i) * stride[dims - 1][k];
  }
#endif
};

/// Whether all that is not a number or one element is contiguous, and aligned to 16 bytes where each thread takes
/// `vector` elements.
bool contiguous(const Walk& walk, int vector);

/// Vectors in place of elements: numel counts them, and offsets() is where a vector begins in each operand.
struct VectorWalk : Walk {
  uint32_t rest = 0;                  // elements after the last vector; of a walk of one dimension
  unsigned alone = 0;                 // bit k: operand k is one element for a whole vector, or a number
  uint8_t bytes[kMostOperands] = {};  // of an element; 0: a number
};
/// `together` elements along the innermost dimension as a vector, where each operand has them side by side and aligned
/// to their size (at most 16 bytes), or one element for all.
std::optional<VectorWalk> in_vectors(const Walk& walk, uint32_t together);

using WalkFn = void (*)(const Walk& walk, const void* context);
/// Calls `launch` for the operands, in parts where one of them spans 2^31 bytes or more. Nothing happens for empty
/// ones.
void for_walks(const char* name, const Loop& loop, WalkFn launch, const void* context);
void for_walks(const char* name, const FlatLoop& loop, WalkFn launch, const void* context);

}  // namespace hb::cuda
