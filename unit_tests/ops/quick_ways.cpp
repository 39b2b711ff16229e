// Kernels have quick ways for some operands: each gives what the plain way gives.
#include <gtest/gtest.h>
#include <halfbridge/engine.h>

#include <cmath>
#include <cstdint>
#include <functional>
#include <string>

namespace {

using hb::Tensor;

hb::Tensor normal(std::vector<int64_t> shape, hb::ScalarType dtype) {
  return dtype == hb::kLong ? hb::randint(-9, 9, shape, hb::kLong) : hb::randn(shape, hb::kDouble).to(dtype);
}

void expect_same(const Tensor& a, const Tensor& b, const std::string& what) {
  ASSERT_EQ(a.scalar_type(), b.scalar_type()) << what;
  EXPECT_TRUE(hb::equal(hb::nan_to_num(a, 77), hb::nan_to_num(b, 77))) << what;
}
void expect_close(const Tensor& a, const Tensor& b, double tolerance, const std::string& what) {
  ASSERT_EQ(a.sizes(), b.sizes()) << what;
  const double error = (a.to(hb::kDouble) - b.to(hb::kDouble)).abs().max().item<double>();
  EXPECT_LE(error, tolerance * std::max(1., b.to(hb::kDouble).abs().max().item<double>())) << what;
}

// A row, a column or a number beside a matrix is read where it lies; expanded in memory, it is an operand as others.
TEST(QuickWays, SharedOperands) {
  using Binary = std::function<Tensor(const Tensor&, const Tensor&)>;
  const std::vector<std::pair<const char*, Binary>> functions = {
      {"mul", [](const Tensor& a, const Tensor& b) { return a * b; }},
      {"sub", [](const Tensor& a, const Tensor& b) { return a - b; }},
      {"maximum", [](const Tensor& a, const Tensor& b) { return hb::maximum(a, b); }},
      {"lt", [](const Tensor& a, const Tensor& b) { return a < b; }},
      {"where", [](const Tensor& a, const Tensor& b) { return hb::where(a > 0, a, b); }},
      {"addcmul", [](const Tensor& a, const Tensor& b) { return hb::addcmul(a, b, b, 0.5); }},
      {"addcmul's first factor", [](const Tensor& a, const Tensor& b) { return hb::addcmul(a, b, a, 0.3); }},
      {"addcmul's second factor", [](const Tensor& a, const Tensor& b) { return hb::addcmul(a, a, b, 0.3); }},
      {"clamp", [](const Tensor& a, const Tensor& b) { return hb::clamp(a, b, b + 1); }},
  };
  for (auto dtype : {hb::kFloat, hb::kDouble, hb::kBFloat16, hb::kHalf, hb::kLong})
    for (int64_t columns : {1, 7, 32, 70, 1030}) {
      const Tensor a = normal({5, columns}, dtype);
      const std::vector<std::vector<int64_t>> shapes = {{5, 1}, {columns}, {1}, {}, {3, 1, 1}, {3, 5, 1}};
      for (const auto& shape : shapes) {
        const Tensor b = normal(shape, dtype);
        const auto both = hb::broadcast_tensors({a, b});
        const Tensor wide_a = both[0].contiguous(), wide_b = both[1].contiguous();
        for (const auto& [name, f] : functions) {
          const bool is_addcmul = std::string(name).rfind("addcmul", 0) == 0;
          if (dtype == hb::kLong && is_addcmul) continue;
          const std::string what = std::string(name) + " " + hb::toString(dtype) + " of " + std::to_string(columns);
          expect_same(f(a, b), f(wide_a, wide_b), what);
          if (!is_addcmul && std::string(name) != "where" && std::string(name) != "clamp")
            expect_same(f(b, a), f(wide_b, wide_a), what + ", exchanged");
        }
      }
    }
}

// Half types by way of float, rounded once; signs by their bits.
TEST(QuickWays, HalvesInOnePass) {
  const double inf = std::numeric_limits<double>::infinity();
  const Tensor ends = hb::tensor({0.0, -0.0, inf, -inf, std::nan(""), 1e-40, -1e-40, 3e38, 65504.0, 1.0, -1.0, 6.1e-5});
  using Unary = std::function<Tensor(const Tensor&)>;
  const std::vector<std::pair<const char*, Unary>> functions = {
      {"neg", [](const Tensor& x) { return -x; }},
      {"abs", [](const Tensor& x) { return x.abs(); }},
      {"square", [](const Tensor& x) { return hb::square(x); }},
      {"reciprocal", [](const Tensor& x) { return hb::reciprocal(x); }},
      {"clamp", [](const Tensor& x) { return hb::clamp(x, -1, 1); }},
      {"hardswish", [](const Tensor& x) { return hb::hardswish(x); }},
      {"sigmoid", [](const Tensor& x) { return hb::sigmoid(x); }},
      {"silu", [](const Tensor& x) { return hb::silu(x); }},
      {"gelu", [](const Tensor& x) { return hb::gelu(x); }},
      {"erf", [](const Tensor& x) { return hb::erf(x); }},
      {"copysign", [](const Tensor& x) { return hb::copysign(x, x.flip({0})); }},
  };
  for (auto dtype : {hb::kBFloat16, hb::kHalf}) {
    const Tensor x = hb::cat({ends, hb::randn({300}, hb::kDouble) * 4}).to(dtype);
    for (const auto& [name, f] : functions)
      expect_same(f(x), f(x.to(hb::kFloat)).to(dtype), std::string(name) + " " + hb::toString(dtype));
  }
}

TEST(QuickWays, BitsOfBooleans) {
  const Tensor a = hb::randn({100}) > 0, b = hb::randn({100}) > 0, i = a.to(hb::kLong), j = b.to(hb::kLong);
  expect_same(a & b, (i & j).to(hb::kBool), "and");
  expect_same(a | b, (i | j).to(hb::kBool), "or");
  expect_same(a ^ b, (i ^ j).to(hb::kBool), "xor");
  const Tensor c = hb::randint(-128, 128, {100}, hb::kLong), d = hb::randint(-128, 128, {100}, hb::kLong);
  expect_same(c.to(hb::kChar) & d.to(hb::kChar), (c & d).to(hb::kChar), "bytes");
}

TEST(QuickWays, ProductsOfIntegers) {
  for (auto dtype : {hb::kLong, hb::kInt, hb::kChar})
    for (int64_t m : {1, 3, 9})
      for (int64_t n : {1, 5, 8, 33, 70})
        for (int64_t k : {1, 4, 37}) {
          const Tensor a = hb::randint(-3, 4, {m, k}, hb::kLong), b = hb::randint(-3, 4, {k, n}, hb::kLong);
          const Tensor expected = hb::mm(a.to(hb::kDouble), b.to(hb::kDouble)).to(dtype);
          const std::string what = std::to_string(m) + " " + std::to_string(n) + " " + std::to_string(k);
          expect_same(hb::mm(a.to(dtype), b.to(dtype)), expected, what);
          expect_same(hb::mm(a.to(dtype), b.t().contiguous().t().to(dtype)), expected, what + ", transposed");
          expect_same(hb::mm(a.t().contiguous().t().to(dtype), b.to(dtype)), expected, what + ", columns");
        }
  const Tensor large = hb::full({20, 20}, int64_t{1} << 62, hb::kLong);
  expect_same(hb::mm(large, large), hb::zeros({20, 20}, hb::kLong), "wrapped");
}

// Integers that lie close together are counted, others and floats are compared.
TEST(QuickWays, OrderByCounting) {
  for (auto dtype : {hb::kLong, hb::kInt, hb::kByte})
    for (const std::vector<int64_t>& shape : {std::vector<int64_t>{200}, {300, 7}, {5, 130}}) {
      const Tensor x = hb::randint(0, 40, shape, hb::kLong).to(dtype), real = x.to(hb::kDouble);
      for (bool descending : {false, true}) {
        const auto [values, places] = x.sort(0, descending);
        const auto [expected, at] = real.sort(0, descending);
        expect_same(values, expected.to(dtype), "sort");
        expect_same(places, at, "places");
      }
      if (shape[0] >= 200)
        for (bool largest : {false, true}) {
          const auto [values, places] = x.topk(40, 0, largest);
          const auto [expected, at] = real.sort(std::optional<bool>(true), 0, largest);
          expect_same(values, expected.narrow(0, 0, 40).to(dtype), "topk");
          expect_same(places, at.narrow(0, 0, 40), "topk's places");
        }
      for (int64_t k : {1, 3, 5}) {
        const auto [value, place] = x.kthvalue(k, 0);
        const auto [expected, at] = real.kthvalue(k, 0);
        expect_same(value, expected.to(dtype), "kthvalue");
        expect_same(place, at, "its place");
      }
      const auto [most, last] = x.mode(0);
      const auto [expected, at] = real.mode(0);
      expect_same(most, expected.to(dtype), "mode");
      expect_same(last, at, "its last place");
    }
  const Tensor apart = hb::tensor(
      {std::numeric_limits<int64_t>::min(), int64_t{5}, std::numeric_limits<int64_t>::max(), int64_t{-5}, int64_t{5}});
  expect_same(std::get<1>(apart.sort(0)), hb::tensor({0, 3, 1, 4, 2}, hb::kLong), "far apart");
}

// Parts of rows, whose places threads share by bytes.
TEST(QuickWays, JoinedRows) {
  for (auto dtype : {hb::kByte, hb::kBFloat16, hb::kFloat, hb::kDouble, hb::kComplexDouble})
    for (const auto& [rows, widths] : std::vector<std::pair<int64_t, std::vector<int64_t>>>{
             {3, {50001, 7, 0, 20000}}, {300, {16, 40, 1}}, {70000, {8, 24}}, {5, {1, 1}}}) {
      std::vector<Tensor> parts;
      for (int64_t width : widths) parts.push_back(hb::randint(0, 200, {rows, width}, hb::kLong).to(dtype));
      const Tensor joined = hb::cat(parts, 1);
      int64_t at = 0;
      for (const Tensor& part : parts) {
        EXPECT_TRUE(hb::equal(joined.narrow(1, at, part.size(1)), part)) << rows << " " << part.size(1);
        at += part.size(1);
      }
      const Tensor stacked = hb::stack({parts[0], parts[0] + 1}, 1);
      EXPECT_TRUE(hb::equal(stacked.select(1, 0), parts[0]) && hb::equal(stacked.select(1, 1), parts[0] + 1)) << rows;
    }
  const auto last = [](const Tensor& x) { return x.contiguous(hb::MemoryFormat::ChannelsLast); };
  for (int64_t dim = 0; dim < 4; ++dim) {
    std::vector<int64_t> sizes = {3, 5, 9, 7};
    const Tensor a = hb::randn(sizes);
    sizes[dim] = 4;
    const Tensor b = hb::randn(sizes), joined = hb::cat({last(a), last(b)}, dim);
    EXPECT_TRUE(joined.is_contiguous(hb::MemoryFormat::ChannelsLast)) << dim;
    EXPECT_TRUE(hb::equal(joined, hb::cat({a, b}, dim)) && hb::equal(hb::cat({last(a), b}, dim), joined)) << dim;
  }
}

// In double each channel by itself, and windows of one element, have loops of their own; float goes by oneDNN.
TEST(QuickWays, ConvolutionsInDouble) {
  struct Case {
    std::vector<int64_t> x, w;
    int64_t stride, padding, groups;
  };
  for (const Case& c : {Case{{3, 6, 9, 8}, {6, 1, 3, 3}, 1, 1, 6}, Case{{2, 5, 7, 9}, {5, 1, 3, 2}, 2, 1, 5},
                        Case{{3, 6, 5, 4}, {8, 6, 1, 1}, 1, 0, 1}, Case{{3, 6, 5, 4}, {4, 3, 1, 1}, 1, 0, 2},
                        Case{{3, 6, 5, 4}, {4, 6, 1, 1}, 2, 0, 1}}) {
    std::vector<Tensor> grads[2];
    const Tensor x = hb::randn(c.x, hb::kDouble), w = hb::randn(c.w, hb::kDouble), b = hb::randn({c.w[0]}, hb::kDouble);
    for (int k = 0; k < 2; ++k) {
      const auto dtype = k ? hb::kFloat : hb::kDouble;
      const Tensor lx = x.to(dtype).detach().requires_grad_(), lw = w.to(dtype).detach().requires_grad_(),
                   lb = b.to(dtype).detach().requires_grad_();
      const Tensor y = hb::conv2d(lx, lw, lb, {c.stride, c.stride}, {c.padding, c.padding}, {1, 1}, c.groups);
      (y * y).sum().backward();
      grads[k] = {y.detach(), lx.grad(), lw.grad(), lb.grad()};
    }
    for (size_t i = 0; i < grads[0].size(); ++i)
      expect_close(grads[0][i], grads[1][i], 1e-5, "convolution, tensor " + std::to_string(i));
  }
}

TEST(QuickWays, GroupNorm) {
  for (auto dtype : {hb::kDouble, hb::kFloat, hb::kBFloat16})
    for (const std::vector<int64_t>& shape : {std::vector<int64_t>{3, 6}, {2, 6, 5}, {2, 12, 4, 9}}) {
      const int64_t c = shape[1];
      const auto leaf = [&](Tensor t) { return t.to(dtype).detach().requires_grad_(); };
      const Tensor x = leaf(hb::randn(shape, hb::kDouble)), w = leaf(hb::randn({c}, hb::kDouble)),
                   b = leaf(hb::randn({c}, hb::kDouble));
      const Tensor y = hb::group_norm(x, 3, w, b, 1e-5);
      const Tensor wide = x.detach().to(hb::kDouble).requires_grad_(), ww = w.detach().to(hb::kDouble).requires_grad_(),
                   wb = b.detach().to(hb::kDouble).requires_grad_();
      const Tensor rows = wide.view({shape[0], 3, -1});
      const Tensor normal = (rows - rows.mean({2}, true)) / (rows.var({2}, false, true) + 1e-5).sqrt();
      std::vector<int64_t> per_channel(shape.size(), 1);
      per_channel[1] = c;
      const Tensor expected = normal.view(shape) * ww.view(per_channel) + wb.view(per_channel);
      const Tensor weights = hb::randn(shape, hb::kDouble);
      y.backward(weights.to(dtype));
      expected.backward(weights.to(dtype).to(hb::kDouble));
      const double tolerance = dtype == hb::kDouble ? 1e-12 : dtype == hb::kFloat ? 1e-4 : 2e-2;
      expect_close(y.detach(), expected.detach(), tolerance, "values");
      expect_close(x.grad(), wide.grad(), tolerance, "gradient of x");
      expect_close(w.grad(), ww.grad(), tolerance, "of the weight");
      expect_close(b.grad(), wb.grad(), tolerance, "of the bias");
    }
}

TEST(QuickWays, Triangles) {
  for (const std::vector<int64_t>& shape : {std::vector<int64_t>{5, 7}, {2, 6, 3}, {0, 4}})
    for (int64_t diagonal : {-9, -2, 0, 1, 9}) {
      const Tensor x = hb::randn(shape).requires_grad_();
      const Tensor row = hb::arange(shape[shape.size() - 2]).unsqueeze(1), column = hb::arange(shape.back());
      const Tensor low = (column - row) <= diagonal, high = (column - row) >= diagonal;
      expect_same(hb::tril(x).detach(), hb::where((column - row) <= 0, x.detach(), 0.0), "tril");
      expect_same(hb::tril(x, diagonal).detach(), hb::where(low, x.detach(), 0.0), "tril");
      expect_same(hb::triu(x, diagonal).detach(), hb::where(high, x.detach(), 0.0), "triu");
      hb::tril(x, diagonal).sum().backward();
      expect_same(x.grad(), low.to(hb::kFloat).expand(shape).contiguous(), "gradient");
    }
}

// Rows from the last element to the first: whole vectors and what is left of them.
TEST(QuickWays, TurnedAround) {
  for (auto dtype : {hb::kFloat, hb::kDouble, hb::kBFloat16, hb::kLong, hb::kInt, hb::kByte, hb::kComplexDouble})
    for (int64_t columns : {1, 3, 7, 8, 15, 16, 31, 32, 33, 63, 64, 65, 130}) {
      const Tensor x = hb::arange(3 * columns).view({3, columns}).to(dtype);
      const Tensor backwards = hb::arange(columns - 1, -1, -1, hb::kLong);
      expect_same(hb::flip(x, {1}), x.index_select(1, backwards), hb::toString(dtype));
    }
}

// Quotients in double serve up to 2^51 on either side; beyond, and by zero, integers are divided as such.
TEST(QuickWays, QuotientsOfLargeIntegers) {
  std::vector<int64_t> numbers = {0, 1, -1, 3, -7, INT64_MAX, INT64_MIN, INT64_MAX - 1, INT64_MIN + 1};
  for (int64_t power : {50, 51, 52, 53})
    for (int64_t near : {-1, 0, 1})
      for (int64_t sign : {-1, 1}) numbers.push_back(sign * ((int64_t{1} << power) + near));
  for (int64_t b : numbers) {
    if (b == 0) continue;
    // Alone, so that a block has no other reason to be divided as integers.
    for (int64_t a : numbers) {
      const int64_t q = b == -1 ? static_cast<int64_t>(-static_cast<uint64_t>(a)) : a / b, r = b == -1 ? 0 : a % b;
      const bool down = r != 0 && (r < 0) != (b < 0);
      const Tensor x = hb::full({5}, a, hb::kLong), y = hb::full({5}, b, hb::kLong);
      const std::string what = std::to_string(a) + " / " + std::to_string(b);
      expect_same(hb::div(x, y, "trunc"), hb::full({5}, q, hb::kLong), what);
      expect_same(hb::floor_divide(x, y), hb::full({5}, q - down, hb::kLong), what + " floor");
      expect_same(hb::fmod(x, y), hb::full({5}, r, hb::kLong), what + " fmod");
      expect_same(hb::remainder(x, y), hb::full({5}, r + (down ? b : 0), hb::kLong), what + " remainder");
    }
  }
}

// Polynomials beside the C library's functions, element by element.
TEST(QuickWays, SpecialFunctions) {
  const Tensor x = hb::linspace(-12.3, 40, 4001, hb::kDouble), u = hb::linspace(-0.999999, 0.999999, 2001, hb::kDouble);
  const Tensor gamma = hb::lgamma(x.to(hb::kFloat)).to(hb::kDouble), back = hb::erf(hb::erfinv(u));
  const Tensor narrow = x.to(hb::kFloat);
  const float* in = narrow.data_ptr<float>();
  for (int64_t i = 0; i < x.numel(); ++i) {
    const double expected = std::lgamma(static_cast<double>(in[i]));
    ASSERT_NEAR(gamma.data_ptr<double>()[i], expected, 1e-6 * std::max(1e-1, std::abs(expected))) << in[i];
  }
  for (float at : {1.0f, 2.0f}) {
    const Tensor roots = hb::full({19}, at);  // whole vectors and what is left of them
    expect_same(hb::lgamma(roots), hb::zeros({19}), "lgamma of its roots");
    expect_same(hb::lgamma(roots.to(hb::kBFloat16)), hb::zeros({19}, hb::kBFloat16), "lgamma of its roots");
  }
  expect_close(back, u, 1e-14, "erf of erfinv");
  // psi(x + 1) = psi(x) + 1 / x, and the same of its derivative.
  const Tensor p = hb::linspace(-3.77, 25, 1001, hb::kDouble);
  expect_close(hb::digamma(p + 1) - hb::digamma(p), 1 / p, 1e-12, "digamma");
  expect_close(hb::polygamma(1, p + 1) - hb::polygamma(1, p), -1 / (p * p), 1e-12, "trigamma");
  for (double at : {0.0, 0.5, 3.0, 7.99, 8.01, 30.0}) {
    double term = 1, sum = 1;
    for (int k = 1; k < 200; ++k) sum += term *= at * at / 4 / (static_cast<double>(k) * k);
    EXPECT_NEAR(hb::i0(hb::tensor({at}, hb::kDouble)).item<double>() / sum, 1, 1e-14) << at;
  }
}

// Without a gradient short windows of rows are compared element by element; with one, or of channels-last, by windows.
TEST(QuickWays, LargestOfRows) {
  for (const auto t : {hb::kFloat, hb::kDouble, hb::kBFloat16}) {
    Tensor x = normal({3, 5, 41}, t).mul_(2).round_();  // many are equal
    x[0][1][7] = NAN, x[1][0][0] = -0.0, x[1][0][1] = 0.0, x[2][4].fill_(-INFINITY);
    const Tensor leaf = x.clone().set_requires_grad(true);
    for (const int64_t kernel : {2, 3, 4})
      for (const int64_t stride : {1, 2, 5}) {
        const Tensor quick = hb::max_pool1d(x, {kernel}, {stride}), plain = hb::max_pool1d(leaf, {kernel}, {stride});
        expect_same(quick, plain.detach(), "max_pool1d");
        EXPECT_TRUE(hb::equal(hb::signbit(quick), hb::signbit(plain.detach())));
        EXPECT_TRUE(quick.is_contiguous());
        expect_same(hb::max_pool1d(x[0], {kernel}, {stride}), plain.detach()[0], "max_pool1d of one");
      }
    EXPECT_THROW(hb::max_pool1d(x.narrow(2, 0, 2).contiguous(), {4}), hb::Error);
  }
}

}  // namespace
