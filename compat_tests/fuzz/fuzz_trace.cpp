// Any bytes as a trace file: opened, and what it says read.
#include <sys/mman.h>
#include <unistd.h>

#include <string>

#include <halfbridge/diff/trace.h>
#include <halfbridge/error.h>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const int file = ::memfd_create("trace", 0);
  if (::ftruncate(file, 0) != 0 || ::pwrite(file, data, size, 0) != static_cast<ssize_t>(size)) return 0;
  try {
    const auto trace = hb::layer_diff::Trace::open("/proc/self/fd/" + std::to_string(file));
    for (const hb::layer_diff::Record& record : trace->records()) {
      double value;
      if (record.file >= 0 && record.numel() > 0) trace->read(record, record.numel() - 1, 1, &value);
      trace->state_of(record.root, record.path, record.step);
    }
  } catch (const hb::Error&) {
  }
  return 0;
}
