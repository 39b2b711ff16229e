// What a comparison of two traces found. The terminal table, JSON, JUnit and the HTML page are written from it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <halfbridge/diff/trace.h>

namespace hb::layer_diff {

struct Tolerance {
  double atol = 1e-3, rtol = 1e-3;
};

/// Error of one tensor against its reference, element by element in double. An element is within tolerance when
/// |test - ref| <= atol + rtol * |ref|; NaN matches NaN, infinities match their like. For gradients atol is scaled down
/// to their size: TensorDiff::tolerance holds what was applied.
struct Metrics {
  double max_abs = 0;    // largest |test - ref|
  double max_rel = 0;    // largest |test - ref| / |ref| over elements with |ref| > atol
  double mean_abs = 0;   // mean |test - ref|
  double rms = 0;        // root of the mean square of test - ref
  double ref_rms = 0;    // root of the mean square of ref
  double cosine = 1;     // of the angle between the two as vectors; 1 where both are zero
  double snr_db = 0;     // 20 log10(ref_rms / rms); infinite where they are equal
  double max_ulp = 0;    // in units of the last place of the coarser of the two dtypes
  double share_out = 0;  // share of elements out of tolerance, 0 to 1
  int64_t numel = 0, count_out = 0;
  int64_t nan_ref = 0, nan_test = 0, inf_ref = 0, inf_test = 0;
  std::vector<int64_t> worst;  // index of the element with the largest share of its tolerance
  double worst_ref = 0, worst_test = 0;
  bool pass = true;
};

/// Counts of log10 |test - ref| between `low` and `high` in equal bins; what is below (equal elements too) and above
/// apart.
struct Histogram {
  double low = -12, high = 4;
  int64_t below = 0, above = 0;
  std::vector<int64_t> counts;
};

/// |test - ref| over the last two dimensions of the slice with the worst element, averaged to at most 64 x 64 cells.
struct HeatMap {
  std::vector<int64_t> slice;  // index of the leading dimensions
  int64_t rows = 0, columns = 0;
  std::vector<double> cells;  // row by row
};

/// One pair of tensors.
struct TensorDiff {
  const Record* ref = nullptr;
  const Record* test = nullptr;
  std::string problem;    // why they cannot be compared (shapes), or differ though elements agree; empty otherwise
  std::string note;       // "reference viewed as [64, 1, 28, 28]", "statistics alone agree", "all of it is below atol"
  bool compared = false;  // element by element; else `metrics` says nothing but `pass`
  Tolerance tolerance;
  Metrics metrics;
  std::optional<Histogram> histogram;  // where it failed, or all when asked for
  std::optional<HeatMap> heat_map;
  bool pass() const { return problem.empty() && metrics.pass; }
};

enum class Match { path, map, order, fused, only_ref, only_test };
/// Where a layer's error comes from. `rounding`: no more than the noise of its dtypes explains, here and in every layer
/// before it. `inherited`: the layer itself adds no more than that, but something before it did.
enum class Verdict { none, exact, rounding, bug, inherited };

/// Errors as root of the mean square over that of the reference, of the layer's first failing output (else its first).
struct ErrorSplit {
  double inherited = 0;  // the test's layer run on the test's inputs against the same on the reference's inputs
  double added = 0;      // the test's layer run on the reference's inputs against the reference's output
  double noise = 0;      // what rounding alone gives: the layer in float64 against itself in its dtype, times a margin
};

/// A cause that was tried and that makes the layers agree.
struct Hint {
  std::string
      cause;  // eps, momentum, training_mode, transposed_weight, permuted_weight, padding, shifted_keys, input_scale, …
  std::string text;    // "agrees with eps=0.001 (the reference prints eps=1e-05)"
  double max_abs = 0;  // that is left then
};

/// A tensor that a function was given, and the parameter or buffer of the other side's module that it stands for.
struct Operand {
  const Record* given = nullptr;
  const Record* state = nullptr;
};

/// One layer in one step: a call on either side, or on both.
struct LayerDiff {
  int id = 0;
  int64_t step = 0;
  Match match = Match::path;
  const Call* ref = nullptr;
  const Call* test = nullptr;
  // Calls before `ref` (fused_in_ref) or before `test` that together with it do what the other side does in one call.
  std::vector<const Call*> fused;
  bool fused_in_ref = false;
  std::vector<Operand> operands;     // where one side is a function and the other a module
  std::vector<TensorDiff> forward;   // inputs and outputs
  std::vector<TensorDiff> backward;  // gradients of outputs and of inputs
  // Parameters, buffers and gradients of parameters (see the kind of the records), at the module's first call in the
  // step.
  std::vector<TensorDiff> state;
  bool container = false;  // has calls within it on a side: what it shows, they show more exactly
  std::optional<ErrorSplit> split;
  Verdict verdict = Verdict::none;
  std::string verdict_reason;
  std::vector<Hint> hints;
  bool outputs_pass = true, gradients_pass = true, inputs_pass = true;
};

/// Parameters, their gradients and updates, optimizer states and scales: by path and name, not by call.
struct StateDiff {
  int64_t step = 0;
  std::string root, path, name;  // the reference's, where it has it
  Kind kind = Kind::parameter;
  TensorDiff tensor;        // ref or test is null for one that the other side lacks
  std::vector<Hint> hints;  // of gradients and updates: optimizer, gradient_scale, …
};

struct Report {
  std::shared_ptr<const Trace> ref, test;
  std::vector<LayerDiff> layers;  // in the order of the reference's calls, the test's own between them
  std::vector<StateDiff> state;
  // Ids of layers: the first whose outputs fail in the order of calls, and the first whose gradients fail in the order
  // of the backward pass.
  std::optional<int> first_forward, first_backward;
  std::optional<int> first_state;  // index into `state`
  std::vector<std::string> notes;  // what the reader must know: truncated traces, steps that one side lacks
  int64_t compared = 0;            // pairs of tensors, element by element
  int64_t failed = 0;              // pairs of tensors that differ or cannot be compared, and states that one side lacks
  int64_t statistics = 0;          // pairs of which one has statistics alone
  int64_t only_ref = 0, only_test = 0;  // calls without a counterpart, containers left out
  bool agree() const { return compared > 0 && failed == 0; }
};

}  // namespace hb::layer_diff
