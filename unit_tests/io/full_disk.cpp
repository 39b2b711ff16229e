// Everything else that writes files (saves.cpp has the state dicts), on a disk that is full: a clear error, what stood
// there before stays whole, and nothing is left beside it.
#include <gtest/gtest.h>
#include <halfbridge/halfbridge.h>
#include <halfbridge/profiler.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <torch/torch.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>

#include "trace/trace_files.h"

namespace {

namespace fs = std::filesystem;
namespace nn = torch::nn;
namespace tr = hb::train;
using torch::Tensor;

/// What `f` says in a process whose files may have `bytes`, which is a disk that is full in the midst of a write.
std::string error_with_room_for(rlim_t bytes, const std::function<void()>& f) {
  int ends[2];
  if (::pipe(ends) != 0) return "no pipe";
  const pid_t child = ::fork();
  if (child == 0) {
    ::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{bytes, bytes};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    std::string text = "no error";
    try {
      f();
    } catch (const hb::Error& error) {
      text = error.what();
    } catch (const std::exception& error) {
      text = std::string("not the library's: ") + error.what();
    }
    _exit(::write(ends[1], text.data(), text.size()) < 0);
  }
  ::close(ends[1]);
  std::string text(4096, '\0');
  const ssize_t size = ::read(ends[0], text.data(), text.size());
  ::close(ends[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  if (status != 0) return "ended with status " + std::to_string(status);
  text.resize(size < 0 ? 0 : static_cast<size_t>(size));
  return text;
}

class FullDisk : public ::testing::Test {
 protected:
  void SetUp() override { folder_ = trace_files::fresh_folder(); }
  void TearDown() override { fs::remove_all(folder_); }
  std::string path(const char* name) const { return (fs::path(folder_) / name).string(); }
  size_t files() const {
    return static_cast<size_t>(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
  }
  /// Saves once, and once more without room.
  void expect_kept(const std::string& file, const std::function<void(const std::string&)>& save) {
    save(file);
    const std::string before = bytes_of(file);
    EXPECT_GT(before.size(), 300u);
    const std::string error = error_with_room_for(256, [&] { save(file); });
    EXPECT_NE(error.find(file), std::string::npos) << error;
    EXPECT_NE(error.find("File too large"), std::string::npos) << error;
    EXPECT_EQ(bytes_of(file), before);
    EXPECT_EQ(files(), 1u);
  }
  static std::string bytes_of(const std::string& file) {
    std::ifstream in(file, std::ios::binary);
    return std::string((std::istreambuf_iterator<char>(in)), {});
  }
  std::string folder_;
};

struct Trained {
  nn::Sequential net{nn::Linear(4, 16), nn::ReLU(), nn::Linear(16, 2)};
  torch::optim::Adam optimizer{net->parameters(), torch::optim::AdamOptions(0.01)};
  tr::Model model{net, nn::CrossEntropyLoss(), optimizer, {}, "O0"};
  std::vector<std::pair<Tensor, Tensor>> batches{{torch::ones({3, 4}), torch::tensor({0, 1, 0})}};
};

TEST_F(FullDisk, ArchivesOfModulesAndOptimizers) {
  Trained t;
  expect_kept(path("module.pt"), [&](const std::string& file) { torch::save(t.net, file); });
  fs::remove(path("module.pt"));
  expect_kept(path("archive.pt"), [&](const std::string& file) {
    torch::serialize::OutputArchive archive;
    t.optimizer.save(archive);
    archive.write("x", torch::ones({100}));
    archive.save_to(file);
  });
}

TEST_F(FullDisk, Profiles) {
  hb::profiler::start();
  for (int i = 0; i < 30; ++i) torch::ones({2}).relu();
  const auto profile = hb::profiler::stop();
  expect_kept(path("profile.json"), [&](const std::string& file) { profile.save(file); });
}

TEST_F(FullDisk, CheckpointsOfATraining) {
  Trained t;
  tr::ModelCheckpoint checkpoint("net", folder_, tr::CheckpointConfig().keep_checkpoint_max(1));
  t.model.train(1, t.batches, {checkpoint});
  const std::string error = error_with_room_for(256, [&] { t.model.train(3, t.batches, {checkpoint}); });
  EXPECT_NE(error.find(folder_), std::string::npos) << error;
  EXPECT_NE(error.find("File too large"), std::string::npos) << error;
  ASSERT_EQ(files(), 1u);
  Trained again;
  again.model.load_checkpoint(tr::ModelCheckpoint::latest("net", folder_));
  EXPECT_EQ(again.model.epoch(), 1);
}

TEST_F(FullDisk, FoldersOfATrainingThatCannotBeMade) {
  Trained t;
  std::ofstream(path("file")) << "mine";
  const std::string below = path("file") + "/below";
  for (const tr::Callbacks& callbacks :
       {tr::Callbacks{tr::ModelCheckpoint("net", below)}, tr::Callbacks{tr::TensorBoard(below)}}) {
    try {
      t.model.train(1, t.batches, callbacks);
      FAIL();
    } catch (const hb::Error& error) {
      EXPECT_NE(std::string(error.what()).find(below), std::string::npos) << error.what();
    }
  }
  EXPECT_EQ(bytes_of(path("file")), "mine");
}

// What was written before stays; the reader passes over a record that is cut off.
TEST_F(FullDisk, EventsOfTensorBoard) {
  const std::string error = error_with_room_for(4096, [&] {
    tr::SummaryWriter writer(folder_);
    for (int i = 0; i < 1000; ++i) writer.add_scalar("loss", i, i);
    writer.flush();
  });
  EXPECT_NE(error.find("[SummaryWriter] cannot write " + folder_), std::string::npos) << error;
  ASSERT_EQ(files(), 1u);
  EXPECT_EQ(fs::file_size(fs::directory_iterator(folder_)->path()), 4096u);
}

// The program that is traced goes on; its trace says why it ends, and is whole up to there.
TEST_F(FullDisk, TracesEndWithTheReason) {
  const auto one_step = [&] {
    Trained t;
    hb::trace::SessionOptions options;
    options.steps = "all";
    hb::trace::Session session(folder_, {t.net.ptr()}, options);
    // The thread that writes may be behind.
    for (int k = 1; k <= 200 && !session.stopped(); ++k) t.model.train(40 * k, t.batches);
    HB_CHECK(session.stopped(), "expected the session to stop");
  };
  EXPECT_EQ(error_with_room_for(200000, one_step), "no error");
  const auto trace = trace_files::read(folder_);
  EXPECT_NE(trace.end().find("File too large"), std::string::npos) << trace.end();
  EXPECT_FALSE(trace.records.empty());
}

}  // namespace
