#pragma once
// Reductions of any layout. Two ways through memory: along what is reduced (inner), or along what is kept, row by row
// (outer).
#include <cmath>
#include <vector>

#include "backend/reduce.h"
#include "core/isa_level.h"
#include "cpu/isa/convert.h"
#include "cpu/isa/reduction_loops.h"
#include "cpu/isa/whole_reduction.h"
#include "cpu/parallel.h"

namespace hb::cpu::HB_ISA {
namespace {

constexpr int64_t kBuffer = 1024;               // elements converted at a time
constexpr int64_t kRun = WholeReduction::kRun;  // elements added in the compute type, then in the wide one
constexpr int64_t kColumns = 512;               // results gathered at a time on the outer way
constexpr int64_t kRows = 64;                   // rows added in the compute type
constexpr int64_t kNear = 1 << 20;              // bytes that a core's own caches hold
constexpr int64_t kWide = 64;                   // results that make a row wide enough for vectors

template <class T>
void power(T* x, int64_t n, T p) {
  if constexpr (std::is_floating_point_v<T>) {
    HB_INDEPENDENT
    for (int64_t i = 0; i < n; ++i) x[i] = math::pow(math::abs(x[i]), p);
  }
}

template <class W>
W finished(W v, const ReduceFinish& finish) {
  if constexpr (std::is_floating_point_v<W>) {
    if (finish.divisor != 1) v = static_cast<W>(v / finish.divisor);
    if (finish.root == 2)
      v = std::sqrt(v);
    else if (finish.root != 0)
      v = static_cast<W>(std::pow(static_cast<double>(v), 1 / finish.root));
  }
  return v;
}

/// What one thread works in.
template <class T>
struct Scratch {
  alignas(64) T buffer[kBuffer];
  alignas(64) T part[kColumns];
};

template <class T>
class Reducer {
 public:
  using W = typename Steps<T>::W;
  static constexpr int64_t kLanes = kVectorBytes / sizeof(T);
  Reducer(const ReduceLoop& loop, ReduceOp op, const ReduceFinish& finish)
      : l_(loop), finish_(finish), steps_(steps_of<T>(op)), power_(op == ReduceOp::power_sum) {
    same_ = l_.in_dtype == dtype_of<T>::value && !power_;
    far_ = is_zen5() && l_.outputs * l_.count * static_cast<int64_t>(sizeof(T)) > kNear;
    bf16_ = std::is_same_v<T, float> && l_.in_dtype == kBFloat16 && !power_;
    load_ = convert_rows(dtype_of<T>::value, l_.in_dtype);
    store_ = convert_rows(l_.out_dtype, dtype_of<W>::value);
  }

  void run() const {
    const bool along = l_.kept[0] == 1 || (l_.reduced_in[0] <= l_.kept_in[0] && !(l_.count < 32 && l_.kept[0] >= 16));
    const int64_t grain = std::max<int64_t>(1, kGrain / l_.count);
    const int64_t parts = threads_for(l_.outputs * l_.count, kGrain);
    const int64_t units = along ? l_.outputs : l_.outputs / 64;  // what can be done side by side
    if (parts > 1 && units < parts) return split_reduced(static_cast<int>(parts), along);
    if (!along && stacks_of_short_rows()) return reduce_short_rows();
    parallel_for(0, l_.outputs, along ? grain : std::max<int64_t>(grain, 64), [&](int64_t b, int64_t e) {
      W results[kColumns];
      Scratch<T> scratch;
      each_chunk(b, e, along, [&](const char* in, char* out, int64_t n) {
        reduce_chunk(scratch, in, n, 0, l_.count, along, results);
        store(out, results, n);
      });
    });
  }

  /// Where all elements are one row and become one result: `total` with the elements of a block taken in. Blocks that
  /// begin a multiple of kRun behind where a thread begins make the sums that run() makes.
  W take_block(const char* block, int64_t n, W total) const {
    Scratch<T> scratch;
    return inner_run(scratch, block, n, false, total);
  }
  W start_of_block() const { return W(steps_.first); }
  /// Stores what threads have reduced.
  void merge_parts(W* partial, int threads) const {
    for (int t = 1; t < threads; ++t)
      for (int64_t k = 0; k < l_.outputs; ++k) partial[k] = steps_.merge(partial[k], partial[t * l_.outputs + k]);
    each_chunk(0, l_.outputs, true, [&](const char*, char* out, int64_t n) {
      store(out, partial, n);
      partial += n;
    });
  }

