// Any bytes as a trace file: opened, and what it says read.
#include <halfbridge/diff/trace.h>
#include <halfbridge/diff/trace_text.h>
#include <halfbridge/error.h>

#include "memory_file.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static MemoryFile file;
  file.write(data, size);
  try {
    const auto trace = hb::layer_diff::Trace::open(file.path());
    for (const hb::layer_diff::Record& record : trace->records()) {
      double value;
      if (record.file >= 0 && record.numel() > 0) trace->read(record, record.numel() - 1, 1, &value);
      trace->state_of(record.root, record.path, record.step);
    }
    hb::layer_diff::TraceTextOptions options;
    options.values = 8;
    options.statistics = true;
    trace_text(*trace, options);
    trace_json(*trace, options);
  } catch (const hb::Error&) {
  }
  return 0;
}
