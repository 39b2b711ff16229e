// Trainings that are killed: the checkpoints that they leave are whole, and the newest goes on where it was made.
#include <gtest/gtest.h>
#include <halfbridge/halfbridge.h>
#include <signal.h>
#include <sys/wait.h>
#include <torch/torch.h>
#include <unistd.h>

#include <filesystem>

namespace {

namespace fs = std::filesystem;
namespace nn = torch::nn;
namespace tr = hb::train;
using torch::Tensor;

constexpr int kEpochs = 50;

struct Trained {
  Trained() { torch::manual_seed(7); }
  nn::Sequential net = [] {
    torch::manual_seed(3);
    return nn::Sequential(nn::Linear(16, 4000), nn::ReLU(), nn::Dropout(0.2), nn::Linear(4000, 4));
  }();
  torch::optim::Adam optimizer{net->parameters(), torch::optim::AdamOptions(0.01)};
  tr::Model model{net, nn::CrossEntropyLoss(), optimizer, {}, "O0"};
  std::vector<std::pair<Tensor, Tensor>> batches{{torch::ones({4, 16}), torch::tensor({0, 1, 2, 3})},
                                                 {torch::full({4, 16}, 0.5), torch::tensor({3, 2, 1, 0})}};

  Tensor weights() const { return nn::utils::parameters_to_vector(net->parameters()).detach().clone(); }
};

TEST(TrainKilled, CheckpointsAreWhole) {
  std::vector<Tensor> history;  // the weights after each step of a training that nobody kills
  Trained whole;
  history.push_back(whole.weights());
  whole.model.train(kEpochs, whole.batches,
                    {tr::LambdaCallback().step_end([&](tr::RunContext&) { history.push_back(whole.weights()); })});
  const auto folder = fs::path(testing::TempDir()) / ("hb_killed_" + std::to_string(::getpid()));
  int64_t latest = 0;
  for (useconds_t round = 0; round < 20 || (round < 200 && latest < 2); ++round) {
    fs::remove_all(folder);
    const pid_t child = ::fork();
    if (child == 0) {
      Trained t;
      const auto config = tr::CheckpointConfig().save_checkpoint_steps(1).keep_checkpoint_max(2);
      t.model.train(kEpochs, t.batches, {tr::ModelCheckpoint("net", folder.string(), config)});
      ::_exit(0);
    }
    ::usleep(1000 + 3000 * round);
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    const auto files = tr::ModelCheckpoint::find("net", folder.string());
    EXPECT_LE(files.size(), 3u);  // the third is there before the first goes
    for (const auto& file : files) {
      Trained again;
      again.model.load_checkpoint(file);
      const int64_t step = again.model.global_step();
      ASSERT_LT(static_cast<size_t>(step), history.size());
      EXPECT_TRUE(torch::equal(again.weights(), history[static_cast<size_t>(step)])) << file;
      latest = std::max(latest, step);
      if (&file != &files.back()) continue;
      again.model.train(kEpochs, again.batches);
      EXPECT_TRUE(torch::equal(again.weights(), history.back())) << file;
    }
  }
  EXPECT_GT(latest, 1);
  fs::remove_all(folder);
}

}  // namespace
