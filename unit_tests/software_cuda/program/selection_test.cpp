// What is selected from lines, sorted, searched for and picked by indices, beside the CPU: equal values, NaN, zeros of
// both signs, lines that a block or several blocks look at.
#include "software_cuda/program/beside_cpu.h"

namespace {

const std::vector<torch::Dtype> kOrdered{torch::kFloat, torch::kDouble, torch::kHalf, torch::kBFloat16,
                                         torch::kByte,  torch::kShort,  torch::kLong};

void expect_equal(const std::string& name, const Tensor& got, const Tensor& expected) {
  ASSERT_EQ(got.sizes(), expected.sizes()) << name;
  const Tensor a = got.cpu().to(torch::kDouble), b = expected.to(torch::kDouble);
  EXPECT_TRUE(torch::isclose(a, b, 0, 0, true).all().item<bool>()) << name;
}
void expect_both(const std::string& name, const std::tuple<Tensor, Tensor>& got,
                 const std::tuple<Tensor, Tensor>& expected) {
  expect_equal(name, std::get<0>(got), std::get<0>(expected));
  expect_equal(name + "'s places", std::get<1>(got), std::get<1>(expected));
}
/// Some of many equal values, or different ones.
Tensor unsorted(torch::IntArrayRef sizes, torch::Dtype t, bool equal) {
  const Tensor x = values(sizes, torch::kDouble);
  return torch::isFloatingType(t) && !equal ? x.to(t) : x.mul(3).abs().round().to(torch::kLong).to(t);
}
std::string named(const char* what, const Tensor& x, int64_t dim) {
  return std::string(what) + " of " + toString(x.scalar_type()) + " " + std::to_string(x.size(0)) + " x " +
         std::to_string(x.size(1)) + " along " + std::to_string(dim);
}

void selected(const Tensor& x, int64_t dim) {
  const Tensor y = x.to(kGpu);
  const int64_t n = x.size(dim);
  for (const bool largest : {false, true}) {
    const auto [sorted, places] = x.sort(true, dim, largest);
    for (const int64_t k : {int64_t{1}, int64_t{2}, n / 8, n / 4})
      expect_both(named("topk", x, dim), y.topk(k, dim, largest), {sorted.narrow(dim, 0, k), places.narrow(dim, 0, k)});
    if (largest) continue;
    for (const int64_t k : {int64_t{1}, n / 2, n})
      expect_both(named("kthvalue", x, dim), y.kthvalue(k, dim),
                  {sorted.select(dim, k - 1), places.select(dim, k - 1)});
  }
  expect_both(named("median", x, dim), y.median(dim), x.median(dim));
}

TEST(SoftwareSelection, PlacesOfAnOrder) {
  for (const int64_t n : {65, 200, 1025, 4097}) {
    for (const torch::Dtype t : kOrdered)
      selected(unsorted({3, n}, t, false), 1), selected(unsorted({3, n}, t, true), 1);
    selected(unsorted({n, 3}, torch::kFloat, true), 0);
    selected(unsorted({n, 5}, torch::kLong, true), 0);
  }
  for (const torch::Dtype t : kOrdered) selected(unsorted({2, 40000}, t, t == torch::kFloat), 1);
  selected(unsorted({33000, 2}, torch::kDouble, false), 0);
  selected(torch::zeros({2, 20000}), 1);
  selected(values({1, 20000}) * 1e-42, 1);  // denormal numbers
}

TEST(SoftwareSelection, MediansOfNumbersAndNans) {
  for (const torch::Dtype t : kFloats) {
    for (const int64_t n : {1, 2, 7, 300, 5000, 40001}) {
      Tensor x = unsorted({3, n}, t, t == torch::kHalf);
      x[1].slice(0, n / 2, n / 2 + 1).fill_(NAN), x[2].fill_(NAN);
      if (n > 7) x[0][3] = INFINITY, x[0][5] = -INFINITY, x[1].slice(0, 3, 6).fill_(NAN), x[1][9] = INFINITY;
      const Tensor y = x.to(kGpu);
      expect_both(named("median", x, 1), y.median(1), x.median(1));
      expect_both(named("nanmedian", x, 1), y.nanmedian(1), x.nanmedian(1));
      expect_both(named("nanmedian", x, 0), y.nanmedian(0, true), x.nanmedian(0, true));
      for (const int64_t row : {0, 1, 2}) {
        expect_equal(named("whole median", x, row), y[row].median(), x[row].median());
        expect_equal(named("whole nanmedian", x, row), y[row].nanmedian(), x[row].nanmedian());
      }
    }
  }
  expect_same("gradients", [](auto& in) { return std::get<0>(in[0].median(1)) + in[0].nanmedian(); },
              {values({5, 90})});
  expect_same("of one", [](auto& in) { return in[0].median() + std::get<0>(in[0].median(0)); }, {values({})});
}

TEST(SoftwareSelection, RowsAndValuesOnce) {
  for (const torch::Dtype t : kOrdered) {
    Tensor x = unsorted({60, 5}, t, true);
    if (x.is_floating_point()) x[7][1] = NAN, x[40][3] = NAN, x[3][0] = -0.0;
    for (const int64_t dim : {0, 1}) {
      const auto [rows, inverse, counts] = torch::unique_dim(x, dim);
      const auto [rows_there, inverse_there, counts_there] = torch::unique_dim(x.to(kGpu), dim);
      expect_equal(named("unique_dim", x, dim), rows_there, rows);
      expect_equal(named("unique_dim's places", x, dim), inverse_there, inverse);
      expect_equal(named("unique_dim's counts", x, dim), counts_there, counts);
    }
    expect_both(named("mode", x, 0), x.to(kGpu).mode(0), x.mode(0));
    const Tensor longer = unsorted({3, 700}, t, true);
    for (const int64_t dim : {0, 1})
      expect_both(named("mode", longer, dim), longer.to(kGpu).mode(dim), longer.mode(dim));
    for (const int64_t n : {0, 1, 900, 9000}) {
      Tensor all = unsorted({n}, t, n > 1000);
      if (n > 1 && all.is_floating_point()) all[5] = NAN, all[77] = NAN, all[8] = -INFINITY;
      const auto [once, none, counts] = torch::_unique2(all, true, false, true);
      const auto [once_there, none_there, counts_there] = torch::_unique2(all.to(kGpu), true, false, true);
      expect_equal("unique", once_there, once);
      expect_equal("unique's counts", counts_there, counts);
    }
  }
}

TEST(SoftwareSelection, Search) {
  Tensor x = values({40, 30}).mul(3);
  x[2][4] = NAN, x[9][9] = INFINITY;
  for (const int64_t n : {0, 1, 2, 16, 255, 1000}) {
    const Tensor edges = std::get<0>(values({n}).mul(2).sort());
    for (const bool right : {false, true})
      for (const bool narrow : {false, true})
        expect_equal("bucketize", torch::bucketize(x.to(kGpu), edges.to(kGpu), narrow, right),
                     torch::bucketize(x, edges, narrow, right));
  }
  const Tensor lines = std::get<0>(values({40, 9}).sort(1));
  expect_equal("searchsorted", torch::searchsorted(lines.to(kGpu), x.to(kGpu)), torch::searchsorted(lines, x));
}

TEST(SoftwareSelection, PickedByIndices) {
  const Tensor at = torch::arange(60).mul(7).remainder(9).sub(4).view({12, 5});
  for (const torch::Dtype t : {torch::kFloat, torch::kHalf, torch::kLong, torch::kBool, torch::kComplexDouble}) {
    const Tensor x = values({9, 8, 6}, torch::kFloat).to(t).detach(), y = x.to(kGpu), there = at.to(kGpu);
    const auto same = [&](const char* name, const Tensor& got, const Tensor& expected) {
      EXPECT_TRUE(got.cpu().equal(expected)) << name << " of " << t;
    };
    same("take", y.take(there), x.take(at));
    same("index", y.index({there}), x.index({at}));
    same("index of two", y.index({there, there}), x.index({at, at}));
    same("index of three", y.index({there, there, there}), x.index({at, at, at}));
    same("index of two apart", y.index({there, torch::indexing::Slice(), there}),
         x.index({at, torch::indexing::Slice(), at}));
    same("index of columns", y.index({torch::indexing::Slice(), there}), x.index({torch::indexing::Slice(), at}));
    same("index of different shapes", y.index({there, there[0]}), x.index({at, at[0]}));
  }
  const Tensor y = values({9, 8}).to(kGpu);
  const auto expect_refused = [](const char* said, const std::function<Tensor()>& f) {
    try {
      f().cpu();
      ADD_FAILURE() << "no error: " << said;
    } catch (const c10::Error& e) {
      EXPECT_NE(std::string(e.what()).find(said), std::string::npos) << e.what();
    }
  };
  const Tensor bad = torch::tensor({1, 8, 2}).to(kGpu);
  expect_refused("index 8 is out of bounds for dimension 1 with size 8", [&] { return y.index({bad, bad}); });
  expect_refused("tried to access index 72 on a tensor of 72 elements", [&] { return y.take(bad * 9); });
}

TEST(SoftwareSelection, ElementsOfManyColumns) {  // which are taken in strips
  const Tensor at = torch::arange(4 * 640).mul(2741).remainder(8200).view({4, 640});
  const auto pick = [](auto& in) { return in[0].gather(0, in[1]); };
  const auto add = [](auto& in) { return in[0].detach().scatter_add(0, in[1], in[2]).index_select(0, in[1][2]); };
  const Tensor x = values({8200, 640}, torch::kDouble);
  expect_same("gather", [&](auto& in) { return pick(in).detach(); }, {x, at});
  expect_same("scatter_add", add, {x, at, values({4, 640}, torch::kDouble, 1)});
  const Tensor runs = torch::arange(3 * 500).div(70, "floor").remainder(11).view({3, 500});  // whole warps to a place
  for (const torch::Dtype t : {torch::kFloat, torch::kDouble, torch::kLong, torch::kComplexDouble})
    expect_same("added together", [](auto& in) { return in[0].scatter_add(1, in[1], in[2]).abs(); },
                {values({3, 500}).mul(5).to(t), runs, values({3, 500}, torch::kFloat, 1).mul(5).to(t)});
}

TEST(SoftwareSelection, JoinedAndTurnedRows) {
  for (const torch::Dtype t : {torch::kFloat, torch::kHalf, torch::kBool, torch::kComplexDouble}) {
    const Tensor a = values({40, 16}).to(t), b = values({40, 7}, torch::kFloat, 1).to(t);
    const std::vector<Tensor> many(70, b), many_there(70, b.to(kGpu));
    EXPECT_TRUE(torch::cat({a.to(kGpu), b.to(kGpu)}, 1).cpu().equal(torch::cat({a, b}, 1))) << t;
    EXPECT_TRUE(torch::cat({a.to(kGpu), a.to(kGpu)}, 1).cpu().equal(torch::cat({a, a}, 1))) << t;
    EXPECT_TRUE(torch::cat(many_there, 1).cpu().equal(torch::cat(many, 1))) << t;
    EXPECT_TRUE(torch::stack({a.to(kGpu), a.to(kGpu) * 2}, 2).cpu().equal(torch::stack({a, a * 2}, 2))) << t;
    EXPECT_TRUE(torch::stack(many_there, 1).cpu().equal(torch::stack(many, 1))) << t;
    for (const int64_t by : {3, -4, 23}) EXPECT_TRUE(a.to(kGpu).roll(by, 1).cpu().equal(a.roll(by, 1))) << t;
  }
}

}  // namespace
