// Singular values of matrices with few columns by one-sided Jacobi rotations: columns are turned in pairs until all are
// orthogonal; then their lengths are the values. A block for each matrix, a warp for each pair.
#include <limits>

#include "backend/decompositions.h"
#include "cuda/allow_shared.h"
#include "cuda/jacobi.h"
#include "cuda/small_matrices.h"
#include "cuda/small_team.h"

namespace hb::cuda {
namespace {

constexpr int kPairThreads = 512;
constexpr int64_t kSvdSide = 64, kSvdRows = 1024;
constexpr size_t kSvdRoom = size_t{96} << 10;  // of every GPU since 8.0

/// A (m, n), m >= n, and where the columns of U (m, `wide`) and of V (n, n) go; none of them where `wide` is 0. V goes
/// where V^H is wanted, conjugated; or, `turned`, A is the transpose of what is to be conjugated, and U goes there.
template <class T>
struct SvdWork {
  View<const T> a;
  View<T> u, v;
  math::magnitude_t<T>* values;
  int32_t* info;
  int m, n, wide;
  bool turned;
};

/// Shared memory: columns of A, which become U's, of V, and what the completion of U needs.
template <class T>
struct SvdRoom {
  using R = math::magnitude_t<T>;
  int m, n, all;
  bool vectors;
  HB_HD SvdRoom(int m, int n, int wide) : m(m), n(n), all(wide > n ? wide : n), vectors(wide > 0) {}
  HB_HD int64_t elements() const { return int64_t{m} * all + (vectors ? n * n + m + all : 0); }
  HB_HD size_t bytes() const { return static_cast<size_t>(elements()) * sizeof(T) + static_cast<size_t>(all + m) * sizeof(R); }
  HB_HD T* column(T* room, int c) const { return room + c * m; }
  HB_HD T* turns(T* room, int c) const { return room + m * all + c * n; }
  HB_HD T* added(T* room) const { return room + m * all + n * n; }
  HB_HD R* lengths(T* room) const { return reinterpret_cast<R*>(room + elements()); }
};

template <class T>
__device__ T warp_sum(T x) {
  if constexpr (is_complex_v<T>)
    return T(warp_sum(x.real()), warp_sum(x.imag()));
  else
    for (int lanes = kWarp / 2; lanes; lanes /= 2) x += __shfl_xor_sync(kFullWarp, x, lanes);
  return x;
}
/// a^H b of columns, by a warp.
template <class T>
__device__ T product(const T* a, const T* b, int n) {
  T sum(0);
  for (int r = static_cast<int>(threadIdx.x) % kWarp; r < n; r += kWarp) sum += conjugate_if(true, a[r]) * b[r];
  return warp_sum(sum);
}
template <class T>
__device__ auto squares(const T* a, int n) {
  math::magnitude_t<T> sum(0);
  for (int r = static_cast<int>(threadIdx.x) % kWarp; r < n; r += kWarp) sum += square(a[r]);
  return warp_sum(sum);
}

/// Shorter columns than this, squared, are zero: their squares lose digits. The largest element is near 1.
template <class R>
__device__ constexpr R kNoLength = std::numeric_limits<R>::min() / std::numeric_limits<R>::epsilon();

/// (x, y) (c, s; -s, c) with y turned by a phase.
template <class T, class R>
__device__ void rotate(T* x, T* y, int n, const T& phase, R c, R s) {
  for (int r = static_cast<int>(threadIdx.x) % kWarp; r < n; r += kWarp) {
    const T a = x[r], b = conjugate_if(true, phase) * y[r];
    x[r] = a * T(c) - b * T(s), y[r] = a * T(s) + b * T(c);
  }
}
/// Makes two columns orthogonal; whether they were not.
template <class T>
__device__ bool turn_pair(const SvdRoom<T>& at, T* room, int p, int q) {
  using R = math::magnitude_t<T>;
  T *const x = at.column(room, p), *const y = at.column(room, q);
  const R xx = squares(x, at.m), yy = squares(y, at.m);
  if (xx < kNoLength<R> || yy < kNoLength<R>) return false;
  const T xy = product(x, y, at.m);
  const R size = math::abs(xy);
  const R enough = std::numeric_limits<R>::epsilon() * (4 + std::sqrt(R(at.m)));
  if (!(size > enough * std::sqrt(xx) * std::sqrt(yy))) return false;
  const Rotation<R> turn(xx, yy, size);
  const T phase = xy * T(1 / size);
  rotate(x, y, at.m, phase, turn.c, turn.s);
  if (at.vectors) rotate(at.turns(room, p), at.turns(room, q), at.n, phase, turn.c, turn.s);
  return true;
}

/// Sweeps over all pairs. Whether they ended.
template <class T>
__device__ bool turn_all(const SvdRoom<T>& at, T* room) {
  const int warp = static_cast<int>(threadIdx.x) / kWarp, warps = static_cast<int>(blockDim.x) / kWarp;
  for (int sweep = 0; sweep < kSweeps; ++sweep) {
    bool turned = false;
    for (int round = 0; round < rounds_of(at.n); ++round) {
      for (int i = warp; i < (at.n + 1) / 2; i += warps) {
        const auto [p, q] = pair_of(at.n, round, i);
        if (q < at.n) turned |= turn_pair(at, room, p, q);
      }
      __syncthreads();
    }
    if (!__syncthreads_or(turned)) return true;
  }
  return false;
}

/// Column c of U, which is zero: a unit vector less what the other columns have of it. The vector that they have least
/// of leaves enough of itself.
template <class T>
__device__ void add_column(const SvdRoom<T>& at, T* room, int c) {
  using R = math::magnitude_t<T>;
  const int thread = static_cast<int>(threadIdx.x), threads = static_cast<int>(blockDim.x);
  T *const added = at.added(room), *const parts = added + at.m;
  R* const covered = at.lengths(room) + at.all;
  for (int r = thread; r < at.m; r += threads) {
    R sum(0);
    for (int d = 0; d < at.all; ++d) sum += square(at.column(room, d)[r]);
    covered[r] = sum;
  }
  __syncthreads();
  int least = 0;
  for (int r = 1; r < at.m; ++r)
    if (covered[r] < covered[least]) least = r;
  for (int r = thread; r < at.m; r += threads) added[r] = T(r == least ? 1 : 0);
  for (int pass = 0; pass < 2; ++pass) {  // the second takes away what rounding left
    __syncthreads();
    for (int d = thread / kWarp; d < at.all; d += threads / kWarp) {
      const T part = product(at.column(room, d), added, at.m);
      if (thread % kWarp == 0) parts[d] = part;
    }
    __syncthreads();
    for (int r = thread; r < at.m; r += threads)
      for (int d = 0; d < at.all; ++d) added[r] -= at.column(room, d)[r] * parts[d];
  }
  __syncthreads();
  const R length = std::sqrt(squares(added, at.m));
  for (int r = thread; r < at.m; r += threads) at.column(room, c)[r] = added[r] * T(1 / length);
  __syncthreads();
}

/// The matrix, scaled by a power of two, and an identity. Returns the exponent.
template <class T>
__device__ auto load(const SvdWork<T>& w, const SvdRoom<T>& at, T* room) {
  using R = math::magnitude_t<T>;
  const int thread = static_cast<int>(threadIdx.x), threads = static_cast<int>(blockDim.x), count = w.m * w.n;
  R largest(0);
  for (int k = thread; k < count; k += threads) {
    const T x = room[k] = conjugate_if(w.turned, w.a(blockIdx.x, k % w.m, k / w.m));
    const R size = larger_part(x);
    if (size > largest) largest = size;
  }
  largest = team_max(largest);
  int exponent = 0;
  if (largest > 0) std::frexp(largest, &exponent);
  for (int k = thread; k < count; k += threads) room[k] = scaled(room[k], -exponent);
  if (at.vectors)
    for (int k = thread; k < w.n * w.n; k += threads) at.turns(room, 0)[k] = T(k % w.n == k / w.n ? 1 : 0);
  __syncthreads();
  return exponent;
}

template <class T>
__global__ void __launch_bounds__(kPairThreads, 1) decompose(HB_ARGUMENT(SvdWork<T>) w) {
  using R = math::magnitude_t<T>;
  HB_DYNAMIC_SHARED(T, room);
  const SvdRoom<T> at(w.m, w.n, w.wide);
  R* const lengths = at.lengths(room);
  const int thread = static_cast<int>(threadIdx.x), threads = static_cast<int>(blockDim.x), m = w.m, n = w.n;
  const int exponent = load(w, at, room);
  const bool ended = turn_all(at, room);
  for (int c = thread / kWarp; c < at.all; c += threads / kWarp) {
    const R found = c < n ? squares(at.column(room, c), m) : R(0), length = std::sqrt(found);
    const bool none = found < kNoLength<R>;
    for (int r = thread % kWarp; r < m && w.wide > 0; r += kWarp) {
      T& x = at.column(room, c)[r];
      x = none ? T(0) : x * T(1 / length);
    }
    if (thread % kWarp == 0) lengths[c] = length;
  }
  __syncthreads();
  for (int c = 0; c < w.wide; ++c)
    if (c >= n || lengths[c] * lengths[c] < kNoLength<R>) add_column(at, room, c);
  for (int c = thread / kWarp; c < at.all; c += threads / kWarp) {
    int place = c < n ? 0 : c;  // values descend
    for (int d = 0; d < n && c < n; ++d) place += lengths[d] > lengths[c] || (lengths[d] == lengths[c] && d < c);
    if (c < n && thread % kWarp == 0) w.values[int64_t{blockIdx.x} * n + place] = scaled(lengths[c], exponent);
    if (w.wide == 0) continue;
    for (int r = thread % kWarp; r < m; r += kWarp)
      w.u(blockIdx.x, r, place) = conjugate_if(w.turned, at.column(room, c)[r]);
    for (int r = thread % kWarp; r < n && c < n; r += kWarp)
      w.v(blockIdx.x, r, place) = conjugate_if(!w.turned, at.turns(room, c)[r]);
  }
  if (thread == 0) w.info[blockIdx.x] = ended ? 0 : n + 1;
}

}  // namespace

bool small_svd(const Tensor& a, const Tensor& u, const Tensor& s, const Tensor& vh, const Tensor& info) {
  const bool turned = a.size(1) < a.size(2), wanted = u.defined();
  const int64_t m = std::max(a.size(1), a.size(2)), n = std::min(a.size(1), a.size(2));
  const int64_t wide = !wanted ? 0 : turned ? vh.size(1) : u.size(2);
  if (n > kSvdSide || m > kSvdRows || wide > kSvdSide) return false;
  bool fits = false;
  with_matrix_type(a, [&](auto zero) {
    using T = decltype(zero);
    const size_t bytes = SvdRoom<T>(static_cast<int>(m), static_cast<int>(n), static_cast<int>(wide)).bytes();
    fits = bytes <= kSvdRoom;
    if (!fits) return;
    SvdWork<T> w{.a = View<const T>(a), .u = {}, .v = {}, .values = data<math::magnitude_t<T>>(s),
                 .info = data<int32_t>(info), .m = static_cast<int>(m), .n = static_cast<int>(n),
                 .wide = static_cast<int>(wide), .turned = turned};
    if (turned) w.a = w.a.turned();
    // A^H = V S U^H
    if (wanted) w.u = turned ? View<T>(vh).turned() : View<T>(u), w.v = turned ? View<T>(u) : View<T>(vh).turned();
    const unsigned pairs = static_cast<unsigned>((n + 1) / 2), most = kPairThreads / kWarp;
    allow_shared<&decompose<T>>(kSvdRoom);
    HB_LAUNCH(decompose<T>, static_cast<unsigned>(a.size(0)), std::min(pairs, most) * kWarp, bytes, current_stream(), w);
  });
  return fits;
}

}  // namespace hb::cuda
