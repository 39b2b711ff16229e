// Each training runs in a process of its own, so that its peak memory is its own and nothing is warm from the
// one before.
#pragma once

#include <functional>
#include <string>

namespace demo {

/// Resident memory now, and the most there has been in this process, in MiB.
double resident_mib();
double peak_resident_mib();

/// Runs `work` in a child process and returns what it returned. Throws std::runtime_error with the child's
/// message where it threw, or with how it ended where it did not live to tell.
std::string in_own_process(const std::function<std::string()>& work);

}  // namespace demo
