// Integrals, derivatives, histograms, quantiles, runs, segments, combinations.
#include <cmath>

#include "parity/case.h"

using torch::Tensor;

namespace {
const parity::Dtypes kSingleDouble{torch::kFloat, torch::kDouble};
void parts(parity::Case& c, const std::string& name, const std::vector<Tensor>& tensors) {
  c.value(name + ".count", static_cast<int64_t>(tensors.size()));
  for (size_t k = 0; k < tensors.size(); ++k) c.out(name + std::to_string(k), tensors[k]);
}
void three(parity::Case& c, const std::string& name, const std::tuple<Tensor, Tensor, Tensor>& t) {
  c.out(name + ".values", std::get<0>(t));
  c.out(name + ".inverse", std::get<1>(t));
  c.out(name + ".counts", std::get<2>(t));
}
}  // namespace

PARITY_CASE(numeric, trapezoid) {
  c.for_dtypes(kSingleDouble, [&](torch::Dtype dtype) {
    auto y = c.leaf({3, 5}, dtype), x = c.leaf({5}, dtype), each = c.leaf({3, 5}, dtype);
    c.gradients("dx", {y}, [&] { return torch::trapezoid(y, 0.5); });
    c.gradients("x", {y, x}, [&] { return torch::trapezoid(y, x); });
    c.gradients("line_by_line", {y, each}, [&] { return torch::trapezoid(y, each, 0); });
    c.gradients("cumulative", {y}, [&] { return torch::cumulative_trapezoid(y, 2, 0); });
    c.gradients("cumulative_x", {y, x}, [&] { return torch::cumulative_trapezoid(y, x); });
  });
  const auto y = c.randn({2, 3, 4});
  c.out("broadcast", torch::trapezoid(y, c.randn({3, 4}), 1));
  c.out("default", torch::trapezoid(y));
  c.out("trapz", torch::trapz(y, 0.25, 1));
  c.out("trapz_x", torch::trapz(y, c.randn({4})));
  c.out("integers", torch::trapezoid(c.randint(0, 9, {5})));
  c.out("integers_x", torch::trapezoid(c.randint(0, 9, {5}), c.randint(0, 9, {5})));
  c.out("cumulative_integers", torch::cumulative_trapezoid(c.randint(0, 9, {5})));
  c.out("none", torch::trapezoid(c.randn({2, 0})));
  c.out("one", torch::cumulative_trapezoid(c.randn({2, 1})));
  c.throws("bools", [&] { torch::trapezoid(c.bools({3})); });
  c.throws("places", [&] { torch::trapezoid(y, c.randn({3})); });
  c.throws("no_dim", [&] { torch::trapezoid(torch::tensor(1.0)); });
}

PARITY_CASE(numeric, gradient) {
  using Step = std::optional<torch::Scalar>;
  using Dim = std::optional<int64_t>;
  c.for_dtypes(kSingleDouble, [&](torch::Dtype dtype) {
    auto x = c.leaf({4, 5}, dtype);
    c.gradients("first", {x}, [&] { return torch::gradient(x)[0]; });
    c.gradients("second", {x}, [&] { return torch::gradient(x, Step(0.5), Dim(1), 2)[0]; });
    parts(c, "all", torch::gradient(x, Step(2)));
    parts(c, "dims", torch::gradient(x, torch::IntArrayRef({1, 0}), 2));
    parts(c, "steps", torch::gradient(x, std::vector<torch::Scalar>{0.5, 2}));
    parts(c, "steps_dims", torch::gradient(x, std::vector<torch::Scalar>{0.5, 2}, torch::IntArrayRef({1, 0})));
    const auto rows = c.values({0, 1, 3, 3.5}, dtype), columns = c.values({-1, 0, 0.5, 4, 6}, dtype);
    parts(c, "places", torch::gradient(x, std::vector<Tensor>{rows, columns}));
    parts(c, "places_second", torch::gradient(x, std::vector<Tensor>{rows, columns}, std::nullopt, 2));
    parts(c, "places_dim", torch::gradient(x, std::vector<Tensor>{columns}, Dim(1), 2));
    c.gradients("places_gradient", {x}, [&] { return torch::gradient(x, std::vector<Tensor>{rows}, Dim(0), 2)[0]; });
  });
  c.out("integers", torch::gradient(c.randint(0, 9, {6}))[0]);
  c.throws("short", [&] { torch::gradient(c.randn({1})); });
  c.throws("short_second", [&] { torch::gradient(c.randn({2}), Step(1), Dim(0), 2); });
  c.throws("order", [&] { torch::gradient(c.randn({5}), Step(1), Dim(0), 3); });
  c.throws("twice", [&] { torch::gradient(c.randn({5, 5}), torch::IntArrayRef({0, 0})); });
  c.throws("steps", [&] { torch::gradient(c.randn({5, 5}), std::vector<torch::Scalar>{1}); });
  c.throws("places", [&] { torch::gradient(c.randn({5}), std::vector<Tensor>{c.randn({4})}); });
  c.throws("bytes", [&] { torch::gradient(c.randint(0, 9, {6}, torch::kByte)); });
}

