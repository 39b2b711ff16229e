#pragma once

#include <string>

namespace hb::cli {

/// Writes a text to a file, `-` for the standard output. Throws hb::Error where that fails.
void write_output(const std::string& file, const std::string& text);

}  // namespace hb::cli
