// What a trace holds, as text.
#pragma once

#include <string>

#include <halfbridge/diff/output.h>
#include <halfbridge/diff/trace.h>

namespace hb::layer_diff {

struct TraceTextOptions {
  TextOptions terminal;
  std::string layer;        // pattern of paths, or of types; empty: all
  int64_t values = 0;       // first elements to print
  bool statistics = false;  // computed where they are not recorded
};
/// A table of records in their order.
std::string trace_text(const Trace& trace, const TraceTextOptions& options);
/// One JSON object per record and line, with the fields of docs/trace-format.md.
std::string trace_json(const Trace& trace, const TraceTextOptions& options);

/// Statistics of a record's elements, as docs/trace-format.md has them.
Statistics statistics_of(const Trace& trace, const Record& record);

}  // namespace hb::layer_diff
