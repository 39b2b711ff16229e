#include "gradient_tolerance.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <utility>

#include "threads.h"

namespace hb::layer_diff {
namespace {

constexpr double kSmallest = 0.01;  // of the largest of the group

// Tensors of one kind are of one size: gradients, and states of one name (exp_avg, exp_avg_sq).
using Group = std::pair<Kind, std::string>;

bool is_small(Kind kind) {
  return kind == Kind::grad_output || kind == Kind::grad_input || kind == Kind::parameter_grad ||
         kind == Kind::optimizer_state;
}
Group group_of(const Record& record) {
  const bool state = record.kind == Kind::optimizer_state;
  return {record.kind, state ? record.name.substr(record.name.rfind('/') + 1) : ""};
}

// Largest finite magnitude.
double largest_of(const Trace& trace, const Record& record) {
  if (record.statistics) return std::max(std::fabs(record.statistics->min), std::fabs(record.statistics->max));
  constexpr int64_t kBlock = 1 << 14;
  std::vector<double> block(static_cast<size_t>(std::min(kBlock, record.numel())));
  double largest = 0;
  for (int64_t first = 0; first < record.numel(); first += kBlock) {
    const int64_t count = std::min(kBlock, record.numel() - first);
    trace.read(record, first, count, block.data());
    for (int64_t i = 0; i < count; ++i) {
      const double x = std::fabs(block[static_cast<size_t>(i)]);
      if (x <= std::numeric_limits<double>::max()) largest = std::max(largest, x);
    }
  }
  return largest;
}

}  // namespace

void scale_gradient_tolerances(const Trace& ref, const std::vector<TensorDiff*>& pairs) {
  // Records that share their bytes are read once.
  std::map<std::pair<int, uint64_t>, size_t> places;
  std::vector<const Record*> records;
  std::vector<std::pair<TensorDiff*, size_t>> gradients;
  for (TensorDiff* pair : pairs) {
    if (!pair->ref || !pair->test || !pair->problem.empty() || !is_small(pair->ref->kind)) continue;
    if (pair->ref->file < 0 && !pair->ref->statistics) continue;
    size_t place = records.size();
    if (pair->ref->file >= 0)
      place = places.emplace(std::pair(pair->ref->file, pair->ref->offset), place).first->second;
    if (place == records.size()) records.push_back(pair->ref);
    gradients.emplace_back(pair, place);
  }
  std::vector<double> largest(records.size());
  on_all_threads(records.size(), [&](size_t i) { largest[i] = largest_of(ref, *records[i]); });
  std::map<Group, double> of_group;
  for (const auto& [pair, place] : gradients)
    of_group[group_of(*pair->ref)] = std::max(of_group[group_of(*pair->ref)], largest[place]);
  for (const auto& [pair, place] : gradients) {
    const double scale = std::min(1.0, std::max(largest[place], kSmallest * of_group[group_of(*pair->ref)]));
    if (scale > 0) pair->tolerance.atol *= scale;
  }
}

}  // namespace hb::layer_diff
