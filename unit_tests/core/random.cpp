// Generators that are given wrong things, or are shared by threads; fills against what they are made of.
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <iomanip>
#include <set>
#include <sstream>
#include <thread>

namespace {

using torch::Tensor;

TEST(Generator, UndefinedOneThrows) {
  torch::Generator none;
  EXPECT_FALSE(none.defined());
  EXPECT_THROW(none.current_seed(), c10::Error);
  EXPECT_THROW(none.get_state(), c10::Error);
  EXPECT_THROW(at::check_generator<at::CPUGeneratorImpl>(std::nullopt), c10::Error);
  EXPECT_THROW(at::check_generator<at::CPUGeneratorImpl>(none), c10::Error);
}

TEST(Generator, RefusesStatesThatAreNone) {
  auto g = at::detail::createCPUGenerator(1);
  const Tensor good = g.get_state();
  EXPECT_EQ(good.numel(), 5056);
  EXPECT_THROW(g.set_state(torch::zeros({5056}, torch::kByte)), c10::Error);
  EXPECT_THROW(g.set_state(good.slice(0, 0, 100)), c10::Error);
  EXPECT_THROW(g.set_state(good.to(torch::kInt)), c10::Error);
  Tensor wild = good.clone();
  wild.slice(0, 8, 12).fill_(255);  // negative count of what is left
  EXPECT_THROW(g.set_state(wild), c10::Error);
  wild = good.clone();
  wild.slice(0, 16, 24).fill_(255);  // a position far outside the block
  EXPECT_THROW(g.set_state(wild), c10::Error);
  EXPECT_TRUE(g.get_state().equal(good)) << "a refused state must change nothing";
}

TEST(Generator, StateCarriesTheWaitingNormalValue) {
  auto g = at::detail::createCPUGenerator(9);
  torch::randn({3}, g);  // an odd count leaves half a pair
  auto h = at::detail::createCPUGenerator(1);
  h.set_state(g.get_state());
  EXPECT_TRUE(torch::randn({4}, g).equal(torch::randn({4}, h)));
  EXPECT_EQ(h.current_seed(), 9u);
}

TEST(Generator, SeedIsFreshEachTime) {
  auto g = at::detail::createCPUGenerator(1);
  std::set<uint64_t> seeds;
  for (int i = 0; i < 8; ++i) seeds.insert(g.seed());
  EXPECT_EQ(seeds.size(), 8u);
  EXPECT_EQ(seeds.count(g.current_seed()), 1u);
}

TEST(Generator, CopiesShareAndClonesDoNot) {
  auto g = at::detail::createCPUGenerator(4);
  auto same = g;
  auto other = g.clone();
  EXPECT_TRUE(g == same);
  EXPECT_FALSE(g == other);
  const Tensor first = torch::rand({5}, g);
  EXPECT_FALSE(torch::rand({5}, same).equal(first));
  EXPECT_TRUE(torch::rand({5}, other).equal(first));
}

TEST(Generator, HasNoOffset) {
  auto g = at::detail::createCPUGenerator(4);
  EXPECT_THROW(g.set_offset(3), c10::Error);
  EXPECT_THROW(g.get_offset(), c10::Error);
}

TEST(Generator, ThreadsTakeTurns) {
  auto g = at::detail::createCPUGenerator(4);
  std::vector<Tensor> parts(4);
  std::vector<std::thread> threads;
  for (auto& part : parts)
    threads.emplace_back([&part, g]() mutable { part = torch::empty({1000}).uniform_(0, 1, g); });
  for (auto& t : threads) t.join();
  // Each fill holds the generator to its end, so that together they are the first 4000 values, in blocks.
  auto expected = torch::rand({4, 1000}, at::detail::createCPUGenerator(4));
  for (const auto& part : parts) {
    bool found = false;
    for (int64_t row = 0; row < 4; ++row) found = found || expected[row].equal(part);
    EXPECT_TRUE(found);
  }
}

TEST(Random, FillsFollowTheEngine) {
  auto g = at::detail::createCPUGenerator(21);
  auto raw = g.clone();
  auto* engine = at::check_generator<at::CPUGeneratorImpl>(raw);
  const Tensor values = torch::rand({1000}, g);
  for (int64_t i = 0; i < 1000; ++i)
    ASSERT_EQ(values[i].item<float>(), static_cast<float>(engine->random() & 0xffffff) / 16777216.0f) << i;
}

TEST(Random, RandpermHoldsEachOnce) {
  const Tensor p = torch::randperm(5000);
  std::set<int64_t> seen(p.data_ptr<int64_t>(), p.data_ptr<int64_t>() + 5000);
  EXPECT_EQ(seen.size(), 5000u);
  EXPECT_EQ(*seen.rbegin(), 4999);
  EXPECT_THROW(torch::randperm(300, torch::kByte), c10::Error);
}

TEST(Random, DropoutKeepsTheMean) {
  torch::manual_seed(1);
  const Tensor y = torch::dropout(torch::ones({200000}), 0.3, true);
  EXPECT_NEAR(y.mean().item<double>(), 1.0, 0.01);
  EXPECT_NEAR((y == 0).to(torch::kFloat).mean().item<double>(), 0.3, 0.01);
}

TEST(Printing, LeavesTheStreamAsItWas) {
  std::ostringstream out;
  out << std::fixed << std::setprecision(2);
  out << torch::tensor({1e-9, 1.0}) << torch::tensor({1, 2});
  out.str("");
  out << 1.23456;
  EXPECT_EQ(out.str(), "1.23");
}

TEST(Printing, DtypesPrintAsInLibTorch) {
  std::ostringstream out;
  out << torch::zeros({1}).dtype() << " " << torch::zeros({1}, torch::kLong).dtype() << " " << torch::kHalf;
  EXPECT_EQ(out.str(), "float long int Half");
  EXPECT_TRUE(torch::zeros({1}).dtype() == torch::kFloat);
  EXPECT_EQ(torch::zeros({2}, torch::zeros({1}, torch::kInt).dtype()).scalar_type(), torch::kInt);
}

}  // namespace
