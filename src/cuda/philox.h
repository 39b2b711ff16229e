#pragma once
// Philox 4x32-10 (Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3", 2011) and the numbers that
// cuRAND makes of its bits.

#include <cmath>
#include <cstdint>

#include "cuda/generator.h"
#include "cuda/runtime.h"
#include "formulas/host_device.h"

namespace hb::cuda {

struct Draw4 {
  uint32_t x, y, z, w;
};

/// Thread `sequence` of the generator with this seed, from its number `offset` (a multiple of 4) on.
class Philox {
 public:
  HB_HD Philox(uint64_t seed, uint64_t sequence, uint64_t offset)
      : key_x_(static_cast<uint32_t>(seed)),
        key_y_(static_cast<uint32_t>(seed >> 32)),
        count_(offset / 4),
        sequence_(sequence) {}
  HB_HD Draw4 next() {
    Draw4 c{static_cast<uint32_t>(count_), static_cast<uint32_t>(count_ >> 32), static_cast<uint32_t>(sequence_),
            static_cast<uint32_t>(sequence_ >> 32)};
    uint32_t k0 = key_x_, k1 = key_y_;
    for (int round = 0; round < 10; ++round) {
      const uint64_t a = uint64_t{0xD2511F53u} * c.x, b = uint64_t{0xCD9E8D57u} * c.z;
      c = {static_cast<uint32_t>(b >> 32) ^ c.y ^ k0, static_cast<uint32_t>(b),
           static_cast<uint32_t>(a >> 32) ^ c.w ^ k1, static_cast<uint32_t>(a)};
      k0 += 0x9E3779B9u, k1 += 0xBB67AE85u;
    }
    ++count_;
    return c;
  }

 private:
  uint32_t key_x_, key_y_;
  uint64_t count_, sequence_;
};

#ifdef HB_DEVICE_CODE
/// Thread `sequence` of a kernel.
__device__ inline Philox philox_at(const PhiloxStart& start, uint64_t sequence) {
  if (!start.on_device) return {start.seed, sequence, start.offset};
  return {start.on_device[0], sequence, start.offset + start.on_device[1]};
}

/// What formulas draw of: numbers of 64 bits, one after the other.
class Bits {
 public:
  __device__ Bits(PhiloxStart start, int64_t sequence) : philox_(philox_at(start, static_cast<uint64_t>(sequence))) {}
  __device__ uint64_t random64() {
    if (second_) {
      second_ = false;
      return uint64_t{four_.z} << 32 | four_.w;
    }
    four_ = philox_.next();
    second_ = true;
    return uint64_t{four_.x} << 32 | four_.y;
  }

 private:
  Philox philox_;
  Draw4 four_{};
  bool second_ = false;
};

#endif

/// Numbers of 32 bits that a sample of several draws takes; one that is refused often enough takes more, which others
/// take too.
constexpr uint64_t kPerSample = 64;

/// (0, 1] from 32 bits, and from 64.
HB_HD float unit_float(uint32_t x) { return static_cast<float>(x) * 0x1p-32f + 0x1p-33f; }
HB_HD void unit_floats(const Draw4& d, float* u) {
  u[0] = unit_float(d.x), u[1] = unit_float(d.y), u[2] = unit_float(d.z), u[3] = unit_float(d.w);
}
HB_HD uint64_t bits_of_double(uint32_t x, uint32_t y) { return uint64_t{x} ^ (uint64_t{y} << 21); }
HB_HD double unit_double(uint32_t x, uint32_t y) {
  return static_cast<double>(bits_of_double(x, y)) * 0x1p-53 + 0x1p-54;
}

/// Functions of float numbers in the accuracy that PyTorch draws with on a GPU: the hardware's own, which the host does
/// not have.
#ifdef __CUDA_ARCH__
HB_HD float quick_log(float x) { return __logf(x); }
HB_HD float quick_exp(float x) { return __expf(x); }
HB_HD float quick_tan(float x) { return __tanf(x); }
HB_HD void quick_sincos(float x, float& sine, float& cosine) { __sincosf(x, &sine, &cosine); }
#else
HB_HD float quick_log(float x) { return ::logf(x); }
HB_HD float quick_exp(float x) { return ::expf(x); }
HB_HD float quick_tan(float x) { return ::tanf(x); }
HB_HD void quick_sincos(float x, float& sine, float& cosine) { sine = ::sinf(x), cosine = ::cosf(x); }
#endif
HB_HD double quick_log(double x) { return ::log(x); }
HB_HD double quick_exp(double x) { return ::exp(x); }
HB_HD double quick_tan(double x) { return ::tan(x); }

/// Two normal values (Box and Muller).
HB_HD void normal_pair(uint32_t x, uint32_t y, float& first, float& second) {
  constexpr float kTurn = 6.2831855f * 0x1p-32f;
  const float angle = static_cast<float>(y) * kTurn + kTurn / 2;
  const float radius = ::sqrtf(-2.0f * ::logf(unit_float(x)));
  quick_sincos(angle, first, second);
  first *= radius;
  second *= radius;
}
HB_HD void normal_pair(const Draw4& d, double& first, double& second) {
  const double turns = static_cast<double>(bits_of_double(d.z, d.w)) * 0x1p-52 + 0x1p-53;  // in half turns
  const double radius = ::sqrt(-2.0 * ::log(unit_double(d.x, d.y)));
  first = radius * ::sin(3.14159265358979323846 * turns);
  second = radius * ::cos(3.14159265358979323846 * turns);
}

}  // namespace hb::cuda
