#pragma once
// Files that Python's PyTorch wrote (unit_tests/io/python_files).
#include <string>

namespace parity {

/// The path of the file `name`: in the folder that the environment's HALFBRIDGE_RECORDED_FILES names, or else where it
/// lay when this was built.
std::string recorded_file(const std::string& name);

}  // namespace parity
