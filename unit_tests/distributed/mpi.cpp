// The collectives by MPI: the program of the faults' tests under each mpirun that is there.
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <string>

#include <unistd.h>

namespace {

struct Result {
  std::string text;
  int status;
};

Result output_of(const std::string& command) {
  Result result{"", -1};
  FILE* pipe = popen((command + " 2>&1").c_str(), "r");
  std::array<char, 4096> buffer;
  while (const size_t n = fread(buffer.data(), 1, buffer.size(), pipe)) result.text.append(buffer.data(), n);
  result.status = pclose(pipe);
  return result;
}

void check_with(const char* launcher, const std::string& options) {
  if (std::system((std::string("command -v ") + launcher + " > /dev/null").c_str()) != 0)
    GTEST_SKIP() << "no " << launcher << " here";
  for (int size : {2, 4}) {
    const Result result = output_of(std::string("timeout 60 ") + launcher + " " + options + " -n " +
                                    std::to_string(size) + " " + HALFBRIDGE_RANKS_PROGRAM + " check mpi");
    if (result.text.find("which is not installed or was not there when Halfbridge was built") != std::string::npos)
      GTEST_SKIP() << result.text;
    EXPECT_EQ(result.status, 0) << result.text;
    size_t done = 0;
    for (size_t at = result.text.find("done"); at != std::string::npos; at = result.text.find("done", at + 1)) ++done;
    EXPECT_EQ(done, static_cast<size_t>(size)) << result.text;
  }
}

TEST(DistributedMpi, OpenMpi) {
  check_with("mpirun.openmpi",
             std::string("--oversubscribe --bind-to none") + (geteuid() == 0 ? " --allow-run-as-root" : ""));
}

TEST(DistributedMpi, Mpich) { check_with("mpirun.mpich", ""); }

}  // namespace
