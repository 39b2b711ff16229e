// Why two traces differ: which layer adds an error and which inherits it, whether rounding explains it, and the cause.
// docs/layer-diff.md says what the verdicts and causes mean.
#pragma once

#include <string>

#include <halfbridge/diff/report.h>

namespace hb::layer_diff {

struct ExplainOptions {
  /// Split layers that pass too. Without it they are looked at only where a later failure must come from one of them.
  bool all_layers = false;
  /// Try causes for at most this many layers with the verdict `bug`.
  int max_layers_with_hints = 8;
  /// Seconds that the search for causes of one layer may take.
  double seconds_per_layer = 20;
  /// After this many seconds it looks at no further layer; their reason says so.
  double seconds = 120;
};

/// Runs the layers of `report` again and fills in their split, verdict, reason and hints, and the hints of states.
/// Layers that cannot be run again (a type of the program's own, a mask that was not recorded, statistics alone) say so
/// in their reason. Sets `first_forward` to the first layer that is to blame where that is not the first that fails.
void explain(Report& report, const ExplainOptions& options = {});

/// Whether layers of this type can be run again.
bool can_replay(const std::string& type);

/// Writes the layer `id` of `report` as a program of its own into the folder `directory` (made where missing):
/// CMakeLists.txt, main.cpp written against torch:: alone, tensors.bin, README.md. It builds with LibTorch and with
/// Halfbridge, runs the layer on the reference's inputs and compares with the reference's outputs and gradients. Throws
/// hb::Error for a layer that cannot be written. A bundle that stands there is replaced in one step, and other files of
/// the folder stay.
void write_bundle(const Report& report, int id, const std::string& directory);
/// The layer that write_bundle is for: the first that is to blame, else the first that fails; none where all agree.
std::optional<int> layer_for_bundle(const Report& report);

}  // namespace hb::layer_diff
