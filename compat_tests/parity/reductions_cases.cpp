// Sums, means, extremes, norms, scans: over all elements, over dimensions, with and without keepdim.
#include "parity/case.h"

using torch::Tensor;
using Dims = at::IntArrayRef;
using Fn = std::function<Tensor(const Tensor&)>;

namespace {

// A reduction `all` over everything and `one` over dimension 1: dtypes, layouts, gradients, second gradients.
void reduction(parity::Case& c, const Fn& all, const Fn& one, double low = -2, double high = 2) {
  c.for_dtypes(parity::kFloats, [&](torch::Dtype dtype) {
    auto x = c.leaf_in(low, high, {3, 4, 5}, dtype);
    c.gradients("all", {x}, [&] { return all(x); });
    c.gradients("dim1", {x}, [&] { return one(x); });
    auto wide = c.leaf_in(low, high, {2, 300, 3}, dtype);
    c.gradients("wide", {wide}, [&] { return one(wide); });
  });
  c.for_layouts_of(c.rand({4, 6, 3}, torch::kFloat, low, high), [&](Tensor x) {
    x.requires_grad_();
    c.gradients("all", {x}, [&] { return all(x); });
    c.gradients("dim1", {x}, [&] { return one(x); });
  });
  auto x = c.leaf_in(low, high, {2, 3, 2}, torch::kDouble);
  c.gradcheck([&] { return all(x); }, {x});
  c.gradcheck([&] { return one(x); }, {x});
  c.gradgradcheck([&] { return one(x); }, {x});
}

}  // namespace

PARITY_CASE(reductions, sum) {
  reduction(
      c, [](const Tensor& x) { return x.sum(); }, [](const Tensor& x) { return x.sum(1); });
  auto x = c.randn({2, 3, 4});
  c.out("dims", x.sum(Dims({0, 2})));
  c.out("keepdim", torch::sum(x, {-1}, /*keepdim=*/true));
  c.out("dtype", x.sum({1}, false, torch::kDouble));
  c.out("empty", c.randn({0, 3}).sum(0));
  c.out("zero_d", c.randn({}).sum());
  for (auto dtype : parity::kInts) c.out(parity::dtype_name(dtype), c.any({5, 6}, dtype).sum());
  c.out("bool", c.bools({9}).sum());
  c.out("special", c.special().sum());
  c.throws("dim", [&] { c.randn({2, 2}).sum(2); });
  c.throws("dim_twice", [&] { c.randn({2, 2}).sum(Dims({0, 0})); });
}

PARITY_CASE(reductions, mean) {
  reduction(
      c, [](const Tensor& x) { return x.mean(); }, [](const Tensor& x) { return x.mean(1); });
  auto x = c.randn({2, 3, 4});
  c.out("dims", x.mean(Dims({0, 2}), true));
  c.out("dtype", c.randint(0, 9, {5}).mean(torch::kFloat));
  c.out("empty", c.randn({0}).mean());
  c.throws("integers", [&] { c.randint(0, 9, {5}).mean(); });
}

PARITY_CASE(reductions, prod) {
  reduction(
      c, [](const Tensor& x) { return x.slice(1, 0, 2).prod(); },
      [](const Tensor& x) { return x.slice(1, 0, 3).prod(1); }, 0.6, 1.5);
  auto x = c.leaf({4});
  x.data().select(0, 1).zero_();
  c.gradients("one_zero", {x}, [&] { return x.prod(); });
  c.out("integers", c.randint(1, 4, {5}).prod());
  c.out("empty", c.randn({0}).prod());
}

PARITY_CASE(reductions, var_and_std) {
  reduction(
      c, [](const Tensor& x) { return x.var(); }, [](const Tensor& x) { return x.var(1, /*unbiased=*/false); });
  c.scope("std", [&] {
    reduction(
        c, [](const Tensor& x) { return x.std(); }, [](const Tensor& x) { return x.std({1}, true, true); });
  });
  auto x = c.randn({3, 4});
  c.out("all_biased", torch::var(x, false));
  c.out("dims", torch::std(x, Dims({0, 1}), true));
  const parity::Shape last{1};
  c.out("correction", torch::var(x, at::OptionalIntArrayRef(last), c10::optional<at::Scalar>(0), true));
  c.out("one_element", c.randn({1}).var());
  const auto [variance, mean] = torch::var_mean(x, 0);
  c.out("var_mean.var", variance);
  c.out("var_mean.mean", mean);
}

PARITY_CASE(reductions, max_min_of_all) {
  for (auto dtype : parity::kAll) {
    auto x = c.any({4, 7}, dtype);
    c.out(parity::dtype_name(dtype) + "_max", x.max());
    c.out(parity::dtype_name(dtype) + "_min", x.min());
  }
  auto x = c.leaf({3, 4});
  c.gradients("max", {x}, [&] { return x.max(); });
  c.gradients("min", {x}, [&] { return x.min(); });
  auto ties = c.values({1, 3, 3, 2}).requires_grad_();
  c.gradients("ties", {ties}, [&] { return ties.max(); });
  c.out("nan", c.special().max());
  c.throws("empty", [&] { c.randn({0}).max(); });
}