PARITY_CASE(numeric, histogram) {
  for (const auto dtype : kSingleDouble) {
    const auto x = c.randn({60}, dtype), w = c.rand({60}, dtype);
    const auto both = [&](const std::string& name, const std::tuple<Tensor, Tensor>& t) {
      c.out(name + parity::dtype_name(dtype), std::get<0>(t));
      c.out(name + "_edges" + parity::dtype_name(dtype), std::get<1>(t));
    };
    both("count", torch::histogram(x, 7));
    both("method", x.histogram());
    const std::vector<double> range{-1, 1.5};
    both("range", torch::histogram(x, 5, range));
    both("density", torch::histogram(x, 5, range, {}, true));
    both("weights", torch::histogram(x, 4, {}, w));
    both("edges", torch::histogram(x, c.values({-1, -0.5, 0, 2}, dtype), w, true));
    both("on_edges", torch::histogram(c.values({0, 1, 2, 3, 3, 4, -1}, dtype), c.values({0, 1, 3}, dtype)));
    both("equal", torch::histogram(torch::ones({3}, torch::dtype(dtype)), 3));
    both("none", torch::histogram(c.randn({0}, dtype), 3));
  }
  c.throws("half", [&] { torch::histogram(c.randn({4}, torch::kHalf), 3); });
  c.throws("integers", [&] { torch::histogram(c.randint(0, 4, {4}), 3); });
  c.throws("bins", [&] { torch::histogram(c.randn({4}), 0); });
  c.throws("weights_shape", [&] { torch::histogram(c.randn({4}), 3, {}, c.randn({3})); });
  c.throws("edges_dtype", [&] { torch::histogram(c.randn({4}), c.values({0, 1}, torch::kDouble)); });
}

PARITY_CASE(numeric, quantile) {
  const std::vector<std::string> kinds{"linear", "lower", "higher", "midpoint", "nearest"};
  for (const auto dtype : kSingleDouble)
    for (const auto& kind : kinds)
      c.scope(parity::dtype_name(dtype) + kind, [&] {
        auto x = c.leaf({4, 6}, dtype);
        const auto q = c.values({0, 0.1, 0.5, 0.77, 1}, dtype);
        c.gradients("y", {x}, [&] { return torch::quantile(x, q, 1, false, kind); });
        c.gradients("number", {x}, [&] { return torch::quantile(x, 0.3, 0, true, kind); });
        c.out("all", x.quantile(q, std::nullopt, true, kind));
        auto holes = x.detach().clone();
        holes.index_put_({0, 2}, NAN);
        holes.index_put_({3}, NAN);
        c.out("nan", torch::quantile(holes, q, 1, true, kind));
        c.out("nanquantile", torch::nanquantile(holes, q, 1, false, kind));
        c.out("nanquantile_number", holes.nanquantile(0.4, 0, true, kind));
        c.out("nanquantile_all", torch::nanquantile(holes, 0.4));
      });
  auto x = c.leaf({3, 5}, torch::kDouble);
  c.gradients("nan_gradient", {x}, [&] { return torch::nanquantile(x, 0.3, 1); });
  c.out("q_of_no_dimension", torch::quantile(x.detach(), torch::tensor(0.25, torch::kDouble), 0));
  c.out("single", torch::quantile(torch::tensor(2.0), 0.5));
  c.throws("kind", [&] { torch::quantile(x, 0.5, 0, false, "cubic"); });
  c.throws("q_dtype", [&] { torch::quantile(x, torch::tensor({0.5f}), 0); });
  c.throws("q_range", [&] { torch::quantile(x, torch::tensor({0.5, 1.5}, torch::kDouble), 0); });
  c.throws("q_rank", [&] { torch::quantile(x, torch::full({1, 1}, 0.5, torch::kDouble), 0); });
  c.throws("nan_range", [&] { torch::nanquantile(x, -0.1); });
  c.throws("empty", [&] { torch::quantile(c.randn({0}), 0.5); });
}

