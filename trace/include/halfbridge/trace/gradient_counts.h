#pragma once
// How large the gradients of a run were, layer by layer: counts by power of two, and the file that holds them.
// HALFBRIDGE_AMP_REPORT=FILE writes one; docs/loss-scaling.md says what for.

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include <halfbridge/tensor.h>

namespace hb::trace {

/// How many elements of some tensors lie in which range, in constant memory.
struct HB_API GradientCounts {
  static constexpr int kLowest = -150, kHighest = 127;
  static constexpr size_t kBins = kHighest - kLowest + 1;
  /// bins[i]: elements with 2^(kLowest + i) <= |x| < 2^(kLowest + i + 1). The first and the last take what lies beyond.
  std::array<uint64_t, kBins> bins{};
  uint64_t zeros = 0, not_finite = 0;
  /// Elements that came from fp16 tensors: what was too small for it had become zero before it was counted.
  uint64_t from_half = 0;
  double largest = 0;  // of the finite ones, as |x|

  /// Counts the elements of a tensor of any dtype and layout, each divided by `scale`.
  void add(const Tensor& tensor, double scale = 1);
  void add(const GradientCounts& other);
  /// Those that are neither zero nor inf nor NaN.
  uint64_t finite() const;
  /// Those of them with |x| < 2^exponent.
  uint64_t below(int exponent) const;
};

/// The gradients of one tensor of a program over a run.
struct GradientRow {
  std::string root, path, type;  // of the module, as in a trace
  std::string kind;              // "parameter", or "output" of a layer
  std::string name;              // of the parameter; of the output its number
  GradientCounts counts;
};

/// What HALFBRIDGE_AMP_REPORT writes: one line of text per tensor, in the order in which their gradients first came.
struct HB_API GradientRecord {
  int64_t steps = 0;  // of optimizers
  bool complete = false;
  std::vector<GradientRow> rows;

  /// The file appears under its name when it is whole. Throws hb::Error where it cannot be written.
  void save(const std::string& file) const;
  /// Takes the file for hostile: at most 64 MiB, and every number is checked. Throws hb::Error that names the line.
  static GradientRecord load(const std::string& file);
};

}  // namespace hb::trace
