// LAPACK and the loops beside it: results, threads with small stacks, fork() and a machine that has none.
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

/// Symmetric matrices that steps towards a diagonal find hard.
std::vector<torch::Tensor> hard_matrices(int64_t n, torch::Dtype dtype) {
  const torch::Tensor a = torch::randn({n, n}, dtype), h = a + a.t(), one = torch::eye(n, dtype);
  const torch::Tensor rows = torch::arange(n).to(dtype), apart = rows.unsqueeze(1) - rows;
  const torch::Tensor graded = torch::pow(10., (rows.unsqueeze(1) + rows) * -0.1);
  return {h,
          one,
          torch::zeros({n, n}, dtype),
          torch::ones({n, n}, dtype),
          h * graded,
          one + h * 1e-6,
          apart.abs().eq(1).to(dtype),
          torch::diag(rows.fmod(3)),
          h * 1e-25,
          h * 1e25,
          h * 1e-38};
}

/// Whether values and vectors are those of `h`, within some units of the last place of its largest value.
void expect_eigen(const torch::Tensor& h, const std::string& triangle) {
  const int64_t n = h.size(0);
  const double unit = h.scalar_type() == torch::kFloat ? 1.2e-7 : 2.2e-16;
  const torch::Tensor other =
      triangle == "L" ? h.tril() + 7 * torch::ones_like(h).triu(1) : h.triu() - torch::ones_like(h).tril(-1);
  const auto [values, vectors] = torch::linalg_eigh(other, triangle);
  const torch::Tensor exact = h.to(torch::kDouble), v = vectors.to(torch::kDouble), l = values.to(torch::kDouble);
  const double largest = l.abs().max().item<double>();
  EXPECT_LE((exact.matmul(v) - v * l).abs().max().item<double>(), 8 * unit * n * largest + 1e-44);
  EXPECT_LE((v.t().matmul(v) - torch::eye(n, torch::kDouble)).abs().max().item<double>(), 8 * unit * n);
  EXPECT_TRUE(n == 1 || (values.diff() >= 0).all().item<bool>());
  EXPECT_LE((torch::linalg_eigvalsh(other, triangle) - values).abs().max().item<double>(),
            8 * unit * n * largest + 1e-44);
}

}  // namespace

TEST(Lapack, EigenvaluesOfSymmetricMatrices) {
  torch::manual_seed(3);
  for (const auto dtype : {torch::kFloat, torch::kDouble})
    for (const int64_t n : {1, 2, 5, 31, 64, 96, 97, 130}) {
      int kind = 0;
      for (const torch::Tensor& h : hard_matrices(n, dtype))
        for (const std::string triangle : {"L", "U"}) {
          SCOPED_TRACE(testing::Message() << dtype << " " << n << " kind " << kind++ / 2 << " " << triangle);
          expect_eigen(h, triangle);
        }
    }
}

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
