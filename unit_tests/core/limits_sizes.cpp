// Sizes whose product or sum no integer holds, and more memory than there is: errors with LibTorch's words, at once.

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace {

using torch::Tensor;
constexpr int64_t k32 = int64_t{1} << 32, k40 = int64_t{1} << 40, k62 = int64_t{1} << 62, kMax = INT64_MAX;

struct Row {
  const char* call;
  const char* phrase;  // empty: any
  std::function<void()> run;
};
#define ROW(phrase, ...)                               \
  Row {                                                \
#__VA_ARGS__, phrase, [=] { (void)(__VA_ARGS__); } \
  }

void expect_errors(const std::vector<Row>& rows) {
  for (const Row& row : rows) {
    try {
      row.run();
      ADD_FAILURE() << row.call << ": no error";
    } catch (const c10::Error& e) {
      EXPECT_NE(std::string(e.what_without_backtrace()).find(row.phrase), std::string::npos)
          << row.call << ": " << e.what();
    } catch (const std::exception& e) {
      ADD_FAILURE() << row.call << ": " << e.what();
    }
  }
}

constexpr const char* kCount = "integer multiplication overflow";
constexpr const char* kStorage = "Storage size calculation overflowed";
constexpr const char* kMemory = "DefaultCPUAllocator: can't allocate memory: you tried to allocate ";

const Tensor a = torch::arange(6).to(torch::kFloat).view({2, 3}), v = torch::arange(4).to(torch::kFloat);
const Tensor one = torch::ones({1, 1}), image = torch::ones({1, 1, 4, 4});
const Tensor long32 = torch::ones({1}).expand({k32}), long40 = torch::ones({1}).expand({k40});

}  // namespace

TEST(LimitsSizes, Factories) {
  expect_errors({
      ROW(kCount, torch::empty({k40, k40})),
      ROW(kCount, torch::zeros({kMax, 2})),
      ROW(kCount, torch::randn({k32, k32})),
      ROW(kCount, torch::eye(k40)),
      ROW(kCount, torch::tril_indices(kMax, kMax)),
      ROW(kCount, a.new_zeros({k40, k40})),
      ROW(kStorage, torch::empty({k62}, torch::kDouble)),
      ROW(kStorage, torch::ones({kMax})),
      ROW(kStorage, torch::hann_window(k62)),
      ROW(kStorage, torch::empty_strided({2, 2}, {kMax, 1})),
      ROW(kStorage, torch::empty_strided({kMax}, {kMax})),
      ROW("invalid size, possible overflow?", torch::arange(0, 1e19)),
      ROW("invalid size, possible overflow?", torch::arange(0., 1., 1e-300)),
      ROW("invalid size, possible overflow?", torch::arange(-kMax, kMax)),
      ROW(kMemory, torch::arange(1e17)),
      ROW(kStorage, torch::linspace(0, 1, kMax)),
      ROW("", torch::randperm(kMax)),
      ROW("", torch::diag_embed(v, kMax)),
      ROW("", torch::diag_embed(v, INT64_MIN)),
      ROW("maximum value of input overflowed", torch::bincount(torch::tensor({kMax}))),
      ROW("", torch::one_hot(torch::tensor({kMax - 1}))),
  });
  EXPECT_EQ(torch::arange(kMax - 3, kMax).numel(), 3);
  EXPECT_EQ(torch::arange(10, 0, -3).numel(), 4);
}

TEST(LimitsSizes, Views) {
  expect_errors({
      ROW(kCount, one.expand({k40, k40})),
      ROW(kCount, one.expand({kMax, kMax}).sum()),
      ROW(kCount, a.as_strided({k40, k40}, {0, 0})),
      ROW(kStorage, a.as_strided({2, 2}, {k62, k62})),
      ROW(kStorage, a.as_strided({2}, {1}, kMax)),
      ROW("out of bounds for storage", a.as_strided({k40}, {1})),
      ROW("invalid for input of size 6", a.view({k32, k32})),
      ROW("invalid for input of size 6", a.view({k32, k32, -1})),
      // The product is 6 modulo 2^64.
      ROW("invalid for input of size 6", a.view({5, 7378697629483820647, 2})),
      ROW("exceeds dimension size", v.narrow(0, 1, kMax)),
      ROW(kCount, a.clone().resize_({k40, k40})),
      ROW(kStorage, a.clone().resize_({kMax})),
      ROW(kCount, torch::from_blob(a.data_ptr(), {k40, k40})),
      ROW(kStorage, torch::from_blob(a.data_ptr(), {2}, {kMax})),
      ROW(kCount, torch::cartesian_prod({long32, long32})),
      ROW("upscale factor is too large", torch::pixel_shuffle(image, k32)),
  });
}

TEST(LimitsSizes, Results) {
  namespace F = torch::nn::functional;
  expect_errors({
      ROW(kCount, torch::outer(long40, long40)),
      ROW(kCount, torch::kron(long32, long32)),
      ROW(kCount, torch::mm(one.expand({k40, 1}), one.expand({1, k40}))),
      ROW(kCount, torch::einsum("i,j->ij", {long32, long32})),
      ROW(kCount, a.repeat({k40, k40})),
      ROW("", torch::repeat_interleave(v, torch::full({4}, k62))),
      ROW(kCount, torch::meshgrid({long32, long32}, "ij")[0].contiguous()),
      ROW(kStorage, torch::combinations(torch::arange(100), 40)),
      ROW("", torch::constant_pad_nd(a, {kMax, kMax})),
      ROW(kCount, torch::replication_pad2d(image, {k40, k40, k40, k40})),
      ROW(kStorage, torch::replication_pad1d(a, {kMax, kMax})),
      ROW("", torch::conv2d(image, torch::ones({1, 1, 1, 1}), {}, 1, k40)),
      ROW("integer out of range", torch::max_pool2d(image, kMax)),
      ROW("integer out of range", torch::avg_pool2d(image, 2, kMax)),
      ROW(kCount, torch::adaptive_avg_pool2d(image, {k40, k40})),
      ROW(kCount, torch::upsample_nearest2d(image, {k40, k40})),
      ROW(kCount, torch::upsample_bilinear2d(image, {kMax, kMax}, false)),
      ROW(kCount, torch::nn::Linear(k40, k40)),
      ROW(kCount, torch::nn::LSTM(k40, k40)),
      ROW("", torch::stack(std::vector<Tensor>(3, torch::ones({1}).expand({k62})))),
  });
}

TEST(LimitsSizes, MoreMemoryThanThereIs) {
  expect_errors({
      ROW("you tried to allocate 8796093022208 bytes. Error code 12 (Cannot allocate memory)",
          torch::empty({k40}, torch::kDouble)),
      ROW(kMemory, long40.clone()),
      ROW(kMemory, long40 + 1),
      ROW(kMemory, torch::cat({long40, long40})),
      ROW(kMemory, torch::index_select(a, 0, torch::zeros({1}, torch::kLong).expand({k40}))),
  });
}
