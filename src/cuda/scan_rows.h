#pragma once
// Running results along neighbours in memory: a team of threads for each line, or for each part of a long one.

#include "cuda/scan_states.h"

namespace hb::cuda {

constexpr int kScanVectors = 2;    // that a thread loads before it computes
constexpr int kScanThreads = 512;  // at most
/// Neighbours that are loaded at once: 16 bytes of them, or fewer of narrow integers, which are rare.
template <class T>
constexpr int kNeighbours = std::is_integral_v<T> && sizeof(T) < 4 ? 4 : 16 / static_cast<int>(sizeof(T));
template <class T>
struct alignas(kNeighbours<T> * sizeof(T)) Neighbours {
  T x[kNeighbours<T>];
};

/// A store that the compiler does not take apart to merge it with those of single elements elsewhere.
template <class V>
__device__ inline void store_at_once(void* to, const V& value) {
#ifdef __CUDA_ARCH__
  if constexpr (sizeof(V) == 16) {
    uint4 bits;
    memcpy(&bits, &value, sizeof bits);
    __stcg(static_cast<uint4*>(to), bits);
    return;
  }
#endif
  store_vector(to, value);
}

struct alignas(16) TwoPlaces {
  int64_t first, second;
};

template <class S, class T>
struct RowScan {
  S state;
  T* out;  // absent: the totals of parts are wanted
  int64_t* places;
  const T* in;
  int64_t rows, n;
  int64_t part;  // elements of a line that a team scans
  int parts;
  int64_t reach;                // how far a team goes from an aligned address at or before its first element
  typename S::Carried* totals;  // of each part
};

/// Each of `width` lanes gets what the lanes up to itself have.
template <class S>
__device__ inline typename S::Carried scanned_in_warp(const S& s, typename S::Carried value, int lane, int width) {
  for (int by = 1; by < width; by *= 2) {
    const typename S::Carried earlier = S::before(value, by, width);
    if (lane >= by) value = s.combined(earlier, value);
  }
  return value;
}

/// What the parts of a line before `part` became.
template <class S>
__device__ inline typename S::Carried of_earlier_parts(const S& s, const typename S::Carried* totals, int64_t part) {
  typename S::Carried mine = S::none();
  const int lane = static_cast<int>(threadIdx.x % kWarp);
  const int64_t each = (part + kWarp - 1) / kWarp;
#pragma unroll 1
  for (int64_t k = lane * each; k < part && k < (lane + 1) * each; ++k) mine = s.combined(mine, totals[k]);
  return S::from(scanned_in_warp(s, mine, lane, kWarp), kWarp - 1, kWarp);
}

/// sums: what each of this thread's vectors became; they become what is before them. Vector k of all threads is before
/// vector k + 1 of any. carry: what is before all of them; it becomes what is before the next.
template <class S>
__device__ inline void scan_team(const S& s, typename S::Carried (&sums)[kScanVectors], typename S::Carried& carry,
                                 typename S::Carried* of_warps) {
  using Carried = typename S::Carried;
  const int width = static_cast<int>(blockDim.x), rank = static_cast<int>(threadIdx.x);
  const int span = width < kWarp ? width : kWarp, lane = rank % span, warp = rank / span, warps = width / span;
  Carried whole[kScanVectors];
#pragma unroll
  for (int k = 0; k < kScanVectors; ++k) {
    const Carried value = scanned_in_warp(s, sums[k], lane, span), earlier = S::before(value, 1, span);
    sums[k] = lane == 0 ? S::none() : earlier;
    whole[k] = warps == 1 ? S::from(value, span - 1, span) : value;
    if (warps > 1 && lane == kWarp - 1) of_warps[k * warps + warp] = value;
  }
  if (warps == 1) {
#pragma unroll
    for (int k = 0; k < kScanVectors; ++k) {
      sums[k] = s.combined(carry, sums[k]);
      carry = s.combined(carry, whole[k]);
    }
    return;
  }
  __syncthreads();
  const Carried all = scanned_in_warp(s, lane < kScanVectors * warps ? of_warps[lane] : S::none(), lane, kWarp);
#pragma unroll
  for (int k = 0; k < kScanVectors; ++k) {
    const int at = k * warps + warp;
    const Carried earlier = S::from(all, at > 0 ? at - 1 : 0, kWarp);
    sums[k] = s.combined(at > 0 ? s.combined(carry, earlier) : carry, sums[k]);
  }
  carry = s.combined(carry, S::from(all, kWarp - 1, kWarp));
}

/// Neighbours i, i + 1, … of a row, of which those in [from, end) are there.
template <class S, class T>
struct Piece {
  static constexpr int kEach = kNeighbours<T>;
  Neighbours<T> v;
  int first, last;  // those that are there

