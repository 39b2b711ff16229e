#include "notes.h"

#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/format.h>

#include "op_types.h"

namespace hb::layer_diff {
namespace {

// Fills `notes` of tensors that agree because they are small, and counts them.
int64_t mark_small(std::vector<TensorDiff>& pairs) {
  constexpr double kLeastSnr = 40;
  int64_t count = 0;
  for (TensorDiff& pair : pairs) {
    const Metrics& m = pair.metrics;
    if (!pair.compared || !m.pass || !(m.rms > 0) || !(m.ref_rms < pair.tolerance.atol) || m.snr_db >= kLeastSnr)
      continue;
    pair.note += fmt::format("{}smaller than atol, SNR {:.0f} dB", pair.note.empty() ? "" : "; ", m.snr_db);
    ++count;
  }
  return count;
}

void note_small(Report& report) {
  int64_t count = 0;
  for (LayerDiff& layer : report.layers) {
    count += mark_small(layer.forward) + mark_small(layer.backward);
    mark_small(layer.state);
  }
  for (StateDiff& state : report.state) {
    std::vector<TensorDiff> one = {std::move(state.tensor)};
    count += mark_small(one);
    state.tensor = std::move(one[0]);
  }
  if (count > 0) {
    report.notes.push_back(
        fmt::format("{} tensors are within tolerance only because they are smaller than atol; a smaller "
                    "--atol (or --tol for their layers) compares them",
                    count));
  }
}

// Runs on batches of two sizes differ everywhere.
void note_batch(Report& report) {
  std::set<std::pair<int64_t, int64_t>> sizes;
  for (const LayerDiff& layer : report.layers) {
    for (const TensorDiff& pair : layer.forward) {
      if (pair.problem.empty()) continue;
      const auto& a = pair.ref->shape;
      const auto& b = pair.test->shape;
      if (a.size() != b.size() || a.empty() || !std::equal(a.begin() + 1, a.end(), b.begin() + 1)) return;
      sizes.emplace(a[0], b[0]);
    }
  }
  if (sizes.size() == 1) {
    report.notes.push_back(fmt::format("the batches differ: {} samples against {}; feed both programs the same",
                                       sizes.begin()->first, sizes.begin()->second));
  }
}

void note_dropout(Report& report) {
  int64_t count = 0;
  for (const LayerDiff& layer : report.layers) {
    if (!layer.ref || !layer.test || canonical_type(layer.ref->type) != "dropout") continue;
    count += (layer.ref->training || layer.test->training) && !layer.outputs_pass && layer.inputs_pass;
  }
  if (count > 0) {
    report.notes.push_back(
        fmt::format("{} dropout layers ran in training mode and drew other elements; compare in eval "
                    "mode, or let the test take its masks from the reference's trace "
                    "(HALFBRIDGE_TRACE_MASKS)",
                    count));
  }
}

void note_weights(Report& report) {
  int64_t count = 0;
  for (const StateDiff& state : report.state) {
    count += state.step == report.state.front().step && !state.tensor.pass() &&
             (state.kind == Kind::parameter || state.kind == Kind::buffer);
  }
  if (count > 0) {
    report.notes.push_back(
        fmt::format("{} parameters or buffers differ before the first step: give both programs the same "
                    "weights first (halfbridge checkpoint)",
                    count));
  }
}

}  // namespace

void add_notes(Report& report, int64_t hidden) {
  note_weights(report);
  note_batch(report);
  note_dropout(report);
  note_small(report);
  if (hidden > 0) {
    report.notes.push_back(
        fmt::format("{} calls within layers that the other side records as one call were left out", hidden));
  }
  if (report.statistics > 0) {
    report.notes.push_back(
        fmt::format("{} tensors have statistics alone: where those agree, nothing is proven", report.statistics));
  }
}

}  // namespace hb::layer_diff
