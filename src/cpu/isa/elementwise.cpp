// Runs element-wise formulas over operands of any dtype and layout.
#include "cpu/isa/elementwise.h"

#include "cpu/isa/convert.h"
#include "cpu/parallel.h"

namespace hb::cpu::HB_ISA {
namespace {

constexpr int64_t kBlock = 512;  // elements per operand that stay in the first-level cache
constexpr int kMax = Loop::kMaxOperands;

template <class T>
FormulaLoop<T> formula_of(const ElementwiseFn& fn) {
  FormulaLoop<T> f;
  if constexpr (std::is_same_v<T, float>) f = fn.f32;
  if constexpr (std::is_same_v<T, double>) f = fn.f64;
  if constexpr (std::is_same_v<T, Complex<float>>) f = fn.c64;
  if constexpr (std::is_same_v<T, Complex<double>>) f = fn.c128;
  if constexpr (std::is_same_v<T, int64_t>) f = fn.i64;
  if constexpr (std::is_same_v<T, BFloat16>) f = fn.bf16;
  if constexpr (std::is_same_v<T, int16_t>) f = fn.half_bits;
  if constexpr (std::is_same_v<T, int8_t>) f = fn.byte_bits;
  if (HB_UNLIKELY(!f)) HB_NOT_SUPPORTED("[", fn.name, "] is not supported for dtype ", dtype_of<T>::value);
  return f;
}

/// A formula's loop, which computes a value to the same bits wherever it stands: where what remains after the last
/// whole vector would be computed otherwise, it is filled up to one.
template <class T>
struct PaddedFormula {
  static constexpr int64_t kLanes = std::is_floating_point_v<T> || std::is_same_v<T, BFloat16>
                                        ? (kIsaLevel >= 4 ? 64 : 32) / static_cast<int64_t>(sizeof(T))
                                        : 1;
  FormulaLoop<T> formula;
  const double* params;
  int outputs, operands;
  bool whole_vectors;
  unsigned shared_sets;

  PaddedFormula(const ElementwiseFn& fn, const double* p, int out, int all)
      : formula(formula_of<T>(fn)),
        params(p),
        outputs(out),
        operands(all),
        whole_vectors(fn.wants_whole_vectors),
        shared_sets(is_complex_v<T> || (sizeof(T) < 4 && !std::is_same_v<T, BFloat16>) ? 1 : fn.shared_sets) {}

