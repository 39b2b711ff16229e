// Eigenvalues of small hermitian matrices by Jacobi's rotations, each of which makes an element and its mirror zero. A
// block for each matrix; the rotations of a round are of different rows and columns.
#include <limits>

#include "backend/decompositions.h"
#include "cuda/allow_shared.h"
#include "cuda/jacobi.h"
#include "cuda/small_matrices.h"
#include "cuda/small_team.h"

namespace hb::cuda {
namespace {

constexpr int kEighThreads = 256;
constexpr int64_t kEighSide = 64;
constexpr size_t kEighRoom = size_t{96} << 10;  // of every GPU since 8.0

template <class T>
struct EighWork {
  View<T> a;
  math::magnitude_t<T>* values;
  int32_t* info;
  int n;
  bool upper, vectors;
};

/// What becomes of a pair of columns and of its elements on the diagonal; nothing where the sine is 0.
template <class T>
struct Turn {
  using R = math::magnitude_t<T>;
  T phase;
  R c, s, first, second;
  __device__ void apply(T& x, T& y, const T& turned) const {
    const T a = x, b = turned * y;
    x = a * T(c) - b * T(s), y = a * T(s) + b * T(c);
  }
};

/// The matrix and its vectors by columns, and the rotations of a round.
template <class T>
struct EighRoom {
  T *a, *v;
  Turn<T>* turns;
  int n, step;
  HB_HD static size_t bytes(int64_t n, bool vectors) {
    return static_cast<size_t>(n * row_step(n) * (vectors ? 2 : 1)) * sizeof(T) +
           static_cast<size_t>((n + 1) / 2) * sizeof(Turn<T>);
  }
  __device__ EighRoom(T* room, int n, bool vectors)
      : a(room), v(vectors ? room + n * row_step(n) : nullptr), n(n), step(row_step(n)) {
    turns = reinterpret_cast<Turn<T>*>(room + n * step * (vectors ? 2 : 1));
  }
  __device__ T& at(int r, int c) const { return a[c * step + r]; }
};

/// Reads the triangle, scaled by a power of two, whose exponent is returned.
template <class T>
__device__ int load(const EighWork<T>& w, const EighRoom<T>& to) {
  using R = math::magnitude_t<T>;
  const int n = w.n;
  R largest(0);
  for (int k = static_cast<int>(threadIdx.x); k < n * n; k += static_cast<int>(blockDim.x)) {
    const int r = k % n, c = k / n;
    const bool mirrored = w.upper ? r > c : r < c;
    const T x = mirrored ? conjugate_if(true, w.a(blockIdx.x, c, r)) : w.a(blockIdx.x, r, c);
    to.at(r, c) = r == c ? T(real_part(x)) : x;
    largest = larger_or_nan(largest, larger_part(x));
  }
  largest = team_max(largest);
  int exponent = 0;
  if (largest > 0) std::frexp(largest, &exponent);
  for (int k = static_cast<int>(threadIdx.x); k < n * n; k += static_cast<int>(blockDim.x)) {
    T& x = to.at(k % n, k / n);
    x = scaled(x, -exponent);
    if (to.v) to.v[k / n * to.step + k % n] = T(k % n == k / n ? 1 : 0);
  }
  __syncthreads();
  return exponent;
}

/// The rotation of a pair; whether there is one.
template <class T>
__device__ bool find_turn(const EighRoom<T>& in, const Pair& pair, Turn<T>& turn) {
  using R = math::magnitude_t<T>;
  constexpr R kEpsilon = std::numeric_limits<R>::epsilon();
  turn.s = 0;
  if (pair.q >= in.n) return false;
  const T xy = in.at(pair.p, pair.q);
  const R xx = real_part(in.at(pair.p, pair.p)), yy = real_part(in.at(pair.q, pair.q)), size = math::abs(xy);
  const R enough = kEpsilon * std::sqrt(std::abs(xx)) * std::sqrt(std::abs(yy));
  if (!(size > enough && size > kEpsilon * kEpsilon)) return false;
  const Rotation<R> rotation(xx, yy, size);
  turn = {xy * T(1 / size), rotation.c, rotation.s, xx - rotation.t * size, yy + rotation.t * size};
  return turn.s != 0;
}

template <class T>
__device__ bool sweep(const EighRoom<T>& in) {
  const int n = in.n, pairs = (n + 1) / 2, thread = static_cast<int>(threadIdx.x),
            threads = static_cast<int>(blockDim.x);
  bool turned = false;
  for (int round = 0; round < rounds_of(n); ++round) {
    for (int i = thread; i < pairs; i += threads) turned |= find_turn(in, pair_of(n, round, i), in.turns[i]);
    __syncthreads();
    for (int k = thread; k < pairs * n; k += threads) {  // columns
      const Turn<T>& turn = in.turns[k / n];
      if (turn.s == 0) continue;
      const auto [p, q] = pair_of(n, round, k / n);
      const T phase = conjugate_if(true, turn.phase);
      turn.apply(in.at(k % n, p), in.at(k % n, q), phase);
      if (in.v) turn.apply(in.v[p * in.step + k % n], in.v[q * in.step + k % n], phase);
    }
    __syncthreads();
    for (int k = thread; k < pairs * n; k += threads) {  // rows
      const Turn<T>& turn = in.turns[k / n];
      if (turn.s == 0) continue;
      const auto [p, q] = pair_of(n, round, k / n);
      const int c = k % n;
      turn.apply(in.at(p, c), in.at(q, c), turn.phase);
      if (c == p) in.at(p, p) = T(turn.first), in.at(q, p) = T(0);
      if (c == q) in.at(p, q) = T(0), in.at(q, q) = T(turn.second);
    }
    __syncthreads();
  }
  return __syncthreads_or(turned) != 0;
}

template <class T>
__global__ void __launch_bounds__(kEighThreads, 1) decompose(HB_ARGUMENT(EighWork<T>) w) {
  HB_DYNAMIC_SHARED(T, room);
  const EighRoom<T> in(room, w.n, w.vectors);
  const int n = w.n, exponent = load(w, in);
  int sweeps = 0;
  while (sweeps < kSweeps && sweep(in)) ++sweeps;
  for (int c = static_cast<int>(threadIdx.x) / kWarp; c < n; c += static_cast<int>(blockDim.x) / kWarp) {
    const auto value = real_part(in.at(c, c));
    int place = 0;
    for (int d = 0; d < n; ++d) {
      const auto other = real_part(in.at(d, d));
      place += other < value || (other == value && d < c);
    }
    const int lane = static_cast<int>(threadIdx.x) % kWarp;
    if (lane == 0) w.values[int64_t{blockIdx.x} * n + place] = scaled(value, exponent);
    for (int r = lane; r < n && w.vectors; r += kWarp) w.a(blockIdx.x, r, place) = in.v[c * in.step + r];
  }
  if (threadIdx.x == 0) w.info[blockIdx.x] = sweeps < kSweeps ? 0 : n;
}

}  // namespace

bool small_eigh(const Tensor& matrices, bool upper, const Tensor& values, bool vectors, const Tensor& info) {
  const int64_t n = matrices.size(1);
  // cuSOLVER has more blocks for a matrix of its own.
  if (n > (matrices.size(0) > 1 ? kEighSide : kSmallSide)) return false;
  bool fits = false;
  with_matrix_type(matrices, [&](auto zero) {
    using T = decltype(zero);
    const size_t bytes = EighRoom<T>::bytes(n, vectors);
    fits = bytes <= kEighRoom;
    if (!fits) return;
    const int64_t busy = ((n + 1) / 2 * n + kWarp - 1) / kWarp * kWarp;
    allow_shared<&decompose<T>>(kEighRoom);
    HB_LAUNCH(decompose<T>, static_cast<unsigned>(matrices.size(0)),
              static_cast<unsigned>(std::min<int64_t>(busy, kEighThreads)), bytes, current_stream(),
              EighWork<T>{View<T>(matrices), data<math::magnitude_t<T>>(values), data<int32_t>(info),
                          static_cast<int>(n), upper, vectors});
  });
  return fits;
}

}  // namespace hb::cuda