PARITY_CASE(reductions, max_min_along) {
  for (auto dtype : parity::kAll) {
    auto x = c.any({4, 7}, dtype);
    const auto [values, indices] = x.max(1);
    c.out(parity::dtype_name(dtype) + "_max", values);
    if (parity::is_float(dtype)) c.out(parity::dtype_name(dtype) + "_argmax", indices);
  }
  c.for_layouts({5, 6}, torch::kFloat, [&](Tensor x) {
    x.requires_grad_();
    const auto top = torch::max(x, 0, true);
    c.out("values", std::get<0>(top));
    c.backward("max", std::get<0>(top), {x});
    const auto low = torch::min(x, -1);
    c.out("min", std::get<0>(low));
    c.backward("min", std::get<0>(low), {x});
  });
  const auto nan = c.special().view({1, -1}).max(1);
  c.out("nan_value", std::get<0>(nan));
  c.out("nan_index", std::get<1>(nan));
  c.throws("empty_dim", [&] { c.randn({3, 0}).max(1); });
}

PARITY_CASE(reductions, amax_amin) {
  auto x = c.leaf({3, 4, 2});
  c.gradients("amax", {x}, [&] { return x.amax({0, 2}); });
  c.gradients("amin", {x}, [&] { return torch::amin(x, {1}, true); });
  auto ties = c.values({1, 3, 3, 2}).requires_grad_();
  c.gradients("ties", {ties}, [&] { return ties.amax(); });
  const auto both = torch::aminmax(c.randn({4, 3}), 1);
  c.out("aminmax_low", std::get<0>(both));
  c.out("aminmax_high", std::get<1>(both));
}

PARITY_CASE(reductions, argmax_argmin) {
  auto x = c.randn({5, 6});
  c.out("all", x.argmax());
  c.out("dim", x.argmax(1));
  c.out("keepdim", x.argmin(0, true));
  c.out("first_of_ties", c.values({2, 5, 5, 1}).argmax());
  c.out("nan", c.special().argmax());
  c.out("integers", c.arange({4, 3}, torch::kLong).argmin(1));
  c.out("transposed", x.t().argmax(1));
  c.throws("empty", [&] { c.randn({0}).argmax(); });
}

PARITY_CASE(reductions, any_all_count) {
  for (auto dtype : parity::kAll) {
    auto x = c.randint(0, 2, {4, 3}, dtype);
    const auto name = parity::dtype_name(dtype);
    c.out(name + "_any", x.any());
    c.out(name + "_all", x.all());
    c.out(name + "_any_dim", x.any(1));
    c.out(name + "_all_dim", x.all(0, true));
    c.out(name + "_count", x.count_nonzero());
  }
  c.out("empty_any", c.bools({0}).any());
  c.out("empty_all", c.bools({0}).all());
}

PARITY_CASE(reductions, norms) {
  c.for_dtypes(parity::kFloats, [&](torch::Dtype dtype) {
    auto x = c.leaf({4, 5}, dtype);
    c.gradients("two", {x}, [&] { return x.norm(); });
    c.gradients("one", {x}, [&] { return x.norm(1); });
    c.gradients("along", {x}, [&] { return x.norm(2, {1}, true); });
    c.gradients("three", {x}, [&] { return x.norm(3, {0}); });
    c.out("inf", x.norm(std::numeric_limits<double>::infinity(), {1}));
    c.out("zero", x.norm(0, {1}));
  });
  auto x = c.leaf({3, 2}, torch::kDouble);
  c.gradcheck([&] { return x.norm(2, {0}); }, {x});
  c.gradgradcheck([&] { return x.norm(); }, {x});
  c.gradcheck([&] { return x.norm(3, {1}); }, {x});
  auto zero = torch::zeros({3}).requires_grad_();
  c.gradients("at_zero", {zero}, [&] { return zero.norm(); });
}

PARITY_CASE(reductions, logsumexp) {
  reduction(
      c, [](const Tensor& x) { return x.flatten().logsumexp(0); }, [](const Tensor& x) { return x.logsumexp(1); });
  c.out("infinite", c.values({-INFINITY, -INFINITY}).logsumexp(0));
  c.out("large", c.values({1000, 1001}).logsumexp(0));
  c.out("keepdim", c.randn({2, 3, 4}).logsumexp(Dims({0, 2}), true));
}

