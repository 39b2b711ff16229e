// What is computed along lines, beside the CPU: running results, order, layer norm. Lines of odd lengths and at odd
// addresses, NaN, zeros of both signs, equal values.
#include "software_cuda/program/beside_cpu.h"

#include <limits>

namespace {

const std::vector<torch::Dtype> kIntegers{torch::kByte, torch::kChar, torch::kShort, torch::kInt, torch::kLong};

/// Rows on the device, the first of which begins `off` elements behind an aligned address.
Tensor at_offset(const Tensor& x, int64_t off) {
  const Tensor room = torch::zeros({x.numel() + off}, x.options().device(kGpu));
  const Tensor view = room.narrow(0, off, x.numel()).view(x.sizes());
  view.copy_(x);
  return view;
}
void expect_equal(const std::string& name, const Tensor& got, const Tensor& expected) {
  ASSERT_EQ(got.sizes(), expected.sizes()) << name;
  const Tensor a = got.cpu(), b = expected;
  const bool same = torch::isclose(a.to(torch::kDouble), b.to(torch::kDouble), 0, 0, true).all().item<bool>();
  EXPECT_TRUE(same) << name;
}
std::string named(const char* what, const Tensor& x, int64_t dim, int64_t off) {
  return std::string(what) + " of " + toString(x.scalar_type()) + " " + std::to_string(x.size(0)) + " x " +
         std::to_string(x.size(1)) + " along " + std::to_string(dim) + " at " + std::to_string(off);
}

void running_results(const Tensor& x, int64_t dim, int64_t off) {
  const Tensor y = at_offset(x, off);
  const double step = step_of(x.scalar_type());
  const auto name = [&](const char* what) { return named(what, x, dim, off); };
  const auto dtype = x.scalar_type();
  if (x.is_floating_point()) {
    expect_close(name("cumsum"), y.cumsum(dim), x.cumsum(dim), step);
    expect_close(name("cumprod"), y.cumprod(dim), x.cumprod(dim), step);
    expect_close(name("logcumsumexp"), y.logcumsumexp(dim), x.logcumsumexp(dim), step);
  } else {
    expect_equal(name("cumsum"), y.cumsum(dim, dtype), x.cumsum(dim, dtype));
    expect_equal(name("cumprod"), y.cumprod(dim, dtype), x.cumprod(dim, dtype));
  }
  const auto [most, most_at] = x.cummax(dim);
  const auto [least, least_at] = x.cummin(dim);
  expect_equal(name("cummax"), std::get<0>(y.cummax(dim)), most);
  expect_equal(name("cummax's places"), std::get<1>(y.cummax(dim)), most_at);
  expect_equal(name("cummin"), std::get<0>(y.cummin(dim)), least);
  expect_equal(name("cummin's places"), std::get<1>(y.cummin(dim)), least_at);
}

TEST(SoftwareLines, RunningResults) {
  for (const int64_t n : {1, 2, 5, 31, 64, 130, 519, 1000, 4096, 4099}) {
    for (const torch::Dtype t : kFloats)
      for (const int64_t off : {0, 1, 3}) running_results(values({3, n}, t), 1, off);
    for (const torch::Dtype t : kIntegers) running_results(values({3, n}).mul(3).to(torch::kLong).to(t), 1, n % 3);
    running_results(values({n, 37}), 0, 0);
    running_results(values({n, 3}, torch::kBFloat16), 0, 1);
  }
  Tensor x = values({4, 700});
  x[1][300] = std::nan(""), x[2][0] = std::nan(""), x[3][5] = std::numeric_limits<float>::infinity();
  x[3][600] = -std::numeric_limits<float>::infinity(), x[0][1] = -std::numeric_limits<float>::infinity();
  for (const int64_t dim : {0, 1}) running_results(x, dim, 0);
  const Tensor zeros = -torch::zeros({2, 40});
  EXPECT_TRUE(zeros.to(kGpu).cumsum(1).cpu().signbit().all().item<bool>());
}

TEST(SoftwareLines, LongLines) {
  for (const int64_t rows : {1, 2}) {
    const Tensor x = values({rows, 40'003});
    running_results(x, 1, 1);
    running_results(x.mul(1000).to(torch::kLong), 1, 0);
  }
}

/// What becomes of x of two dimensions, whole and along each of them.
void folds(const Tensor& x, int64_t off) {
  const auto place_of = [](const Tensor& v, int64_t dim, bool largest) {
    return dim < 0 ? largest ? v.argmax() : v.argmin() : largest ? v.argmax(dim) : v.argmin(dim);
  };
  const Tensor y = at_offset(x, off);
  const bool floating = x.is_floating_point(), truth = x.scalar_type() == torch::kBool;
  const double step = step_of(x.scalar_type()), inf = std::numeric_limits<double>::infinity();
  for (const int64_t dim : {-1, 0, 1}) {
    const std::vector<int64_t> dims = dim < 0 ? std::vector<int64_t>{0, 1} : std::vector<int64_t>{dim};
    const auto name = [&](const char* what) { return named(what, x, dim, off); };
    expect_equal(name("count"), y.count_nonzero(dims), x.count_nonzero(dims));
    expect_equal(name("any"), dim < 0 ? y.any() : y.any(dim), dim < 0 ? x.any() : x.any(dim));
    expect_equal(name("all"), dim < 0 ? y.all() : y.all(dim), dim < 0 ? x.all() : x.all(dim));
    expect_equal(name("amax"), y.amax(dims), x.amax(dims));
    if (!truth) {
      expect_equal(name("argmax"), place_of(y, dim, true), place_of(x, dim, true));
      expect_equal(name("argmin"), place_of(y, dim, false), place_of(x, dim, false));
    }
    if (!floating) {
      expect_equal(name("sum"), y.sum(dims), x.sum(dims));
      expect_equal(name("prod"), dim < 0 ? y.prod() : y.prod(dim), dim < 0 ? x.prod() : x.prod(dim));
      continue;
    }
    expect_close(name("nansum"), y.nansum(dims), x.nansum(dims), step);
    const auto prod = [dim](const Tensor& v) {  // of what neither overflows nor vanishes
      const Tensor near_one = v.tanh().mul(0.01).add(1);
      return dim < 0 ? near_one.prod() : near_one.prod(dim);
    };
    expect_close(name("prod"), prod(y), prod(x), step);
    for (const double p : {0.0, 1.0, 2.0, 3.0, 2.5, inf, -inf})
      expect_close(name("norm"), y.norm(p, dims), x.norm(p, dims), step);
  }
}

TEST(SoftwareLines, Folds) {
  for (const int64_t n : {1, 3, 40, 1031, 4096, 20'001}) {
    for (const torch::Dtype t : kFloats) {
      Tensor x = values({4, n}, t);
      x.select(0, 1).fill_(-std::numeric_limits<double>::infinity());
      folds(x, n % 3);
      x.select(0, 2).fill_(std::numeric_limits<double>::infinity());
      if (n >= 40) x[0].slice(0, 5, n, 11).fill_(std::nan("")), x[3].slice(0, 7, n, 3).fill_(2);
      folds(x, n % 2);
    }
    for (const torch::Dtype t : kIntegers) folds(values({4, n}).mul(3).to(torch::kLong).to(t), n % 3);
    folds(values({4, n}).gt(0), 1);
    folds(torch::full({4, n}, INT64_MIN), 0);
  }
}

TEST(SoftwareLines, FoldsOfManyRows) {
  for (const auto& [rows, columns] :
       std::vector<std::pair<int64_t, int64_t>>{{300, 40}, {2011, 16}, {700, 3}, {90, 520}}) {
    for (const torch::Dtype t : kFloats) {
      Tensor x = values({rows, columns}, t);
      x.select(1, 1).slice(0, 7, rows, 50).fill_(std::nan("")), x.select(1, 2).fill_(2);
      folds(x, 0);
      const Tensor y = values({rows, columns}, t, 3).add(100);
      expect_close(named("var", y, 0, 0), y.to(kGpu).var(0), y.var(0), 10 * step_of(t));
    }
    for (const torch::Dtype t : kIntegers) folds(values({rows, columns}).mul(3).to(torch::kLong).to(t), 0);
    folds(values({rows, columns}).gt(0), 0);
  }
}

void order(const Tensor& x, int64_t dim, int64_t off) {
  const Tensor y = at_offset(x, off);
  for (const bool descending : {false, true}) {
    const auto [sorted, places] = x.sort(true, dim, descending);
    const auto [sorted_there, places_there] = y.sort(true, dim, descending);
    const auto name = named(descending ? "descending order" : "order", x, dim, off);
    expect_equal(name, sorted_there, sorted);
    expect_equal(name + "'s places", places_there, places);
    if (x.is_floating_point()) expect_equal(name + "'s signs", sorted_there.cpu().signbit(), sorted.signbit());
  }
  if (x.size(dim) < 3 || x.scalar_type() == torch::kBool) return;
  expect_equal(named("topk", x, dim, off), std::get<0>(y.topk(3, dim)), std::get<0>(x.topk(3, dim)));
  expect_equal(named("kthvalue", x, dim, off), std::get<0>(y.kthvalue(2, dim)), std::get<0>(x.kthvalue(2, dim)));
}

TEST(SoftwareLines, Order) {
  for (const int64_t n : {0, 1, 2, 40, 256, 257, 1024, 1031, 4096, 4097, 8192, 8193}) {
    for (const torch::Dtype t : kFloats) {
      Tensor x = values({2, n}, t);
      if (n >= 40) {
        x[0].slice(0, 3, n, 7).zero_();
        x[0].slice(0, 4, n, 9).fill_(-0.0);
        x[1].slice(0, 5, n, 11).fill_(std::nan(""));
        x[1][7] = -std::nan(""), x[1][8] = -std::numeric_limits<double>::infinity();
        x[1][9] = std::numeric_limits<double>::infinity();
      }
      order(x, 1, n % 3);
    }
    for (const torch::Dtype t : kIntegers) order(values({2, n}).mul(60).to(torch::kLong).to(t), 1, 1);
    order(values({2, n}).gt(0), 1, 0);
  }
  for (const torch::Dtype t : {torch::kFloat, torch::kDouble, torch::kBFloat16}) order(values({300, 5}, t), 0, 0);
  const Tensor extremes = torch::tensor({{INT64_MAX, int64_t{0}, INT64_MIN, int64_t{-1}, int64_t{1}, INT64_MAX}});
  for (const torch::Dtype t : kIntegers) order(extremes.to(t), 1, 0);
}

void layer_norms(int64_t rows, int64_t n, torch::Dtype t, int64_t off) {
  const std::string name = "layer_norm of " + std::to_string(rows) + " x " + std::to_string(n) + " " + toString(t);
  for (const bool affine : {false, true}) {
    std::vector<Tensor> inputs{values({rows, n}, t)};
    if (affine) inputs.push_back(values({n}, t, 1)), inputs.push_back(values({n}, t, 2));
    expect_same(
        name,
        [=](auto& in) {
          const Tensor x = off == 0 ? in[0] : in[0].view(-1).slice(0, off, off + (rows - 1) * n).view({-1, n});
          return affine ? torch::layer_norm(x, {n}, in[1], in[2]) : torch::layer_norm(x, {n});
        },
        inputs);
    expect_same("rms_norm", [=](auto& in) { return torch::rms_norm(in[0], {n}, affine ? in[1] : Tensor()); },
                {inputs.begin(), inputs.begin() + (affine ? 2 : 1)});
  }
}

TEST(SoftwareLines, LayerNorms) {
  for (const torch::Dtype t : kFloats)
    for (const int64_t n : {8, 30, 200, 768, 1000, 2048, 4096, 4100, 8192, 8200})
      layer_norms(n > 1000 ? 3 : 11, n, t, n % 16 == 0 ? 1 : 0), layer_norms(n > 1000 ? 2 : 5, n, t, 0);
  for (const torch::Dtype t : kFloats)
    for (const int64_t n : {4, 16, 24}) layer_norms(70, n, t, 0);
}

TEST(SoftwareLines, RunsAndHistograms) {
  const auto runs = [](const std::string& name, const Tensor& x) {
    const Tensor y = at_offset(x, 1);
    const auto [values, inverse, counts] = torch::unique_consecutive(x, true, true);
    const auto [values_there, inverse_there, counts_there] = torch::unique_consecutive(y, true, true);
    expect_equal(name, values_there, values);
    expect_equal(name + " inverse", inverse_there, inverse);
    expect_equal(name + " counts", counts_there, counts);
    expect_equal(name + " alone", std::get<0>(torch::unique_consecutive(y)), values);
    const auto [all, all_inverse, all_counts] = torch::_unique2(x, true, true, true);
    const auto [all_there, all_inverse_there, all_counts_there] = torch::_unique2(y, true, true, true);
    expect_equal(name + " sorted", all_there, all);
    expect_equal(name + " sorted inverse", all_inverse_there, all_inverse);
    expect_equal(name + " sorted counts", all_counts_there, all_counts);
  };
  for (const int64_t n : {1, 2, 33, 1024, 1025, 20'000}) {
    for (const torch::Dtype t : kFloats) runs("unique", values({n}).mul(3).round().to(t));
    for (const torch::Dtype t : kIntegers) runs("unique", values({n}).mul(3).to(torch::kLong).to(t));
    Tensor x = values({n});
    x[n / 2] = std::nan(""), x[n - 1] = std::nan("");
    runs("unique of NaN", x);
    for (const torch::Dtype t : {torch::kFloat, torch::kDouble}) {
      const Tensor v = values({n}, t), w = v.to(kGpu);
      expect_equal("isin", torch::isin(w, w.slice(0, 0, 7)), torch::isin(v, v.slice(0, 0, 7)));
      for (const int64_t bins : {1, 50, 5000}) {
        expect_equal("histc", torch::histc(w, bins), torch::histc(v, bins));
        expect_equal("histc of a range", torch::histc(w, bins, -0.5, 1), torch::histc(v, bins, -0.5, 1));
        const Tensor places = v.mul(2).add(4).to(torch::kLong);
        expect_equal("bincount", places.to(kGpu).bincount({}, bins), places.bincount({}, bins));
        expect_close("weights", places.to(kGpu).bincount(w, bins), places.bincount(v, bins), 1e-4);
      }
    }
  }
}

TEST(SoftwareLines, GroupNorms) {
  const auto norms = [](const std::string& name, torch::IntArrayRef size, int64_t groups, torch::Dtype t) {
    const std::vector<Tensor> inputs{values(size, t), values({size[1]}, t, 1), values({size[1]}, t, 2)};
    expect_same(
        name, [=](auto& in) { return torch::group_norm(in[0], groups, in[1], in[2]); }, inputs);
    expect_same(name + " alone", [=](auto& in) { return torch::group_norm(in[0], groups); }, {inputs[0]});
  };
  for (const torch::Dtype t : kFloats) {
    norms("group_norm of planes", {2, 12, 8, 8}, 4, t);
    norms("group_norm of odd planes", {3, 10, 5, 7}, 2, t);
    norms("group_norm of large planes", {2, 2, 36, 40}, 2, t);
    norms("group_norm of few channels", {2, 6, 16, 16}, 2, t);
    norms("group_norm of numbers", {300, 70}, 2, t);
  }
}

TEST(SoftwareLines, Softmax) {
  for (const torch::Dtype t : kFloats) {
    for (const int64_t n : {1, 2, 3, 8, 10, 16, 24, 31, 64, 100, 256, 512, 1000, 2048, 4100}) {
      const Tensor x = values({n > 500 ? 3 : 77, n}, t);
      const std::string name = "softmax of " + std::to_string(n) + " " + toString(t);
      expect_same(name, [](auto& in) { return torch::softmax(in[0], 1); }, {x});
      expect_same(name + "'s logarithm", [](auto& in) { return torch::log_softmax(in[0], 1); }, {x});
    }
  }
}

}  // namespace
