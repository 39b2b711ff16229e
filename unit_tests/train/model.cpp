// Model: what it trains is what a loop by hand trains; callbacks; checkpoints that resume bit for bit.
#include <gtest/gtest.h>
#include <halfbridge/halfbridge.h>
#include <torch/torch.h>

#include <filesystem>
#include <fstream>
#include <sstream>

namespace nn = torch::nn;
namespace tr = hb::train;
using torch::Tensor;

namespace {

// Points of three clouds.
class Clouds : public torch::data::datasets::Dataset<Clouds> {
 public:
  explicit Clouds(int64_t n) {
    torch::manual_seed(11);
    target_ = torch::randint(0, 3, {n});
    data_ = torch::randn({n, 4}) + torch::nn::functional::one_hot(target_, 4).to(torch::kFloat) * 3;
  }
  torch::data::Example<> get(size_t i) override {
    return {data_[static_cast<int64_t>(i)], target_[static_cast<int64_t>(i)]};
  }
  torch::optional<size_t> size() const override { return static_cast<size_t>(data_.size(0)); }
  const Tensor& data() const { return data_; }
  const Tensor& target() const { return target_; }

 private:
  Tensor data_, target_;
};

nn::Sequential make_net(double dropout = 0.2) {
  torch::manual_seed(2);
  return nn::Sequential(nn::Linear(4, 16), nn::BatchNorm1d(16), nn::ReLU(), nn::Dropout(dropout), nn::Linear(16, 3));
}

void expect_equal(nn::Sequential& a, nn::Sequential& b) {
  const auto sa = a->state_dict(), sb = b->state_dict();
  for (const auto& item : sa) EXPECT_TRUE(torch::equal(item.value(), sb[item.key()])) << item.key();
}

std::string folder(const char* name) {
  const auto path = std::filesystem::path(testing::TempDir()) / name;
  std::filesystem::remove_all(path);
  return path.string();
}

struct Trained {
  explicit Trained(const std::string& level = "O0", hb::amp::LossScale scale = {}, double dropout = 0.2)
      : net(make_net(dropout)),
        optimizer(net->parameters(), torch::optim::AdamOptions(0.01)),
        model(net, nn::CrossEntropyLoss(), optimizer, {"accuracy", "f1"}, level, scale) {}
  nn::Sequential net;
  torch::optim::Adam optimizer;
  tr::Model model;
};

}  // namespace

TEST(TrainModel, TrainsAsALoopByHand) {
  Clouds clouds(70);
  Trained s;
  torch::manual_seed(8);
  s.model.train(3, tr::make_batches(clouds, 16));
  auto net = make_net();
  torch::optim::Adam optimizer(net->parameters(), torch::optim::AdamOptions(0.01));
  torch::manual_seed(8);
  auto loader = torch::data::make_data_loader(clouds.map(torch::data::transforms::Stack<>()), 16);
  for (int epoch = 0; epoch < 3; ++epoch)
    for (auto& batch : *loader) {
      optimizer.zero_grad();
      nn::functional::cross_entropy(net->forward(batch.data), batch.target).backward();
      optimizer.step();
    }
  expect_equal(s.net, net);
  EXPECT_EQ(s.model.epoch(), 3);
  EXPECT_EQ(s.model.global_step(), 15);
}

TEST(TrainModel, TakesLoadersRangesAndPointers) {
  Clouds clouds(32);
  Trained a, b, c;
  auto loader = torch::data::make_data_loader<torch::data::samplers::SequentialSampler>(
      clouds.map(torch::data::transforms::Stack<>()), 16);
  std::vector<std::pair<Tensor, Tensor>> pairs;
  for (int64_t i = 0; i < 32; i += 16)
    pairs.emplace_back(clouds.data().narrow(0, i, 16), clouds.target().narrow(0, i, 16));
  torch::manual_seed(1);
  a.model.train(2, loader);
  torch::manual_seed(1);
  b.model.train(2, pairs);
  torch::manual_seed(1);
  c.model.train(2, tr::make_batches(clouds, 16, /*shuffle=*/false));
  EXPECT_TRUE(torch::allclose(a.net->parameters()[0], b.net->parameters()[0]));
  EXPECT_TRUE(torch::allclose(a.net->parameters()[0], c.net->parameters()[0]));
}

TEST(TrainModel, EvalAndPredict) {
  Clouds clouds(200);
  Trained s;
  s.model.fit(6, tr::make_batches(clouds, 20), tr::make_batches(clouds, 33, false));
  auto results = s.model.eval(tr::make_batches(clouds, 33, false));
  EXPECT_TRUE(s.net->is_training());
  EXPECT_GT(results.at("accuracy"), 0.9);
  EXPECT_GT(results.at("f1"), 0.9);
  auto scores = s.model.predict(clouds.data());
  EXPECT_TRUE(s.net->is_training());
  EXPECT_FALSE(scores.requires_grad());
  EXPECT_DOUBLE_EQ(results.at("accuracy"),
                   scores.argmax(1).eq(clouds.target()).to(torch::kDouble).mean().item<double>());
  EXPECT_NEAR(results.at("loss"), nn::functional::cross_entropy(scores, clouds.target()).item<double>(), 1e-5);
}

