#pragma once

#include <map>
#include <string>
#include <vector>

namespace hb::cli {

/// Runs a program (looked up in PATH) with these variables added to the environment and waits for it. Its output is
/// this program's. Returns its exit status, 128 + the signal's number if one ended it; throws where it cannot be
/// started.
int run_program(const std::vector<std::string>& arguments, const std::map<std::string, std::string>& variables);

}  // namespace hb::cli