 private:
  /// Whether matrices whose rows lie one behind the other, several in a vector, each become a row of the results (sums
  /// of rows of complex numbers: of pairs).
  bool stacks_of_short_rows() const {
    const int64_t n = l_.kept[0];
    return same_ && l_.kept.size() == 2 && l_.reduced.size() == 1 && kLanes % n == 0 && rows_together(n) > 1 &&
           l_.kept_out[1] == n * l_.kept_out[0];
  }
  void reduce_short_rows() const {
    const int64_t n = l_.kept[0], values = l_.count * n;
    parallel_for(0, l_.kept[1], std::max<int64_t>(1, kGrain / values), [&](int64_t b, int64_t e) {
      W results[kColumns];
      while (b < e) {
        const int64_t matrices = std::min(e - b, kColumns / n);
        std::fill_n(results, matrices * n, W(steps_.first));
        for (int64_t k = 0; k < matrices; ++k)
          for (int64_t i = 0; i < values; i += kRun)
            steps_.short_rows(reinterpret_cast<const T*>(l_.in + (b + k) * l_.kept_in[1]) + i,
                              std::min(kRun, values - i), n, far_, results + k * n);
        store(l_.out + b * l_.kept_out[1], results, matrices * n);
        b += matrices;
      }
    });
  }

  /// Few results of many elements: every thread reduces a part of all of them.
  void split_reduced(int threads, bool along) const {
    std::vector<W> partial(static_cast<size_t>(threads) * l_.outputs, W(steps_.first));
    parallel_ranges(0, l_.count, threads, [&](int64_t b, int64_t e, int me) {
      Scratch<T> scratch;
      W* mine = partial.data() + me * l_.outputs;
      each_chunk(0, l_.outputs, along, [&](const char* in, char*, int64_t n) {
        reduce_chunk(scratch, in, n, b, e, along, mine);
        mine += n;
      });
    });
    merge_parts(partial.data(), threads);
  }

  /// Calls body(in, out, n) for results [b, e): n neighbours along the innermost kept dimension.
  template <class F>
  void each_chunk(int64_t b, int64_t e, bool along, const F& body) const {
    while (b < e) {
      int64_t rest = b, in = 0, out = 0;
      for (size_t d = 0; d < l_.kept.size(); ++d) {
        const int64_t at = rest % l_.kept[d];
        rest /= l_.kept[d];
        in += at * l_.kept_in[d], out += at * l_.kept_out[d];
      }
      const int64_t n = std::min({l_.kept[0] - b % l_.kept[0], e - b, kColumns});
      body(l_.in + in, l_.out + out, n);
      b += n;
    }
  }

  void reduce_chunk(Scratch<T>& scratch, const char* in, int64_t n, int64_t b, int64_t e, bool along,
                    W* results) const {
    if (!along) return outer(scratch, in, n, b, e, results);
    const int64_t stride = l_.reduced_in[0];
    if (l_.reduced.size() == 1 && b < e && e - b <= kRun && lies_together())
      return runs(in + b * stride, l_.kept_in[0], n, e - b, far_, results);
    // A run of each result after the other, in the order of memory where results lie nearer than runs do.
    if (l_.reduced.size() > 1 && std::abs(l_.kept_in[0]) < std::abs(l_.reduced_in[1]))
      return inner_runs(scratch, in, n, b, e, results);
    for (int64_t k = 0; k < n; ++k) inner_runs(scratch, in + k * l_.kept_in[0], 1, b, e, results + k);
  }

  void inner_runs(Scratch<T>& scratch, const char* in, int64_t n, int64_t b, int64_t e, W* results) const {
    std::fill_n(results, n, W(steps_.first));
    while (b < e) {
      int64_t at;
      const char* p = in + l_.reduced_offset(b, at);
      const int64_t count = std::min(l_.reduced[0] - at, e - b);
      for (int64_t k = 0; k < n; ++k) results[k] = inner_run(scratch, p + k * l_.kept_in[0], count, far_, results[k]);
      b += count;
    }
  }

  /// `total` with n elements taken in.
  W inner_run(Scratch<T>& scratch, const char* p, int64_t n, bool far, W total) const {
    const int64_t stride = l_.reduced_in[0];
    const bool direct = lies_together();
    const int64_t most = direct ? kRun : kBuffer;
    for (int64_t i = 0; i < n; i += most) {
      const int64_t m = std::min(most, n - i);
      const char* const x = p + i * stride;
      W part;
      if (direct)
        runs(x, 0, 1, m, far, &part);
      else
        steps_.runs(reinterpret_cast<const char*>(load(scratch.buffer, x, stride, m)), 0, 1, m, false, &part);
      total = steps_.merge(total, part);
    }
    return total;
  }

  /// Whether what is reduced are neighbours in memory, of T or bf16: then runs() reduces them where they lie.
  bool lies_together() const {
    return (same_ || bf16_) && l_.reduced_in[0] == static_cast<int64_t>(element_size(l_.in_dtype));
  }
  /// Results of `rows` runs of n, which begin `step` bytes apart.
  void runs(const char* x, int64_t step, int64_t rows, int64_t n, bool far, W* results) const {
    bf16_ ? steps_.runs_bf16(x, step, rows, n, results) : steps_.runs(x, step, rows, n, far, results);
  }

  const T* load(T* to, const char* from, int64_t stride, int64_t n) const {
    load_({reinterpret_cast<char*>(to), sizeof(T), 0}, {const_cast<char*>(from), stride, 0}, {n, 1});
    if (power_) power(to, n, static_cast<T>(finish_.p));
    return to;
  }

