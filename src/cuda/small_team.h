#pragma once
// The lanes of a warp that share a small matrix: 2, 4, 8, 16 or 32 of them. Matrices lie by rows in shared memory, an
// odd number of elements apart, so that neither rows nor columns meet in a bank.

#include "cuda/kernel_file.h"
#include "cuda/matrix_view.h"
#include "cuda/small_matrices.h"
#include "formulas/complex_math.h"

namespace hb::cuda {

constexpr int kSmallBlock = 64;

/// Whether a team for each matrix is the way: for all that are small, and for many of some size, which a library would
/// be called for one by one. `room`: a team's bytes; all GPUs since 8.0 have that many.
constexpr size_t kTeamRoom = size_t{96} << 10;
inline bool suits_teams(int64_t count, int64_t side, size_t room) {
  constexpr int64_t kMany = 8, kMiddleSide = 128;
  return room <= kTeamRoom && (side <= kSmallSide || (count >= kMany && side <= kMiddleSide));
}
/// How many lanes for what a team has to do side by side.
inline int team_width(int64_t lanes) {
  int width = 2;
  while (width < lanes && width < kWarp) width *= 2;
  return width;
}
/// How teams are launched: as many in a block as there is room for. `room`: a team's bytes.
struct SmallTeams {
  unsigned blocks, threads;
  size_t shared;
  SmallTeams(int64_t teams, int width, size_t room) {
    int64_t in_block = kSmallBlock / width;
    while (in_block * width > kWarp && static_cast<size_t>(in_block) * room > (size_t{32} << 10)) in_block /= 2;
    blocks = static_cast<unsigned>((teams + in_block - 1) / in_block);
    threads = static_cast<unsigned>(in_block * width);
    shared = static_cast<size_t>(in_block) * room;
  }
};

/// The distance of rows in shared memory.
__host__ __device__ inline int row_step(int64_t columns) { return static_cast<int>(columns | 1); }

/// The team of this thread. Those beyond the last repeat the last one's work, as the others of their warp wait for
/// them, but write nothing.
struct SmallTeam {
  int width, lane;
  int64_t number;
  bool writes;
  __device__ SmallTeam(int lanes, int64_t teams)
      : width(lanes), lane(static_cast<int>(threadIdx.x) % lanes), number(grid_thread() / lanes) {
    writes = number < teams;
    if (!writes) number = teams - 1;
  }
  template <class T>
  __device__ T* room(T* rooms, int elements) const {
    return rooms + static_cast<int>(threadIdx.x) / width * elements;
  }
  template <class C, class Combine>
  __device__ C reduce(C value, const Combine& combine) const {
    for (int lanes = width / 2; lanes; lanes /= 2) value = combine(value, __shfl_xor_sync(kFullWarp, value, lanes));
    return value;
  }
  /// f(r, c) for all elements, neighbours in memory side by side.
  template <class T, class F>
  __device__ void each(const View<T>& m, int rows, int columns, const F& f) const {
    const bool by_rows = m.column < m.row;
    const int inner = by_rows ? columns : rows;
    for (int k = lane; k < rows * columns; k += width) by_rows ? f(k / inner, k % inner) : f(k % inner, k / inner);
  }
};

template <class T>
__device__ inline T conjugate_if(bool wanted, const T& x) {
  if constexpr (is_complex_v<T>)
    return wanted ? conj(x) : x;
  else
    return x;
}
template <class T>
__device__ inline auto real_part(const T& x) {
  if constexpr (is_complex_v<T>)
    return x.real();
  else
    return x;
}
template <class T>
__device__ auto square(const T& x) {
  if constexpr (is_complex_v<T>)
    return norm(x);
  else
    return x * x;
}
template <class T>
__device__ auto larger_part(const T& x) {
  if constexpr (is_complex_v<T>) {
    const auto a = std::abs(x.real()), b = std::abs(x.imag());
    return a < b ? b : a;
  } else {
    return std::abs(x);
  }
}
template <class T>
__device__ T scaled(const T& x, int exponent) {
  if constexpr (is_complex_v<T>)
    return T(std::ldexp(x.real(), exponent), std::ldexp(x.imag(), exponent));
  else
    return std::ldexp(x, exponent);
}

}  // namespace hb::cuda
