#pragma once
// Calls of few elements, of whose time most would be spent on finding out what to do.

#include "recording.h"

namespace hb::graph {

/// Prepares each element-wise call of few elements for the replays to come. The last pass: others do not know such
/// calls any more.
void prepare_calls(std::vector<RecordedCall>& calls);

}  // namespace hb::graph
