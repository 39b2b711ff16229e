// The fused check and unscale: values, dtypes, layouts, and what it costs in passes over memory.

#include <torch/torch.h>

#include <gtest/gtest.h>

#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>
#include <csignal>
#include <cstring>
#include <limits>

namespace {

using torch::Tensor;

const double kBad[] = {std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity(),
                       std::numeric_limits<double>::quiet_NaN()};

float unscale(const std::vector<Tensor>& grads, double inv_scale) {
  const Tensor found = torch::zeros({}), inv = torch::full({}, inv_scale);
  at::_amp_foreach_non_finite_check_and_unscale_(grads, found, inv);
  return found.item<float>();
}

TEST(AmpUnscale, EveryDtypeAndPlace) {
  for (const auto dtype : {torch::kFloat, torch::kDouble, torch::kHalf, torch::kBFloat16}) {
    for (const int64_t n : {1, 7, 64, 1025, 70000}) {
      const Tensor g = torch::randn({n}).to(dtype), expected = g * 0.125;
      Tensor scaled = g.clone();
      EXPECT_EQ(unscale({scaled}, 0.125), 0.f);
      EXPECT_TRUE(torch::equal(scaled, expected)) << dtype << n;
      EXPECT_TRUE(hb::amp::all_finite({scaled}).item<bool>());
      for (const double bad : kBad) {
        for (const int64_t at : {int64_t(0), n / 2, n - 1}) {
          Tensor broken = g.clone();
          broken[at] = bad;
          EXPECT_FALSE(hb::amp::all_finite({g, broken}).item<bool>()) << dtype << n << bad << at;
          EXPECT_EQ(unscale({broken}, 0.125), 1.f) << dtype << n << bad << at;
        }
      }
    }
  }
}

TEST(AmpUnscale, LargestNumbersAreFinite) {
  EXPECT_TRUE(hb::amp::all_finite({torch::full({9}, 65504.0, torch::kHalf)}).item<bool>());
  EXPECT_TRUE(hb::amp::all_finite({torch::full({9}, -3.4028234e38, torch::kFloat)}).item<bool>());
  EXPECT_TRUE(hb::amp::all_finite({torch::full({9}, -1.7976931348623157e308, torch::kDouble)}).item<bool>());
  EXPECT_TRUE(hb::amp::all_finite({torch::full({9}, 3.3895e38, torch::kBFloat16)}).item<bool>());
  EXPECT_TRUE(hb::amp::all_finite({}).item<bool>());
  EXPECT_TRUE(hb::amp::all_finite({Tensor(), torch::ones({0})}).item<bool>());
  EXPECT_EQ(hb::amp::all_finite({torch::ones({3})}).scalar_type(), torch::kBool);
}

TEST(AmpUnscale, LayoutsAndMixedLists) {
  const Tensor base = torch::arange(24, torch::kFloat).reshape({4, 6});
  Tensor holes = base.clone().slice(1, 0, 6, 2), transposed = base.clone().t(),
         last = torch::randn({2, 3, 4, 5}).contiguous(torch::MemoryFormat::ChannelsLast),
         half = torch::ones({5}, torch::kHalf);
  const Tensor last_before = last.clone();
  EXPECT_EQ(unscale({holes, transposed, last, half}, 0.5), 0.f);
  EXPECT_TRUE(torch::equal(holes, base.slice(1, 0, 6, 2) * 0.5));
  EXPECT_TRUE(torch::equal(transposed, base.t() * 0.5));
  EXPECT_TRUE(torch::equal(last, last_before * 0.5));
  EXPECT_TRUE(torch::equal(half, torch::full({5}, 0.5, torch::kHalf)));
  // What lies between the elements is not the gradient's.
  Tensor memory = torch::ones({8});
  memory[1] = kBad[0];
  Tensor even = memory.slice(0, 0, 8, 2);
  EXPECT_EQ(unscale({even}, 0.5), 0.f);
}

TEST(AmpUnscale, RefusesWhatIsNotAGradient) {
  EXPECT_THROW(unscale({torch::ones({3}, torch::kLong)}, 0.5), torch::Error);
  const Tensor found = torch::zeros({2}), inv = torch::ones({});
  EXPECT_THROW(at::_amp_foreach_non_finite_check_and_unscale_({torch::ones({3})}, found, inv), torch::Error);
}

// Counts accesses page by page: of the watched memory at most one page can be touched at a time, so that each pass of a
// loop over it faults on every page again, once when it reads and once more when it writes.
struct PageCounter {
  static PageCounter* active;
  char* memory;
  size_t page, size;
  char* open = nullptr;
  long reads = 0, writes = 0;
  struct sigaction previous {};

