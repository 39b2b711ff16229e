// Counts in bins of several dimensions.
#include "parity/bad.h"
#include "parity/case.h"

#include <vector>

namespace {

using Edges = std::vector<torch::Tensor>;

void record(parity::Case& c, const std::string& name, const std::tuple<torch::Tensor, Edges>& made) {
  c.scope(name, [&] {
    c.out("counts", std::get<0>(made));
    for (size_t d = 0; d < std::get<1>(made).size(); ++d) c.out("edges " + std::to_string(d), std::get<1>(made)[d]);
  });
}

}  // namespace

PARITY_CASE(histogramdd, bins) {
  c.for_dtypes({torch::kFloat, torch::kDouble}, [&](torch::Dtype dtype) {
    const torch::Tensor x = c.randn({30, 2}, dtype), weight = c.rand({30}, dtype);
    const std::vector<double> range{-1, 1, -2, 0.5}, flat{0, 0, -1, 1};
    record(c, "numbers", torch::histogramdd(x, torch::IntArrayRef({3, 4})));
    record(c, "one number", torch::histogramdd(x, 5));
    record(c, "range", torch::histogramdd(x, torch::IntArrayRef({3, 4}), torch::ArrayRef<double>(range)));
    record(c, "no width", torch::histogramdd(x, torch::IntArrayRef({2, 2}), torch::ArrayRef<double>(flat)));
    record(c, "weight", torch::histogramdd(x, torch::IntArrayRef({3, 4}), std::nullopt, weight));
    record(c, "density", torch::histogramdd(x, torch::IntArrayRef({3, 4}), std::nullopt, weight, true));
    record(c, "more dimensions", torch::histogramdd(x.view({5, 6, 2}), 3, std::nullopt, weight.view({5, 6})));
    record(c, "three dimensions", torch::histogramdd(c.randn({40, 3}, dtype), 3));
    record(c, "turned around", torch::histogramdd(c.randn({2, 30}, dtype).t(), 3));
    record(c, "nothing", torch::histogramdd(x.slice(0, 0, 0), torch::IntArrayRef({2, 3})));
  });
}

PARITY_CASE(histogramdd, edges) {
  c.for_dtypes({torch::kFloat, torch::kDouble}, [&](torch::Dtype dtype) {
    const torch::Tensor x =
        c.values({0.0, 0.2, 0.5, 0.9, 1.0, 1.0, 0.3, 0.25, 0.7, -0.1, 1.5, 0.5}, dtype).view({6, 2});
    const Edges edges{c.values({0.0, 0.5, 1.0}, dtype), c.values({0.0, 0.25, 0.5, 1.0}, dtype)};
    record(c, "counts", torch::histogramdd(x, edges));
    record(c, "density", torch::histogramdd(x, edges, std::nullopt, c.arange({6}, dtype), true));
    c.out("by numbers", torch::_histogramdd_from_bin_cts(x, torch::IntArrayRef({2, 3})));
    c.out("by edges", torch::_histogramdd_from_bin_tensors(x, edges));
    torch::Tensor out = torch::empty({0}, x.options());
    c.out("numbers, out", torch::_histogramdd_from_bin_cts_out(out, x, torch::IntArrayRef({2, 3})));
    c.out("edges, out", torch::_histogramdd_from_bin_tensors_out(out, x, edges));
    const Edges made = torch::_histogramdd_bin_edges(x, {2, 3});
    Edges outs{torch::empty({0}, x.options()), torch::empty({0}, x.options())};
    torch::_histogramdd_bin_edges_out(outs, x, {2, 3});
    for (size_t d = 0; d < made.size(); ++d) {
      c.out("edges " + std::to_string(d), made[d]);
      c.out("edges, out " + std::to_string(d), outs[d]);
    }
  });
}

PARITY_CASE(histogramdd, refused) {
  const torch::Tensor x = c.rand({5, 2}, torch::kDouble, 0, 1);
  const Edges edges{c.values({0.0, 0.5, 1.0}, torch::kDouble), c.values({0.0, 1.0}, torch::kDouble)};
  const std::vector<double> short_range{0, 1}, turned{1, 0, 0, 1}, infinite{0, 1, 0, INFINITY};
  const std::vector<int64_t> two{2, 2};
  SAYS("range should have 4 elements, but got 2",
       torch::histogramdd(x, torch::IntArrayRef(two), torch::ArrayRef<double>(short_range)));
  SAYS("min should not exceed max", torch::histogramdd(x, torch::IntArrayRef(two), torch::ArrayRef<double>(turned)));
  SAYS("is not finite", torch::histogramdd(x, torch::IntArrayRef(two), torch::ArrayRef<double>(infinite)));
  SAYS("The size of bins must be equal to the innermost dimension",
       torch::histogramdd(x, torch::IntArrayRef({2, 2, 2})));
  SAYS("bins must be > 0", torch::histogramdd(x, torch::IntArrayRef({0, 2})));
  SAYS("not implemented for 'Long'", torch::histogramdd(x.to(torch::kLong), 2));
  SAYS("should have at least 2 dimensions", torch::histogramdd(x[0], torch::IntArrayRef({2})));
  SAYS("should have the same shape as the input tensor",
       torch::histogramdd(x, 2, std::nullopt, c.rand({4}, torch::kDouble)));
  SAYS("should have the same dtype", torch::histogramdd(x, 2, std::nullopt, c.rand({5}, torch::kFloat)));
  SAYS("expected 2 sequences of bin edges", torch::histogramdd(x, Edges{edges[0]}));
  SAYS("should have the same dtype", torch::histogramdd(x, Edges{edges[0], edges[1].to(torch::kFloat)}));
  SAYS("should have one dimension", torch::histogramdd(x, Edges{edges[0], edges[1].view({1, 2})}));
  SAYS("bins must be > 0", torch::histogramdd(x, Edges{edges[0], edges[1].slice(0, 0, 1)}));
}
