#pragma once
// One call's operands and its formula: rows are computed where they lie, or brought to buffers and back.

#include "cpu/isa/convert.h"
#include "cpu/isa/padded_formula.h"
#include "cpu/isa/short_rows.h"
#include "cpu/isa/transpose.h"
#include "cpu/isa/vec.h"

namespace hb::cpu::HB_ISA {
namespace {

constexpr int64_t kBlock = 512;  // elements per operand that stay in the first-level cache

/// One call's operands: which are read and written where they lie, which go through a buffer, and how.
template <class T>
struct Runner {
  PaddedFormula<T> formula;
  int outputs, operands;
  ConvertRows convert[kMax];  // null: the operand has the compute type
  ConvertRows move[kMax];     // to or from the buffer
  int64_t size[kMax];         // bytes of an element
  alignas(64) char memory[kMax][(kBlock + kStored<T>)*sizeof(T)];
  bool filled[kMax] = {};  // the buffer holds what every element, or row, shares
  unsigned shared = 0;     // operands of which the buffer holds one value, for all

  template <class L>
  Runner(const L& loop, const ElementwiseFn& fn, const double* p, const ScalarType* dtypes)
      : formula(fn, p, loop.outputs, loop.operands), outputs(loop.outputs), operands(loop.operands) {
    for (int k = 0; k < operands; ++k) {
      if (std::is_same_v<T, int64_t> && dtypes[k] == kUInt64 && !fn.modular)
        HB_NOT_SUPPORTED("[", fn.name, "] is not supported for dtype UInt64: convert it with to(torch::kLong)");
      const bool same = dtypes[k] == dtype_of<T>::value;
      size[k] = static_cast<int64_t>(element_size(dtypes[k]));
      convert[k] = same          ? nullptr
                   : k < outputs ? convert_rows(dtypes[k], dtype_of<T>::value)
                                 : convert_rows(dtype_of<T>::value, dtypes[k]);
      move[k] = same ? convert_rows(dtype_of<T>::value, dtype_of<T>::value) : convert[k];
    }
  }

