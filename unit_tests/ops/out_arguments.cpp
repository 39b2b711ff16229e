// Functions that are given the tensor of their result.
#include <gtest/gtest.h>
#include <halfbridge/engine.h>

#include <functional>
#include <utility>
#include <vector>

namespace {

using hb::Tensor;

std::vector<float> values(const Tensor& t) {
  const Tensor dense = t.to(hb::kFloat).contiguous();
  return {dense.data_ptr<float>(), dense.data_ptr<float>() + dense.numel()};
}
Tensor counted(int64_t n) { return hb::arange(n, hb::kFloat); }

TEST(OutArguments, HoldTheResultWhereTheyLie) {
  const Tensor column = counted(40).reshape({40, 1}), row = counted(33);
  Tensor wide = hb::zeros({40, 35}, hb::kFloat), out = wide.narrow(1, 1, 33);
  const void* const memory = out.data_ptr();
  const auto version = out._version();
  hb::mul_out(out, column, row);
  EXPECT_EQ(out.data_ptr(), memory);
  EXPECT_EQ(out._version(), version + 1);
  EXPECT_EQ(values(out), values(column * row));
  EXPECT_EQ(wide.select(1, 0).ne(0).sum().item<int64_t>() + wide.select(1, 34).ne(0).sum().item<int64_t>(), 0);
  hb::exp_out(out, column.expand({40, 33}) * -0.1);
  EXPECT_EQ(out.data_ptr(), memory);
  EXPECT_EQ(values(out), values((column * -0.1).exp().expand({40, 33})));
}

TEST(OutArguments, MayBeAnOperandOrAPieceOfIt) {
  Tensor x = counted(70);
  hb::sqrt_out(x, x);
  EXPECT_EQ(values(x), values(counted(70).sqrt()));
  Tensor y = counted(70), behind = y.narrow(0, 1, 69);
  hb::neg_out(behind, y.narrow(0, 0, 69));  // each element is read where another is written
  EXPECT_EQ(values(behind), values(-counted(69)));
  Tensor z = counted(70), next = z.narrow(0, 1, 69);
  hb::mul_out(next, z.narrow(0, 0, 69), counted(69));
  EXPECT_EQ(values(next), values(counted(69).square()));
}

TEST(OutArguments, HaveTheResultsShapeAndDtype) {
  Tensor other = hb::empty({0}, hb::kFloat);
  hb::exp_out(other, counted(5));
  EXPECT_EQ(other.sizes().vec(), std::vector<int64_t>{5});
  Tensor wide = hb::empty({5}, hb::kDouble);
  hb::exp_out(wide, counted(5));
  EXPECT_EQ(values(wide), values(counted(5).exp()));
  Tensor whole = hb::empty({5}, hb::kLong);
  EXPECT_THROW(hb::exp_out(whole, counted(5)), hb::Error);
  Tensor out = hb::empty({5}, hb::kFloat);
  EXPECT_THROW(hb::mul_out(out, counted(5), counted(4)), hb::Error);
}

// Of functions that compute a new tensor first, which may give its memory to `out`.
using Into = std::function<void(Tensor&)>;
const Tensor kSquare = counted(16).reshape({4, 4});
const std::vector<std::pair<const char*, Into>> kComputedAnew{
    {"mm", [](Tensor& out) { hb::mm_out(out, kSquare, kSquare); }},
    {"matmul", [](Tensor& out) { hb::matmul_out(out, kSquare, kSquare.t()); }},
    {"cumsum", [](Tensor& out) { hb::cumsum_out(out, kSquare, 1); }},
    {"cat",
     [](Tensor& out) {
       hb::cat_out(out, {kSquare.narrow(0, 0, 1), kSquare.narrow(0, 1, 3)}, 0);
     }},
    {"clamp", [](Tensor& out) { hb::clamp_out(out, kSquare, 3, 9); }}};

TEST(OutArguments, KeepTheirMemoryWhereSomebodyKnowsIt) {
  for (const auto& [name, into] : kComputedAnew) {
    Tensor fresh, addressed = hb::zeros({4, 4}, hb::kFloat), viewed = hb::zeros({4, 4}, hb::kFloat),
                  turned = hb::zeros({4, 4}, hb::kFloat).t(), stored = hb::zeros({4, 4}, hb::kFloat);
    into(fresh);
    const void* const memory = addressed.data_ptr();
    into(addressed);
    EXPECT_EQ(addressed.data_ptr(), memory) << name;
    EXPECT_EQ(values(addressed), values(fresh)) << name;
    const Tensor row = viewed.select(0, 2);
    const auto version = viewed._version();
    into(viewed);
    EXPECT_EQ(values(row), values(fresh.select(0, 2))) << name;
    EXPECT_EQ(viewed._version(), version + 1) << name;
    into(turned);
    EXPECT_EQ(values(turned), values(fresh)) << name;
    EXPECT_EQ(turned.strides().vec(), (std::vector<int64_t>{1, 4})) << name;
    const hb::Storage held = stored.storage();
    into(stored);
    EXPECT_TRUE(held.is_alias_of(stored.storage())) << name;
    EXPECT_EQ(values(stored), values(fresh)) << name;
  }
}

TEST(OutArguments, AreSeenToChangeByWhatKeptThem) {
  for (const auto& [name, into] : kComputedAnew) {
    Tensor w = hb::ones({4, 4}, hb::kFloat).set_requires_grad(true), out = hb::ones({4, 4}, hb::kFloat);
    const Tensor sum = (w * out).sum();
    into(out);
    EXPECT_THROW(sum.backward(), hb::Error) << name;
  }
}

TEST(OutArguments, ShareNothingWithOperands) {
  const Tensor x = counted(6);
  Tensor out = hb::zeros({6}, hb::kFloat);
  hb::cat_out(out, {x}, 0);
  out.fill_(7);
  EXPECT_EQ(values(x), values(counted(6)));
  hb::cat_out(out, {out.narrow(0, 3, 3), x.narrow(0, 0, 3)}, 0);  // a part of it is read
  EXPECT_EQ(values(out), (std::vector<float>{7, 7, 7, 0, 1, 2}));
}

TEST(OutArguments, TakePartInNoGraph) {
  Tensor x = counted(5).set_requires_grad(true), out = hb::empty({5}, hb::kFloat);
  EXPECT_THROW(hb::exp_out(out, x), hb::Error);
  EXPECT_THROW(hb::mul_out(out, x, x), hb::Error);
  const hb::NoGradGuard no_grad;
  hb::exp_out(out, x);
  EXPECT_FALSE(out.requires_grad());
}

}  // namespace