TEST(TrainModel, AccumulatedBatchesAreOneStep) {
  Clouds clouds(32);
  auto narrow = [&](int64_t n) {
    std::vector<std::pair<Tensor, Tensor>> pairs;
    for (int64_t i = 0; i < 32; i += n)
      pairs.emplace_back(clouds.data().narrow(0, i, n), clouds.target().narrow(0, i, n));
    return pairs;
  };
  auto make = [] {
    torch::manual_seed(2);
    return nn::Sequential(nn::Linear(4, 16), nn::Tanh(), nn::Linear(16, 3));
  };
  auto whole = make(), parts = make();
  torch::optim::SGD whole_sgd(whole->parameters(), 0.1), parts_sgd(parts->parameters(), 0.1);
  tr::Model a(whole, nn::CrossEntropyLoss(), whole_sgd), b(parts, nn::CrossEntropyLoss(), parts_sgd);
  a.clip_gradients(0.5);
  b.accumulate(4).clip_gradients(0.5);
  auto wide = narrow(16), small = narrow(4);
  a.train(3, wide);
  b.train(3, small);
  for (size_t i = 0; i < 4; ++i)
    EXPECT_TRUE(torch::allclose(whole->parameters()[i], parts->parameters()[i], 1e-5, 1e-6));
}

TEST(TrainModel, CheckpointsResumeBitForBit) {
  Clouds clouds(70);
  for (const char* level : {"O0", "O1", "O2"}) {
    for (int64_t every : {3, 5}) {  // in the middle and at the end of epochs of 5 steps
      const std::string dir = folder("hb_resume");
      hb::amp::LossScale scale = hb::amp::DynamicLossScaleManager(1024, 2, 4);
      Trained whole(level, scale), again(level, hb::amp::DynamicLossScaleManager(1024, 2, 4));
      torch::optim::StepLR whole_schedule(whole.optimizer, 4, 0.5), again_schedule(again.optimizer, 4, 0.5);
      auto callbacks = [&](torch::optim::StepLR& schedule) {
        return tr::Callbacks{tr::LambdaCallback().step_end([&schedule](tr::RunContext&) { schedule.step(); }),
                             tr::EarlyStopping("loss", 100),
                             tr::ModelCheckpoint("net", dir, tr::CheckpointConfig().save_checkpoint_steps(every))};
      };
      torch::manual_seed(21);
      whole.model.train(2, tr::make_batches(clouds, 16), callbacks(whole_schedule));
      const auto after = torch::rand({2});
      const auto files = tr::ModelCheckpoint::find("net", dir);
      ASSERT_EQ(files.size(), every == 3 ? 3u : 2u);
      torch::manual_seed(99);  // whatever happened before
      for (int64_t i = 0; i < every; ++i) again_schedule.step();
      again.model.load_checkpoint(files[0]);
      EXPECT_EQ(again.model.global_step(), every);
      again.model.train(2, tr::make_batches(clouds, 16), callbacks(again_schedule));
      EXPECT_EQ(again.model.global_step(), 10);
      EXPECT_EQ(whole.model.loss_scale(), again.model.loss_scale());
      expect_equal(whole.net, again.net);
      EXPECT_TRUE(torch::equal(torch::rand({2}), after));
    }
  }
}

// Whatever the order in which the callbacks are listed, a checkpoint holds what the others have just changed.
TEST(TrainModel, CheckpointsAreMadeAfterTheOtherCallbacks) {
  Clouds clouds(40);
  const std::string dir = folder("hb_order");
  struct Scheduled : Trained {
    Scheduled() : schedule(optimizer, 1, 0.5) {
      model.add_state(
          "schedule", [this](auto& archive) { schedule.save(archive); },
          [this](auto& archive) { schedule.load(archive); });
    }
    tr::Callbacks callbacks(const std::string& dir) {
      return {tr::ModelCheckpoint("net", dir), stop,
              tr::LambdaCallback().epoch_end([this](tr::RunContext&) { schedule.step(); })};
    }
    torch::optim::lr_scheduler::StepLR schedule;
    std::shared_ptr<tr::EarlyStopping> stop = std::make_shared<tr::EarlyStopping>("loss", 2, /*min_delta=*/1e6);
  };
  Scheduled whole, again;
  torch::manual_seed(21);
  whole.model.train(9, tr::make_batches(clouds, 8), whole.callbacks(dir));
  EXPECT_EQ(whole.stop->stopped_epoch(), 4);  // the first loss is better than infinity, three are not
  again.model.load_checkpoint(tr::ModelCheckpoint::find("net", dir).at(1));
  EXPECT_EQ(again.schedule.last_epoch(), 2);
  again.model.train(9, tr::make_batches(clouds, 8), again.callbacks(dir));
  EXPECT_EQ(again.stop->stopped_epoch(), 4);
  expect_equal(whole.net, again.net);
}