  explicit PageCounter(size_t pages) : page(static_cast<size_t>(sysconf(_SC_PAGESIZE))), size(pages * page) {
    memory = static_cast<char*>(mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  }
  ~PageCounter() { munmap(memory, size); }
  void start() {
    active = this, reads = writes = 0, open = nullptr;
    struct sigaction action {};
    action.sa_sigaction = on_fault;
    action.sa_flags = SA_SIGINFO;
    sigaction(SIGSEGV, &action, &previous);
    mprotect(memory, size, PROT_NONE);
  }
  void stop() {
    mprotect(memory, size, PROT_READ | PROT_WRITE);
    sigaction(SIGSEGV, &previous, nullptr);
    active = nullptr;
  }
  static void on_fault(int, siginfo_t* info, void*) {
    PageCounter& self = *active;
    auto* address = static_cast<char*>(info->si_addr);
    if (address < self.memory || address >= self.memory + self.size) {
      sigaction(SIGSEGV, &self.previous, nullptr);  // somebody else's: happens again, unhandled
      return;
    }
    char* at = self.memory + (address - self.memory) / self.page * self.page;
    if (at == self.open) {
      ++self.writes;
      mprotect(at, self.page, PROT_READ | PROT_WRITE);
      return;
    }
    if (self.open) mprotect(self.open, self.page, PROT_NONE);
    self.open = at;
    ++self.reads;
    mprotect(at, self.page, PROT_READ);
  }
};
PageCounter* PageCounter::active = nullptr;

class OneThread {
 public:
  OneThread() : before_(torch::get_num_threads()) { torch::set_num_threads(1); }
  ~OneThread() { torch::set_num_threads(before_); }

 private:
  int before_;
};

TEST(AmpUnscale, OneReadAndOneWriteOfTheGradients) {
  constexpr size_t kPages = 48;
  OneThread one;
  PageCounter counter(kPages);
  const auto n = static_cast<int64_t>(kPages * counter.page / 4);
  Tensor all = torch::from_blob(counter.memory, {n});
  all.fill_(8);
  // The gradients of three parameters, page after page.
  std::vector<Tensor> params, grads = all.split(n / 3);
  for (Tensor& g : grads) {
    params.push_back(torch::zeros_like(g).requires_grad_());
    params.back().mutable_grad() = g;
  }
  torch::optim::SGD sgd(params, 1.0);
  torch::amp::GradScaler scaler("cpu", 8.0);
  scaler.scale(torch::ones({}));

  counter.start();
  scaler.unscale_(sgd);
  counter.stop();
  EXPECT_EQ(counter.reads, static_cast<long>(kPages));
  EXPECT_EQ(counter.writes, static_cast<long>(kPages));
  EXPECT_TRUE(torch::equal(all, torch::ones({n})));

  counter.start();
  const Tensor finite = hb::amp::all_finite(grads);
  counter.stop();
  EXPECT_EQ(counter.reads, static_cast<long>(kPages));
  EXPECT_EQ(counter.writes, 0);
  EXPECT_TRUE(finite.item<bool>());

  // The counter itself can fail: looking and multiplying one after the other is two passes.
  counter.start();
  const Tensor looked = all.isfinite().all();
  all.mul_(2);
  counter.stop();
  EXPECT_GE(counter.reads, static_cast<long>(2 * kPages));
}

}  // namespace
