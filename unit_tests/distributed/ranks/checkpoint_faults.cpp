// What goes wrong on one rank while all save a checkpoint: an error on all, nothing half written, and the group goes
// on.
#include "ranks.h"

#include <signal.h>
#include <sys/resource.h>

#include <filesystem>

namespace {

using namespace ranks;
namespace fs = std::filesystem;

std::string error_of(const std::function<void()>& f) {
  try {
    f();
    return "";
  } catch (const hb::Error& e) {
    return e.what();
  }
}

class CheckpointFaults : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = dist::broadcast_bytes(group(),
                                    (fs::temp_directory_path() / ("hb-faults-" + std::to_string(::getpid()))).string());
    if (rank() == 0) fs::create_directories(folder_);
  }
  void TearDown() override {
    dist::all_gather_bytes(group(), "");
    if (rank() == 0) fs::remove_all(folder_);
  }
  std::string save(int64_t step, const dist::SaveState& own) {
    return error_of([&] {
      dist::save_checkpoint(
          dist::checkpoint_path(folder_, "run", step),
          [](torch::serialize::OutputArchive& a) { a.write("w", torch::ones({100000})); }, own);
    });
  }
  std::string newest() const { return dist::newest_checkpoint(folder_, "run"); }
  std::string folder_;
};

const dist::SaveState kOwn = [](torch::serialize::OutputArchive& a) { a.write("mine", torch::ones({2})); };

TEST_F(CheckpointFaults, ARankThatHasNoMemory) {
  const std::string error = save(1, [](torch::serialize::OutputArchive& a) {
    if (rank() == size() - 1) throw std::bad_alloc();
    kOwn(a);
  });
  EXPECT_NE(error.find("rank " + std::to_string(size() - 1)), std::string::npos) << error;
  EXPECT_NE(error.find("bad_alloc"), std::string::npos) << error;
  EXPECT_EQ(newest(), "");
  EXPECT_EQ(save(2, kOwn), "");
  EXPECT_EQ(newest(), dist::checkpoint_path(folder_, "run", 2));
}

TEST_F(CheckpointFaults, ADiskThatIsFull) {
  ASSERT_EQ(save(1, kOwn), "");
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  auto* const handler = ::signal(SIGXFSZ, SIG_IGN);
  if (rank() == 0) {
    const rlimit small{4096, before.rlim_max};
    setrlimit(RLIMIT_FSIZE, &small);
  }
  const std::string error = save(2, kOwn);
  setrlimit(RLIMIT_FSIZE, &before);
  ::signal(SIGXFSZ, handler);
  EXPECT_NE(error.find("rank 0"), std::string::npos) << error;
  dist::all_gather_bytes(group(), "");
  EXPECT_EQ(newest(), dist::checkpoint_path(folder_, "run", 1));
  size_t files = 0;
  for (const auto& entry : fs::directory_iterator(folder_)) files += entry.is_regular_file();
  EXPECT_EQ(files, 1u) << "what was half written is left";
  dist::all_gather_bytes(group(), "");
  EXPECT_EQ(save(2, kOwn), "");
  EXPECT_EQ(newest(), dist::checkpoint_path(folder_, "run", 2));
}

TEST_F(CheckpointFaults, AFolderThatIsNone) {
  if (rank() == 0) fs::create_directories(folder_ + "/closed");
  EXPECT_EQ(dist::newest_checkpoint(folder_ + "/nothing", "run"), "");
  EXPECT_NE(error_of([&] {
              dist::load_checkpoint(
                  folder_ + "/closed", [](torch::serialize::InputArchive&) {}, [](torch::serialize::InputArchive&) {});
            }),
            "");
}

}  // namespace
