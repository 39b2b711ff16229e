// Tensors of more than 2^31 elements, where an index of 32 bits would wrap: each family of functions that indexes
// computes the elements beyond as it computes the others, or refuses with an error that says so. Small types and
// stepwise tests keep the process within 11 GiB, more of which is an error.

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <torch/torch.h>

#include <functional>
#include <string>

namespace {

using torch::Tensor;
namespace F = torch::nn::functional;

constexpr int64_t k31 = int64_t{1} << 31, kCount = k31 + 17, kPlace = k31 + 5;

class Nightly : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    const rlimit room{rlim_t{11} << 30, RLIM_INFINITY};
    setrlimit(RLIMIT_AS, &room);
  }
  torch::NoGradGuard no_grad;
};

// Zeros of a byte, but for a mark beyond 2^31.
Tensor marked(uint8_t mark = 7) {
  Tensor t = torch::zeros({kCount}, torch::kByte);
  t[kPlace] = mark;
  return t;
}
int64_t value(const Tensor& t, int64_t i) { return t[i].item<int64_t>(); }

std::string error_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const c10::Error& e) {
    return e.what_without_backtrace();
  }
  return "";
}

}  // namespace

TEST_F(Nightly, ElementWise) {
  Tensor a = marked();
  EXPECT_EQ(value(a + a, kPlace), 14);
  EXPECT_EQ(value(a * 3, kPlace), 21);
  EXPECT_EQ(value(a.bitwise_not(), kPlace), 248);
  EXPECT_EQ(value(a.eq(7), kPlace), 1);
  a.add_(1);
  EXPECT_EQ(value(a, kPlace), 8);
  EXPECT_EQ(value(a, kCount - 1), 1);
  a.masked_fill_(a.eq(8), 5);
  EXPECT_EQ(value(a, kPlace), 5);
  EXPECT_EQ(value(torch::where(a.eq(5), a, a.new_zeros({})), kPlace), 5);
}

TEST_F(Nightly, ElementWiseOfHalves) {
  Tensor a = torch::full({kCount}, -2, torch::kHalf);
  a[kPlace] = 3;
  a.relu_();
  EXPECT_EQ(value(a, kPlace), 3);
  EXPECT_EQ(value(a, kCount - 1), 0);
  a.mul_(2);
  EXPECT_EQ(value(a.to(torch::kByte), kPlace), 6);
}

TEST_F(Nightly, Broadcasting) {
  const int64_t columns = k31 / 2 + 9;
  const Tensor rows = torch::arange(3).to(torch::kByte).view({3, 1});
  const Tensor a = torch::ones({columns}, torch::kByte);
  const Tensor sum = rows + a;
  EXPECT_EQ(sum.numel(), 3 * columns);
  EXPECT_EQ(value(sum[2], columns - 1), 3);
  EXPECT_EQ(sum[1].sum().item<int64_t>(), 2 * columns);
}

TEST_F(Nightly, Reductions) {
  const Tensor a = marked();
  EXPECT_EQ(a.sum().item<int64_t>(), 7);
  EXPECT_EQ(a.max().item<int64_t>(), 7);
  EXPECT_EQ(a.argmax().item<int64_t>(), kPlace);
  EXPECT_EQ(a.count_nonzero().item<int64_t>(), 1);
  EXPECT_TRUE(a.any().item<bool>());
  EXPECT_EQ((a + 1).sum().item<int64_t>(), kCount + 7);
  const auto [most, place] = a.max(0);
  EXPECT_EQ(most.item<int64_t>(), 7);
  EXPECT_EQ(place.item<int64_t>(), kPlace);
  const Tensor square = torch::ones({65537, 32769}, torch::kByte);
  EXPECT_EQ(value(square.sum(0), 32768), 65537);
  EXPECT_EQ(value(square.sum(1), 65536), 32769);
  EXPECT_EQ(value(square.amax(0), 32768), 1);
}

