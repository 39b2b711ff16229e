// Each group of files: one function writes it, one reads it and checks it against what was to be written.
// Both run in both libraries; nothing random goes in.
#pragma once

#include <string>

namespace interop {

void write_tensors(const std::string& folder);
void read_tensors(const std::string& folder);
void write_values(const std::string& folder);
void read_values(const std::string& folder);
void write_modules(const std::string& folder);
void read_modules(const std::string& folder);
void write_script_modules(const std::string& folder);
void read_script_modules(const std::string& folder);
void write_optimizers(const std::string& folder);
void read_optimizers(const std::string& folder);

}  // namespace interop
