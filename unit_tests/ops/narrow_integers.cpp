// Integers of a byte and of 32 bits are computed as they are, where that gives what int64 would: beside other operands,
// too, that are numbers, rows, columns or lie apart.
#include <gtest/gtest.h>
#include <halfbridge/engine.h>

#include <functional>
#include <string>

namespace {

using hb::Tensor;
using Function = std::function<Tensor(const Tensor&, const Tensor&)>;

struct Row {
  std::string name;
  Function compute;
  bool truth = false, of_bool = true;
};
#define HB_ROW(name, ...) {#name, [](const Tensor& a, const Tensor& b) { return hb::name(a, b); }, __VA_ARGS__},
const std::vector<Row> kRows = {
    HB_ROW(add) HB_ROW(mul) HB_ROW(sub, false, false) HB_ROW(eq, true) HB_ROW(ne, true) HB_ROW(logical_and, true)
        HB_ROW(logical_or, true) HB_ROW(logical_xor, true) HB_ROW(bitwise_and) HB_ROW(bitwise_or) HB_ROW(bitwise_xor)
            HB_ROW(bitwise_left_shift, false, false){"neg", [](const Tensor& a, const Tensor&) { return hb::neg(a); },
                                                     false, false},
    {"square", [](const Tensor& a, const Tensor&) { return hb::square(a); }, false, false},
    {"logical_not", [](const Tensor& a, const Tensor&) { return hb::logical_not(a); }, true},
    {"where", [](const Tensor& a, const Tensor& b) { return hb::where(a > b, a, b); }},
};

Tensor values(hb::IntArrayRef sizes, hb::ScalarType t) {
  return hb::randint(t == hb::kBool ? 2 : 5'000'000'000, sizes, hb::kLong)
      .sub(t == hb::kBool ? 0 : 2'500'000'000)
      .to(t);
}

void check(const Row& row, const Tensor& a, const Tensor& b, const char* form) {
  const Tensor wide = row.compute(a.to(hb::kLong), b.to(hb::kLong)), narrow = row.compute(a, b);
  EXPECT_EQ(narrow.scalar_type(), row.truth ? hb::kBool : a.scalar_type()) << row.name;
  EXPECT_TRUE(hb::equal(narrow, wide.to(narrow.scalar_type())))
      << row.name << " of " << a.scalar_type() << ", " << form;
}

TEST(NarrowIntegers, AreComputedAsInt64Would) {
  hb::manual_seed(7);
  for (const auto t : {hb::kByte, hb::kChar, hb::kInt, hb::kBool}) {
    const Tensor a = values({39, 70}, t), b = values({39, 70}, t);
    for (const Row& row : kRows) {
      if (t == hb::kBool && !row.of_bool) continue;
      // Integers of a byte shift by less than their width.
      const bool shift = row.name == "bitwise_left_shift";
      const Tensor by = shift ? b.bitwise_and(7) : b;
      check(row, a, by, "whole");
      check(row, a, by.narrow(0, 3, 1), "a row");
      check(row, a, by.narrow(1, 3, 1), "a column");
      check(row, by.narrow(0, 3, 1), shift ? by : a, "a row first");
      check(row, a, by[2][5], "one element");
      check(row, a.slice(1, 1, 70, 3), by.slice(1, 0, 69, 3), "apart");
      check(row, a.t(), by.t().contiguous(), "transposed");
    }
  }
}

TEST(NarrowIntegers, BesideNumbers) {
  hb::manual_seed(7);
  for (const auto t : {hb::kByte, hb::kChar, hb::kInt}) {
    const Tensor a = values({300}, t), wide = a.to(hb::kLong);
    EXPECT_TRUE(hb::equal(a + 77, (wide + 77).to(t))) << t;
    EXPECT_TRUE(hb::equal(100 - a, (100 - wide).to(t))) << t;
    EXPECT_TRUE(hb::equal(a * 3, (wide * 3).to(t))) << t;
    EXPECT_TRUE(hb::equal(a.bitwise_and(6), wide.bitwise_and(6).to(t))) << t;
    EXPECT_TRUE(hb::equal(a == a[5].item<int64_t>(), wide == wide[5].item<int64_t>())) << t;
    EXPECT_TRUE(hb::equal(a == 1 + (int64_t{1} << 32), wide == 1)) << t;  // it wraps around
  }
  const Tensor half = hb::zeros({40}, hb::kBool).logical_or(hb::arange(40) % 2 == 0);
  EXPECT_EQ((half + half).to(hb::kLong).sum().item<int64_t>(), 20);  // 1 + 1 is true
}

}  // namespace
