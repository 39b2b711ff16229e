// Elements taken from, written to and counted at places that a tensor of indices gives.
#include "calls.h"

using random_calls::Inputs;
using random_calls::Shape;
using random_calls::Tensors;
using torch::Tensor;
using torch::indexing::Slice;

namespace {

struct Places {
  Tensor x;
  int64_t dim;
  Tensor index;   // as x, another size along dim
  Tensor source;  // of index's shape
};
Places places(Inputs& in, bool integers = false) {
  Places p;
  const int64_t dims = in.between(1, 3);
  Shape shape = in.sizes(dims, 1, 4);
  p.dim = in.between(-dims, dims - 1);
  p.x = integers ? in.integers(shape, -5, 5) : in.tensor(shape);
  const int64_t size = p.x.size(p.dim);
  shape[(p.dim + dims) % dims] = in.size(1, 5);
  p.index = in.integers(shape, 0, size - 1);
  p.source = integers ? in.integers(shape, -5, 5) : in.tensor(shape);
  return p;
}

/// Indices along a single dimension, and a source that fits.
Places rows(Inputs& in) {
  Places p;
  const int64_t dims = in.between(1, 3), n = in.size(1, 5);
  Shape shape = in.sizes(dims, 1, 4);
  p.dim = in.between(-dims, dims - 1);
  p.x = in.tensor(shape);
  p.index = in.integers({n}, 0, p.x.size(p.dim) - 1);
  shape[(p.dim + dims) % dims] = n;
  p.source = in.tensor(shape);
  return p;
}
/// Indices that do not repeat: where each is written once, the order does not matter.
Places single_rows(Inputs& in) {
  Places p = rows(in);
  p.index = torch::arange(p.x.size(p.dim)).flip(0);
  Shape shape = p.x.sizes().vec();
  p.source = in.tensor(shape);
  return p;
}

const std::vector<std::string> kReductions = {"sum", "prod", "mean", "amax", "amin"};
Tensor scatter_reduced(Inputs& in, bool integers) {
  const Places p = places(in, integers);
  const auto reduction = in.of(kReductions);
  return p.x.scatter_reduce(p.dim, p.index, p.source, reduction, in.coin());
}
Tensor index_reduced(Inputs& in) {
  const Places p = rows(in);
  const auto reduction = in.of<std::string>({"prod", "mean", "amax", "amin"});
  return torch::index_reduce(p.x, p.dim, p.index, p.source, reduction, in.coin());
}

/// Slices, numbers, new dimensions, lists and masks, as they come.
std::vector<torch::indexing::TensorIndex> any_indices(Inputs& in, const Tensor& x) {
  std::vector<torch::indexing::TensorIndex> all;
  int64_t d = 0;
  const int64_t listed = in.between(1, 3);
  bool whole = false;
  while (d < x.dim() && !in.one_of(5)) {
    const int64_t size = x.size(d);
    switch (in.between(0, 6)) {
      case 0:
        all.emplace_back(Slice(in.between(-size, size), in.between(-size, size + 1), in.between(1, 2)));
        break;
      case 1:
        all.emplace_back(in.between(-size, size - 1));
        break;
      case 2:
        all.emplace_back(torch::indexing::None);
        continue;
      case 3:
        if (!whole) all.emplace_back(torch::indexing::Ellipsis), d = x.dim();
        whole = true;
        continue;
      case 4:
        all.emplace_back(in.integers({listed}, -size, size - 1));
        break;
      case 5:
        all.emplace_back(in.integers({2, 1}, -size, size - 1));
        break;
      default:
        all.emplace_back(in.mask({size}));
        break;
    }
    ++d;
  }
  if (all.empty()) all.emplace_back(Slice());
  return all;
}
Tensor indexed(Inputs& in) {
  const Tensor x = in.tensor(in.sizes(in.between(1, 4), 1, 4));
  return x.index(any_indices(in, x));
}
Tensor written(Inputs& in, bool number) {
  const Tensor x = in.tensor(in.sizes(in.between(1, 4), 1, 4));
  const auto indices = any_indices(in, x);
  const Tensor y = in.tensor({});
  Tensor out = x.clone();
  if (number)
    out.index_put_(indices, 2.5);
  else
    out.index_put_(indices, y);
  return out;
}
Tensor accumulated(Inputs& in) {
  const Tensor x = in.tensor({in.size(1, 4), in.size(1, 4)});
  const int64_t n = in.size(1, 5);
  const Tensor rows = in.integers({n}, 0, x.size(0) - 1), columns = in.integers({n}, 0, x.size(1) - 1);
  return x.index_put({rows, columns}, in.tensor({n}), true);
}

Tensor slice_scattered(Inputs& in) {
  const Tensor x = in.tensor({in.between(2, 4), 4});
  const int64_t step = in.between(1, 2), dim = in.between(0, 1);
  const Tensor part = in.tensor(x.slice(dim, 0, 2, step).sizes().vec());
  return torch::slice_scatter(x, part, dim, 0, 2, step);
}
Tensor select_scattered(Inputs& in) {
  const Tensor x = in.tensor(in.sizes(3, 1, 4));
  const int64_t dim = in.between(-3, 2);
  return torch::select_scatter(x, in.tensor(x.select(dim, 0).sizes().vec()), dim, in.between(-1, 0));
}
Tensor diagonal_scattered(Inputs& in) {
  const Tensor x = in.tensor(in.sizes(3, 2, 4));
  const int64_t offset = in.between(-1, 1);
  return torch::diagonal_scatter(x, in.tensor(x.diagonal(offset, 0, 2).sizes().vec()), offset, 0, 2);
}

Tensor repeated(Inputs& in) {
  const Tensor x = in.tensor(in.sizes(2, 1, 4));
  const int64_t dim = in.between(-2, 1);
  return torch::repeat_interleave(x, in.integers({x.size(dim)}, 0, 3), dim);
}

Tensors counted(Inputs& in) {
  const int64_t n = in.size(0, 8);
  const Tensor x = in.integers({n}, 0, 5);
  return {torch::bincount(x, in.coin() ? in.fractions({n}).detach() : Tensor(), in.between(0, 8))};
}

Tensor searched(Inputs& in) {
  const int64_t rows = in.size(1, 3), n = in.size(0, 5);
  const Tensor sorted = std::get<0>(torch::sort(in.tensor({rows, n}).detach()));
  const Tensor wanted = in.tensor({rows, in.size(0, 4)}).detach();
  return torch::searchsorted(sorted, wanted, in.coin(), in.coin());
}

Tensors quantiles(Inputs& in, bool nan) {
  in.full_precision();
  const Tensor x = in.tensor(in.sizes(2, 1, 6)),
               q = torch::tensor({0.0, 0.3, 0.75, 1.0}, torch::TensorOptions(in.dtype));
  const auto mode = in.of<std::string>({"linear", "lower", "higher", "midpoint", "nearest"});
  const bool kept = in.coin();
  const std::optional<int64_t> dim = in.coin() ? std::optional<int64_t>(in.between(-2, 1)) : std::nullopt;
  const Tensor y = torch::where(x > 3, torch::full_like(x, NAN), x);
  return {nan ? torch::nanquantile(y, q, dim, kept, mode) : torch::quantile(x, q, dim, kept, mode)};
}

Tensors runs(Inputs& in) {
  const Tensor x = in.integers({in.size(0, 9)}, 0, 2);
  return random_calls::results(torch::unique_consecutive(x, in.coin(), in.coin()));
}
Tensors distinct(Inputs& in) {
  const Tensor x = in.integers({in.size(1, 4), in.size(1, 4)}, 0, 2);
  return random_calls::results(torch::unique_dim(x, in.between(-2, 1), true, in.coin(), in.coin()));
}

}  // namespace

