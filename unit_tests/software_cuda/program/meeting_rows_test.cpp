// Rows and elements that meet at the same place, beside the CPU: in a fixed order, where a program asks for one, and as
// they come.
#include "software_cuda/program/beside_cpu.h"
#include "software_cuda/program/control.h"

namespace {

class MeetingRows : public testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    at::globalContext().setDeterministicAlgorithms(GetParam());
    control().run_twice(GetParam());
  }
  void TearDown() override {
    control().run_twice(false);
    at::globalContext().setDeterministicAlgorithms(false);
  }
};

const std::vector<torch::Dtype> kNumbers{torch::kFloat,        torch::kDouble,       torch::kHalf, torch::kBFloat16,
                                         torch::kByte,         torch::kShort,        torch::kLong, torch::kBool,
                                         torch::kComplexFloat, torch::kComplexDouble};
constexpr int64_t kRows = 11, kCount = 300;

/// Rows that few, many or all go to, and some to which nothing goes.
std::vector<Tensor> indices() {
  const Tensor n = torch::arange(kCount);
  return {n.mul(7).remainder(kRows), n.mul(n).remainder(3).mul(5), torch::full({kCount}, 4), n.div(70, "floor"),
          torch::tensor({3})};
}
/// Of which sums are exact in any dtype.
Tensor small(std::vector<int64_t> sizes, torch::Dtype t) {
  const Tensor n = torch::arange(torch::zeros(sizes).numel());
  const Tensor signs = n.remainder(11).sub(5).sign().view(sizes);
  return (t == torch::kByte || t == torch::kBool ? signs.abs() : signs).to(t);
}
std::string named(const char* what, torch::Dtype t, const Tensor& index) {
  return std::string(what) + " of " + toString(t) + " by " + std::to_string(index.sum().item<int64_t>());
}

TEST_P(MeetingRows, Sums) {
  for (const torch::Dtype t : kNumbers)
    for (const Tensor& index : indices()) {
      const auto add = [&](int64_t dim) { return [=](auto& in) { return in[0].index_add(dim, in[1], in[2]); }; };
      const int64_t n = index.size(0);
      expect_same(named("wide rows", t, index), add(0), {small({kRows, 70}, t), index, small({n, 70}, t)});
      expect_same(named("columns", t, index), add(1), {small({7, kRows}, t), index, small({7, n}, t)});
      expect_same(named("short rows", t, index), add(1), {small({2, kRows, 3}, t), index, small({2, n, 3}, t)});
      expect_same(named("a vector", t, index), add(0), {small({kRows}, t), index, small({n}, t)});
      expect_same(named("scatter_add", t, index), [](auto& in) { return in[0].scatter_add(1, in[1], in[2]); },
                  {small({3, kRows}, t), index.expand({3, n}), small({3, n}, t)});
    }
}

TEST_P(MeetingRows, Gradients) {
  for (const torch::Dtype t : {torch::kFloat, torch::kDouble})
    for (const Tensor& index : indices()) {
      expect_same(named("index_select", t, index), [](auto& in) { return in[0].index_select(0, in[1]); },
                  {values({kRows, 40}, t), index});
      expect_same(named("columns", t, index), [](auto& in) { return in[0].index_select(1, in[1]); },
                  {values({5, kRows}, t), index});
      expect_same(named("gather", t, index),
                  [](auto& in) {
                    return in[0].gather(0, in[1].unsqueeze(1).expand({-1, 6}));
                  },
                  {values({kRows, 8}, t), index});
      expect_same(named("take", t, index), [](auto& in) { return in[0].take(in[1]); }, {values({3, 5}, t), index});
    }
}

TEST_P(MeetingRows, Extrema) {
  for (const torch::Dtype t : {torch::kFloat, torch::kBFloat16, torch::kByte, torch::kLong})
    for (const Tensor& index : indices())
      for (const char* op : {"amax", "amin", "prod"})
        for (const int64_t dim : {0, 1}) {
          const int64_t n = index.size(0);
          const std::vector<int64_t> sizes{dim ? 5 : kRows, dim ? kRows : 40}, given{dim ? 5 : n, dim ? n : 40};
          const Tensor self = small(sizes, t), source = small(given, t);
          if (torch::isFloatingType(t)) source.view(-1)[3] = NAN;
          const auto run = [&](const torch::Device& d) {
            return self.to(d).index_reduce(dim, index.to(d), source.to(d), op);
          };
          expect_close(named(op, t, index), run(kGpu), run(torch::kCPU), 1e-10);
        }
}

// So many that the order is fixed in any case.
TEST_P(MeetingRows, ManyRows) {
  const Tensor index = torch::arange(4096).mul(13).remainder(50);
  for (const torch::Dtype t : {torch::kFloat, torch::kBFloat16}) {
    const Tensor self = torch::zeros({50, 256}).to(t), source = small({4096, 256}, t);
    const Tensor got = self.to(kGpu).index_add(0, index.to(kGpu), source.to(kGpu));
    expect_close("many rows", got, self.index_add(0, index, source), 1e-10);
  }
}

INSTANTIATE_TEST_SUITE_P(, MeetingRows, testing::Bool());

}  // namespace
