// Saves that are killed, that run at once or that have no room: the file at the path is the old one or the new one,
// whole.
#include <gtest/gtest.h>
#include <halfbridge/engine.h>
#include <halfbridge/io/checkpoint.h>
#include <halfbridge/io/state_dict.h>

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>

namespace {

namespace fs = std::filesystem;
using hb::io::CheckpointFormat;

class Saves : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("halfbridge_saves_" + std::to_string(::getpid()));
    fs::create_directories(folder_);
    path_ = (folder_ / "weights").string();
  }
  void TearDown() override { fs::remove_all(folder_); }

  // All its values are `mark`, so that parts of two files cannot make one.
  void save(double mark, CheckpointFormat format = CheckpointFormat::Torch) const {
    hb::io::SaveStateDictOptions options;
    options.format = format;
    hb::io::save_state_dict_file({{"a", hb::full({3000}, mark)}, {"b", hb::full({50}, mark)}}, path_, options);
  }

  double mark() const {
    const auto file = hb::io::load_state_dict_file(path_);
    EXPECT_EQ(file.tensors.size(), 2u);
    const double first = file.tensors[0].second[0].item<double>();
    for (const auto& item : file.tensors) EXPECT_TRUE(item.second.eq(first).all().item<bool>()) << item.first;
    return first;
  }

  size_t files() const {
    return static_cast<size_t>(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
  }

  fs::path folder_;
  std::string path_;
};

pid_t in_child(const std::function<void()>& run) {
  const pid_t child = ::fork();
  if (child != 0) return child;
  try {
    run();
    ::_exit(0);
  } catch (const hb::Error&) {
    ::_exit(3);
  } catch (...) {
    ::_exit(4);
  }
}

int status_of(pid_t child) {
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST_F(Saves, KilledOnesLeaveAWholeFile) {
  unsigned delay = 1;
  for (const auto format : {CheckpointFormat::Torch, CheckpointFormat::LibTorch, CheckpointFormat::Safetensors}) {
    save(0, format);
    for (int round = 0; round < 30; ++round) {
      const pid_t child = in_child([&] {
        for (int i = 0; i < 1000; ++i) save(1 + i % 7, format);
      });
      delay = delay * 1103515245u + 12345u;
      ::usleep(500 + delay % 20000);
      ::kill(child, SIGKILL);
      ::waitpid(child, nullptr, 0);
      const double found = mark();
      EXPECT_TRUE(found >= 0 && found <= 7) << hb::io::format_name(format) << " " << found;
    }
    save(9, format);  // what killed ones left is in no one's way
    EXPECT_EQ(mark(), 9);
  }
}

TEST_F(Saves, TwoProcessesSaveToOnePath) {
  save(0);
  const auto many = [&](double mark) {
    return in_child([this, mark] {
      for (int i = 0; i < 50; ++i) save(mark);
    });
  };
  const pid_t first = many(1), second = many(2);
  for (int i = 0; i < 50; ++i) EXPECT_TRUE(mark() <= 2);
  EXPECT_EQ(status_of(first), 0);
  EXPECT_EQ(status_of(second), 0);
  EXPECT_GE(mark(), 1);
  EXPECT_EQ(files(), 1u);
}

// A limit on the size of files is a disk that is full in the midst of a write.
TEST_F(Saves, NoRoomKeepsTheOldFile) {
  for (const auto format : {CheckpointFormat::Torch, CheckpointFormat::LibTorch, CheckpointFormat::Safetensors}) {
    save(5, format);
    const pid_t child = in_child([&] {
      ::signal(SIGXFSZ, SIG_IGN);
      const rlimit limit{4096, 4096};
      ::setrlimit(RLIMIT_FSIZE, &limit);
      save(6, format);
    });
    EXPECT_EQ(status_of(child), 3) << hb::io::format_name(format);  // hb::Error
    EXPECT_EQ(mark(), 5);
    EXPECT_EQ(files(), 1u);  // and nothing beside it
  }
}

TEST_F(Saves, FoldersThatCannotBeWritten) {
  save(5);
  for (const std::string& bad : {path_ + "/below_a_file", (folder_ / "no" / "folder").string(), folder_.string()}) {
    try {
      hb::io::save_checkpoint(hb::IValue(hb::ones({2})), bad);
      FAIL() << bad;
    } catch (const hb::Error& error) {
      EXPECT_NE(std::string(error.what()).find(bad), std::string::npos) << error.what();
    }
  }
  EXPECT_EQ(mark(), 5);
  EXPECT_EQ(files(), 1u);
}

}  // namespace
