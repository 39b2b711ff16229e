// Callbacks of at::RecordFunction, where they are not LibTorch's: what is told, and to whom.
#include <ATen/record_function.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/profiler.h>
#include <torch/torch.h>

#include <condition_variable>
#include <future>
#include <mutex>
#include <thread>

namespace {

std::mutex mutex;
std::vector<std::string> seen;
std::vector<std::string> taken() {
  const std::lock_guard lock(mutex);
  return std::exchange(seen, {});
}

std::unique_ptr<at::ObserverContext> begin(const at::RecordFunction& fn) {
  const std::lock_guard lock(mutex);
  seen.emplace_back(fn.name());
  return nullptr;
}
at::RecordFunctionCallback callback() { return at::RecordFunctionCallback(&begin).needsInputs(true); }

struct RecordFunctions : testing::Test {
  void SetUp() override { taken(); }
  void TearDown() override { at::clearCallbacks(); }
};

TEST_F(RecordFunctions, SeeFunctionsThatAProgramCallsAndNoneOfTheirParts) {
  const auto x = torch::rand({2, 3}).requires_grad_();
  at::addThreadLocalCallback(callback());
  const auto y = torch::layer_norm(x, {3});
  EXPECT_EQ(taken(), (std::vector<std::string>{"aten::layer_norm"}));
  y.sum().backward();
  const auto names = taken();
  EXPECT_EQ(std::count(names.begin(), names.end(), "aten::sum"), 1);
  EXPECT_EQ(std::count(names.begin(), names.end(), "SumBackward0"), 1);
  EXPECT_EQ(std::count(names.begin(), names.end(), "autograd::engine::evaluate_function: SumBackward0"), 1);
}

TEST_F(RecordFunctions, SeeTheFirstFunctionOfAThread) {
  at::addGlobalCallback(callback());
  std::thread([] { torch::ones({2}).exp(); }).join();
  EXPECT_EQ(taken(), (std::vector<std::string>{"aten::ones", "aten::exp"}));
  at::clearGlobalCallbacks();
  std::thread([] { torch::ones({2}).exp(); }).join();
  EXPECT_TRUE(taken().empty());
}

TEST_F(RecordFunctions, OfAllThreadsSeeThoseThatRanBefore) {
  std::mutex turn;
  std::condition_variable changed;
  int step = 0;
  const auto reaches = [&](int wanted) {
    std::unique_lock lock(turn);
    changed.wait(lock, [&] { return step == wanted; });
  };
  const auto goes_on = [&] {
    const std::lock_guard lock(turn);
    ++step;
    changed.notify_all();
  };
  const auto x = torch::rand({2, 3});
  std::thread other([&] {
    x.exp();
    goes_on();
    reaches(2);
    x.sin();
    x.view({3, 2});
    goes_on();
    reaches(4);
    x.cos();
    x.t();
  });
  reaches(1);
  const auto handle = at::addGlobalCallback(callback());
  goes_on();
  reaches(3);
  EXPECT_EQ(taken(), (std::vector<std::string>{"aten::sin", "aten::view"}));
  at::removeCallback(handle);
  goes_on();
  other.join();
  EXPECT_TRUE(taken().empty());
}

TEST_F(RecordFunctions, SeeAViewFirstOnAThreadThatRanBefore) {
  std::promise<void> ran, added;
  const auto x = torch::rand({2, 3});
  std::thread other([&] {
    x.exp();
    ran.set_value();
    added.get_future().wait();
    x.view({3, 2});
  });
  ran.get_future().wait();
  at::addGlobalCallback(callback());
  added.set_value();
  other.join();
  EXPECT_EQ(taken(), (std::vector<std::string>{"aten::view"}));
}

TEST_F(RecordFunctions, OfOneThreadSeeNoOther) {
  at::addThreadLocalCallback(callback());
  std::thread([] {
    const auto x = torch::ones({2}).requires_grad_();
    x.exp().sum().backward();
    EXPECT_FALSE(at::hasThreadLocalCallbacks());
  }).join();
  EXPECT_TRUE(taken().empty());
}

TEST_F(RecordFunctions, OfAThreadThatEndedAreGone) {
  std::thread([] { at::addThreadLocalCallback(callback()); }).join();
  torch::ones({2}).exp();
  EXPECT_TRUE(taken().empty());
}

TEST_F(RecordFunctions, AndTheProfilerSeeTheSame) {
  at::addThreadLocalCallback(callback());
  hb::profiler::start();
  {
    RECORD_USER_SCOPE("mine");
    torch::ones({2}).exp();
  }
  const auto profile = hb::profiler::stop();
  ASSERT_EQ(profile.events().size(), 2U);
  EXPECT_EQ(profile.events()[0].name, "mine");
  EXPECT_EQ(profile.events()[1].name, "exp");
  EXPECT_EQ(taken(), (std::vector<std::string>{"mine", "aten::ones", "aten::exp"}));
}

TEST_F(RecordFunctions, AreNotTheResultOfACallThatThrows) {
  static int ended;
  ended = 0;
  const auto x = torch::ones({2, 3});
  at::addThreadLocalCallback(at::RecordFunctionCallback(&begin, [](const at::RecordFunction& fn, at::ObserverContext*) {
                               ++ended;
                               EXPECT_TRUE(fn.outputs().empty());
                             }).needsOutputs(true));
  EXPECT_THROW(torch::mm(x, x), c10::Error);
  EXPECT_EQ(taken(), (std::vector<std::string>{"aten::mm"}));
  EXPECT_EQ(ended, 1);
}

TEST_F(RecordFunctions, MayCallFunctionsThemselves) {
  at::addThreadLocalCallback(at::RecordFunctionCallback([](const at::RecordFunction& fn) {
    torch::ones({2}).log();
    return begin(fn);
  }));
  torch::ones({2}).exp();
  EXPECT_EQ(taken(), (std::vector<std::string>{"aten::ones", "aten::exp"}));
}

}  // namespace
