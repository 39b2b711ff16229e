// A record of gradients (HALFBRIDGE_AMP_REPORT's file), and what `halfbridge amp-report` makes of it. What is read is
// written and read as the same.
#include <cstdint>
#include <cstdlib>

#include <halfbridge/error.h>
#include <nlohmann/json.hpp>

#include "amp_report/report.h"
#include "memory_file.h"

namespace hb::cli::amp_report {
extern const char kPageCss[] = "";
}

using namespace hb::cli::amp_report;

namespace {

bool same(const GradientRecord& a, const GradientRecord& b) {
  if (a.steps != b.steps || a.complete != b.complete || a.rows.size() != b.rows.size()) return false;
  for (size_t i = 0; i < a.rows.size(); ++i) {
    const GradientRow &x = a.rows[i], &y = b.rows[i];
    if (x.root != y.root || x.path != y.path || x.type != y.type || x.kind != y.kind || x.name != y.name) return false;
    if (x.counts.bins != y.counts.bins || x.counts.zeros != y.counts.zeros || x.counts.largest != y.counts.largest)
      return false;
  }
  return true;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  static MemoryFile file;
  static const std::string again = "/tmp/fuzz_amp_report_" + std::to_string(::getpid());
  file.write(data + 1, size - 1);
  GradientRecord record;
  try {
    record = GradientRecord::load(file.path());
  } catch (const hb::Error&) {
    return 0;
  }
  record.save(again);
  if (!same(record, GradientRecord::load(again))) std::abort();
  const Report report = make_report(record, data[0] % 33);
  hb::layer_diff::TextOptions options;
  options.all = data[0] & 64;
  text(report, options);
  html(report);
  static_cast<void>(nlohmann::json::parse(json(report)));
  return 0;
}