  __device__ void set_range(int64_t i, int64_t from, int64_t end) {
    first = i >= from ? 0 : i + kEach <= from ? kEach : static_cast<int>(from - i);
    last = i + kEach <= end ? kEach : i >= end ? 0 : static_cast<int>(end - i);
  }
  __device__ void load(const T* at) { v = load_vector<Neighbours<T>>(at); }
  __device__ void load_each(const T* at) {
#pragma unroll
    for (int e = 0; e < kEach; ++e) v.x[e] = there(e) ? at[e] : T(0.f);
  }
  __device__ bool whole() const { return first == 0 && last == kEach; }
  __device__ bool there(int e) const { return e >= first && e < last; }
  __device__ typename S::Carried total(const S& s, int64_t i) const {
    typename S::Carried sum = S::none();
#pragma unroll
    for (int e = 0; e < kEach; ++e)
      if (there(e)) sum = s.combined(sum, S::of(v.x[e], i + e));
    return sum;
  }
  /// straight: where a row is aligned, the results are.
  __device__ void store(const S& s, T* row, int64_t* places, int64_t i, typename S::Carried before, bool straight) {
    int64_t at[S::has_places ? kEach : 1];
#pragma unroll
    for (int e = 0; e < kEach; ++e) {
      if (there(e)) before = s.combined(before, S::of(v.x[e], i + e)), v.x[e] = S::value(before);
      if constexpr (S::has_places) at[e] = S::place(before);
    }
    if (straight && whole()) {
      store_at_once(row + i, v);
    } else {
#pragma unroll
      for (int e = 0; e < kEach; ++e)
        if (there(e)) row[i + e] = v.x[e];
    }
    if constexpr (S::has_places) store_places(places, i, at);
  }