PARITY_CASE(reductions, scans) {
  c.for_dtypes(parity::kFloats, [&](torch::Dtype dtype) {
    auto x = c.leaf_in(0.5, 1.5, {3, 6}, dtype);
    c.gradients("cumsum0", {x}, [&] { return x.cumsum(0); });
    c.gradients("cumsum1", {x}, [&] { return x.cumsum(1); });
    c.gradients("cumprod", {x}, [&] { return x.cumprod(1); });
  });
  c.for_layouts({4, 5}, torch::kFloat, [&](Tensor x) { c.out("cumsum", x.cumsum(-1)); });
  c.out("integers", c.randint(0, 9, {6}).cumsum(0));
  c.out("bools", c.bools({6}).cumsum(0));
  c.out("dtype", c.randn({4}).cumsum(0, torch::kDouble));
  auto x = c.leaf_in(0.5, 1.5, {2, 4}, torch::kDouble);
  c.gradcheck([&] { return x.cumsum(1); }, {x});
  c.gradcheck([&] { return x.cumprod(1); }, {x});
  const auto top = torch::cummax(c.randn({3, 6}), 1);
  c.out("cummax", std::get<0>(top));
  c.out("cummax_index", std::get<1>(top));
  const auto low = torch::cummin(c.randn({3, 6}), 0);
  c.out("cummin", std::get<0>(low));
  c.gradients("logcumsumexp", {x}, [&] { return torch::logcumsumexp(x, 1); });
}

PARITY_CASE(reductions, others) {
  auto x = c.leaf({4, 4});
  c.gradients("trace", {x}, [&] { return x.trace(); });
  c.gradients("diff", {x}, [&] { return torch::diff(x); });
  c.out("diff2", torch::diff(x, 2, 0));
  c.out("median", c.randn({7}).median());
  const auto along = c.randn({3, 6}).median(1);
  c.out("median_dim", std::get<0>(along));
  c.out("median_index", std::get<1>(along));
  c.out("quantile", torch::quantile(c.randn({9}), 0.3));
  c.out("quantile_dim", torch::quantile(c.randn({4, 5}), 0.75, 1, true));
  const auto mode = torch::mode(c.randint(0, 3, {4, 9}), 1);
  c.out("mode", std::get<0>(mode));
  c.out("nansum", torch::nansum(c.values({1, NAN, 2})));
  c.out("bincount", torch::bincount(c.randint(0, 5, {20})));
  c.out("histc", torch::histc(c.randn({50}), 8, -2, 2));
  c.out("histc of many", torch::histc(c.randn({5000}), 50));
}

PARITY_CASE(reductions, large) {  // long enough for blocks and threads
  auto x = c.randn({300, 1001});
  c.out("all", x.sum());
  c.out("rows", x.sum(1));
  c.out("columns", x.sum(0));
  c.out("transposed_rows", x.t().sum(1));
  c.out("mean", x.mean());
  c.out("var", x.var(1));
  c.out("max", std::get<0>(x.max(0)));
  c.out("bf16", x.to(torch::kBFloat16).sum(1));
}

PARITY_CASE(reductions, few_rows) {  // fewer, and a few more, than are added at a time
  for (auto dtype : {torch::kFloat, torch::kDouble, torch::kHalf, torch::kLong})
    for (int64_t n : {1, 2, 5, 64, 65, 130}) {
      auto x = dtype == torch::kLong ? c.randint(-3, 4, {n, 70}) : c.rand({n, 70}, dtype, 0.9, 1.1);
      c.scope(parity::dtype_name(dtype) + std::to_string(n), [&] {
        c.out("sum", x.sum(0));
        c.out("prod", x.slice(0, 0, 5).prod(0));
        c.out("amax", x.amax(0));
        c.out("amin", x.amin(0));
        c.out("any", x.any(0));
        c.out("all", x.all(0));
        if (dtype != torch::kLong) c.out("mean", x.mean(0));
        if (dtype != torch::kLong) c.out("norm", x.norm(2, 0));
      });
    }
  c.out("nan", c.values({1, NAN, 2, 3, 5, -1}).view({2, 3}).expand({2, 3}).amax(0));
}

PARITY_CASE(reductions, gradients_of_nan) {
  auto x = c.values({1, NAN, 2, 3, 3, -1, NAN, NAN, 0}).view({3, 3}).clone().requires_grad_();
  auto whole = c.values({1, NAN, 2, NAN}).clone().requires_grad_(), ties = c.values({1, 2, 2}).clone().requires_grad_();
  c.gradients("max", {whole}, [&] { return whole.max(); });
  c.gradients("min", {whole}, [&] { return whole.min(); });
  c.gradients("ties", {ties}, [&] { return ties.max(); });
  c.gradients("max_dim", {x}, [&] { return std::get<0>(x.max(1)); });
  c.gradients("amax_of_numbers", {ties}, [&] { return ties.amax(0); });
  c.gradients("amax", {x}, [&] { return x.amax(1); });
}
