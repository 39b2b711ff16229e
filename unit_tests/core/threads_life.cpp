// Threads that come and go, tensors that change threads, processes that fork.

#include <gtest/gtest.h>
#include <halfbridge/storage.h>
#include <signal.h>
#include <sys/wait.h>
#include <torch/torch.h>
#include <unistd.h>

#include <atomic>
#include <condition_variable>
#include <fstream>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace {

using torch::Tensor;
namespace nn = torch::nn;

/// Bytes of this process in memory.
int64_t resident() {
  std::ifstream file("/proc/self/statm");
  int64_t size = 0, pages = 0;
  file >> size >> pages;
  return pages * sysconf(_SC_PAGESIZE);
}

#ifndef __SANITIZE_THREAD__  // which knows no children of processes with threads
double train(int steps) {
  nn::Sequential net(nn::Conv2d(nn::Conv2dOptions(3, 8, 5)), nn::BatchNorm2d(8), nn::ReLU(), nn::Flatten(),
                     nn::Linear(8 * 12 * 12, 10));
  torch::optim::Adam adam(net->parameters(), 1e-3);
  const Tensor x = torch::randn({4, 3, 16, 16}), y = torch::arange(4);
  double last = 0;
  for (int i = 0; i < steps; ++i) {
    adam.zero_grad();
    const Tensor loss = nn::functional::cross_entropy(net->forward(x), y);
    loss.backward();
    adam.step();
    last = loss.item<double>();
  }
  return last;
}

void compute_much() {
  train(2);
  const Tensor a = torch::randn({300, 300}), line = torch::randn({200000});
  torch::mm(a, a);
  line.exp().sum();
  line.sort();
  torch::fft_fft(line);
}

/// The exit status of a child that calls `f`; one that hangs is ended by a signal.
int status_of_child(const std::function<void()>& f) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);
    try {
      f();
    } catch (...) {
      _exit(1);
    }
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return status;
}
#endif

}  // namespace

TEST(ThreadsLife, ManyShortLivedThreadsLeakNothing) {
  const auto run = [](int threads) {
    for (int i = 0; i < threads; ++i)
      std::thread([] {
        const Tensor w = torch::randn({16, 16}).requires_grad_(), x = torch::randn({2, 4, 8, 8});
        const Tensor kernel = torch::randn({4, 4, 3, 3}).requires_grad_();
        (torch::conv2d(x, kernel).sum() + w.mm(w).relu().sum()).backward();
      }).join();
  };
  run(20);
  const int64_t before = resident();
  const size_t in_use = hb::memory_in_use();
  run(120);
  EXPECT_EQ(hb::memory_in_use(), in_use);
#ifdef __SANITIZE_ADDRESS__
  EXPECT_LT(resident() - before, 256 << 20);  // it keeps what is freed
#else
  EXPECT_LT(resident() - before, 8 << 20);
#endif
}

TEST(ThreadsLife, TensorsFreedOnAnotherThreadAreNotKept) {
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<Tensor> box;
  constexpr int kBatches = 2000, kEach = 100;
  int64_t early = 0;
  std::thread consumer([&] {
    for (int i = 0; i < kBatches; ++i) {
      std::vector<Tensor> mine;
      std::unique_lock lock(mutex);
      changed.wait(lock, [&] { return !box.empty(); });
      mine.swap(box);
      changed.notify_all();
    }
  });
  for (int i = 0; i < kBatches; ++i) {
    std::vector<Tensor> made;
    for (int k = 0; k < kEach; ++k) made.push_back(torch::empty({64 + 200 * (k % 30)}));
    if (i == kBatches / 4) early = resident();
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return box.empty(); });
    box.swap(made);
    changed.notify_all();
  }
  consumer.join();
  EXPECT_LT(resident() - early, 16 << 20);
}

#ifndef __SANITIZE_THREAD__
TEST(ThreadsLife, AChildOfForkComputes) {
  compute_much();
  EXPECT_EQ(status_of_child(compute_much), 0);
  EXPECT_EQ(status_of_child([] {
              torch::set_num_threads(2);
              compute_much();
            }),
            0);
  // While another thread allocates and computes.
  std::atomic<bool> stop{false};
  std::thread busy([&] {
    while (!stop) torch::empty({100000}).fill_(1);
  });
  for (int i = 0; i < 10; ++i) EXPECT_EQ(status_of_child([] { torch::ones({100000}).sum(); }), 0);
  stop = true;
  busy.join();
}
#endif

TEST(ThreadsLife, ExceptionsCrossThreads) {
  std::exception_ptr caught;
  std::thread([&] {
    try {
      torch::mm(torch::ones({2, 3}), torch::ones({2, 3}));
    } catch (...) {
      caught = std::current_exception();
    }
  }).join();
  EXPECT_THROW(std::rethrow_exception(caught), c10::Error);
}

// A program's own handler, such as one that prints where it happened, is called on whichever thread it happens.
TEST(ThreadsLifeDeathTest, FaultsOfPoolThreadsReachTheProgram) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");  // a child of fork() would compute with one thread
  const auto compute = [] {
    struct sigaction action {};
    action.sa_handler = [](int) { _exit(42); };
    sigaction(SIGSEGV, &action, nullptr);
    alarm(60);
    at::set_num_threads(2);
    const auto caller = std::this_thread::get_id();
    at::parallel_for(0, 2, 1, [&](int64_t, int64_t) {
      while (std::this_thread::get_id() == caller) pause();  // the other half is for a thread of the pool
      volatile int* volatile nowhere = nullptr;
      *nowhere = 1;
    });
  };
  EXPECT_EXIT(compute(), testing::ExitedWithCode(42), "");
}
