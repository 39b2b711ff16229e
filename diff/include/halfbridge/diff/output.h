// A report as text and for machines. The HTML page is html.h's.
#pragma once

#include <string>

#include <halfbridge/diff/report.h>

namespace hb::layer_diff {

struct TextOptions {
  int width = 80;         // columns of the terminal
  bool colour = false;    // ANSI escapes
  bool unicode = false;   // marks, arrows and dots outside of ASCII
  bool all = false;       // every layer and state, not the failing ones alone
  size_t most_rows = 24;  // failing layers listed without `all`
};
/// A table of layers, what has no counterpart, the first divergences and a conclusion. What a trace says is printed
/// without control characters.
std::string text_report(const Report& report, const TextOptions& options = {});

/// docs/layer-diff-json.md. Ends with a newline.
std::string json_report(const Report& report);

/// JUnit's XML: a case per layer and direction, and per parameter, gradient and state.
std::string junit_report(const Report& report);

/// Text for XML and HTML, in attributes too: control characters as \xNN.
std::string markup_escaped(const std::string& text);

}  // namespace hb::layer_diff
