#pragma once
// What a warp's tensor core, its loads of matrices and its copies behind the program's back do, for device code that
// g++ compiles. Which lane holds which element is as the PTX ISA documents it.

#include <cstdint>
#include <cstring>
#include <vector>

#include "software_cuda/lanes.h"
#include "software_cuda/memory.h"

namespace software_cuda {

inline unsigned thread_of_block() { return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z); }

/// The next launch of this thread may take more than 48 KiB of dynamic shared memory: up to `bytes`.
void allow_shared(size_t bytes);

/// The operands of a lane at an instruction that all lanes of a warp carry out together.
struct Told {
  uint64_t block = 0;
  const void* instruction = nullptr;
  void* operands = nullptr;
};
inline Told told[32][32];  // by warp and lane

/// Waits for all lanes; one of them computes for all.
template <class Operands>
void carry_out(Operands mine, void (*instruction)(Operands* const*)) {
  const auto kind = reinterpret_cast<const void*>(instruction);
  Told* const of_warp = told[thread_of_block() / 32];
  of_warp[lane_of_warp()] = {block_number, kind, &mine};
  meet_warp(Meeting::warp, ~0u);
  if (lane_of_warp() == 0) {
    Operands* all[32];
    for (int i = 0; i < 32; ++i) {
      if (of_warp[i].block != block_number || of_warp[i].instruction != kind)
        fail_lane("lane %d is not at the instruction that lane 0 needs it for", i);
      all[i] = static_cast<Operands*>(of_warp[i].operands);
      of_warp[i] = {};
    }
    instruction(all);
  }
  meet_warp(Meeting::warp, ~0u);
}

struct Product {
  const uint32_t *a, *b;
  float* c;
};
/// mma.m16n8k16: c (16, 8) += a (16, 16) b (16, 8), T being the type of a and b.
template <class T>
void multiply_matrices(Product* const* lanes) {
  const auto element = [](const uint32_t* pairs, int i) {
    return static_cast<float>(T(static_cast<uint16_t>(pairs[i / 2] >> i % 2 * 16), T::from_bits()));
  };
  float a[16][16], b[16][8], c[16][8];
  for (int lane = 0; lane < 32; ++lane) {
    const int group = lane / 4, pair = lane % 4 * 2;
    for (int i = 0; i < 8; ++i) a[group + i / 2 % 2 * 8][pair + i % 2 + i / 4 * 8] = element(lanes[lane]->a, i);
    for (int i = 0; i < 4; ++i) b[pair + i % 2 + i / 2 * 8][group] = element(lanes[lane]->b, i);
    for (int i = 0; i < 4; ++i) c[group + i / 2 * 8][pair + i % 2] = lanes[lane]->c[i];
  }
  for (int i = 0; i < 16; ++i)
    for (int k = 0; k < 16; ++k)
      for (int j = 0; j < 8; ++j) c[i][j] += a[i][k] * b[k][j];
  for (int lane = 0; lane < 32; ++lane)
    for (int i = 0; i < 4; ++i) lanes[lane]->c[i] = c[lane / 4 + i / 2 * 8][lane % 4 * 2 + i % 2];
}

/// mma.m16n8k8 of TF32: c (16, 8) += a (16, 8) b (8, 8). The last 13 bits of a float are not seen.
inline void multiply_tf32(Product* const* lanes) {
  const auto element = [](uint32_t bits) {
    bits &= 0xffffe000u;
    float x;
    std::memcpy(&x, &bits, sizeof x);
    return x;
  };
  float a[16][8], b[8][8];
  for (int lane = 0; lane < 32; ++lane) {
    const int group = lane / 4, in_group = lane % 4;
    for (int i = 0; i < 4; ++i) a[group + i % 2 * 8][in_group + i / 2 * 4] = element(lanes[lane]->a[i]);
    for (int i = 0; i < 2; ++i) b[in_group + i * 4][group] = element(lanes[lane]->b[i]);
  }
  for (int lane = 0; lane < 32; ++lane)
    for (int i = 0; i < 4; ++i)
      for (int k = 0; k < 8; ++k) lanes[lane]->c[i] += a[lane / 4 + i / 2 * 8][k] * b[k][lane % 4 * 2 + i % 2];
}

struct MatrixRow {
  uint32_t* to;
  const void* row;
};
/// ldmatrix.x4: four matrices of 8 x 8, the rows of matrix i being where lanes 8 i to 8 i + 7 say.
template <bool kTransposed>
void load_matrices(MatrixRow* const* lanes) {
  uint16_t matrix[32][8];
  for (int lane = 0; lane < 32; ++lane) {
    if (reinterpret_cast<uintptr_t>(lanes[lane]->row) % 16 != 0)
      fail_lane("lane %d has a row of a matrix at an address that is not aligned to 16", lane);
    std::memcpy(matrix[lane], lanes[lane]->row, 16);
  }
  for (int lane = 0; lane < 32; ++lane)
    for (int i = 0; i < 4; ++i) {
      const int major = lane / 4, minor = lane % 4 * 2;
      const uint16_t *const m = matrix[i * 8], low = kTransposed ? m[minor * 8 + major] : m[major * 8 + minor],
                            high = kTransposed ? m[(minor + 1) * 8 + major] : m[major * 8 + minor + 1];
      lanes[lane]->to[i] = low | static_cast<uint32_t>(high) << 16;
    }
}

/// Copies that a lane began: cp.async. Where they write is garbage until it waits for them.
struct Copies {
  struct One {
    void* to;
    const void* from;
    bool there;
    size_t bytes;
  };
  uint64_t block = 0;
  std::vector<One> begun;
};
inline Copies& copies_of_lane() {
  static Copies all[1024];
  Copies& mine = all[thread_of_block()];
  if (mine.block != block_number) mine.block = block_number, mine.begun.clear();
  return mine;
}
/// 16 bytes, or 4; zeros where there is nothing to copy.
inline void begin_copy(void* to, const void* from, bool there, size_t bytes) {
  if (reinterpret_cast<uintptr_t>(to) % bytes != 0 || reinterpret_cast<uintptr_t>(from) % bytes != 0)
    fail_lane("copies %zu bytes from or to an address that is not aligned to it", bytes);
  fill_garbage(to, bytes);
  copies_of_lane().begun.push_back({to, from, there, bytes});
}
inline void wait_for_copies() {
  std::vector<Copies::One>& begun = copies_of_lane().begun;
  for (const Copies::One& copy : begun) {
    if (copy.there)
      std::memcpy(copy.to, copy.from, copy.bytes);
    else
      std::memset(copy.to, 0, copy.bytes);
  }
  begun.clear();
}

}  // namespace software_cuda
