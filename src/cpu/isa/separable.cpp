// Rows picked, or summed where they come from, by an index of its own for each dimension.
#include "backend/separable.h"

#include "cpu/isa/copy_bytes.h"
#include "cpu/isa/runs.h"

namespace hb::cpu::HB_ISA {
namespace {

/// `n` neighbours that stay neighbours.
struct Run {
  int64_t to, from, n;
};

std::vector<Run> runs_of(const std::vector<int64_t>& index, int64_t inner) {
  std::vector<Run> runs;
  for (size_t k = 0; k < index.size(); ++k) {
    if (k > 0 && index[k] == index[k - 1] + 1) {
      runs.back().n += inner;
    } else {
      runs.push_back({static_cast<int64_t>(k) * inner, index[k] * inner, inner});
    }
  }
  return runs;
}

bool few(const std::vector<Run>& runs, const SeparableIndex& s) {
  return 2 * static_cast<int64_t>(runs.size()) <= s.outputs(2);
}

/// Calls f(row of the picked, row of the original) for picked rows [b, e).
template <class F>
void over_rows(const SeparableIndex& s, int64_t b, int64_t e, const F& f) {
  const int64_t columns = s.outputs(1), rows = s.outputs(0) * columns;
  int64_t outer = b / rows, i = b / columns % s.outputs(0), j = b % columns;
  for (int64_t r = b; r < e; ++r) {
    f(r, (outer * s.size[0] + s.index[0][i]) * s.size[1] + s.index[1][j]);
    if (++j < columns) continue;
    j = 0;
    if (++i < s.outputs(0)) continue;
    i = 0, ++outer;
  }
}

/// Copies one run of several rows: `count` of them, the k-th from `from[k]`.
template <class T>
void copy_runs(T* to, int64_t to_row, const T* const* from, int64_t count, const Run& run) {
  const size_t bytes = run.n * sizeof(T);
  const auto each = [&](const auto& copy) {
    for (int64_t k = 0; k < count; ++k) copy(to + k * to_row + run.to, from[k] + run.from);
  };
  const auto ends = [&](auto word) {
    each([&](T* x, const T* y) {
      copy_ends<decltype(word)>(reinterpret_cast<char*>(x), reinterpret_cast<const char*>(y), bytes);
    });
  };
  if (run.n == 1) return each([](T* x, const T* y) { *x = *y; });
  if (bytes > 64 || bytes < 8) return each([&](T* x, const T* y) { copy_bytes(x, y, bytes); });
  if (bytes >= 32) return ends(__m256i{});
  if (bytes >= 16) return ends(__m128i{});
  ends(uint64_t{});
}

/// Rows of few runs (padding): run by run for several rows at a time, the longest first.
template <class T>
void select_runs(const SeparableIndex& s, std::vector<Run> runs, T* out, const T* in, int64_t b, int64_t e) {
  std::stable_sort(runs.begin(), runs.end(), [](const Run& x, const Run& y) { return x.n > y.n; });
  const int64_t to_row = s.outputs(2) * s.inner, from_row = s.size[2] * s.inner;
  constexpr int64_t kRows = 8, kBytes = 1536;  // few: pages and lines are written in turn
  const int64_t together = std::clamp<int64_t>(kBytes / (to_row * sizeof(T)), 1, kRows);
  const T* from[kRows];
  int64_t count = 0;
  over_rows(s, b, e, [&](int64_t r, int64_t original) {
    from[count++] = in + original * from_row;
    if (count < together && r + 1 < e) return;
    for (const Run& run : runs) copy_runs(out + (r + 1 - count) * to_row, to_row, from, count, run);
    count = 0;
  });
}

/// Rows of many (nearest neighbours): element by element; a row that comes again is copied.
template <class T>
void select_elements(const SeparableIndex& s, T* out, const T* in, int64_t b, int64_t e) {
  const int64_t inner = s.inner, n = s.outputs(2), to_row = n * inner, from_row = s.size[2] * inner;
  const int64_t* index = s.index[2].data();
  const T* last = nullptr;
  over_rows(s, b, e, [&](int64_t r, int64_t original) {
    T* __restrict to = out + r * to_row;
    const T* from = in + original * from_row;
    if (from == last) return copy_bytes(to, to - to_row, to_row * sizeof(T));
    last = from;
    if (inner == 1) {
      for (int64_t k = 0; k < n; ++k) to[k] = from[index[k]];
      return;
    }
    for (int64_t k = 0; k < n; ++k) copy_bytes(to + k * inner, from + index[k] * inner, inner * sizeof(T));
  });
}

template <class T>
void separable_select_of(const SeparableIndex& s, T* out, const T* in) {
  const auto runs = runs_of(s.index[2], s.inner);
  const int64_t row_bytes = s.outputs(2) * s.inner * static_cast<int64_t>(sizeof(T));
  const auto grain = std::max<int64_t>(1, 4 * kGrain / row_bytes);
  parallel_for(0, s.outer * s.outputs(0) * s.outputs(1), grain, [&](int64_t b, int64_t e) {
    few(runs, s) ? select_runs(s, runs, out, in, b, e) : select_elements(s, out, in, b, e);
  });
}

void separable_select(int64_t itemsize, const SeparableIndex& s, void* out, const void* in) {
  switch (itemsize) {
    case 1:
      return separable_select_of(s, static_cast<uint8_t*>(out), static_cast<const uint8_t*>(in));
    case 2:
      return separable_select_of(s, static_cast<uint16_t*>(out), static_cast<const uint16_t*>(in));
    case 4:
      return separable_select_of(s, static_cast<uint32_t*>(out), static_cast<const uint32_t*>(in));
    case 8:
      return separable_select_of(s, static_cast<uint64_t*>(out), static_cast<const uint64_t*>(in));
    default:
      return separable_select_of(s, static_cast<Complex<double>*>(out), static_cast<const Complex<double>*>(in));
  }
}

/// How many neighbours each place of a row has that come from it, in order, as where a row is stretched; 0 where places
/// differ in that.
int64_t stretch_of(const std::vector<int64_t>& index, int64_t places) {
  const auto n = static_cast<int64_t>(index.size()), each = n / places;
  for (int64_t k = 0; k < n; ++k)
    if (index[k] != k / std::max<int64_t>(each, 1)) return 0;
  return each * places == n ? each : 0;
}
/// to[i] += the sum of `each` neighbours.
template <int64_t each, class C>
void add_neighbours(int64_t n, C* __restrict to, const C* from) {
  for (int64_t i = 0; i < n; ++i) {
    C sum = to[i];
    for (int64_t k = 0; k < each; ++k) sum += from[i * each + k];
    to[i] = sum;
  }
}

template <class T>
void separable_sum_of(const SeparableIndex& s, T* out, const T* in) {
  using C = compute_t<T>;
  const auto runs = runs_of(s.index[2], s.inner);
  const bool elements = s.inner == 1 && !few(runs, s);  // in vectors, short runs that overlap would wait for each other
  const int64_t in_row = s.outputs(2) * s.inner, row = s.size[2] * s.inner, rows = s.outputs(0) * s.outputs(1);
  const int64_t block = s.size[0] * s.size[1] * row;
  const int64_t stretch = elements ? stretch_of(s.index[2], s.size[2]) : 0;
  parallel_for(0, s.outer, std::max<int64_t>(1, kGrain / 4 / (rows * in_row)), [&](int64_t b, int64_t e) {
    RunBuffer<T> sums(block), wide(in_row);
    std::vector<C> together(in_row);  // neighbouring rows that come from one
    for (int64_t o = b; o < e; ++o) {
      C* sum = results(out + o * block, sums.data());
      std::fill(sum, sum + block, C(0));
      int64_t pending = -1;
      const auto put = [&] {
        C* to = sum + pending * row - o * block;
        if (stretch == 2) return add_neighbours<2>(row, to, together.data());
        if (stretch == 4) return add_neighbours<4>(row, to, together.data());
        if (elements) {
          for (int64_t k = 0; k < in_row; ++k) to[s.index[2][k]] += together[k];
          return;
        }
        for (const Run& run : runs) {
          C* __restrict x = to + run.from;
          const C* y = together.data() + run.to;
          for (int64_t k = 0; k < run.n; ++k) x[k] += y[k];
        }
      };
      over_rows(s, o * rows, (o + 1) * rows, [&](int64_t r, int64_t original) {
        const C* from = computable(in + r * in_row, wide.data(), in_row);
        C* __restrict to = together.data();
        if (original == pending) {
          for (int64_t k = 0; k < in_row; ++k) to[k] += from[k];
          return;
        }
        if (pending >= 0) put();
        pending = original;
        std::copy_n(from, in_row, to);
      });
      if (pending >= 0) put();
      finish(sum, out + o * block, block);
    }
  });
}

void separable_sum(ScalarType dtype, const SeparableIndex& s, void* out, const void* in) {
  HB_FLOATING_SWITCH("separable_sum", dtype, [&](auto type) {
    using T = decltype(type);
    separable_sum_of(s, static_cast<T*>(out), static_cast<const T*>(in));
  });
}

HB_REGISTER_ISA(separable_select_kernel, separable_select);
HB_REGISTER_ISA(separable_sum_kernel, separable_sum);

}  // namespace
}  // namespace hb::cpu::HB_ISA
