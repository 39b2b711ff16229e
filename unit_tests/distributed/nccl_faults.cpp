// Ranks of an NCCL group that die or do not come. The group runs on the software device, against NCCL's stand-in.
#include <cstdlib>

#include "distributed/processes.h"
#include "distributed/ranks.h"

namespace {

using ranks::Processes;
using ranks::Setting;

/// Where NCCL's stand-in keeps its files: removed with all that dead ranks left there.
class Folder {
 public:
  Folder() : path_(std::filesystem::temp_directory_path() / ("nccl_faults_" + std::to_string(getpid()))) {
    std::filesystem::create_directory(path_);
    setting_.emplace("TMPDIR", path_.c_str());
  }
  ~Folder() {
    setting_.reset();
    std::filesystem::remove_all(path_);
  }

 private:
  std::filesystem::path path_;
  std::optional<Setting> setting_;
};

class NcclFaults : public ::testing::Test {
 protected:
  void SetUp() override {
    const char* library = std::getenv("HALFBRIDGE_CUDA_LIBRARIES");
    if (!library) GTEST_SKIP() << "NCCL's stand-in is not built here";
  }
  Folder folder_;
  Setting engine_{"HALFBRIDGE_TEST_ENGINE", "nccl"};
};

TEST_F(NcclFaults, ARankThatIsKilledIsAnErrorOfNccl) {
  const Setting throws("TORCH_NCCL_ASYNC_ERROR_HANDLING", "2");
  Processes run("forever", 3, 60000);
  run.all_ready();
  usleep(300000);
  run.signal(2, SIGKILL);
  for (int r : {0, 1})
    run.expect_error(
        r, {"[ALLREDUCE #", "Float [100000]] NCCL: remote process exited", "rank 2 of the communicator is gone"});
}

TEST_F(NcclFaults, ARankThatDoesNotComeIsMissing) {
  const Setting throws("TORCH_NCCL_ASYNC_ERROR_HANDLING", "2");
  Processes run("pauses", 3, 1500);
  run.expect_error(0, {"[ALLREDUCE #2 (SUM) of Float [10]] timed out after 1500 ms", "rank 1 is missing",
                       "whose last call was ALLREDUCE #1 (SUM) of Float [10]"});
  run.expect_error(2, {"rank 1 is missing"});
}

TEST_F(NcclFaults, TheProcessEndsByDefault) {
  Processes run("pauses", 2, 1500);
  run.expect_end(0, 0, SIGABRT,
                 {"[ALLREDUCE #2 (SUM) of Float [10]] timed out", "rank 1 is missing",
                  "The process ends, lest it compute with values that never came"});
}

TEST_F(NcclFaults, AWaitCanBlockTheHost) {
  const Setting throws("TORCH_NCCL_ASYNC_ERROR_HANDLING", "2"), blocks("TORCH_NCCL_BLOCKING_WAIT", "1");
  Processes run("pauses", 2, 1500);
  run.expect_error(0, {"[ALLREDUCE #2 (SUM) of Float [10]]", "timed out after 1500 ms"});
}

TEST_F(NcclFaults, ARankThatCallsSomethingElseIsNamed) {
  const Setting detail("TORCH_DISTRIBUTED_DEBUG", "DETAIL");
  {
    Processes run("other_call", 2, 20000);
    run.expect_error(0, {"[ALLREDUCE #1 (SUM) of Float [3]] expected the same call",
                         "rank 1 called BROADCAST with root 0 of Float [3]"});
    run.expect_error(1, {"rank 0 called ALLREDUCE (SUM) of Float [3]"});
  }
  Processes run("other_shape", 3, 20000);
  run.expect_error(0, {"rank 1 called ALLREDUCE (SUM) of Float [4]"});
}

TEST_F(NcclFaults, ARankThatNeverConnectsIsMissing) {
  const Setting throws("TORCH_NCCL_ASYNC_ERROR_HANDLING", "2");
  Processes run("never", 2, 700);
  run.expect_error(
      0, {"[ALLREDUCE #1 (SUM) of Float [3]] timed out after 700 ms while ranks connected", "missing rank(s) 1"});
}

}  // namespace
