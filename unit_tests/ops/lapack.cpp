// LAPACK beside threads with small stacks, fork() and a machine that has none.
#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/wait.h>
#include <torch/torch.h>
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <vector>

namespace {

/// Every kind of decomposition; whether they are right.
bool decompose(int64_t n, torch::Dtype dtype) {
  const torch::Tensor a = torch::randn({3, n, n}, dtype), h = a + a.mH(), one = torch::eye(n, dtype);
  const auto near = [&](const torch::Tensor& x, const torch::Tensor& y) {
    return (x - y).abs().max().item<double>() < 2e-2;
  };
  const auto [q, r] = torch::linalg_qr(a);
  const auto [u, s, vh] = torch::linalg_svd(a);
  const auto [l, v] = torch::linalg_eigh(h);
  const auto [lc, vc] = torch::linalg_eig(a);
  const torch::Tensor spd = a.matmul(a.mH()) + n * one, factor = torch::linalg_cholesky(spd);
  return near(q.matmul(r), a) && near((u * s.unsqueeze(-2)).matmul(vh), a) && near(h.matmul(v), v * l.unsqueeze(-2)) &&
         near(a.to(vc.scalar_type()).matmul(vc), vc * lc.unsqueeze(-2)) && near(factor.matmul(factor.mH()), spd) &&
         near(torch::linalg_solve(spd, spd), one.expand_as(spd)) &&
         near(a.matmul(std::get<0>(torch::linalg_lstsq(spd, spd, {}, "gelsd"))), a);
}

bool decompose_all() {
  bool right = true;
  for (const int64_t n : {3, 70, 150})
    for (const auto dtype : {torch::kFloat, torch::kDouble, torch::kComplexFloat, torch::kComplexDouble})
      right = decompose(n, dtype) && right;
  return right;
}

void* on_small_stack(void* right) {
  *static_cast<bool*>(right) = decompose_all();
  return nullptr;
}

}  // namespace

TEST(Lapack, ThreadsWithSmallStacks) {
  bool right[3] = {};
  pthread_t threads[3];
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  ASSERT_EQ(pthread_attr_setstacksize(&attributes, 256 * 1024), 0);
  for (int t = 0; t < 3; ++t) ASSERT_EQ(pthread_create(&threads[t], &attributes, on_small_stack, &right[t]), 0);
  for (const pthread_t thread : threads) pthread_join(thread, nullptr);
  for (const bool r : right) EXPECT_TRUE(r);
}

TEST(Lapack, ChildOfFork) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "what the parent's threads hold counts as lost when the child exits";
#endif
  ASSERT_TRUE(decompose(20, torch::kDouble));
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);
    std::exit(decompose_all() ? 7 : 1);  // by way of the exit handlers
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 7) << status;
}

// Run by the next test in a process of its own.
TEST(Lapack, Missing) {
  const char* library = std::getenv("HALFBRIDGE_LAPACK");
  if (!library || std::string(library) != "/nowhere.so") GTEST_SKIP() << "the machine has a LAPACK";
  try {
    torch::linalg_qr(torch::randn({3, 3}));
    FAIL() << "no error";
  } catch (const c10::Error& e) {
    EXPECT_NE(std::string(e.what()).find("libopenblas0-pthread"), std::string::npos) << e.what();
  }
}

TEST(Lapack, MissingIsAnErrorThatNamesThePackage) {
  const pid_t child = fork();
  if (child == 0) {
    setenv("HALFBRIDGE_LAPACK", "/nowhere.so", 1);
    execl("/proc/self/exe", "unit_tests", "--gtest_filter=Lapack.Missing", nullptr);
    _exit(127);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
}