PARITY_CASE(numeric, unique_consecutive) {
  c.for_dtypes(parity::kAll, [&](torch::Dtype dtype) {
    const auto x = c.randint(0, 2, {4, 5}).to(dtype);
    three(c, "flat", torch::unique_consecutive(x, true, true));
    three(c, "values", torch::unique_consecutive(x));
    three(c, "rows", torch::unique_consecutive(x.slice(1, 0, 1), true, true, 0));
  });
  const auto rows = torch::tensor({{1, 2}, {1, 2}, {1, 3}, {1, 2}, {1, 2}});
  three(c, "dim", torch::unique_dim_consecutive(rows, 0, true, true));
  three(c, "columns", torch::unique_dim_consecutive(rows, 1, true, false));
  three(c, "none", torch::unique_consecutive(c.randn({0}), true, true));
  three(c, "nan", torch::unique_consecutive(c.values({NAN, NAN, 1, 1}), true, true));
  three(c, "number", torch::unique_consecutive(torch::tensor(3), true, true));
  c.for_dtypes(parity::kAll, [&](torch::Dtype dtype) {  // several vectors of each type, and what remains
    const auto few = c.randint(0, 2, {391}).to(dtype), many = c.randint(0, 100, {391}).to(dtype);
    three(c, "few", torch::unique_consecutive(few));
    three(c, "many", torch::unique_consecutive(many));
    three(c, "one", torch::unique_consecutive(torch::ones({65}, dtype)));
  });
  three(c, "all_nan", torch::unique_consecutive(torch::full({40}, NAN)));
  c.throws("dim", [&] { torch::unique_consecutive(rows, false, false, 2); });
}

PARITY_CASE(numeric, combinations) {
  auto x = c.leaf({5});
  c.gradients("two", {x}, [&] { return torch::combinations(x); });
  c.gradients("three_repeated", {x}, [&] { return torch::combinations(x, 3, true); });
  c.out("integers", torch::combinations(c.arange({4}, torch::kLong), 3));
  c.out("one", torch::combinations(c.arange({4}, torch::kLong), 1));
  c.out("all", torch::combinations(c.arange({4}, torch::kLong), 4));
  c.out("none", torch::combinations(c.arange({4}), 0));
  c.out("too_many", torch::combinations(c.arange({2}), 3));
  c.out("too_many_repeated", torch::combinations(c.arange({2}), 3, true));
  c.out("empty", torch::combinations(c.arange({0}), 2, true));
  c.throws("rank", [&] { torch::combinations(c.randn({2, 2})); });
  c.throws("negative", [&] { torch::combinations(c.randn({2}), -1); });
}

PARITY_CASE(numeric, segment_reduce) {
  const auto lengths = torch::tensor({2, 0, 3}), offsets = torch::tensor({0, 2, 2, 5});
  for (const std::string kind : {"sum", "mean", "max", "min", "prod"})
    c.scope(kind, [&] {
      auto x = c.leaf({5, 3}), row = c.leaf({5});
      c.out("row", torch::segment_reduce(row, kind, lengths));
      c.gradients("y", {x}, [&] { return torch::segment_reduce(x, kind, torch::tensor({2, 1, 2})); });
      c.out("offsets", torch::segment_reduce(x, kind, {}, {}, offsets));
      c.out("initial", torch::segment_reduce(row, kind, lengths, {}, {}, 0, false, 0.5));
      const auto each = torch::tensor({{1, 2}, {0, 3}});
      c.out("axis", torch::segment_reduce(c.randn({2, 3, 2}), kind, each, {}, {}, 1));
    });
  c.throws("kind", [&] { torch::segment_reduce(c.randn({5}), "median", lengths); });
  c.throws("sum", [&] { torch::segment_reduce(c.randn({4}), "sum", lengths); });
  c.throws("nothing", [&] { torch::segment_reduce(c.randn({4}), "sum"); });
  c.throws("negative", [&] { torch::segment_reduce(c.randn({4}), "sum", torch::tensor({-1, 5})); });
}

PARITY_CASE(numeric, kaiser_window) {
  for (const int64_t n : {0, 1, 2, 7, 12}) {
    const auto name = std::to_string(n);
    c.out("periodic" + name, torch::kaiser_window(n));
    c.out("symmetric" + name, torch::kaiser_window(n, false));
    c.out("beta" + name, torch::kaiser_window(n, true, 4.5, torch::kDouble));
  }
  c.throws("negative", [&] { torch::kaiser_window(-1); });
  c.throws("integers", [&] { torch::kaiser_window(4, torch::kLong); });
}
