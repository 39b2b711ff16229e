// What a reader costs on a hostile file: it is read in a child process, which says how long it took and by how much it
// grew.
#pragma once

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <string>

namespace unit {

struct Cost {
  double seconds = 0;
  int64_t bytes = 0;
  char error[256] = "";  // empty where the file was read
};

inline int64_t resident_bytes() {
  std::ifstream status("/proc/self/statm");
  int64_t all = 0, resident = 0;
  status >> all >> resident;
  return resident * sysconf(_SC_PAGESIZE);
}

inline double seconds_of(const timeval& time) {
  return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
}

// A child begins with the memory that the parent has: what it needs more is its highest.
inline Cost cost_of(const std::function<void()>& read) {
  int ends[2];
  if (::pipe(ends) != 0) throw std::runtime_error("no pipe");
  const pid_t child = ::fork();
  if (child == 0) {
    Cost cost;
    const int64_t before = resident_bytes();
    try {
      read();
    } catch (const std::exception& error) {
      std::strncpy(cost.error, error.what(), sizeof cost.error - 1);
    }
    rusage usage{};
    ::getrusage(RUSAGE_SELF, &usage);
    cost.seconds = seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime);
    cost.bytes = std::max<int64_t>(0, int64_t{usage.ru_maxrss} * 1024 - before);
    const bool sent = ::write(ends[1], &cost, sizeof cost) == sizeof cost;
    ::_exit(sent ? 0 : 1);
  }
  ::close(ends[1]);
  Cost cost;
  const bool got = ::read(ends[0], &cost, sizeof cost) == sizeof cost;
  ::close(ends[0]);
  ::waitpid(child, nullptr, 0);
  if (!got) throw std::runtime_error("the child ended before its time");
  return cost;
}

// At most 300 bytes and 10 microseconds of the CPU for each byte of the file.
inline void expect_bounded(const char* name, size_t size, const std::function<void()>& read, bool must_fail) {
  const Cost cost = cost_of(read);
  SCOPED_TRACE(std::string(name) + ": " + std::to_string(size) + " bytes, " + std::to_string(cost.seconds) + " s, " +
               std::to_string(cost.bytes >> 20) + " MiB, " + cost.error);
#ifndef __SANITIZE_ADDRESS__  // which keeps what is freed, and a shadow of all
  EXPECT_LT(cost.bytes, int64_t{64 << 20} + 300 * static_cast<int64_t>(size));
#endif
  EXPECT_LT(cost.seconds, 2 + 10e-6 * static_cast<double>(size));
  if (std::getenv("HALFBRIDGE_SHOW_COSTS")) {
    std::printf("%-24s %9zu bytes %7.3f s %6lld MiB  %.80s\n", name, size, cost.seconds,
                static_cast<long long>(cost.bytes >> 20), cost.error);
  }
  if (must_fail) {
    EXPECT_NE(cost.error[0], '\0');
  }
}

}  // namespace unit
