// Element-wise functions whose operands lie side by side, beside the CPU: bytes, masks and numbers with other dtypes,
// rows and columns that stand for matrices, sizes that are no vectors, and odd addresses.
#include "software_cuda/program/beside_cpu.h"

#include <limits>

namespace {

const std::vector<torch::Dtype> kMixed{torch::kByte, torch::kBool,  torch::kInt,      torch::kLong,
                                       torch::kHalf, torch::kFloat, torch::kBFloat16, torch::kDouble};

/// On the device, `off` elements behind an aligned address.
Tensor at_offset(const Tensor& x, int64_t off) {
  const Tensor room = torch::zeros({x.numel() + off}, x.options().device(kGpu));
  const Tensor view = room.narrow(0, off, x.numel()).view(x.sizes());
  view.copy_(x);
  return view;
}
/// Whole numbers, which all dtypes hold.
Tensor wholes(torch::IntArrayRef size, torch::Dtype dtype, int64_t step) {
  int64_t n = 1;
  for (const int64_t s : size) n *= s;
  return torch::arange(n).mul(step).remainder(23).view(size).to(dtype);
}
void expect_equal(const std::string& name, const Tensor& got, const Tensor& expected) {
  ASSERT_EQ(got.scalar_type(), expected.scalar_type()) << name;
  EXPECT_TRUE(torch::equal(got.cpu().to(torch::kDouble), expected.to(torch::kDouble))) << name;
}
std::string named(const char* what, const Tensor& a, const Tensor& b, int64_t off) {
  return std::string(what) + " of " + toString(a.scalar_type()) + " and " + toString(b.scalar_type()) + ", " +
         std::to_string(a.numel()) + " elements at " + std::to_string(off);
}

void expect_same_of(const Tensor& a, const Tensor& b, int64_t off) {
  const Tensor x = at_offset(a, off), y = at_offset(b, off), mask = a > 9, there = at_offset(mask, off);
  const auto name = [&](const char* what) { return named(what, a, b, off); };
  expect_equal(name("add"), x + y, a + b);
  expect_equal(name("eq"), x == y, a == b);
  expect_equal(name("less than a number"), y < 7, b < 7);
  expect_equal(name("logical_or"), x.logical_or(y), a.logical_or(b));
  expect_equal(name("where"), torch::where(there, x, y), torch::where(mask, a, b));
  expect_equal(name("masked_fill"), y.masked_fill(there, 1), b.masked_fill(mask, 1));
  expect_equal(name("copy"), x.to(b.scalar_type()), a.to(b.scalar_type()));
}

TEST(SoftwareVectors, OfMixedDtypes) {
  for (const torch::Dtype s : kMixed)
    for (const torch::Dtype t : kMixed)
      for (const int64_t n : {1, 7, 64, 133})
        for (const int64_t off : {0, 1, 4}) expect_same_of(wholes({n}, s, 5), wholes({n}, t, 7), off);
}

TEST(SoftwareVectors, RowsAndColumnsStandForMatrices) {
  for (const torch::Dtype t : kMixed)
    for (const int64_t n : {4, 12, 16, 48, 50}) {
      const Tensor row = wholes({n}, t, 5), column = wholes({6, 1}, t, 7), grid = wholes({6, n}, t, 3);
      expect_same_of(row.expand({6, n}).contiguous(), grid, 0);
      const Tensor r = row.to(kGpu), c = column.to(kGpu), g = grid.to(kGpu);
      const std::string name = std::string(toString(t)) + " " + std::to_string(n);
      expect_equal("row and column of " + name, r + c, row + column);
      expect_equal("row and column are equal, of " + name, r == c, row == column);
      expect_equal("column and grid of " + name, c * g, column * grid);
      expect_equal("where, of " + name, torch::where(g > 9, r, c), torch::where(grid > 9, row, column));
      const Tensor part = grid.narrow(1, n / 4, n / 2), there = g.narrow(1, n / 4, n / 2);
      expect_equal("half rows of " + name, there + there, part + part);
    }
}

TEST(SoftwareVectors, BytesBesideNumbers) {
  const Tensor x = wholes({100}, torch::kByte, 5), y = x.to(kGpu), truth = x > 9, there = y > 9;
  for (const int64_t number : {int64_t{3}, int64_t{-1}, int64_t{255}, int64_t{1} << 33, -(int64_t{1} << 40) + 2}) {
    const std::string name = std::to_string(number);
    expect_equal("add " + name, y + number, x + number);
    expect_equal("multiply by " + name, y * number, x * number);
    expect_equal("less than " + name, y < number, x < number);
    expect_equal("truth and " + name, there.add(number), truth.add(number));
    expect_equal("clamp_max " + name, y.clamp_max(std::abs(number) % 200), x.clamp_max(std::abs(number) % 200));
  }
  expect_equal("shift", y.bitwise_right_shift(y), x.bitwise_right_shift(x));
  expect_equal("shift left", y.bitwise_left_shift(y), x.bitwise_left_shift(x));
}

TEST(SoftwareVectors, PartsTakeTurns) {
  for (const torch::Dtype t : {torch::kByte, torch::kHalf, torch::kFloat, torch::kDouble})
    for (const int64_t n : {1, 8, 37})
      for (const int64_t off : {0, 1}) {
        const Tensor a = wholes({n}, t, 5), b = wholes({n}, t, 7);
        expect_equal(named("stack", a, b, off), torch::stack({at_offset(a, off), at_offset(b, off)}, -1),
                     torch::stack({a, b}, -1));
      }
}

TEST(SoftwareVectors, OneHotLooksAtItsClasses) {
  const Tensor classes = torch::tensor({0, 4, 2, 2}).view({2, 2});
  expect_equal("one_hot", torch::one_hot(classes.to(kGpu), 5), torch::one_hot(classes, 5));
  expect_equal("one_hot of as many as there are", torch::one_hot(classes.to(kGpu)), torch::one_hot(classes));
  const auto said = [&](int64_t number) -> std::string {
    try {
      torch::one_hot(classes.add(number).to(kGpu), 5).cpu();
    } catch (const c10::Error& e) {
      return e.what_without_backtrace();
    }
    return "";
  };
  EXPECT_NE(said(1).find("Class values must be smaller than num_classes. Got 5 of 5"), std::string::npos) << said(1);
  EXPECT_NE(said(-1).find("Class values must be non-negative."), std::string::npos) << said(-1);
}

TEST(SoftwareVectors, DropoutMultipliesWhereItDraws) {
  for (const torch::Dtype t : {torch::kFloat, torch::kDouble, torch::kHalf, torch::kBFloat16})
    for (const int64_t n : {6, 64, 1000}) {
      const Tensor x = wholes({n}, t, 5).add(1).to(kGpu).requires_grad_(), ones = torch::ones_like(x);
      torch::manual_seed(3);
      const Tensor y = torch::dropout(x, 0.3, true);
      torch::manual_seed(3);
      const Tensor mask = torch::dropout(ones.detach(), 0.3, true);
      EXPECT_TRUE(torch::equal(y.cpu(), (x.detach() * mask).cpu())) << n;
      y.backward(ones);
      EXPECT_TRUE(torch::equal(x.grad().cpu(), mask.cpu())) << n;
    }
}

}  // namespace
