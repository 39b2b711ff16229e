#pragma once
// Threads for planes of equal shape: each takes one position in several planes, so that what it computes of the
// position, which costs divisions, serves all of them, and their loads wait together.

#include <type_traits>

#include "cuda/launch.h"
#include "cuda/walk.h"

namespace hb::cuda {

struct PlaneWalk {
  Divisor positions;
  int64_t planes, step;  // the planes of a thread are `step` apart
  PlaneWalk(int64_t in_plane, int64_t all, int64_t apart)
      : positions(in_plane, in_plane * apart), planes(all), step(apart) {}
  HB_HD int64_t threads() const { return positions * step; }
};

/// What one thread takes. A plane that does not exist stands for the first, and nothing is written for it.
template <int kEach>
struct PlanesOfThread {
  int64_t position, first, step, planes;
  __device__ PlanesOfThread(const PlaneWalk& w, int64_t thread)
      : PlanesOfThread(w, thread % w.positions, thread / w.positions) {}
  __device__ PlanesOfThread(const PlaneWalk& w, int64_t at, int64_t first_plane)
      : position(at), first(first_plane), step(w.step), planes(w.planes) {}
  __device__ bool has(int k) const { return first + k * step < planes; }
  __device__ int64_t operator[](int k) const { return has(k) ? first + k * step : first; }
};

/// Calls f(number of planes for a thread, as a constant, and the walk): several where that leaves enough threads.
template <int kSeveral = 4, class F>
void with_planes(int64_t positions, int64_t planes, const F& f) {
  constexpr int64_t kEnough = 1 << 18;  // of large GPUs: what they run at a time
  if (planes >= kSeveral && positions * planes / kSeveral >= kEnough)
    f(std::integral_constant<int, kSeveral>(), PlaneWalk{positions, planes, (planes + kSeveral - 1) / kSeveral});
  else
    f(std::integral_constant<int, 1>(), PlaneWalk{positions, planes, planes});
}

}  // namespace hb::cuda