  T* buffer(int k) { return reinterpret_cast<T*>(memory[k]); }
  /// The values of type T, `step` bytes apart, that rows share, as their formula takes them: halves as floats.
  const T* shared_values(int k, const char* values, int64_t& step, int64_t rows) {
    if constexpr (is_half_v<T>) {
      for (int64_t j = 0; j < rows; ++j) {
        const float wide = widen(*reinterpret_cast<const T*>(values + j * step));
        std::memcpy(memory[k] + j * sizeof wide, &wide, sizeof wide);
      }
      step = sizeof(float);
      return reinterpret_cast<const T*>(memory[k]);
    } else {
      return reinterpret_cast<const T*>(values);
    }
  }
  bool is_shared(int k) const { return k >= outputs && (shared >> (k - outputs) & 1); }
  /// The inputs that are one value along a row.
  unsigned shared_in_row(const RowsAt* at) const {
    unsigned set = 0;
    for (int k = outputs; k < operands; ++k) set |= (at[k].s0 == 0 ? 1u : 0u) << (k - outputs);
    return set;
  }
  /// Whether rows can be computed where they lie, with values that a row shares.
  bool rows_lie_ready(const RowsAt* at, int64_t n0) const {
    const unsigned set = shared_in_row(at);
    if (n0 < formula.least_row(n0, set) || !formula.takes_shared(set)) return false;
    if (formula.whole_vectors && n0 % formula.kLanes != 0) return false;
    for (int k = 0; k < operands; ++k)
      if (convert[k] || (at[k].s0 != static_cast<int64_t>(sizeof(T)) && (at[k].s0 != 0 || k < outputs))) return false;
    return true;
  }
  void run_ready_rows(const RowsAt* at, int64_t n0, int64_t count) {
    T* out[kMax];
    const T* in[kMax];
    int64_t steps[kMax];
    FormulaRows rows{shared_in_row(at), 1, steps};
    const int64_t most = !formula.takes_rows ? 1 : is_half_v<T> ? kBlock / 2 : count;
    for (int64_t j = 0; j < count; j += most) {
      rows.count = std::min(most, count - j);
      for (int k = 0; k < operands; ++k) {
        char* const row = at[k].data + j * at[k].s1;
        steps[k] = at[k].s1;
        if (k < outputs)
          out[k] = reinterpret_cast<T*>(row);
        else if (rows.shared >> (k - outputs) & 1)
          in[k - outputs] = shared_values(k, row, steps[k], rows.count);
        else
          in[k - outputs] = reinterpret_cast<const T*>(row);
      }
      formula.formula(out, in, n0, formula.params, rows);
    }
  }
  /// `count` planes of such rows, steps[k] bytes apart.
  void run_ready_planes(RowsAt* at, const int64_t* steps, Rows plane, int64_t count) {
    for (int64_t j = 0; j < count; ++j) {
      run_ready_rows(at, plane.n0, plane.n1);
      for (int k = 0; k < operands; ++k) at[k].data += steps[k];
    }
  }
  /// Whether the rows of operand k lie as the formula wants them.
  bool direct(int k, const RowsAt& at, Rows rows) const {
    if (convert[k] || at.s0 != static_cast<int64_t>(sizeof(T))) return rows.n0 * rows.n1 == 1 && !convert[k];
    return rows.n1 == 1 || at.s1 == rows.n0 * at.s0;
  }
  /// Whether operand k's columns lie together, and not its rows.
  bool lies_across(int k, const RowsAt& at) const {
    constexpr auto item = static_cast<int64_t>(sizeof(T));
    return k >= outputs && !convert[k] && at.s1 == item && at.s0 != 0 && at.s0 != item;
  }
  bool any_lies_across(const RowsAt* at, Rows rows) const {
    bool any = false;
    for (int k = outputs; k < operands; ++k) any |= lies_across(k, at[k]);
    return any && rows.n0 >= 8 && rows.n1 >= 8;
  }
  /// Rows in tiles as high as a cache line of such an operand, so that no line is read twice.
  void run_tiles(const RowsAt* at, Rows rows) {
    constexpr int64_t kHeight = 64 / sizeof(T) < kTransposeTile ? 64 / sizeof(T) : kTransposeTile;
    constexpr int64_t kWidth = kBlock / kHeight < kTransposeTile ? kBlock / kHeight : kTransposeTile;
    for (int64_t j = 0; j < rows.n1; j += kHeight)
      for (int64_t i = 0; i < rows.n0; i += kWidth) {
        RowsAt tile[kMax];
        for (int k = 0; k < operands; ++k) tile[k] = {at[k].data + i * at[k].s0 + j * at[k].s1, at[k].s0, at[k].s1};
        run(tile, Rows{std::min(kWidth, rows.n0 - i), std::min(kHeight, rows.n1 - j)});
      }
  }
  /// Whether nothing is between the elements of operand k.
  bool lies_together(int k, const RowsAt& at, Rows rows) const {
    return at.s0 == size[k] && at.s1 == rows.n0 * size[k];
  }
  /// Such rows as one.
  Rows joined(int k, const RowsAt& at, Rows rows) const {
    return lies_together(k, at, rows) ? Rows{rows.n0 * rows.n1, 1} : rows;
  }
  /// Brings rows of an operand to its buffer, or to a part of that.
  void bring(int k, T* to, const RowsAt& at, Rows rows) {
    const auto row_bytes = static_cast<int64_t>(rows.n0 * sizeof(T));
    if (lies_across(k, at) && rows.n0 <= kTransposeTile && rows.n1 <= kTransposeTile)
      transpose_tile<BitsOf<T>>(reinterpret_cast<char*>(to), row_bytes, at.data, at.s0, rows.n1, rows.n0);
    else if (convert[k] || !bring_short_rows(to, at, rows))
      move[k](RowsAt{reinterpret_cast<char*>(to), sizeof(T), row_bytes}, at, joined(k, at, rows));
  }
  /// Up to kBlock elements, unless every operand is direct.
  void run(const RowsAt* at, Rows rows) {
    const int64_t n = rows.n0 * rows.n1;
    T* out[kMax];
    const T* in[kMax];
    bool is_direct[kMax];
    for (int k = 0; k < operands; ++k) {
      is_direct[k] = direct(k, at[k], rows) && !is_shared(k);
      T* p = is_direct[k] ? reinterpret_cast<T*>(at[k].data) : buffer(k);
      if (k < outputs) {
        out[k] = p;
        continue;
      }
      in[k - outputs] = p;
      if (is_direct[k]) continue;
      if (filled[k] || is_shared(k)) continue;
      if (at[k].s0 == 0 && (rows.n1 == 1 || at[k].s1 == 0))
        move[k](RowsAt{memory[k], sizeof(T), 0}, at[k], Rows{n, 1});
      else
        bring(k, buffer(k), at[k], rows);
    }
    formula(out, in, n, shared);
    for (int k = 0; k < outputs; ++k) {
      if (is_direct[k]) continue;
      const auto row_bytes = static_cast<int64_t>(rows.n0 * sizeof(T));
      move[k](at[k], RowsAt{memory[k], sizeof(T), row_bytes}, joined(k, at[k], rows));
    }
  }
  /// `count` rows, so many at once as a buffer holds. A row that all share is brought there once.
  void run_rows(RowsAt* at, int64_t n0, int64_t count) {
    const int64_t at_once = std::min(kBlock / n0, count);
    for (int k = outputs; k < operands; ++k) {
      if (at[k].s1 != 0) continue;
      bring(k, buffer(k), at[k], Rows{n0, at_once});
      filled[k] = true;
    }
    for (int64_t j = 0; j < count; j += at_once) {
      const int64_t m = std::min(at_once, count - j);
      run(at, Rows{n0, m});
      for (int k = 0; k < operands; ++k) at[k].data += m * at[k].s1;
    }
    std::fill(filled, filled + kMax, false);
  }
  /// Where `count` planes of operand k lie, and where they lie in its buffer: as one row if nothing is between them.
  struct Planes {
    RowsAt memory, buffer;
    int64_t step, buffer_step;
    Rows rows;
    int64_t count;
    bool together;  // one row
  };
  Planes planes_of(int k, const RowsAt& at, int64_t step, Rows plane, int64_t count) {
    const int64_t n = plane.n0 * plane.n1, item = sizeof(T);
    const RowsAt buffer{memory[k], item, plane.n0 * item};
    if (lies_together(k, at, plane) && step == n * size[k]) return {at, buffer, 0, 0, Rows{n * count, 1}, 1, true};
    return {at, buffer, step, n * item, plane, count, false};
  }
  void bring_planes(int k, Planes p) {
    if (!convert[k] && !p.together && p.rows.n0 <= 4)
      return gather_planes(buffer(k), p.memory, p.step, p.rows, p.count);
    if (p.memory.s0 == 0 && p.step == p.rows.n1 * p.memory.s1)  // one column
      return bring(k, buffer(k), p.memory, Rows{p.rows.n0, p.rows.n1 * p.count});
    for (int64_t j = 0; j < p.count; ++j) {
      bring(k, reinterpret_cast<T*>(p.buffer.data), p.memory, p.rows);
      p.memory.data += p.step, p.buffer.data += p.buffer_step;
    }
  }
  void return_planes(int k, Planes p) {
    for (int64_t j = 0; j < p.count; ++j) {
      move[k](p.memory, p.buffer, p.rows);
      p.memory.data += p.step, p.buffer.data += p.buffer_step;
    }
  }
  /// `count` small planes, steps[k] bytes apart, so many at once as a buffer holds. A plane that all share is brought
  /// there once.
  void run_planes(RowsAt* at, const int64_t* steps, Rows plane, int64_t count) {
    const int64_t n = plane.n0 * plane.n1, at_once = std::min(kBlock / n, count);
    for (int k = outputs; k < operands; ++k) {
      if (steps[k] != 0) continue;
      bring_planes(k, planes_of(k, at[k], 0, plane, at_once));
      filled[k] = true;
    }
    for (int64_t j = 0; j < count; j += at_once) {
      const int64_t m = std::min(at_once, count - j);
      T* out[kMax];
      const T* in[kMax];
      Planes to[kMax];
      for (int k = 0; k < operands; ++k) {
        const Planes planes = planes_of(k, at[k], steps[k], plane, m);
        const bool in_place = !convert[k] && planes.together;
        T* const values = in_place ? reinterpret_cast<T*>(at[k].data) : buffer(k);
        if (k >= outputs) {
          in[k - outputs] = values;
          if (!in_place && !filled[k]) bring_planes(k, planes);
        } else {
          out[k] = values;
          to[k] = planes;
          if (in_place) to[k].count = 0;
        }
        at[k].data += m * steps[k];
      }
      formula(out, in, m * n);
      for (int k = 0; k < outputs; ++k) return_planes(k, to[k]);
    }
    std::fill(filled, filled + kMax, false);
  }
  /// One row of any length.
  void run_row(RowsAt* at, int64_t n) {
    const unsigned set = n > 1 ? shared_in_row(at) : 0;
    if (set && formula.takes_shared(set)) shared = set;
    bool all_direct = true;
    for (int k = 0; k < operands; ++k) {
      if (is_shared(k)) {
        move[k](RowsAt{memory[k], sizeof(T), 0}, at[k], Rows{1, 1});
        int64_t step = 0;
        shared_values(k, memory[k], step, 1);
      } else
        all_direct &= direct(k, at[k], Rows{n, 1});
    }
    if (all_direct || n <= kBlock) {
      run(at, Rows{n, 1});
      shared = 0;
      return;
    }
    for (int k = outputs; k < operands; ++k) {
      if (at[k].s0 != 0 || is_shared(k)) continue;
      move[k](RowsAt{memory[k], sizeof(T), 0}, at[k], Rows{kBlock, 1});
      filled[k] = true;
    }
    for (int64_t i = 0; i < n; i += kBlock) {
      const int64_t m = std::min(kBlock, n - i);
      run(at, Rows{m, 1});
      for (int k = 0; k < operands; ++k) at[k].data += m * at[k].s0;
    }
    std::fill(filled, filled + kMax, false);
    shared = 0;
  }
};

}  // namespace
}  // namespace hb::cpu::HB_ISA
