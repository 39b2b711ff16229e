#pragma once
// What a trace records: the HALFBRIDGE_TRACE_* variables of docs/trace-format.md, or the same as fields.

#include <cstdlib>
#include <stdexcept>
#include <string>
#include <vector>

#include <halfbridge/trace/pattern.h>
#include <halfbridge/trace/record.h>

namespace hb::trace {
namespace detail {

[[noreturn]] inline void wrong_value(const std::string& variable, const std::string& expected, const std::string& got) {
  throw std::invalid_argument("[" + variable + "] expected " + expected + ", got '" + got + "'");
}

inline std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  size_t begin = 0;
  for (size_t end; (end = text.find(separator, begin)) != std::string::npos; begin = end + 1)
    parts.push_back(text.substr(begin, end - begin));
  parts.push_back(text.substr(begin));
  return parts;
}

/// False where the text is not a decimal number up to 2^63 - 1.
inline bool parse_number(const std::string& text, int64_t& value) {
  if (text.empty() || text.size() > 19) return false;
  uint64_t n = 0;
  for (char c : text) {
    if (c < '0' || c > '9') return false;
    n = n * 10 + static_cast<uint64_t>(c - '0');
  }
  value = static_cast<int64_t>(n);
  return n <= static_cast<uint64_t>(INT64_MAX);
}

}  // namespace detail

/// A set of steps: `all`, or numbers, ranges and strides with commas: `0,10-12,100-1000:100`.
class StepSet {
 public:
  StepSet() : StepSet("0") {}
  /// Throws std::invalid_argument, which names `variable`, for anything else.
  StepSet(const std::string& text, const std::string& variable = "steps") {  // NOLINT: a text is a set of steps
    if (text == "all") {
      ranges_ = {{0, INT64_MAX, 1}};
      return;
    }
    for (const std::string& part : detail::split(text, ',')) {
      const size_t colon = part.find(':');
      const std::string range = part.substr(0, colon);
      const size_t dash = range.find('-');
      Range r;
      bool ok = detail::parse_number(range.substr(0, dash), r.first);
      r.last = r.first;
      if (dash != std::string::npos) ok = ok && detail::parse_number(range.substr(dash + 1), r.last);
      if (colon != std::string::npos) ok = ok && detail::parse_number(part.substr(colon + 1), r.stride);
      if (!ok || r.last < r.first || r.stride < 1)
        detail::wrong_value(variable, "all, or numbers and ranges such as 0,10-12,100-1000:100", text);
      ranges_.push_back(r);
    }
  }
  StepSet(const char* text) : StepSet(std::string(text)) {}  // NOLINT

  bool contains(int64_t step) const {
    for (const Range& r : ranges_)
      if (step >= r.first && step <= r.last && (step - r.first) % r.stride == 0) return true;
    return false;
  }
  /// Whether no step from this one on is in it.
  bool over(int64_t step) const {
    for (const Range& r : ranges_)
      if (step <= r.last) return false;
    return true;
  }

 private:
  struct Range {
    int64_t first = 0, last = 0, stride = 1;
  };
  std::vector<Range> ranges_;
};

/// A set of module paths: patterns with commas, see matches_pattern(); a `-` in front leaves out. Without a pattern
/// that takes, all are taken that are not left out.
class LayerSet {
 public:
  LayerSet() : LayerSet("*") {}
  LayerSet(const std::string& text, const std::string& variable = "layers") {  // NOLINT
    for (const std::string& part : detail::split(text, ',')) {
      const bool out = !part.empty() && part[0] == '-';
      const std::string pattern = part.substr(out ? 1 : 0);
      if (pattern.empty()) detail::wrong_value(variable, "patterns of paths such as layer1.*,-*.bn?", text);
      (out ? out_ : in_).push_back(pattern);
    }
  }
  LayerSet(const char* text) : LayerSet(std::string(text)) {}  // NOLINT

  bool contains(const std::string& path) const {
    for (const std::string& p : out_)
      if (matches_pattern(p, path)) return false;
    for (const std::string& p : in_)
      if (matches_pattern(p, path)) return true;
    return in_.empty();
  }

 private:
  std::vector<std::string> in_, out_;
};

/// A set of kinds: `all`, or names with commas: `output,parameter_grad`.
class KindSet {
 public:
  KindSet() : KindSet("all") {}
  KindSet(const std::string& text, const std::string& variable = "kinds") {  // NOLINT
    if (text == "all") {
      bits_ = (1u << kKinds) - 1;
      return;
    }
    for (const std::string& part : detail::split(text, ',')) {
      int kind = 0;
      while (kind < kKinds && part != kKindNames[kind]) ++kind;
      if (kind == kKinds) {
        std::string names = "all, or of ";
        for (int i = 0; i < kKinds; ++i) names += (i ? "," : "") + std::string(kKindNames[i]);
        detail::wrong_value(variable, names, text);
      }
      bits_ |= 1u << kind;
    }
  }
  KindSet(const char* text) : KindSet(std::string(text)) {}  // NOLINT

  bool contains(Kind kind) const { return bits_ >> static_cast<int>(kind) & 1; }

 private:
  unsigned bits_ = 0;
};

struct Options {
  StepSet steps;                         // HALFBRIDGE_TRACE_STEPS
  LayerSet layers;                       // HALFBRIDGE_TRACE_LAYERS
  KindSet kinds;                         // HALFBRIDGE_TRACE_KINDS
  bool stats = false;                    // HALFBRIDGE_TRACE_STATS
  int64_t max_bytes = int64_t{8} << 30;  // HALFBRIDGE_TRACE_MAX_BYTES

  /// The HALFBRIDGE_TRACE_* variables; what is not set, or empty, is as above. Throws std::invalid_argument, which
  /// names the variable, for a malformed value.
  static Options from_environment() {
    Options o;
    const auto with = [](const std::string& variable, const auto& use) {
      const char* value = std::getenv(variable.c_str());
      if (value && *value) use(std::string(value), variable);
    };
    with("HALFBRIDGE_TRACE_STEPS", [&](const auto& value, const auto& name) { o.steps = StepSet(value, name); });
    with("HALFBRIDGE_TRACE_LAYERS", [&](const auto& value, const auto& name) { o.layers = LayerSet(value, name); });
    with("HALFBRIDGE_TRACE_KINDS", [&](const auto& value, const auto& name) { o.kinds = KindSet(value, name); });
    with("HALFBRIDGE_TRACE_STATS", [&](const auto& value, const auto& name) {
      if (value != "0" && value != "1") detail::wrong_value(name, "0 or 1", value);
      o.stats = value == "1";
    });
    with("HALFBRIDGE_TRACE_MAX_BYTES", [&](const auto& value, const auto& name) {
      if (!detail::parse_number(value, o.max_bytes) || o.max_bytes == 0)
        detail::wrong_value(name, "a positive number of bytes", value);
    });
    return o;
  }
};

}  // namespace hb::trace
