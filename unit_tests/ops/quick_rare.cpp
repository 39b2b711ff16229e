// Quick ways of functions that few programs call: each gives what the plain way gives.
#include <gtest/gtest.h>
#include <halfbridge/engine.h>
#include <torch/torch.h>

#include <cmath>
#include <functional>
#include <string>

namespace {

using hb::Tensor;

void expect_close(const Tensor& a, const Tensor& b, double tolerance, const std::string& what) {
  ASSERT_EQ(a.sizes(), b.sizes()) << what;
  if (a.numel() == 0) return;
  const double error = (a.to(hb::kDouble) - b.to(hb::kDouble)).abs().max().item<double>();
  EXPECT_LE(error, tolerance * std::max(1., b.to(hb::kDouble).abs().max().item<double>())) << what;
}
std::vector<Tensor> gradients(const Tensor& result, const std::vector<Tensor>& of, const Tensor& g,
                              bool again = false) {
  return hb::autodiff::grad({result}, of, {g}, std::nullopt, again);
}

// Rows of few values that lie one behind the other are taken several at a time.
TEST(QuickRare, ShortRows) {
  for (const auto dtype : {hb::kFloat, hb::kDouble, hb::kLong})
    for (const int64_t width : {2, 3, 4, 8, 16})
      for (const int64_t height : {1, 2, 3, 31, 64, 301, 5000}) {
        const Tensor x = hb::randint(-9, 9, {3, height, width}, hb::kLong).to(dtype);
        const Tensor columns = x.transpose(1, 2).contiguous();
        const std::string what =
            hb::toString(dtype) + std::string(" ") + std::to_string(height) + " x " + std::to_string(width);
        EXPECT_TRUE(hb::equal(x.sum(1), columns.sum(2))) << what;
        EXPECT_TRUE(hb::equal(x.sum(1, true), columns.sum(2).unsqueeze(1))) << what;
        EXPECT_TRUE(hb::equal(x.amax({1}), columns.amax({2}))) << what;
        EXPECT_TRUE(hb::equal(x[0].sum(0), columns[0].sum(1))) << what;
        EXPECT_TRUE(hb::equal(x.slice(1, 0, height, 2).sum(1), columns.slice(2, 0, height, 2).sum(2))) << what;
      }
}
TEST(QuickRare, SumsOfComplexRows) {
  for (const int64_t n : {1, 5, 33, 3000}) {
    const Tensor re = hb::randn({7, n}), im = hb::randn({7, n}), sum = hb::complex(re, im).sum(1);
    expect_close(hb::real(sum), re.to(hb::kDouble).sum(1), 1e-5, "real");
    expect_close(hb::imag(sum), im.to(hb::kDouble).sum(1), 1e-5, "imaginary");
  }
  Tensor nan = hb::zeros({2, 100, 2});
  nan[1][40][1].fill_(NAN);
  EXPECT_TRUE(std::isnan(nan.amax({1})[1][1].item<double>()));
  EXPECT_EQ(nan.amax({1})[1][0].item<double>(), 0);
}

TEST(QuickRare, BlocksOnTheDiagonal) {
  const Tensor a = hb::randn({2, 3}, hb::kDouble).requires_grad_(), b = hb::randn({4}, hb::kFloat).requires_grad_(),
               c = hb::randn({}, hb::kDouble).requires_grad_(), d = hb::randn({1, 2}, hb::kDouble);
  const Tensor out = hb::block_diag({a, b, c, d, a});
  ASSERT_EQ(out.sizes(), hb::IntArrayRef({7, 13}));
  EXPECT_EQ(out.grad_fn()->name(), "BlockDiagBackward0");
  const Tensor g = hb::randn({7, 13}, hb::kDouble).requires_grad_();
  const auto grads = gradients(out, {a, b, c}, g, true);
  EXPECT_TRUE(hb::equal(grads[0], g.narrow(0, 0, 2).narrow(1, 0, 3) + g.narrow(0, 5, 2).narrow(1, 10, 3)));
  EXPECT_TRUE(hb::equal(grads[1], g[2].narrow(0, 3, 4).to(hb::kFloat)));
  EXPECT_TRUE(hb::equal(grads[2], g[3][7]));
  const Tensor second = gradients(grads[2], {g}, hb::ones({}, hb::kDouble))[0];
  EXPECT_EQ(second.sum().item<double>(), 1);
  EXPECT_EQ(second[3][7].item<double>(), 1);
  out.sum().backward();
  EXPECT_TRUE(a.grad().is_contiguous());
  EXPECT_TRUE(hb::equal(a.grad(), hb::full({2, 3}, 2., hb::kDouble)));
  EXPECT_FALSE(hb::block_diag({d, d}).requires_grad());
}

// What takes the place of a part: the gradient of the whole is zero there.
TEST(QuickRare, PartsOfAnother) {
  using Put = std::function<Tensor(const Tensor&, const Tensor&)>;
  using Part = std::function<Tensor(const Tensor&)>;
  const std::vector<std::tuple<std::string, Put, Part>> functions = {
      {"DiagonalScatterBackward0", [](const Tensor& x, const Tensor& s) { return hb::diagonal_scatter(x, s, 1); },
       [](const Tensor& x) { return x.diagonal(1); }},
      {"SelectScatterBackward0", [](const Tensor& x, const Tensor& s) { return hb::select_scatter(x, s, 0, 2); },
       [](const Tensor& x) { return x.select(0, 2); }},
      {"SliceScatterBackward0", [](const Tensor& x, const Tensor& s) { return hb::slice_scatter(x, s, 1, 1, 5, 2); },
       [](const Tensor& x) { return x.slice(1, 1, 5, 2); }},
  };
  for (const auto& [name, put, part] : functions) {
    const Tensor x = hb::randn({5, 6}, hb::kDouble).requires_grad_();
    const Tensor source = hb::randn(part(x).sizes(), hb::kFloat).requires_grad_();
    const Tensor out = put(x, source), g = hb::randn({5, 6}, hb::kDouble).requires_grad_();
    EXPECT_EQ(out.grad_fn()->name(), name);
    EXPECT_TRUE(hb::equal(part(out), source.to(hb::kDouble))) << name;
    const auto grads = gradients(out, {x, source}, g, true);
    Tensor expected = g.detach().clone();
    part(expected).zero_();
    EXPECT_TRUE(hb::equal(grads[0], expected)) << name;
    EXPECT_TRUE(hb::equal(grads[1], part(g).to(hb::kFloat))) << name;
    Tensor kept = hb::ones({5, 6}, hb::kDouble);
    part(kept).zero_();
    EXPECT_TRUE(hb::equal(gradients(grads[0], {g}, hb::ones({5, 6}, hb::kDouble), true)[0], kept)) << name;
    const Tensor whole = put(x.detach(), source);  // only one of them has a gradient
    EXPECT_TRUE(hb::equal(gradients(whole, {source}, g.detach())[0], part(g).to(hb::kFloat))) << name;
    EXPECT_FALSE(put(hb::zeros({5, 6}, hb::kLong), source).requires_grad()) << name;
  }
}

// The loss of several labels without pairs in memory, beside the pairs written out.
TEST(QuickRare, MarginsOfLabels) {
  for (const auto dtype : {hb::kFloat, hb::kDouble})
    for (const int64_t n : {1, 5, 16, 40}) {
      const Tensor x = hb::randn({3, n}, dtype).requires_grad_();
      Tensor t = hb::randint(0, n, {3, n}, hb::kLong);
      t[0][n / 2].fill_(-1);
      t[1].fill_(-1);
      Tensor expected = hb::zeros({3}, hb::kDouble);
      const Tensor wide = x.to(hb::kDouble);
      std::vector<Tensor> losses;
      for (int64_t row = 0; row < 3; ++row) {
        Tensor label = hb::zeros({n}, hb::kBool), sum = wide[row].sum() * 0;
        int64_t count = 0;
        for (; count < n && t[row][count].item<int64_t>() >= 0; ++count)
          label[t[row][count].item<int64_t>()].fill_(true);
        for (int64_t l = 0; l < count; ++l)
          sum = sum + hb::relu(1 - wide[row][t[row][l].item<int64_t>()] + wide[row]).masked_fill(label, 0).sum();
        losses.push_back(sum / static_cast<double>(n));
      }
      const Tensor plain = hb::stack(losses), quick = hb::multilabel_margin_loss(x, t, 0);
      const double tolerance = dtype == hb::kFloat ? 1e-5 : 1e-12;
      expect_close(quick, plain, tolerance, "loss");
      expect_close(hb::multilabel_margin_loss(x.detach(), t), plain.mean(), tolerance, "mean");
      expect_close(hb::multilabel_margin_loss(x.detach()[0], t[0]), plain[0], tolerance, "a row");
      const Tensor g = hb::randn({3}, dtype);
      const Tensor dx = gradients(plain, {x}, g.to(hb::kDouble), true)[0];
      expect_close(gradients(quick, {x}, g, true)[0], dx, tolerance, "composed gradient");
      expect_close(gradients(quick, {x}, g)[0], dx, tolerance, "gradient");
    }
  const Tensor nan = hb::full({1, 4}, NAN), first = hb::zeros({1, 4}, hb::kLong);
  EXPECT_TRUE(std::isnan(hb::multilabel_margin_loss(nan, first).item<double>()));
}
TEST(QuickRare, MarginsOfClasses) {
  for (const auto dtype : {hb::kFloat, hb::kDouble, hb::kBFloat16})
    for (const int64_t n : {1, 5, 40})
      for (const int p : {1, 2}) {
        const Tensor x = hb::randn({6, n}, dtype).requires_grad_(), t = hb::randint(0, n, {6}, hb::kLong);
        const Tensor weight = hb::rand({n}, dtype), wide = x.to(hb::kDouble);
        Tensor z = hb::relu(0.7 - wide.gather(1, t.unsqueeze(1)) + wide);
        if (p == 2) z = z * z;
        z = z * weight.to(hb::kDouble).index_select(0, t).unsqueeze(1);
        const Tensor own = hb::arange(n).unsqueeze(0).eq(t.unsqueeze(1));
        const Tensor plain = z.masked_fill(own, 0).sum(1) / static_cast<double>(n), g = hb::randn({6}, dtype);
        const Tensor quick = hb::multi_margin_loss(x, t, p, 0.7, weight, 0);
        const double tolerance = dtype == hb::kBFloat16 ? 3e-2 : dtype == hb::kFloat ? 1e-5 : 1e-12;
        expect_close(quick, plain, tolerance, "loss");
        expect_close(hb::multi_margin_loss(x.detach(), t, p, 0.7, weight), plain.mean(), tolerance, "mean");
        const Tensor dx = gradients(plain, {x}, g.to(hb::kDouble), true)[0];
        const Tensor again = gradients(quick, {x}, g, true)[0];
        expect_close(again, dx, tolerance, "composed gradient");
        if (p == 2 && n > 1)
          expect_close(gradients(again, {x}, x.detach(), true)[0], gradients(dx, {x}, x.detach(), true)[0], tolerance,
                       "second gradient");
        expect_close(gradients(quick, {x}, g)[0], dx, tolerance, "gradient");
      }
  const Tensor nan = hb::full({1, 4}, NAN), first = hb::zeros({1}, hb::kLong);
  EXPECT_TRUE(std::isnan(hb::multi_margin_loss(nan, first).item<double>()));
  // The weight is kept for the gradient, as it was.
  const Tensor x = hb::randn({2, 3}).requires_grad_(), t = hb::zeros({2}, hb::kLong);
  Tensor weight = hb::ones({3});
  const Tensor loss = hb::multi_margin_loss(x, t, 1, 1, weight);
  weight.mul_(2);
  EXPECT_THROW(loss.backward(), hb::Error);
}
TEST(QuickRare, MarginsOfRanks) {
  for (const auto dtype : {hb::kFloat, hb::kDouble, hb::kBFloat16}) {
    const Tensor a = hb::randn({7, 9}, dtype).requires_grad_(), b = hb::randn({7, 9}, dtype).requires_grad_();
    const Tensor t = hb::randn({7, 9}, dtype).sign(), row = t[0];
    for (const Tensor& target : {t, row, t.to(hb::kDouble), t.to(hb::kLong)}) {
      const Tensor plain = (-target * (a - b) + 0.3).clamp_min(0);
      const Tensor quick = hb::margin_ranking_loss(a, b, target, 0.3, 0);
      EXPECT_TRUE(hb::equal(quick, plain));
      EXPECT_TRUE(hb::equal(hb::margin_ranking_loss(a.detach(), b.detach(), target, 0.3, 0), plain));
      const Tensor g = hb::randn({7, 9}, plain.scalar_type());
      for (const Tensor& x : {a, b})
        EXPECT_TRUE(hb::equal(gradients(quick, {x}, g, true)[0], gradients(plain, {x}, g, true)[0]));
    }
  }
}
TEST(QuickRare, GradientsOfSpreads) {
  for (const auto dtype : {hb::kFloat, hb::kDouble})
    for (const bool keepdim : {false, true}) {
      const Tensor x = hb::randn({4, 6, 3}, dtype).requires_grad_();
      const auto [deviation, mean] = hb::std_mean(x, hb::IntArrayRef({1, 2}), hb::Scalar(1), keepdim);
      const Tensor centre = x.mean(hb::IntArrayRef({1, 2}), true), spread = x - centre;
      const Tensor plain = (spread * spread).sum(hb::IntArrayRef({1, 2}), keepdim).div(17).sqrt();
      const Tensor g = hb::randn(plain.sizes(), dtype);
      const Tensor expected = gradients(plain + 3 * x.mean(hb::IntArrayRef({1, 2}), keepdim), {x}, g, true)[0];
      const double tolerance = dtype == hb::kFloat ? 1e-5 : 1e-12;
      expect_close(gradients(deviation + 3 * mean, {x}, g, true)[0], expected, tolerance, "std_mean");
      const Tensor alone = hb::std(x, hb::IntArrayRef({1, 2}), hb::Scalar(1), keepdim);
      const Tensor first = gradients(alone, {x}, g, true)[0], wanted = gradients(plain, {x}, g, true)[0];
      expect_close(first, wanted, tolerance, "std");
      const Tensor again = hb::randn(x.sizes(), dtype);
      expect_close(gradients(first, {x}, again, true)[0], gradients(wanted, {x}, again, true)[0], 10 * tolerance,
                   "second");
    }
}
TEST(QuickRare, OuterProductsOfShortRows) {
  for (const auto dtype : {hb::kFloat, hb::kDouble, hb::kLong})
    for (const int64_t m : {1, 2, 3, 4, 5}) {
      const Tensor x = (hb::randn({6, m}) * 9).to(dtype), y = (hb::randn({6, 3}) * 9).to(dtype);
      const Tensor plain = x.unsqueeze(2) * y.unsqueeze(1);
      EXPECT_TRUE(hb::equal(hb::einsum("ni,nj->nij", {x, y}), plain));
      EXPECT_TRUE(hb::einsum("ni,nj->nij", {x, y}).is_contiguous());
      EXPECT_TRUE(hb::equal(hb::einsum("nj,ni->nij", {y, x}), plain));
      EXPECT_TRUE(hb::equal(hb::einsum("ni,nj->jni", {x, y}), plain.permute({2, 0, 1})));
      EXPECT_TRUE(hb::equal(hb::einsum("ni,mj->nmij", {x, y}), x.reshape({6, 1, m, 1}) * y.reshape({1, 6, 1, 3})));
    }
}
TEST(QuickRare, WeightsScaledToNorms) {
  for (const auto dtype : {hb::kFloat, hb::kDouble})
    for (const int64_t dim : {-1, 0, 1}) {
      Tensor v = hb::randn({4, 5}, dtype);
      const std::vector<int64_t> one[] = {{}, {4, 1}, {1, 5}};
      v.requires_grad_();
      const Tensor g = hb::randn(one[dim + 1], dtype).requires_grad_();
      const Tensor norm = (v * v).sum_to_size(g.sizes()).sqrt(), plain = v * (g / norm);
      const Tensor out = torch::_weight_norm(v, g, dim), grad = hb::randn({4, 5}, dtype);
      const double tolerance = dtype == hb::kFloat ? 1e-5 : 1e-12;
      expect_close(out, plain, tolerance, "forward");
      const auto again = gradients(out, {v, g}, grad, true), first = gradients(out, {v, g}, grad),
                 wanted = gradients(plain, {v, g}, grad, true);
      for (int i = 0; i < 2; ++i) {
        expect_close(first[i], wanted[i], tolerance, "gradient");
        expect_close(again[i], wanted[i], tolerance, "composed gradient");
      }
      expect_close(gradients(again[0], {v}, grad, true)[0], gradients(wanted[0], {v}, grad, true)[0], 10 * tolerance,
                   "second gradient");
    }
}
TEST(QuickRare, ComplexProducts) {
  const auto some = [](std::vector<int64_t> shape) {
    return hb::complex(hb::randn(shape, hb::kDouble), hb::randn(shape, hb::kDouble)).requires_grad_();
  };
  const auto far = [](const Tensor& x, const Tensor& y) {
    EXPECT_EQ(x.sizes(), y.sizes());
    return (x - y).abs().max().item<double>();
  };
  const std::vector<std::vector<int64_t>> shapes[] = {{{4, 7}, {7, 5}},       {{1, 1}, {1, 1}},
                                                      {{3, 4, 7}, {7, 5}},    {{7}, {7, 5}},
                                                      {{3, 4, 7}, {3, 7, 5}}, {{2, 1, 4, 7}, {3, 7, 5}}};
  for (const auto& shape : shapes) {
    const Tensor a = some(shape[0]), b = some(shape[1]), out = hb::matmul(a, b);
    const Tensor plain = a.dim() == 1 ? (a.unsqueeze(-1) * b).sum(-2) : (a.unsqueeze(-1) * b.unsqueeze(-3)).sum(-2);
    EXPECT_LE(far(out, plain), 1e-12);
    const Tensor across = hb::matmul(a.detach(), b.detach().transpose(-2, -1).contiguous().transpose(-2, -1));
    EXPECT_LE(far(across, plain), 1e-12);
    const Tensor g = some(std::vector<int64_t>(out.sizes().begin(), out.sizes().end())).detach();
    const auto quick = gradients(out, {a, b}, g, true), slow = gradients(plain, {a, b}, g, true);
    for (int i = 0; i < 2; ++i) EXPECT_LE(far(quick[i], slow[i]), 1e-12);
    const Tensor again = some(shape[0]).detach();
    EXPECT_LE(far(gradients(quick[0], {b}, again)[0], gradients(slow[0], {b}, again)[0]), 1e-12);
  }
}
TEST(QuickRare, ComplexMatrixTimesVector) {
  const auto some = [](std::vector<int64_t> shape) {
    return hb::complex(hb::randn(shape, hb::kDouble), hb::randn(shape, hb::kDouble)).requires_grad_();
  };
  for (const int64_t n : {1, 3, 40}) {
    const Tensor a = some({n, 7}), v = some({7}), plain = (a * v).sum(1), out = hb::mv(a, v), g = some({n}).detach();
    const auto far = [](const Tensor& x, const Tensor& y) { return (x - y).abs().max().item<double>(); };
    EXPECT_EQ(out.grad_fn()->name(), "MvBackward0");
    EXPECT_LE(far(out, plain), 1e-12);
    EXPECT_LE(far(hb::mv(a.detach().t().contiguous().t(), v.detach()), plain), 1e-12);
    const auto quick = gradients(out, {a, v}, g, true), slow = gradients(plain, {a, v}, g, true);
    for (int i = 0; i < 2; ++i) EXPECT_LE(far(quick[i], slow[i]), 1e-12);
  }
}

// Few columns are multiplied one by one, a block of rows after the other.
TEST(QuickRare, ProductsOfFewColumns) {
  hb::manual_seed(12);
  for (int64_t n : {2, 3, 4})
    for (int64_t m : {2, 37, 300})
      for (int64_t k : {129, 700, 5000}) {
        const Tensor a = hb::randn({m, k + 3}, hb::kDouble).narrow(1, 1, k), b = hb::randn({k, n}, hb::kDouble);
        const Tensor bias = hb::randn({n}, hb::kDouble), c = hb::randn({m, n}, hb::kDouble);
        std::vector<Tensor> columns;
        for (int64_t j = 0; j < n; ++j) columns.push_back((a * b.select(1, j)).sum(1));
        const Tensor wanted = hb::stack(columns, 1);
        const auto off = [&](const Tensor& x, const Tensor& y) { return (x - y).abs().max().item<double>(); };
        EXPECT_LT(off(a.mm(b), wanted), 1e-11);
        EXPECT_LT(off(a.mm(b.t().contiguous().t()), wanted), 1e-11);
        EXPECT_LT(off(hb::linear(a, b.t(), bias), wanted + bias), 1e-11);
        EXPECT_LT(off(hb::addmm(c, a, b, 0.5, 2), wanted * 2 + c * 0.5), 1e-11);
      }
}

}  // namespace
