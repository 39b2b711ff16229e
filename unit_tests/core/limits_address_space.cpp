// A process whose address space is limited (ulimit -v), a little more of it each time: what does not fit is an error,
// also within the libraries below, and never the end of the process.

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <torch/torch.h>
#include <unistd.h>

#include <fstream>
#include <functional>

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // which take terabytes of addresses

namespace {

rlim_t addresses_in_use() {
  rlim_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages * static_cast<rlim_t>(sysconf(_SC_PAGESIZE));
}

enum Outcome { kComputed = 40, kRefused };  // what no library ends a process with

/// What became of `f` in a child that gets `bytes` more addresses than this process has.
int status_with(rlim_t bytes, const std::function<void()>& f) {
  const pid_t child = fork();
  if (child == 0) {
    torch::set_num_threads(1);  // the C library ends a process that lacks the addresses for another thread's unwinder
    const rlimit limit{addresses_in_use() + bytes, RLIM_INFINITY};
    if (setrlimit(RLIMIT_AS, &limit) != 0) _exit(100);
    try {
      f();
    } catch (const std::exception&) {
      _exit(kRefused);
    }
    _exit(kComputed);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return status;
}

void expect_result_or_error(const std::function<void()>& f) {
  int computed = 0, refused = 0;
  for (rlim_t kib = 0; kib < 32768; kib += 256) {
    const int status = status_with(kib << 10, f);
    ASSERT_TRUE(WIFEXITED(status)) << "signal " << WTERMSIG(status) << " with " << kib << " KiB";
    const int outcome = WEXITSTATUS(status);
    ASSERT_TRUE(outcome == kRefused || outcome == kComputed) << "exit status " << outcome << " with " << kib << " KiB";
    ++(outcome == kRefused ? refused : computed);
  }
  EXPECT_GT(refused, 0);
  EXPECT_GT(computed, 0);
}

}  // namespace

TEST(LimitsAddressSpace, Convolutions) {
  const torch::Tensor x = torch::randn({2, 16, 20, 20}), weight = torch::randn({16, 16, 3, 3}).requires_grad_();
  expect_result_or_error([&] { torch::conv2d(x, weight, {}, 1, 1).sum().backward(); });
}

TEST(LimitsAddressSpace, HalfConvolutions) {
  const torch::Tensor x = torch::randn({2, 16, 20, 20}, torch::kBFloat16);
  const torch::Tensor weight = torch::randn({16, 16, 5, 5}, torch::kBFloat16);
  expect_result_or_error([&] { torch::conv2d(x, weight, {}, 2); });
}

TEST(LimitsAddressSpace, Products) {
  const torch::Tensor x = torch::randn({130, 140}), y = torch::randn({140, 150});
  expect_result_or_error([&] { x.mm(y), x.to(torch::kBFloat16).mm(y.to(torch::kBFloat16)); });
}

// It is loaded in the child, where it asks for more addresses than these.
TEST(LimitsAddressSpace, LapackThatIsNotLoadedYet) {
  const torch::Tensor x = torch::eye(32) * 2;
  for (const rlim_t mib : {48, 128, 200}) {
    const int status = status_with(mib << 20, [&] {
      alarm(100);
      torch::linalg_inv(x);
    });
    EXPECT_TRUE(WIFEXITED(status) && (WEXITSTATUS(status) == kRefused || WEXITSTATUS(status) == kComputed)) << mib;
  }
  EXPECT_EQ(WEXITSTATUS(status_with(rlim_t{16} << 30, [&] { torch::linalg_inv(x); })), kComputed);
}

#endif