TEST_F(Nightly, ReductionsOfHalves) {
  Tensor a = torch::zeros({kCount}, torch::kHalf);
  a[kPlace] = 3, a[1] = 4;
  EXPECT_EQ(a.norm().item<float>(), 5);
  EXPECT_EQ(a.sum().item<float>(), 7);
  EXPECT_EQ(a.min().item<float>(), 0);
  EXPECT_LT(a.var(0, /*unbiased=*/false).item<float>(), 1e-7);
}

TEST_F(Nightly, TopkAndSort) {
  Tensor a = marked();
  a[3] = 9;
  const auto [values, places] = a.topk(2);
  EXPECT_EQ(value(values, 0), 9);
  EXPECT_EQ(value(values, 1), 7);
  EXPECT_EQ(value(places, 1), kPlace);
  a = Tensor();
  // Rows whose places lie beyond; the indices of a sort would take 16 GiB.
  Tensor rows = torch::zeros({(k31 >> 10) + 1, 1024}, torch::kByte);
  rows[k31 >> 10][1000] = 5;
  EXPECT_EQ(value(std::get<1>(rows.topk(1))[k31 >> 10], 0), 1000);
  EXPECT_NE(error_of([&] { rows.sort(1); }).find("memory"), std::string::npos);
}

TEST_F(Nightly, Indexing) {
  Tensor a = marked();
  const Tensor place = torch::tensor({kPlace, int64_t{4}});
  EXPECT_EQ(value(a.index_select(0, place), 0), 7);
  EXPECT_EQ(value(a.gather(0, place), 0), 7);
  EXPECT_EQ(value(a.take(place), 0), 7);
  EXPECT_EQ(value(a.index({place}), 0), 7);
  a.index_put_({place}, torch::full({2}, 3, torch::kByte));
  EXPECT_EQ(value(a, kPlace), 3);
  a.scatter_(0, place, torch::full({2}, 4, torch::kByte));
  EXPECT_EQ(value(a, kPlace), 4);
  a.scatter_add_(0, place, torch::full({2}, 4, torch::kByte));
  EXPECT_EQ(value(a, kPlace), 8);
  a.index_add_(0, place, torch::full({2}, 1, torch::kByte));
  a.index_fill_(0, place.narrow(0, 1, 1), 0);
  EXPECT_EQ(value(a, kPlace), 9);
  EXPECT_EQ(value(a.nonzero().view(-1), 0), kPlace);
  EXPECT_EQ(value(a.masked_select(a.gt(0)), 0), 9);
}

TEST_F(Nightly, CopiesAndShapes) {
  const Tensor a = marked();
  EXPECT_EQ(value(a.clone(), kPlace), 7);
  EXPECT_EQ(value(a.flip(0), kCount - 1 - kPlace), 7);
  EXPECT_EQ(value(a.roll(-10), kPlace - 10), 7);
  EXPECT_EQ(value(a.narrow(0, k31, 17).clone(), 5), 7);
  EXPECT_EQ(value(a.to(torch::kHalf), kPlace), 7);
  EXPECT_EQ(value(torch::cat({a.narrow(0, 0, 9), a}), kPlace + 9), 7);
  EXPECT_EQ(value(torch::constant_pad_nd(a, {3, 0}), kPlace + 3), 7);
  EXPECT_EQ(value(a.narrow(0, 0, kCount - 1).view({-1, 2}).t().contiguous()[1], (kPlace - 1) / 2), 7);
  EXPECT_EQ(value(torch::stack({a, a})[1], kPlace), 7);
}

TEST_F(Nightly, Permutations) {
  Tensor a = torch::zeros({2, 32769, 32769}, torch::kByte);
  a[1][32768][5] = 3;
  EXPECT_EQ(value(a.permute({2, 0, 1}).contiguous()[5][1], 32768), 3);
  EXPECT_EQ(value(a.transpose(1, 2).clone(torch::MemoryFormat::Contiguous)[1][5], 32768), 3);
  EXPECT_EQ(value(a.repeat_interleave(1, 0)[1][32768], 5), 3);
}