  bool takes_shared(unsigned set) const { return set < 8 && (shared_sets >> set & 1); }
  void operator()(T* const* out, const T* const* in, int64_t n, unsigned shared = 0) const {
    const int64_t rest = whole_vectors ? n % kLanes : 0;
    if (n > rest) formula(out, in, n - rest, params, shared);
    if (rest) fill_up(out, in, n - rest, rest);
  }
  [[gnu::noinline]] void fill_up(T* const* out, const T* const* in, int64_t from, int64_t rest) const {
    alignas(64) T memory[kMax][kLanes];
    T* padded_out[kMax];
    const T* padded_in[kMax];
    for (int k = 0; k < operands - outputs; ++k) {
      const T* source = in[k] + from;
      for (int64_t i = 0; i < kLanes; ++i) memory[k][i] = source[i < rest ? i : rest - 1];
      padded_in[k] = memory[k];
    }
    for (int k = 0; k < outputs; ++k) padded_out[k] = memory[operands - outputs + k];
    formula(padded_out, padded_in, kLanes, params, 0);
    for (int k = 0; k < outputs; ++k) std::copy_n(padded_out[k], rest, out[k] + from);
  }
};

/// One call's operands: which are read and written where they lie, which go through a buffer, and how.
template <class T>
struct Runner {
  PaddedFormula<T> formula;
  int outputs, operands;
  ConvertRows convert[kMax];  // null: the operand has the compute type
  ConvertRows move[kMax];     // to or from the buffer
  int64_t size[kMax];         // bytes of an element
  alignas(64) char memory[kMax][kBlock * sizeof(T)];
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
  bool is_shared(int k) const { return k >= outputs && (shared >> (k - outputs) & 1); }
  /// The inputs that are one value along a row.
  unsigned shared_in_row(const RowsAt* at) const {
    unsigned set = 0;
    for (int k = outputs; k < operands; ++k) set |= (at[k].s0 == 0 ? 1u : 0u) << (k - outputs);
    return set;
  }
  /// Whether rows can be computed where they lie, with values that a row shares.
  bool rows_lie_ready(const RowsAt* at, int64_t n0) const {
    if (n0 < 32 || (formula.whole_vectors && n0 % formula.kLanes != 0) || !formula.takes_shared(shared_in_row(at)))
      return false;
    for (int k = 0; k < operands; ++k)
      if (convert[k] || (at[k].s0 != static_cast<int64_t>(sizeof(T)) && (at[k].s0 != 0 || k < outputs))) return false;
    return true;
  }
  void run_ready_rows(const RowsAt* at, int64_t n0, int64_t count) const {
    T* out[kMax];
    const T* in[kMax];
    const unsigned set = shared_in_row(at);
    for (int64_t j = 0; j < count; ++j) {
      for (int k = 0; k < outputs; ++k) out[k] = reinterpret_cast<T*>(at[k].data + j * at[k].s1);
      for (int k = outputs; k < operands; ++k) in[k - outputs] = reinterpret_cast<const T*>(at[k].data + j * at[k].s1);
      formula.formula(out, in, n0, formula.params, set);
    }
  }
  /// Whether the rows of operand k lie as the formula wants them.
  bool direct(int k, const RowsAt& at, Rows rows) const {
    if (convert[k] || at.s0 != static_cast<int64_t>(sizeof(T))) return rows.n0 * rows.n1 == 1 && !convert[k];
    return rows.n1 == 1 || at.s1 == rows.n0 * at.s0;
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
      if (at[k].s0 == 0 && (rows.n1 == 1 || at[k].s1 == 0)) {
        move[k](RowsAt{memory[k], sizeof(T), 0}, at[k], Rows{n, 1});
      } else {
        const auto row_bytes = static_cast<int64_t>(rows.n0 * sizeof(T));
        move[k](RowsAt{memory[k], sizeof(T), row_bytes}, at[k], rows);
      }
    }
    formula(out, in, n, shared);
    for (int k = 0; k < outputs; ++k) {
      if (is_direct[k]) continue;
      const auto row_bytes = static_cast<int64_t>(rows.n0 * sizeof(T));
      move[k](at[k], RowsAt{memory[k], sizeof(T), row_bytes}, rows);
    }
  }
  /// `count` rows, so many at once as a buffer holds. A row that all share is brought there once.
  void run_rows(RowsAt* at, int64_t n0, int64_t count) {
    const int64_t at_once = std::min(kBlock / n0, count);
    const auto row_bytes = static_cast<int64_t>(n0 * sizeof(T));
    for (int k = outputs; k < operands; ++k) {
      if (at[k].s1 != 0) continue;
      move[k](RowsAt{memory[k], sizeof(T), row_bytes}, at[k], Rows{n0, at_once});
      filled[k] = true;
    }
    for (int64_t j = 0; j < count; j += at_once) {
      const int64_t m = std::min(at_once, count - j);
      run(at, Rows{n0, m});
      for (int k = 0; k < operands; ++k) at[k].data += m * at[k].s1;
    }
    std::fill(filled, filled + kMax, false);
  }
  /// One row of any length.
  void run_row(RowsAt* at, int64_t n) {
    const unsigned set = n > 1 ? shared_in_row(at) : 0;
    if (set && formula.takes_shared(set)) shared = set;
    bool all_direct = true;
    for (int k = 0; k < operands; ++k) {
      if (is_shared(k))
        move[k](RowsAt{memory[k], sizeof(T), 0}, at[k], Rows{1, 1});
      else
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

/// Walks through a loop's rows. Positions move on by additions: divisions would take longer than a short row.
class Walk {
 public:
  Walk(const Loop& loop, int64_t begin) : loop_(loop), dims_(static_cast<int>(loop.sizes.size())), index_(loop.sizes) {
    for (int k = 0; k < loop.operands; ++k) outer_[k] = loop.op[k].data;
    for (int d = 0; d < dims_; ++d) {
      index_[d] = begin % loop.sizes[d];
      begin /= loop.sizes[d];
      for (int k = 0; k < loop.operands && d > 1; ++k) outer_[k] += index_[d] * loop.op[k].strides[d];
    }
  }
  int64_t in_row() const { return index_[0]; }
  int64_t row() const { return dims_ > 1 ? index_[1] : 0; }
  /// The operands from here on.
  void place(RowsAt* at) const {
    for (int k = 0; k < loop_.operands; ++k) {
      const auto& strides = loop_.op[k].strides;
      const int64_t s0 = strides[0], s1 = dims_ > 1 ? strides[1] : 0;
      at[k] = {outer_[k] + in_row() * s0 + row() * s1, s0, s1};
    }
  }
  /// Past n elements of a row.
  void pass_elements(int64_t n) {
    if ((index_[0] += n) < loop_.sizes[0]) return;
    index_[0] = 0;
    pass_rows(1);
  }
  /// Past rows of a plane; their number does not reach beyond it.
  void pass_rows(int64_t rows) {
    if (dims_ == 1 || (index_[1] += rows) < loop_.sizes[1]) return;
    index_[1] = 0;
    for (int d = 2; d < dims_; ++d) {
      const bool carried = ++index_[d] == loop_.sizes[d];
      const int64_t steps = carried ? 1 - loop_.sizes[d] : 1;
      for (int k = 0; k < loop_.operands; ++k) outer_[k] += steps * loop_.op[k].strides[d];
      if (!carried) return;
      index_[d] = 0;
    }
  }

 private:
  const Loop& loop_;
  int dims_;
  DimVector index_;
  char* outer_[kMax];  // of dimensions 2 and on
};

/// Elements [begin, end) of a loop in its order.
template <class T>
void run_range(Runner<T>& runner, const Loop& loop, int64_t begin, int64_t end) {
  const int64_t n0 = loop.sizes[0], n1 = loop.sizes.size() > 1 ? loop.sizes[1] : 1;
  for (Walk walk(loop, begin); begin < end;) {
    RowsAt at[kMax];
    walk.place(at);
    const int64_t left = end - begin, in_plane = n1 - walk.row();
    const int64_t whole = left >= in_plane * n0 ? in_plane : left / n0;
    if (walk.in_row() != 0 || whole == 0) {
      const int64_t n = std::min(n0 - walk.in_row(), left);
      runner.run_row(at, n);
      walk.pass_elements(n);
      begin += n;
      continue;
    }
    walk.pass_rows(whole);
    begin += whole * n0;
    if (runner.rows_lie_ready(at, n0)) {
      runner.run_ready_rows(at, n0, whole);
      continue;
    }
    if (2 * n0 <= kBlock) {
      runner.run_rows(at, n0, whole);
      continue;
    }
    for (int64_t j = 0; j < whole; ++j) {
      RowsAt row[kMax];
      std::copy(at, at + loop.operands, row);
      runner.run_row(row, n0);
      for (int k = 0; k < loop.operands; ++k) at[k].data += at[k].s1;
    }
  }
}

/// What a loop of T takes an operand for: its bits, where it computes with bits.
template <class T>
ScalarType stored_as(ScalarType dtype) {
  return std::is_same_v<T, int8_t> || std::is_same_v<T, int16_t> ? dtype_of<T>::value : dtype;
}

template <class T>
void run_loop(const Loop& loop, const ElementwiseFn& fn, const double* params) {
  ScalarType dtypes[kMax];
  for (int k = 0; k < loop.operands; ++k) dtypes[k] = stored_as<T>(loop.op[k].dtype);
  parallel_for(0, loop.numel, std::max<int64_t>(kGrain / fn.cost, 1024), [&](int64_t begin, int64_t end) {
    Runner<T> runner(loop, fn, params, dtypes);
    if (loop.sizes.empty()) {
      RowsAt at[kMax];
      for (int k = 0; k < loop.operands; ++k) at[k] = {loop.op[k].data, 0, 0};
      return runner.run(at, Rows{1, 1});
    }
    run_range(runner, loop, begin, end);
  });
}

template <class T>
void run_flat_range(const FlatLoop& loop, const ElementwiseFn& fn, const double* params, int64_t begin, int64_t end) {
  ScalarType dtypes[kMax];
  for (int k = 0; k < loop.operands; ++k) dtypes[k] = stored_as<T>(loop.dtype[k]);
  Runner<T> runner(loop, fn, params, dtypes);
  RowsAt at[kMax];
  for (int k = 0; k < loop.operands; ++k) {
    const int64_t stride = (loop.single >> k) & 1 ? 0 : runner.size[k];
    at[k] = {loop.data[k] + begin * stride, stride, 0};
  }
  runner.run_row(at, end - begin);
}

template <class T>
void run_flat(const FlatLoop& loop, const ElementwiseFn& fn, const double* params) {
  const int64_t grain = std::max<int64_t>(kGrain / fn.cost, 1024);
  bool plain = loop.single == 0 && loop.numel <= grain;
  for (int k = 0; k < loop.operands; ++k) plain &= stored_as<T>(loop.dtype[k]) == dtype_of<T>::value;
  if (plain) {
    T* out[kMax];
    const T* in[kMax];
    for (int k = 0; k < loop.operands; ++k) {
      if (k < loop.outputs)
        out[k] = reinterpret_cast<T*>(loop.data[k]);
      else
        in[k - loop.outputs] = reinterpret_cast<const T*>(loop.data[k]);
    }
    return PaddedFormula<T>(fn, params, loop.outputs, loop.operands)(out, in, loop.numel);
  }
  parallel_for(0, loop.numel, grain,
               [&](int64_t begin, int64_t end) { run_flat_range<T>(loop, fn, params, begin, end); });
}

template <class T>
void run(const ElementwiseFn& fn, const ElementwiseCall& call) {
  if (call.flat) return run_flat<T>(*call.flat, fn, call.params.data());
  run_loop<T>(*call.loop, fn, call.params.data());
}

}  // namespace

namespace {

/// The dtype that all operands have; Undefined where they differ.
ScalarType common_dtype(const ElementwiseCall& call) {
  const int operands = call.flat ? call.flat->operands : call.loop->operands;
  const auto dtype = [&](int k) { return call.flat ? call.flat->dtype[k] : call.loop->op[k].dtype; };
  for (int k = 1; k < operands; ++k)
    if (dtype(k) != dtype(0)) return ScalarType::Undefined;
  return dtype(0);
}

/// Loops that need no conversion: false where the operands do not allow one.
bool run_as_stored(const ElementwiseFn& fn, const ElementwiseCall& call) {
  if (!fn.bf16 && !fn.half_bits && !fn.byte_bits) return false;
  const ScalarType all = common_dtype(call);
  if (call.compute == kFloat && fn.half_bits && is_half_type(all)) return run<int16_t>(fn, call), true;
  if (call.compute == kFloat && fn.bf16 && all == kBFloat16) return run<BFloat16>(fn, call), true;
  if (call.compute == kLong && fn.byte_bits && (all == kBool || all == kByte || all == kChar))
    return run<int8_t>(fn, call), true;
  return false;
}

}  // namespace

void run_elementwise(const ElementwiseFn& fn, const ElementwiseCall& call) {
  if ((call.flat ? call.flat->numel : call.loop->numel) == 0) return;
  if (call.compute != kDouble && run_as_stored(fn, call)) return;
  if (call.compute == kFloat) return run<float>(fn, call);
  if (call.compute == kDouble) return run<double>(fn, call);
  if (call.compute == kComplexFloat) return run<Complex<float>>(fn, call);
  if (call.compute == kComplexDouble) return run<Complex<double>>(fn, call);
  run<int64_t>(fn, call);
}

}  // namespace hb::cpu::HB_ISA