  void outer(Scratch<T>& scratch, const char* in, int64_t n, int64_t b, int64_t e, W* results) const {
    const int64_t first = b, stride = l_.kept_in[0], step_bytes = l_.reduced_in[0];
    if (b == e) std::fill(results, results + n, W(steps_.first));
    const bool direct = same_ && (stride == static_cast<int64_t>(sizeof(T)) || n == 1);
    if (const int64_t together = rows_together(n); together > 1)
      b = outer_wide(scratch, in, n, together, b, e, results);
    while (b < e) {
      for (int64_t k = 0; k < n; ++k) scratch.part[k] = steps_.first;
      const int64_t begin = b, stop = std::min(e, b + kRows);
      while (b < stop) {
        int64_t at;
        const char* p = in + l_.reduced_offset(b, at);
        const int64_t rows = std::min(l_.reduced[0] - at, stop - b);
        add_rows(scratch, p, stride, step_bytes, n, rows, direct);
        b += rows;
      }
      if (begin == first)
        for (int64_t k = 0; k < n; ++k) results[k] = static_cast<W>(scratch.part[k]);
      else
        steps_.merge_rows(results, scratch.part, n);
    }
  }

  /// How many rows of n results, where they lie one behind the other, make a wide one.
  int64_t rows_together(int64_t n) const {
    const bool dense =
        l_.kept_in[0] == static_cast<int64_t>(element_size(l_.in_dtype)) && l_.reduced_in[0] == n * l_.kept_in[0];
    return dense ? kWide / n : 1;
  }

  /// As outer, with `together` rows taken for one; what is left of the last run of rows is not done. Returns where.
  int64_t outer_wide(Scratch<T>& scratch, const char* in, int64_t n, int64_t together, int64_t b, int64_t e,
                     W* results) const {
    const int64_t first = b;
    int64_t at;
    const char* p = in + l_.reduced_offset(b, at);
    int64_t wide_rows = std::min(l_.reduced[0] - at, e - b) / together;
    if (wide_rows == 0) return b;
    const int64_t step_bytes = together * l_.reduced_in[0];
    W wide[kWide];  // merged with each other at the end
    for (; wide_rows > 0; wide_rows -= kRows) {
      const int64_t rows = std::min(kRows, wide_rows);
      for (int64_t k = 0; k < n * together; ++k) scratch.part[k] = steps_.first;
      add_rows(scratch, p, l_.kept_in[0], step_bytes, n * together, rows, same_);
      if (b == first)
        for (int64_t k = 0; k < n * together; ++k) wide[k] = static_cast<W>(scratch.part[k]);
      else
        steps_.merge_rows(wide, scratch.part, n * together);
      b += rows * together;
      p += rows * step_bytes;
    }
    steps_.fold_rows(wide, together, n);
    std::copy(wide, wide + n, results);
    return b;
  }

  void add_rows(Scratch<T>& scratch, const char* p, int64_t stride, int64_t step_bytes, int64_t n, int64_t rows,
                bool direct) const {
    int64_t r = 0;
    if (bf16_ && stride == static_cast<int64_t>(sizeof(uint16_t)))
      return add_bf16_rows(scratch, p, step_bytes, n, rows);
    const T* x[4];
    for (; direct && r + 4 <= rows; r += 4, p += 4 * step_bytes) {
      for (int j = 0; j < 4; ++j) x[j] = reinterpret_cast<const T*>(p + j * step_bytes);
      steps_.rows(scratch.part, x, 4, n);
    }
    for (; r < rows; ++r, p += step_bytes) {
      x[0] = direct ? reinterpret_cast<const T*>(p) : load(scratch.buffer, p, stride, n);
      steps_.rows(scratch.part, x, 1, n);
    }
  }

  void add_bf16_rows(Scratch<T>& scratch, const char* p, int64_t step_bytes, int64_t n, int64_t rows) const {
    if constexpr (std::is_same_v<T, float>) {
      const uint16_t* x[4];
      for (int64_t r = 0; r < rows;) {
        const int count = r + 4 <= rows ? 4 : 1;
        for (int j = 0; j < count; ++j, ++r, p += step_bytes) x[j] = reinterpret_cast<const uint16_t*>(p);
        steps_.rows_bf16(scratch.part, x, count, n);
      }
    }
  }

  void store(char* out, const W* results, int64_t n) const {
    W values[kColumns];
    if (finish_.divisor != 1 || finish_.root != 0) {
      for (int64_t k = 0; k < n; ++k) values[k] = finished(results[k], finish_);
      results = values;
    }
    store_({out, l_.kept_out[0], 0}, {reinterpret_cast<char*>(const_cast<W*>(results)), sizeof(W), 0}, {n, 1});
  }

  const ReduceLoop& l_;
  ReduceFinish finish_;
  Steps<T> steps_;
  bool power_, same_, bf16_, far_;
  ConvertRows load_, store_;
};

}  // namespace
}  // namespace hb::cpu::HB_ISA
