// Runs element-wise formulas over operands of any dtype and layout.
#include "cpu/isa/elementwise_runner.h"
#include "cpu/parallel.h"

namespace hb::cpu::HB_ISA {
namespace {

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
  /// Planes from here on that lie at steps of one size.
  int64_t planes_left() const { return dims_ > 2 ? loop_.sizes[2] - index_[2] : 1; }
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
    pass_planes(1);
  }
  /// Past whole planes; their number is at most planes_left().
  void pass_planes(int64_t planes) {
    if (dims_ == 2) return;
    index_[2] += planes - 1;
    for (int k = 0; k < loop_.operands; ++k) outer_[k] += (planes - 1) * loop_.op[k].strides[2];
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
  const bool few_elements = 2 * n0 * n1 <= kBlock;  // in a plane: a buffer holds several
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
    bool ready = runner.rows_lie_ready(at, n0);
    const int64_t planes = walk.row() == 0 ? std::min(walk.planes_left(), left / (n0 * n1)) : 0;
    if (planes > 1 && n1 < 4 && n0 < 32) ready = false;  // a call for each plane would take longer than the buffer
    if (planes > 1 && (ready || few_elements)) {
      int64_t steps[kMax];
      for (int k = 0; k < loop.operands; ++k) steps[k] = loop.op[k].strides[2];
      if (ready)
        runner.run_ready_planes(at, steps, Rows{n0, n1}, planes);
      else
        runner.run_planes(at, steps, Rows{n0, n1}, planes);
      walk.pass_planes(planes);
      begin += planes * n0 * n1;
      continue;
    }
    walk.pass_rows(whole);
    begin += whole * n0;
    if (ready) {
      runner.run_ready_rows(at, n0, whole);
      continue;
    }
    if (runner.any_lies_across(at, Rows{n0, whole})) {
      runner.run_tiles(at, Rows{n0, whole});
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

/// What a loop of T takes an operand for: its bits, where it computes with bits. Numbers are int64 beside integers.
template <class T>
ScalarType stored_as(ScalarType dtype) {
  const bool bits = std::is_same_v<T, int8_t> || std::is_same_v<T, int16_t>;
  return bits && element_size(dtype) == sizeof(T) ? dtype_of<T>::value : dtype;
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

/// The dtype that all operands have from number `first` on, but for those of a set; Undefined where they differ.
ScalarType common_dtype(const ElementwiseCall& call, int first = 0, unsigned but = 0) {
  const int operands = call.flat ? call.flat->operands : call.loop->operands;
  const auto dtype = [&](int k) { return call.flat ? call.flat->dtype[k] : call.loop->op[k].dtype; };
  for (int k = first + 1; k < operands; ++k)
    if (!(but >> k & 1) && dtype(k) != dtype(first)) return ScalarType::Undefined;
  return dtype(first);
}

/// Narrow integers as they are: false where the operands do not allow it.
bool run_narrow(const ElementwiseFn& fn, const ElementwiseCall& call) {
  const auto is_byte = [](ScalarType t) { return t == kByte || t == kChar; };
  if (fn.truth) {
    const ScalarType in = common_dtype(call, 1), out = call.flat ? call.flat->dtype[0] : call.loop->op[0].dtype;
    if (!(is_byte(in) || in == kBool) || element_size(out) != 1) return false;
    return run<int8_t>(fn, call), true;
  }
  // Of a number only the low bits count.
  const ScalarType all = common_dtype(call, 0, call.flat ? call.flat->numbers : call.loop->numbers);
  if (fn.i32 && all == kInt) return run<int32_t>(fn, call), true;
  if (fn.byte_bits && (is_byte(all) || (fn.bool_bytes && all == kBool))) return run<int8_t>(fn, call), true;
  return false;
}

/// Halves of type T and numbers of other dtypes beside them, as in x * 0.1: false where the formula does not take them
/// so.
template <class T>
bool run_with_numbers(const ElementwiseFn& fn, FormulaLoop<T> formula, const ElementwiseCall& call) {
  const FlatLoop& loop = *call.flat;
  const unsigned set = loop.single >> loop.outputs;
  if (set == 0 || set >= 8 || !(fn.shared_sets >> set & 1) || loop.single & ((1u << loop.outputs) - 1)) return false;
  alignas(16) float number[kMax];
  for (int k = 0; k < loop.operands; ++k) {
    if (!(loop.single >> k & 1)) {
      if (loop.dtype[k] != dtype_of<T>::value) return false;
    } else {
      convert_rows(kFloat, loop.dtype[k])({reinterpret_cast<char*>(number + k), 0, 0}, {loop.data[k], 0, 0}, {1, 1});
    }
  }
  parallel_for(0, loop.numel, std::max<int64_t>(kGrain / fn.cost, 1024), [&](int64_t begin, int64_t end) {
    T* out[kMax];
    const T* in[kMax];
    for (int k = 0; k < loop.operands; ++k) {
      auto* values = reinterpret_cast<T*>(loop.data[k]) + begin;
      if (k < loop.outputs)
        out[k] = values;
      else
        in[k - loop.outputs] = loop.single >> k & 1 ? reinterpret_cast<const T*>(number + k) : values;
    }
    formula(out, in, end - begin, call.params.data(), {set});
  });
  return true;
}
bool run_with_numbers(const ElementwiseFn& fn, const ElementwiseCall& call) {
  if (!call.flat || !fn.bf16 || call.compute != kFloat) return false;
  if (call.flat->dtype[0] == kHalf) return run_with_numbers<Half>(fn, fn.f16, call);
  return call.flat->dtype[0] == kBFloat16 && run_with_numbers<BFloat16>(fn, fn.bf16, call);
}

/// Loops that need no conversion: false where the operands do not allow one.
bool run_as_stored(const ElementwiseFn& fn, const ElementwiseCall& call) {
  if (call.compute == kLong) return run_narrow(fn, call);
  if (!fn.bf16 && !fn.half_bits) return false;
  const ScalarType all = common_dtype(call);
  if (call.compute == kFloat && fn.half_bits && is_half_type(all)) return run<int16_t>(fn, call), true;
  if (call.compute == kFloat && fn.bf16 && all == kBFloat16) return run<BFloat16>(fn, call), true;
  if (call.compute == kFloat && fn.f16 && all == kHalf) return run<Half>(fn, call), true;
  return false;
}

}  // namespace

void run_elementwise(const ElementwiseFn& fn, const ElementwiseCall& call) {
  if (HB_UNLIKELY(call.asked)) {
    *call.asked = &fn;
    return;
  }
  if ((call.flat ? call.flat->numel : call.loop->numel) == 0) return;
  if (call.compute != kDouble && (run_as_stored(fn, call) || run_with_numbers(fn, call))) return;
  if (call.compute == kFloat) return run<float>(fn, call);
  if (call.compute == kDouble) return run<double>(fn, call);
  if (call.compute == kComplexFloat) return run<Complex<float>>(fn, call);
  if (call.compute == kComplexDouble) return run<Complex<double>>(fn, call);
  run<int64_t>(fn, call);
}

}  // namespace hb::cpu::HB_ISA
