// What the reader of a report must know besides its figures.
#pragma once

#include <halfbridge/diff/report.h>

namespace hb::layer_diff {

/// `hidden`: calls within layers that the other side records as one.
void add_notes(Report& report, int64_t hidden);

}  // namespace hb::layer_diff