 private:
  __device__ void store_places(int64_t* places, int64_t i, const int64_t (&at)[kEach]) const {
    if (!places) return;
    const bool pairs = whole() && reinterpret_cast<uintptr_t>(places + i) % 16 == 0;
#pragma unroll
    for (int e = 0; e < kEach; e += 2) {
      if (pairs) {
        store_at_once(places + i + e, TwoPlaces{at[e], at[e + 1]});
      } else {
        if (there(e)) places[i + e] = at[e];
        if (there(e + 1)) places[i + e + 1] = at[e + 1];
      }
    }
  }
};

/// Neighbours from `at` on, and `step` farther, and so on; `row` is their line.
template <class S, class T>
__device__ inline void load_pieces(Piece<S, T> (&pieces)[kScanVectors], const T* row, int64_t at, int64_t step,
                                   int64_t from, int64_t end) {
  bool whole = true;
#pragma unroll
  for (int k = 0; k < kScanVectors; ++k) {
    pieces[k].set_range(at + k * step, from, end);
    whole &= pieces[k].whole();
  }
  if (whole) {  // without a branch between them, so that no load waits for another
#pragma unroll
    for (int k = 0; k < kScanVectors; ++k) pieces[k].load(row + at + k * step);
  } else {
#pragma unroll
    for (int k = 0; k < kScanVectors; ++k) pieces[k].load_each(row + at + k * step);
  }
}

template <class S, class T>
__global__ void __launch_bounds__(kScanThreads, S::kBlocks) scan_rows(RowScan<S, T> a) {
  using Carried = typename S::Carried;
  constexpr int kEach = kNeighbours<T>;
  HB_SHARED(Carried, of_warps, 2 * kWarp);  // two, so that one is written while the other is read
  const int width = static_cast<int>(blockDim.x), rank = static_cast<int>(threadIdx.x);
  const int64_t team = team_row();
  const bool there = team < a.rows * a.parts;
  const int64_t row = there ? team / a.parts : 0, part = there ? team % a.parts : 0;
  const int64_t from = part * a.part, end = !there ? from : a.part < a.n - from ? from + a.part : a.n;
  const T* const in = a.in + row * a.n;
  T* const out = a.out ? a.out + row * a.n : nullptr;
  int64_t* const places = a.places ? a.places + row * a.n : nullptr;
  constexpr uintptr_t kBytes = kEach * sizeof(T);
  const uintptr_t address = reinterpret_cast<uintptr_t>(in) % kBytes;
  const bool straight = reinterpret_cast<uintptr_t>(out) % kBytes == address;
  // Vectors begin at aligned addresses, the first of them before the row if that does not.
  const int64_t begin = from - static_cast<int64_t>(address / sizeof(T)), tile = int64_t{width} * kScanVectors * kEach;
  Carried carry = out && a.parts > 1 ? of_earlier_parts(a.state, a.totals + row * a.parts, part) : S::none();
  int odd = 0;
  for (int64_t done = 0; done < a.reach; done += tile, odd ^= 1) {  // the same number of times in all teams
    Piece<S, T> pieces[kScanVectors];
    Carried sums[kScanVectors];
    const int64_t at = begin + done + int64_t{rank} * kEach, step = int64_t{width} * kEach;
    load_pieces(pieces, in, at, step, from, end);
#pragma unroll
    for (int k = 0; k < kScanVectors; ++k) sums[k] = pieces[k].total(a.state, at + k * step);
    scan_team(a.state, sums, carry, of_warps + odd * kWarp);
    if (!out) continue;
#pragma unroll
    for (int k = 0; k < kScanVectors; ++k) pieces[k].store(a.state, out, places, at + k * step, sums[k], straight);
  }
  if (!out && there && rank == 0) a.totals[team] = carry;
}

/// Few long lines are shared by blocks: a launch for the total of each part, another for what is before it.
template <class S, class T>
void launch_scan_rows(const S& state, T* out, int64_t* places, const T* in, int64_t rows, int64_t n) {
  constexpr int64_t kEach = kScanVectors * kNeighbours<T>, kTile = kScanThreads * kEach, kMostParts = 1024;
  const bool aligned = reinterpret_cast<uintptr_t>(in) % sizeof(Neighbours<T>) == 0 && n % kNeighbours<T> == 0;
  const int64_t slack = aligned ? 0 : kNeighbours<T> - 1;
  int width = 1;
  while (width < kScanThreads && width * kEach < n + slack) width *= 2;
  const int64_t wanted = kMostParts / rows, most = n / (2 * kTile), shares = wanted < most ? wanted : most;
  RowScan<S, T> a{state, out, places, in, rows, n, n, 1, 0, nullptr};
  if (shares > 1) {
    a.part = (n / shares + kTile - 1) / kTile * kTile;
    a.parts = static_cast<int>((n + a.part - 1) / a.part);
  }
  a.reach = a.part + slack;
  const Scratch<typename S::Carried> totals(a.parts > 1 ? rows * a.parts : 0);
  a.totals = totals.get();
  const dim3 block(width, width <= kWarp ? 128 / width : 1);  // a team of several warps has a block's shared memory
  const auto blocks = static_cast<unsigned>((rows * a.parts + block.y - 1) / block.y);
  if (a.parts > 1) {
    RowScan<S, T> first = a;
    first.out = nullptr;
    HB_LAUNCH((scan_rows<S, T>), blocks, block, 0, current_stream(), first);
  }
  HB_LAUNCH((scan_rows<S, T>), blocks, block, 0, current_stream(), a);
}

}  // namespace hb::cuda
