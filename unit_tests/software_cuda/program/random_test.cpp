// Random counts, permutations and choices on the software device: their laws, and that a seed repeats them; and that an
// element gets the number that it gets in PyTorch.
#include <algorithm>
#include <cmath>
#include <utility>

#include "software_cuda/program/beside_cpu.h"
#include "software_cuda/program/control.h"

namespace {

template <class F>
Tensor drawn(const F& draw) {
  torch::manual_seed(11);
  const Tensor first = draw();
  torch::manual_seed(11);
  EXPECT_TRUE(draw().equal(first));
  EXPECT_FALSE(draw().equal(first));
  return first.cpu();
}

TEST(SoftwareRandom, Permutations) {
  for (const torch::Dtype dtype : {torch::kLong, torch::kInt, torch::kFloat, torch::kDouble, torch::kHalf}) {
    const auto options = torch::TensorOptions().device(kGpu).dtype(dtype);
    const Tensor order = drawn([&] { return torch::randperm(1000, options); });
    EXPECT_EQ(order.scalar_type(), dtype);
    EXPECT_TRUE(std::get<0>(order.to(torch::kLong).sort()).equal(torch::arange(1000)));
  }
  EXPECT_EQ(torch::randperm(0, torch::device(kGpu)).numel(), 0);
  EXPECT_EQ(torch::randperm(1, torch::dtype(torch::kLong).device(kGpu)).item<int64_t>(), 0);
  Tensor places = torch::zeros({5, 5});  // each number comes to each place as often
  for (int i = 0; i < 400; ++i)
    places += torch::one_hot(torch::randperm(5, torch::dtype(torch::kLong).device(kGpu)).cpu(), 5).to(torch::kFloat);
  EXPECT_GT(places.min().item<float>(), 45) << places;
}

TEST(SoftwareRandom, Counts) {
  for (const torch::Dtype dtype : {torch::kFloat, torch::kDouble, torch::kHalf}) {
    for (const double rate : {0.0, 0.5, 4.0, 30.0}) {
      const Tensor rates = torch::full({4000}, rate, torch::dtype(dtype).device(kGpu));
      torch::manual_seed(3);
      const Tensor x = torch::poisson(rates).cpu().to(torch::kDouble);
      EXPECT_NEAR(x.mean().item<double>(), rate, 0.1 * rate + 1e-9) << rate;
      EXPECT_NEAR(x.var().item<double>(), rate, 0.15 * rate + 1e-9) << rate;
      EXPECT_TRUE(x.equal(x.floor()));
    }
    for (const double p : {0.0, 0.03, 0.4, 0.9, 1.0}) {
      const auto full = [&](double value) { return torch::full({4000}, value, torch::dtype(dtype).device(kGpu)); };
      torch::manual_seed(3);
      const Tensor x = torch::binomial(full(50), full(p)).cpu().to(torch::kDouble);
      EXPECT_NEAR(x.mean().item<double>(), 50 * p, 0.06 * 50 * p + 1e-9) << p;
      EXPECT_NEAR(x.var().item<double>(), 50 * p * (1 - p), 0.15 * 50 * p * (1 - p) + 0.02) << p;
    }
  }
  drawn([] { return torch::poisson(torch::full({64}, 3.0, torch::device(kGpu))); });
  EXPECT_THROW(torch::poisson(torch::full({3}, -1.0, torch::device(kGpu))).cpu(), c10::Error);
}

TEST(SoftwareRandom, Gamma) {
  for (const torch::Dtype dtype : {torch::kFloat, torch::kDouble})
    for (const double shape : {0.2, 1.0, 2.5, 40.0}) {
      torch::manual_seed(4);
      const Tensor x = at::_standard_gamma(torch::full({20000}, shape, torch::dtype(dtype).device(kGpu)));
      EXPECT_EQ(x.scalar_type(), dtype);
      const Tensor wide = x.cpu().to(torch::kDouble);
      EXPECT_GT(wide.min().item<double>(), 0);
      EXPECT_NEAR(wide.mean().item<double>(), shape, 0.04 * shape + 0.005) << shape;
      EXPECT_NEAR(wide.var().item<double>(), shape, 0.08 * shape + 0.01) << shape;
      EXPECT_NEAR(wide.log().mean().item<double>(), torch::digamma(torch::tensor(shape)).item<double>(), 0.08) << shape;
    }
  drawn([] { return at::_standard_gamma(torch::full({64}, 3.0, torch::device(kGpu))); });
  const Tensor parts = drawn([] {
    return at::_sample_dirichlet(torch::tensor({0.5, 2.0, 5.5}, torch::device(kGpu)).expand({5000, 3}));
  });
  EXPECT_TRUE(parts.sum(1).allclose(torch::ones({5000}, parts.dtype())));
  EXPECT_TRUE(parts.mean(0).allclose(torch::tensor({0.0625, 0.25, 0.6875}).to(parts.dtype()), 0.05, 0.002))
      << parts.mean(0);
}

TEST(SoftwareRandom, Choices) {
  const Tensor weights = torch::tensor({{1.0, 0.0, 3.0}, {0.0, 0.0, 2.0}}, torch::device(kGpu));
  const Tensor chosen = drawn([&] { return torch::multinomial(weights, 4000, true); });
  EXPECT_NEAR(chosen[0].eq(0).sum().item<int64_t>(), 1000, 120);
  EXPECT_EQ(chosen[0].eq(1).sum().item<int64_t>(), 0);
  EXPECT_TRUE(chosen[1].eq(2).all().item<bool>());
  const Tensor without = torch::multinomial(torch::ones({3, 6}, torch::device(kGpu)), 6, false).cpu();
  EXPECT_TRUE(std::get<0>(without.sort(1)).equal(torch::arange(6).expand({3, 6})));
  for (const double bad : {-1.0, static_cast<double>(INFINITY), static_cast<double>(NAN)})
    EXPECT_THROW(torch::multinomial(torch::tensor({1.0, bad}, torch::device(kGpu)), 3, true).cpu(), c10::Error) << bad;
  EXPECT_THROW(torch::multinomial(torch::zeros({2}, torch::device(kGpu)), 3, true).cpu(), c10::Error);
}

// The second call of a checkpointed function draws what the first drew, and leaves the generator as it was.
TEST(SoftwareRandom, CheckpointsDrawTheirNumbersAgain) {
  const Tensor w = torch::ones({256}, torch::device(kGpu)).requires_grad_(),
               x = torch::ones({256}, torch::device(kGpu));
  const auto numbers_after = [&](bool backward) {
    torch::manual_seed(5);
    const Tensor y = torch::checkpoint([&](const Tensor& a) { return torch::dropout(a * w, 0.5, true).exp(); }, x);
    w.mutable_grad().reset();
    if (backward) y.sum().backward();
    if (backward) {
      EXPECT_TRUE((y.detach() > 1.5).cpu().equal((w.grad() > 0).cpu()));
    }
    return torch::rand({8}, torch::device(kGpu)).cpu();
  };
  EXPECT_TRUE(numbers_after(false).equal(numbers_after(true)));
}

/// What PyTorch's threads draw after manual_seed(kSeed): number `number` of thread `thread`.
constexpr uint64_t kSeed = 123;
uint32_t drawn_bits(int64_t thread, int64_t number) {
  const auto count = static_cast<uint64_t>(number / 4), sequence = static_cast<uint64_t>(thread);
  uint32_t c[] = {static_cast<uint32_t>(count), static_cast<uint32_t>(count >> 32), static_cast<uint32_t>(sequence),
                  static_cast<uint32_t>(sequence >> 32)};
  uint32_t low = kSeed, high = kSeed >> 32;
  for (int round = 0; round < 10; ++round, low += 0x9E3779B9u, high += 0xBB67AE85u) {
    const uint64_t a = uint64_t{0xD2511F53u} * c[0], b = uint64_t{0xCD9E8D57u} * c[2];
    c[0] = static_cast<uint32_t>(b >> 32) ^ c[1] ^ low, c[1] = static_cast<uint32_t>(b);
    c[2] = static_cast<uint32_t>(a >> 32) ^ c[3] ^ high, c[3] = static_cast<uint32_t>(a);
  }
  return c[number % 4];
}
float drawn_unit(int64_t thread, int64_t number) {
  return static_cast<float>(drawn_bits(thread, number)) * 0x1p-32f + 0x1p-33f;
}

/// The software device runs as many threads of 256 a block.
constexpr int64_t kMostThreads = 4 * 2048;
int64_t threads_for(int64_t n) { return std::min((n + 255) / 256 * 256, kMostThreads); }
/// How far a draw of n elements moves the generator on, where a thread draws for four at a time.
int64_t moved_on(int64_t n) { return ((n - 1) / (threads_for(n) * 4) + 1) * 4; }

/// Element i's number where a thread draws for elements that are `threads` apart.
float unit_apart(int64_t i, int64_t n, int64_t first) {
  return drawn_unit(i % threads_for(n), first + i / threads_for(n));
}
/// And where it draws for `together` elements side by side, in fours.
float unit_beside(int64_t i, int64_t n, int64_t first, int64_t together) {
  const int64_t group = i / together, round = group / threads_for(n);
  const int64_t fours = (together + 3) / 4;
  return drawn_unit(group % threads_for(n), first + round * fours * 4 + i % together);
}

/// Calls `draw` twice after a seed and compares each element with what `expected(i, first)` says.
template <class Draw, class Expected>
void expect_drawn(const std::string& name, int64_t step, const Draw& draw, const Expected& expected) {
  torch::manual_seed(kSeed);
  for (const int64_t first : {int64_t{0}, step}) {
    const Tensor got = draw().cpu().to(torch::kDouble).contiguous().view(-1);
    const double* const x = got.template const_data_ptr<double>();
    int64_t wrong = 0;
    for (int64_t i = 0; i < got.numel(); ++i) wrong += std::abs(x[i] - expected(i, first)) > 1e-6;
    EXPECT_EQ(wrong, 0) << name << " of " << got.numel() << " from " << first;
  }
}

// Which thread an element is depends on the number of multiprocessors: that of the software device is known here.
TEST(SoftwareRandom, UniformNumbersStandWhereTheyStandInPyTorch) {
  NEEDS_COUNTS();
  for (const int64_t n : {1, 7, 1000, 20000, 70000})
    expect_drawn(
        "rand", moved_on(n), [=] { return torch::rand({n}, torch::device(kGpu)); },
        [=](int64_t i, int64_t first) { return unit_apart(i, n, first); });
}

TEST(SoftwareRandom, UniformHalvesStayBelowTheirBound) {
  NEEDS_COUNTS();
  for (const torch::Dtype dtype : {torch::kHalf, torch::kBFloat16}) {
    const auto options = torch::dtype(dtype).device(kGpu);
    const int64_t n = 20000;
    const auto rounded = [&](float from, float width, float to) {
      return [=](int64_t i, int64_t first) {
        const volatile float part = unit_apart(i, n, first) * width;  // not fused with what follows
        const auto value = torch::tensor(part + from).to(dtype).item<float>();
        return value == to ? from : value;
      };
    };
    expect_drawn(
        "rand", moved_on(n), [=] { return torch::rand({n}, options); }, rounded(0, 1, 1));
    expect_drawn(
        "uniform_", moved_on(n), [=] { return torch::empty({n}, options).uniform_(-2, 5); }, rounded(-2, 7, 5));
  }
}

TEST(SoftwareRandom, MasksOfDropoutAreThoseOfPyTorch) {
  NEEDS_COUNTS();
  struct Case {
    torch::Dtype dtype;
    int64_t n, together;
  };
  for (const Case c : {Case{torch::kFloat, 1000, 4},
                       {torch::kFloat, 1002, 2},
                       {torch::kFloat, 1001, 1},
                       {torch::kFloat, 70000, 4},
                       {torch::kHalf, 1000, 8},
                       {torch::kHalf, 70000, 8},
                       {torch::kBFloat16, 1004, 4},
                       {torch::kDouble, 1000, 2},
                       {torch::kDouble, 20000, 2}}) {
    const Tensor ones = torch::ones({c.n}, torch::dtype(c.dtype).device(kGpu));
    const auto kept = [&](int64_t i, int64_t first) {
      const float u = c.together == 1 ? unit_apart(i, c.n, first) : unit_beside(i, c.n, first, c.together);
      return c.dtype == torch::kDouble ? u < 1 - 0.3 : u < static_cast<float>(1 - 0.3);
    };
    expect_drawn(
        "dropout", moved_on(c.n), [&] { return torch::dropout(ones, 0.3, true).gt(0); }, kept);
    expect_drawn(
        "native_dropout", moved_on(c.n), [&] { return std::get<1>(torch::native_dropout(ones, 0.3, true)); }, kept);
  }
}

// What begins between multiples of 16 bytes is drawn for in smaller groups, and single elements as they are counted.
TEST(SoftwareRandom, MasksOfDropoutFollowTheMemory) {
  NEEDS_COUNTS();
  const auto kept = [](int64_t n, int64_t together) {
    return [=](int64_t i, int64_t first) { return unit_beside(i, n, first, together) < 0.5f; };
  };
  const Tensor later = torch::ones({1002}, torch::device(kGpu)).slice(0, 2);
  expect_drawn(
      "dropout", 4, [&] { return torch::dropout(later, 0.5, true).gt(0); }, kept(1000, 2));
  const Tensor odd = torch::ones({9, 7}, torch::device(kGpu)).t(), even = torch::ones({8, 6}, torch::device(kGpu)).t();
  expect_drawn(
      "dropout", 4, [&] { return torch::dropout(odd, 0.5, true).gt(0); },
      [](int64_t i, int64_t first) { return unit_apart(i, 63, first) < 0.5f; });
  expect_drawn(
      "dropout", 4, [&] { return torch::dropout(even, 0.5, true).gt(0).t(); }, kept(48, 4));
}

TEST(SoftwareRandom, EachProbabilityMeetsItsNumber) {
  for (const torch::Dtype dtype : {torch::kFloat, torch::kDouble, torch::kHalf}) {
    for (const int64_t n : {7, 1000, 20000}) {
      const Tensor p = torch::arange(n, torch::kDouble).mul(0.7).sin().abs().to(dtype), wide = p.to(torch::kDouble);
      const double* const odds = wide.const_data_ptr<double>();
      expect_drawn(
          "bernoulli", 12, [&, on = p.to(kGpu)] { return torch::bernoulli(on); },
          [=](int64_t i, int64_t first) { return drawn_unit(i / 4, first + i % 4) <= odds[i]; });
    }
  }
}

TEST(SoftwareRandom, SlopesOfRreluAreThoseOfPyTorch) {
  NEEDS_COUNTS();
  for (const torch::Dtype dtype : {torch::kFloat, torch::kHalf}) {
    const int64_t n = 20000;
    const Tensor x = torch::ones({n}, torch::dtype(dtype).device(kGpu));
    x.slice(0, 0, n, 2).fill_(-1);
    Tensor noise = torch::empty_like(x);
    const auto slope = [&](int64_t i, int64_t first) -> double {
      if (i % 2) return 1;
      const double u = torch::tensor(unit_apart(i, n, first)).to(dtype).item<double>();
      return torch::tensor(static_cast<float>(u * (0.3 - 0.1) + 0.1)).to(dtype).item<double>();
    };
    expect_drawn(
        "rrelu", moved_on(n), [&] { return torch::rrelu(x, 0.1, 0.3, true) * x; }, slope);
    expect_drawn(
        "rrelu_with_noise", moved_on(n), [&] { return torch::rrelu_with_noise(x, noise, 0.1, 0.3, true), noise; },
        slope);
  }
}

TEST(SoftwareRandom, ChoicesAreThoseOfPyTorch) {
  const int64_t samples = 200;  // two blocks of 128 threads for a row
  const Tensor even = torch::ones({3, 8}, torch::device(kGpu));
  expect_drawn(
      "multinomial", 4, [&] { return torch::multinomial(even, samples, true); },
      [&](int64_t i, int64_t first) { return std::ceil(drawn_unit(i / samples * 256 + i % samples, first) * 8) - 1; });
}

/// PyTorch sorts random keys, and shuffles where they are equal.
std::vector<int64_t> permutation(int64_t n, int bits) {
  std::vector<std::pair<uint64_t, int64_t>> keys;
  for (int64_t i = 0; i < n; ++i) {
    const int64_t thread = i % threads_for(n), number = i / threads_for(n) * 2;
    const uint64_t wide = uint64_t{drawn_bits(thread, number)} << 32 | drawn_bits(thread, number + 1);
    const uint64_t key =
        bits > 32 ? wide % UINT64_MAX : wide % UINT32_MAX;  // from the least number, whose low bits are 0
    keys.emplace_back(key & ((uint64_t{1} << bits) - 1), i);
  }
  std::stable_sort(keys.begin(), keys.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<int64_t> order;
  for (const auto& key : keys) order.push_back(key.second);
  const int64_t first = ((n - 1) / (threads_for(n) * 2) + 1) * 4;
  for (size_t at = 0, count = 1; at < keys.size(); at += count, count = 1) {
    while (at + count < keys.size() && keys[at + count].first == keys[at].first) ++count;
    for (size_t last = count - 1, k = 0; last > 0; --last, ++k)
      std::swap(order[at + last],
                order[at + drawn_bits(static_cast<int64_t>(at), first + static_cast<int64_t>(k)) % (last + 1)]);
  }
  return order;
}

TEST(SoftwareRandom, PermutationsAreThoseOfPyTorch) {
  NEEDS_COUNTS();
  const std::pair<int64_t, int> bits_of[] = {{5, 7}, {10, 9}, {100, 16}, {1000, 23}, {28000, 32}, {40000, 33}};
  for (const auto& [n, bits] : bits_of) {
    torch::manual_seed(kSeed);
    const Tensor order = torch::randperm(n, torch::dtype(torch::kLong).device(kGpu)).cpu();
    EXPECT_TRUE(order.equal(torch::tensor(permutation(n, bits)))) << n;
  }
}

}  // namespace