TEST(TrainModel, KeepsTheNewestCheckpoints) {
  Clouds clouds(32);
  const std::string dir = folder("hb_keep");
  Trained s;
  std::filesystem::create_directories(dir);
  std::ofstream(dir + "/net-notes.txt") << "mine";
  s.model.train(4, tr::make_batches(clouds, 8),
                {tr::ModelCheckpoint("net", dir, tr::CheckpointConfig().keep_checkpoint_max(2))});
  const auto files = tr::ModelCheckpoint::find("net", dir);
  ASSERT_EQ(files.size(), 2u);
  EXPECT_NE(files[0].find("net-3_4.ckpt"), std::string::npos);
  EXPECT_EQ(tr::ModelCheckpoint::latest("net", dir), files[1]);
  EXPECT_EQ(tr::ModelCheckpoint::latest("other", dir), "");
  EXPECT_TRUE(std::filesystem::exists(dir + "/net-notes.txt"));
  Trained again;
  again.model.load_checkpoint(files[1]);
  expect_equal(s.net, again.net);
  EXPECT_EQ(again.model.epoch(), 4);
  std::ofstream(files[1], std::ios::trunc) << "cut";
  EXPECT_THROW(again.model.load_checkpoint(files[1]), hb::Error);
}

TEST(TrainModel, EarlyStopping) {
  Clouds clouds(32);
  Trained s;
  for (auto& group : s.optimizer.param_groups()) group.options().set_lr(0);  // nothing gets better
  auto stop = std::make_shared<tr::EarlyStopping>("eval_accuracy", 2);
  s.model.fit(50, tr::make_batches(clouds, 8), tr::make_batches(clouds, 8), {stop});
  EXPECT_LE(stop->stopped_epoch(), 8);
  EXPECT_GE(stop->stopped_epoch(), 4);
  EXPECT_EQ(s.model.epoch(), stop->stopped_epoch());
  EXPECT_THROW(s.model.train(60, tr::make_batches(clouds, 8), {tr::EarlyStopping("nonsense")}), hb::Error);
  EXPECT_THROW(tr::EarlyStopping("loss", 1, 0, "best"), hb::Error);
}

TEST(TrainModel, MonitorsPrint) {
  Clouds clouds(32);
  Trained s;
  std::ostringstream text;
  s.model.fit(2, tr::make_batches(clouds, 8), tr::make_batches(clouds, 8),
              {tr::LossMonitor(3, &text), tr::TimeMonitor(&text), tr::ProgressBar(10, &text)});
  const std::string all = text.str();
  EXPECT_NE(all.find("epoch: 1 step: 3, loss is "), std::string::npos) << all;
  EXPECT_NE(all.find("epoch: 2 step: 2, loss is "), std::string::npos) << all;
  EXPECT_NE(all.find("ms, per step: "), std::string::npos);
  EXPECT_NE(all.find("epoch 2/2 [==========] 4/4"), std::string::npos) << all;
  EXPECT_NE(all.find("eval_accuracy"), std::string::npos);
}

TEST(TrainModel, StopsInTheMiddleAndGoesOn) {
  Clouds clouds(64);
  Trained s, whole;
  auto stop = tr::LambdaCallback().step_end([](tr::RunContext& run) {
    if (run.global_step == 5) run.request_stop();
  });
  torch::manual_seed(4);
  s.model.train(2, tr::make_batches(clouds, 16), {stop});
  EXPECT_EQ(s.model.global_step(), 5);
  s.model.train(2, tr::make_batches(clouds, 16));
  EXPECT_EQ(s.model.global_step(), 8);
  torch::manual_seed(4);
  whole.model.train(2, tr::make_batches(clouds, 16));
  expect_equal(s.net, whole.net);
}

TEST(TrainModel, WritesForTensorBoard) {
  Clouds clouds(32);
  const std::string dir = folder("hb_model_events");
  Trained s("O1");
  s.model.train(1, tr::make_batches(clouds, 8), {tr::TensorBoard(dir)});
  ASSERT_FALSE(std::filesystem::is_empty(dir));
  std::ifstream file(std::filesystem::directory_iterator(dir)->path(), std::ios::binary);
  const std::string all((std::istreambuf_iterator<char>(file)), {});
  for (const char* tag : {"loss", "learning_rate", "loss_scale", "epoch/loss"})
    EXPECT_NE(all.find(tag), std::string::npos) << tag;
}
