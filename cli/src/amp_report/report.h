#pragma once
// What a record of gradients says of fp16 and of the scale of the loss.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <halfbridge/diff/output.h>
#include <halfbridge/trace/gradient_counts.h>

namespace hb::cli::amp_report {

using trace::GradientCounts;
using trace::GradientRecord;
using trace::GradientRow;

/// Of fp16: 2^-24 is its smallest number (half of that and less become zero), below 2^-14 it loses digits, and from
/// 65520 on it rounds to infinity.
constexpr int kSmallest = -24, kSmallestNormal = -14;
constexpr double kOverflow = 65520, kLargest = 65504;

/// How gradients fit into fp16 when the loss is multiplied by 2^power.
struct Fit {
  int power = 0;
  uint64_t below_smallest = 0, below_normal = 0;  // the first are among the second
  double largest = 0;
};
Fit fit(const GradientCounts& counts, int power);

/// The constant scale that loses least: of the powers of two between 2^-64 and 2^64 that let no gradient overflow, nor
/// one 2^headroom times as large as the largest, one with the fewest elements below 2^-24, of these one with the fewest
/// below 2^-14, of these the one nearest to 1. None where there are no gradients, or some that no scale can hold.
std::optional<Fit> advise(const GradientCounts& counts, int headroom = 0);

/// A module with its parameters and its outputs.
struct Layer {
  std::string name, type;
  GradientCounts parameters, outputs;
  std::vector<GradientRow> tensors;
  std::optional<Fit> own;  // what advise() would say of this layer alone
  GradientCounts all() const;
};

struct Report {
  int64_t steps = 0;
  int headroom = 0;
  GradientCounts all;
  std::vector<Layer> layers;  // as they were first seen
  std::optional<Fit> advice;
  std::string limit;  // the layer with the largest gradient
  std::vector<std::string> notes;
};
Report make_report(const GradientRecord& record, int headroom);

/// One line: the advice.
std::string sentence(const Report& report);
/// A line on what it loses, and one on the room that it leaves.
std::vector<std::string> explanation(const Report& report);

/// A table of layers, or of all tensors (`options.all`).
std::string text(const Report& report, const layer_diff::TextOptions& options);
std::string json(const Report& report);
/// A page of its own: a histogram per layer, before and after scaling.
std::string html(const Report& report);

// --- how numbers are printed

std::string share(uint64_t part, uint64_t of);  // 1.3 %
std::string count_text(uint64_t n);             // 12.3 M
std::string scale_text(int power);              // 8192 (2^13)

}  // namespace hb::cli::amp_report