DRAWN(scatter_reduced(in, false))
DRAWN(scatter_reduced(in, true))
DRAWN(index_reduced(in))
DRAWN([&] {
  const auto a = places(in);
  return a.x.gather(a.dim, a.index);
}())
DRAWN([&] {
  const auto a = places(in);
  return a.x.scatter_add(a.dim, a.index, a.source);
}())
DRAWN([&] {
  const auto a = places(in);
  return torch::take_along_dim(a.x, a.index, a.dim);
}())
DRAWN([&] {
  const auto a = places(in);
  return a.x.scatter(a.dim, a.index, 1.5, in.coin() ? "add" : "multiply");
}())
DRAWN([&] {
  const auto a = rows(in);
  return a.x.index_select(a.dim, a.index);
}())
DRAWN([&] {
  const auto a = rows(in);
  return a.x.index_add(a.dim, a.index, a.source, 0.5);
}())
DRAWN([&] {
  const auto a = rows(in);
  return a.x.index_fill(a.dim, a.index, -2);
}())
DRAWN([&] {
  const auto a = single_rows(in);
  return a.x.index_copy(a.dim, a.index, a.source);
}())
DRAWN([&] {
  const auto a = places(in);
  return a.x.clone().put_(a.index % a.x.numel(), a.source, true);
}())
DRAWN([&] {
  const auto a = places(in);
  return torch::take(a.x, a.index - 1);
}())
DRAWN(indexed(in))
DRAWN(written(in, true))
DRAWN(written(in, false))
DRAWN(accumulated(in))
DRAWN(slice_scattered(in))
DRAWN(select_scattered(in))
DRAWN(diagonal_scattered(in))
DRAWN(repeated(in))
DRAWN(counted(in))
DRAWN(searched(in))
DRAWN(quantiles(in, false))
DRAWN(quantiles(in, true))
DRAWN(runs(in))
DRAWN(distinct(in))
