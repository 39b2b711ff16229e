#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>

#include "cpu/lapack/stack.h"

namespace hb::cpu::lapack {

/// Workspaces of one routine; a first call, while the lengths are -1, asks for their sizes.
template <class T>
struct Work {
  Int lwork = -1, lreal = -1, lint = -1;
  std::unique_ptr<T[]> work = room<T>(1);
  std::unique_ptr<Real<T>[]> real = room<Real<T>>(1);
  std::unique_ptr<Int[]> ints = room<Int>(1);

  Work() { real[0] = 0, ints[0] = 0; }  // not all routines report these
  /// Makes what the routine asked for, and at least so much.
  void make(int64_t reals, int64_t integers) {
    lwork = asked(work[0]);
    lreal = static_cast<Int>(std::max<int64_t>(reals, asked(real[0])));
    lint = static_cast<Int>(std::max<int64_t>(integers, ints[0]));
    work = room<T>(lwork), real = room<Real<T>>(lreal), ints = room<Int>(lint);
  }
};

}  // namespace hb::cpu::lapack
