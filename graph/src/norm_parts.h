#pragma once
// A batch norm's call is two: the statistics, which update the running ones, and what makes the result of them.

#include <optional>

#include "backend/norm.h"
#include "recording.h"

namespace hb::graph {

/// y = x * scale + shift, for each channel.
using Affine = capture::CallOf<ScalarType, const NormShape&, void*, const void*, const void*, const void*>;

/// What makes the result, by the scale and the shift that `norm` has kept. None where it is another call than a batch
/// norm's.
std::optional<RecordedCall> affine_of(const RecordedCall& norm);
/// The result of a batch norm; -1 where it is another call.
int result_of_norm(const RecordedCall& norm);
/// Leaves the statistics alone.
void leave_out_affine(RecordedCall& norm);

}  // namespace hb::graph