TEST_F(Nightly, Softmax) {
  const int64_t rows = (k31 >> 10) + 1;
  Tensor a = torch::zeros({rows, 1024}, torch::kHalf);
  a[rows - 1][7] = 20;
  const Tensor y = torch::softmax(a, 1);
  EXPECT_NEAR(y[rows - 1][7].item<float>(), 1, 1e-3);
  EXPECT_EQ(y[0][0].item<float>(), 1.0f / 1024);
}

TEST_F(Nightly, CumulativeSums) {
  Tensor a = marked(1);
  a[2] = 1;
  const Tensor sums = a.cumsum(0, torch::kByte);
  EXPECT_EQ(value(sums, kPlace - 1), 1);
  EXPECT_EQ(value(sums, kCount - 1), 2);
}

TEST_F(Nightly, Embedding) {
  const int64_t rows = (k31 >> 8) + 3;
  Tensor table = torch::zeros({rows, 256}, torch::kHalf);
  table[rows - 1].fill_(2);
  const Tensor got = torch::embedding(table, torch::tensor({rows - 1, int64_t{0}}));
  EXPECT_EQ(got[0].sum().item<float>(), 512);
  EXPECT_EQ(got[1].sum().item<float>(), 0);
}

TEST_F(Nightly, Pooling) {
  Tensor a = torch::zeros({2049, 1, 1024, 1024}, torch::kHalf);
  a[2048][0][1023][1020] = 3;
  EXPECT_EQ(torch::max_pool2d(a, 8)[2048][0][127][127].item<float>(), 3);
  EXPECT_EQ(torch::avg_pool2d(a, 8)[2048][0][127][127].item<float>(), 3.0f / 64);
  EXPECT_EQ(torch::adaptive_avg_pool2d(a, {1, 1})[2047].item<float>(), 0);
  const Tensor plane = a.view({1, 1, 2049 * 1024, 1024});
  EXPECT_EQ(torch::max_pool2d(plane, 8)[0][0][2049 * 128 - 1][127].item<float>(), 3);
  EXPECT_NE(error_of([&] { torch::max_pool2d_with_indices(plane, 8); }).find("2^31"), std::string::npos);
  EXPECT_EQ(torch::avg_pool2d(plane, 8)[0][0][2049 * 128 - 1][127].item<float>(), 3.0f / 64);
}

TEST_F(Nightly, Products) {
  const int64_t rows = (k31 >> 6) + 5;
  Tensor a = torch::zeros({rows, 64}, torch::kBFloat16);
  a[rows - 1].fill_(1);
  const Tensor y = a.mm(torch::ones({64, 4}, torch::kBFloat16));
  EXPECT_EQ(y[rows - 1][3].item<float>(), 64);
  EXPECT_EQ(y[0][0].item<float>(), 0);
}

TEST_F(Nightly, Convolutions) {
  const int64_t height = (k31 >> 10) + 1024;
  Tensor x = torch::zeros({1, 1, height, 1024}, torch::kBFloat16);
  x[0][0][height - 1].fill_(1);
  const Tensor y = torch::conv2d(x, torch::ones({1, 1, 8, 8}, torch::kBFloat16), {}, {8, 8});
  EXPECT_EQ(y[0][0][height / 8 - 1][127].item<float>(), 8);
  EXPECT_EQ(y[0][0][0][0].item<float>(), 0);
}

TEST_F(Nightly, NormalisationAndInterpolation) {
  const int64_t rows = (k31 >> 10) + 1;
  Tensor a = torch::zeros({rows, 1024}, torch::kHalf);
  a[rows - 1].narrow(0, 0, 512).fill_(1);
  const Tensor y = torch::layer_norm(a, {1024});
  EXPECT_NEAR(y[rows - 1][0].item<float>(), 1, 1e-2);
  EXPECT_EQ(y[0][0].item<float>(), 0);
}

TEST_F(Nightly, RandomNumbersAndFactories) {
  const Tensor a = torch::empty({kCount}, torch::kByte).random_(1, 3);
  EXPECT_GE(a.narrow(0, k31, 17).min().item<int64_t>(), 1);
  EXPECT_EQ(value(torch::ones({kCount}, torch::kByte), kPlace), 1);
}
