// index, index_put_, and the functions that take index tensors or masks.
#include "parity/case.h"

using torch::Tensor;
using torch::indexing::Ellipsis;
using torch::indexing::None;
using torch::indexing::Slice;

PARITY_CASE(indexing, basic) {
  auto x = c.leaf({4, 5, 6});
  c.gradients("integer", {x}, [&] { return x.index({1}); });
  c.gradients("negative", {x}, [&] { return x.index({-1, 2}); });
  c.gradients("slice", {x}, [&] { return x.index({Slice(1, 3), Slice(None, None, 2)}); });
  c.gradients("ellipsis", {x}, [&] { return x.index({Ellipsis, 0}); });
  c.gradients("text_ellipsis", {x}, [&] { return x.index({0, "..."}); });
  c.gradients("new_axis", {x}, [&] { return x.index({None, Slice(), 1, None}); });
  c.gradients("bracket", {x}, [&] { return x[2][-1]; });
  c.out("slice_beyond", x.index({Slice(2, 100)}));
  c.out("slice_negative", x.index({Slice(-3, -1)}));
  c.out("slice_empty", x.index({Slice(3, 1)}));
  c.layout("view", x.index({Slice(1, 3), 2, Slice(None, None, 2)}));
  c.throws("out_of_range", [&] { x.index({4}); });
  c.throws("too_many", [&] { x.index({0, 0, 0, 0}); });
  c.throws("zero_step", [&] { x.index({Slice(0, 3, 0)}); });
  c.throws("bracket_of_0d", [&] { c.randn({})[0]; });
}

PARITY_CASE(indexing, with_integer_tensors) {
  auto x = c.leaf({5, 6, 4});
  auto rows = c.randint(0, 5, {3}), columns = c.randint(0, 6, {3}), grid = c.randint(-5, 5, {2, 3});
  c.gradients("rows", {x}, [&] { return x.index({rows}); });
  c.gradients("pairs", {x}, [&] { return x.index({rows, columns}); });
  c.gradients("grid", {x}, [&] { return x.index({grid}); });
  c.gradients("middle", {x}, [&] { return x.index({Slice(), columns}); });
  c.gradients("apart", {x}, [&] { return x.index({rows, Slice(), c.randint(0, 4, {3})}); });
  c.gradients("broadcast", {x}, [&] { return x.index({rows.unsqueeze(1), columns}); });
  c.gradients("with_integer", {x}, [&] { return x.index({rows, 2}); });
  c.gradients("last", {x}, [&] { return x.index({Ellipsis, c.randint(0, 4, {2})}); });
  c.gradients("repeated", {x}, [&] { return x.index({torch::tensor({1, 1, 1})}); });
  c.out("int32_index", x.index({rows.to(torch::kInt)}));
  c.out("empty_index", x.index({c.randint(0, 1, {0})}));
  c.throws("out_of_range", [&] { x.index({torch::tensor({5})}); });
  c.throws("float_index", [&] { x.index({c.randn({2})}); });
  c.throws("shapes", [&] { x.index({c.randint(0, 4, {2}), c.randint(0, 4, {3})}); });
}

PARITY_CASE(indexing, with_masks) {
  auto x = c.leaf({4, 5});
  auto mask = c.bools({4, 5}), rows = torch::tensor({true, false, true, true});
  c.gradients("full", {x}, [&] { return x.index({mask}); });
  c.gradients("rows", {x}, [&] { return x.index({rows}); });
  c.gradients("columns", {x}, [&] { return x.index({Slice(), c.bools({5})}); });
  c.gradients("comparison", {x}, [&] { return x.index({x > 0}); });
  c.gradients("masked_select", {x}, [&] { return x.masked_select(mask); });
  c.out("none_true", x.index({torch::zeros({4, 5}, torch::kBool)}));
  c.throws("mask_shape", [&] { x.index({c.bools({3})}); });
}

PARITY_CASE(indexing, put) {
  const auto base = c.randn({4, 5});
  auto set = [&](const char* name, std::initializer_list<torch::indexing::TensorIndex> index, const Tensor& value) {
    auto x = base.clone();
    x.index_put_(index, value);
    c.out(name, x);
  };
  set("integer", {1}, c.randn({5}));
  set("broadcast", {Slice(1, 3)}, c.randn({1}));
  set("column", {Ellipsis, 2}, c.randn({4}));
  set("rows", {torch::tensor({0, 2})}, c.randn({2, 5}));
  set("pairs", {torch::tensor({0, 2}), torch::tensor({1, 3})}, c.randn({2}));
  set("mask", {base > 0}, torch::tensor(9.0f));
  set("with_step", {Slice(), Slice(None, None, 2)}, c.randn({4, 3}));
  auto x = base.clone();
  x.index_put_({base < 0}, 0);
  c.out("mask_number", x);
  x.index_put_({0, Slice(0, 2)}, 7.5);
  c.out("number", x);
  x.index_put_({torch::tensor({1, 1, 1})}, torch::ones({3, 5}), /*accumulate=*/true);
  c.out("accumulated", x);
  auto leaf = c.leaf({3, 4}), value = c.leaf({2, 4});
  auto y = leaf * 2;
  y.index_put_({torch::tensor({2, 0})}, value);
  c.out("graph", y);
  c.backward("graph", y, {leaf, value});
  auto z = leaf * 1;
  z.index_put_({Slice(0, 2)}, value);
  c.backward("through_view", z * z, {leaf, value});
  c.throws("shapes", [&] { base.clone().index_put_({torch::tensor({0, 1})}, c.randn({3, 5})); });
  c.throws("dtypes", [&] { base.clone().index_put_({torch::tensor({0, 1})}, c.randn({2, 5}, torch::kDouble)); });
}

PARITY_CASE(indexing, select_gather) {
  for (auto dtype : parity::kAll) {
    c.out(parity::dtype_name(dtype) + "_index_select", c.any({4, 5}, dtype).index_select(1, c.randint(0, 5, {3})));
    c.out(parity::dtype_name(dtype) + "_gather", c.any({4, 5}, dtype).gather(1, c.randint(0, 5, {4, 2})));
  }
  c.for_layouts({4, 5}, torch::kFloat, [&](Tensor x) {
    x.requires_grad_();
    c.gradients("index_select", {x}, [&] { return x.index_select(0, torch::tensor({3, 0, 0})); });
    auto index = c.randint(0, 4, {2, 5});
    c.gradients("gather", {x}, [&] { return x.gather(0, index); });
  });
  auto x = c.leaf({4, 3}, torch::kDouble);
  auto index = c.randint(0, 3, {4, 2});
  c.gradcheck([&] { return x.gather(1, index); }, {x});
  c.gradgradcheck([&] { return x.gather(1, index).pow(2); }, {x});
  c.gradcheck([&] { return x.index_select(0, torch::tensor({1, 1, 3})); }, {x});
  c.gradients("take", {x}, [&] { return x.take(torch::tensor({0, 5, 5})); });
  c.out("take_along_dim", torch::take_along_dim(x, x.argsort(1, false), 1));
  c.throws("gather_out_of_range", [&] { x.gather(1, torch::tensor({{3}})); });
  c.throws("gather_dtype", [&] { x.gather(1, torch::tensor({{1.0f}})); });
  c.throws("select_out_of_range", [&] { x.index_select(0, torch::tensor({4})); });
}

// Neighbours in an index's memory that are none along its last dimension.
PARITY_CASE(indexing, scatter_by_turned_indices) {
  const std::vector<int64_t> turned{1, 2, 0};
  for (int64_t dim = 0; dim < 3; ++dim) {
    const std::string of = " along " + std::to_string(dim);
    const Tensor at = c.randint(0, 4, {6, 4, 5}).permute(turned), src = c.leaf({4, 5, 6});
    const Tensor x = c.leaf({4, 5, 6});
    c.gradients("add" + of, {x, src}, [&] { return x.scatter_add(dim, at, src); });
    c.gradients("add from turned" + of, {x, src}, [&] {
      return x.scatter_add(dim, at, src.permute({2, 0, 1}).contiguous().permute(turned));
    });
    c.out("integers" + of, torch::ones({4, 5, 6}, torch::kLong).scatter_add_(dim, at, c.randint(0, 9, {4, 5, 6})));
    c.out("into turned" + of, torch::ones({6, 4, 5}).permute(turned).scatter_add_(dim, at, src.detach()));
    c.out("most" + of, x.detach().scatter_reduce(dim, at, src.detach(), "amax"));
    c.out("number" + of, x.detach().scatter(dim, at, 1.5));
    c.throws("out of range" + of, [&] { x.detach().scatter(dim, at + 3, 1); });
    c.gradients("sort" + of, {x}, [&] { return std::get<0>(torch::sort(x.permute(turned), dim)) + 0; });
  }
}

PARITY_CASE(indexing, scatter) {
  auto index = torch::tensor({{0, 1, 2}, {2, 0, 1}});
  auto x = c.leaf({3, 3}), src = c.leaf({2, 3});
  c.gradients("tensor", {x, src}, [&] { return x.scatter(0, index, src); });
  c.gradients("number", {x}, [&] { return x.scatter(1, index.slice(0, 0, 2), 1.5); });
  auto repeated = torch::tensor({{0, 0, 1}, {0, 2, 1}});
  c.gradients("add", {x, src}, [&] { return x.scatter_add(0, repeated, src); });
  c.out("in_place", torch::zeros({2, 5}).scatter_(1, torch::tensor({{1}, {4}}), 1));
  c.out("one_hot", torch::zeros({4, 6}).scatter_(1, c.randint(0, 6, {4, 1}), 1.0));
  c.out("reduce_add", torch::ones({3, 3}).scatter_(0, repeated, src.detach(), "add"));
  c.out("reduce_multiply", torch::ones({3, 3}).scatter_(0, repeated, src.detach(), "multiply"));
  for (const char* how : {"sum", "prod", "mean", "amax", "amin"}) {
    c.out(std::string("scatter_reduce_") + how, x.detach().scatter_reduce(0, repeated, src.detach(), how));
  }
  c.throws("out_of_range", [&] { torch::zeros({2, 2}).scatter_(0, torch::tensor({{2}}), 1); });
}

// Many sums in few places: one after the other in the same, or here and there; a NaN among them.
PARITY_CASE(indexing, many_sums) {
  const auto scattered = c.randint(0, 9, {3, 200}), runs = std::get<0>(scattered.cummax(1));
  for (auto dtype : {torch::kFloat, torch::kBFloat16, torch::kDouble, torch::kLong})
    c.scope(parity::dtype_name(dtype), [&] {
      const auto x = c.any({3, 12}, dtype), src = c.any({3, 200}, dtype);
      c.out("runs", x.scatter_add(1, runs, src));
      c.out("scattered", x.scatter_add(1, scattered, src));
      if (dtype == torch::kLong) return;
      auto holes = src.clone();
      holes.select(1, 7).fill_(NAN);
      c.out("runs_nan", x.scatter_add(1, runs, holes));
      c.out("scattered_nan", x.scatter_add(1, scattered, holes));
      auto line = src.clone().requires_grad_();
      c.gradients("cummax", {line}, [&] { return std::get<0>(line.cummax(1)); });
    });
}

// Index tensors that lie otherwise than their common shape, and what is out of range among many.
PARITY_CASE(indexing, index_strides) {
  const auto x = c.randn({6, 5, 4});
  const auto a = c.randint(-6, 6, {3, 7}), b = c.randint(-5, 5, {7, 3}).t(), one = c.randint(0, 5, {3, 1});
  const auto strides = [&](const std::string& name, const torch::Tensor& t) {
    c.out(name, t);
    c.out(name + "_strides", torch::tensor(t.strides()));
  };
  strides("turned", x.index({b.remainder(5), b}));
  strides("both", x.index({a, b}));
  strides("broadcast", x.index({a, one}));
  strides("broadcast_vector", x.index({one, torch::tensor({1, -1})}));
  strides("apart", x.index({a, torch::indexing::Slice(), b.remainder(4)}));
  strides("stepped", x.index({c.randint(0, 6, {14}).slice(0, 0, 14, 2)}));
  strides("ints", x.index({a.to(torch::kInt), b}));
  const auto many = torch::arange(40).remainder(6);
  for (int64_t bad :
       {int64_t{6}, int64_t{-7}, std::numeric_limits<int64_t>::max(), std::numeric_limits<int64_t>::min()})
    c.throws("out_of_range", [&] { x.index({many.clone().index_fill_(0, torch::tensor({33}), bad)}); });
}

// An index that is the same for whole rows, as graph networks use it, and indices and sources of other layouts.
PARITY_CASE(indexing, expanded_index) {
  auto x = c.leaf({5, 3, 70}), src = c.leaf({4, 3, 70});
  auto rows = c.randint(0, 5, {4, 1, 1}), each = c.randint(0, 5, {4, 3, 1}), columns = c.randint(0, 70, {1, 1, 9});
  const std::vector<int64_t> wide{4, 3, 70};
  for (auto& [name, index] : {std::pair{"rows", rows.expand(wide)}, {"each", each.expand(wide)}}) {
    auto at = index;
    c.scope(name, [&] {
      c.gradients("gather", {x}, [&] { return x.gather(0, at); });
      c.gradients("add", {x, src}, [&] { return x.scatter_add(0, at, src); });
      c.out("in_place", torch::ones({5, 3, 70}).scatter_add_(0, at, src.detach()));
      c.out("turned_source", torch::ones({5, 3, 70}).scatter_add_(0, at, c.randn({70, 3, 4}).permute({2, 1, 0})));
      c.out("integers", torch::ones({5, 3, 70}, torch::kLong).scatter_add_(0, at, c.randint(0, 9, wide)));
      c.out("most", x.detach().scatter_reduce(0, at, src.detach(), "amax"));
      c.out("part", x.detach().slice(2, 0, 69).gather(0, at.slice(2, 0, 69)));
    });
  }
  for (auto dtype : {torch::kHalf, torch::kBFloat16, torch::kDouble, torch::kChar, torch::kBool})
    c.out(parity::dtype_name(dtype), c.any({5, 3, 70}, dtype).gather(0, rows.expand(wide)));
  c.gradients("gather_columns", {x}, [&] { return x.gather(2, columns.expand({5, 3, 9})); });
  c.gradients("gather_turned", {x}, [&] { return x.gather(2, c.randint(0, 70, {6, 3, 5}).permute({2, 1, 0})); });
  c.gradients("one_place", {x}, [&] { return x.gather(2, torch::tensor({{{7}}}).expand({5, 3, 4})); });
  c.gradients("one_column", {x}, [&] { return x.gather(2, c.randint(0, 70, {5, 3, 1})); });
  c.gradients("none", {x}, [&] { return x.gather(0, rows.slice(0, 0, 0).expand({0, 3, 70})); });
  c.gradients("columns_of_rows", {x}, [&] { return x.index_select(2, torch::arange(1, 70, 3)); });
  c.throws("gather_out_of_range", [&] { x.gather(0, torch::full({1, 1, 1}, 5, torch::kLong).expand({2, 3, 70})); });
  c.throws("add_out_of_range", [&] { x.scatter_add(0, torch::full({1, 1, 1}, -1, torch::kLong).expand(wide), src); });
}

PARITY_CASE(indexing, index_functions) {
  auto x = c.leaf({4, 3}), source = c.leaf({2, 3});
  auto index = torch::tensor({3, 1});
  c.gradients("add", {x, source}, [&] { return x.index_add(0, index, source, 2); });
  c.gradients("copy", {x, source}, [&] { return x.index_copy(0, index, source); });
  c.gradients("fill", {x}, [&] { return x.index_fill(1, torch::tensor({0, 2}), -1); });
  c.out("add_repeated", torch::zeros({3, 2}).index_add_(0, torch::tensor({1, 1}), torch::ones({2, 2})));
  c.out("put", torch::zeros({2, 3}).put_(torch::tensor({1, 4}), torch::tensor({5.f, 6.f})));
}

// Which shapes of self, index and source fit one another: a scalar counts as a row of one element in some functions.
PARITY_CASE(indexing, rows_of_odd_shapes) {
  const auto tried = [&](const std::string& name, const std::function<Tensor()>& fn) {
    try {
      c.out(name, fn());
    } catch (const std::exception&) {
      c.text(name, "throws");
    }
  };
  const std::vector<std::vector<int64_t>> shapes{{}, {1}, {3}, {0}, {1, 3}, {3, 1}, {0, 3}, {3, 0}};
  const std::vector<Tensor> indices{torch::tensor(0), torch::zeros({0}, torch::kLong), torch::zeros({1}, torch::kLong),
                                    torch::zeros({3}, torch::kLong)};
  for (const auto& shape : shapes) {
    const auto x = c.randn(shape);
    for (const auto& index : indices) {
      const std::string at = c10::str(x.sizes(), " at ", index.sizes());
      for (int64_t d = 0; d < std::max<int64_t>(x.dim(), 1); ++d) {
        tried(c10::str("select ", at, d), [&] { return x.index_select(d, index); });
        tried(c10::str("fill ", at, d), [&] { return x.index_fill(d, index, 2.5); });
        tried(c10::str("fill in place ", at, d), [&] { return x.clone().index_fill_(d, index, 2.5); });
        tried(c10::str("fill with a tensor ", at, d), [&] { return x.index_fill(d, index, torch::tensor(2.5f)); });
        for (const auto& other : shapes) {
          // What of several values is kept is not said: they are equal.
          const auto y = c.randn(other), same = torch::full_like(y, 2.5);
          const std::string name = c10::str(at, d, " of ", y.sizes());
          tried("add " + name, [&] { return x.index_add(d, index, y); });
          tried("add in place " + name, [&] { return x.clone().index_add_(d, index, y); });
          tried("copy " + name, [&] { return x.index_copy(d, index, same); });
          tried("copy in place " + name, [&] { return x.clone().index_copy_(d, index, same); });
          tried("reduce " + name, [&] { return x.index_reduce(d, index, y, "prod"); });
        }
      }
      for (const auto& other : shapes) {
        const auto y = c.randn(other), same = torch::full_like(y, 2.5);
        tried(c10::str("put ", at, " of ", y.sizes()), [&] { return x.put(index, same); });
        tried(c10::str("scatter ", at, " of ", y.sizes()), [&] { return x.scatter(0, index, same); });
        tried(c10::str("scatter_add ", at, " of ", y.sizes()), [&] { return x.scatter_add(0, index, y); });
      }
      tried("take " + at, [&] { return x.take(index); });
      tried("gather " + at, [&] { return x.gather(0, index); });
    }
  }
}

PARITY_CASE(indexing, rows_of_a_scalar) {
  const auto x = c.leaf({}), one = c.leaf({1}), scalar = c.leaf({});
  const auto many = torch::zeros({5}, torch::kLong), first = torch::zeros({1}, torch::kLong);
  c.gradients("fill", {x}, [&] { return x.index_fill(0, many, 2); });
  c.gradients("fill_in_place", {x}, [&] { return (x * 1).index_fill_(-1, many, 2); });
  c.gradients("fill_with_a_tensor", {x, scalar}, [&] { return x.index_fill(0, many, scalar); });
  c.gradients("copy", {x, one}, [&] { return x.index_copy(0, first, one); });
  c.gradients("copy_of_a_scalar", {one, scalar}, [&] { return one.index_copy(0, first, scalar); });
  c.gradients("add_of_a_scalar", {x, scalar}, [&] { return x.index_add(0, first, scalar, 2); });
  for (const int64_t size : {0, 1}) {
    c.gradients("unfold" + std::to_string(size), {x}, [&] { return x.unfold(0, size, 3); });
    c.layout("unfolded" + std::to_string(size), x.unfold(-1, size, 3));
  }
  const auto wide = c.leaf({}, torch::kDouble);
  c.gradgradcheck([&] { return wide.unfold(0, 1, 1).pow(2); }, {wide});
}

PARITY_CASE(indexing, masked) {
  auto x = c.leaf({3, 4}), value = c.leaf({});
  auto mask = c.bools({4});
  c.gradients("fill", {x}, [&] { return x.masked_fill(mask, -5); });
  c.gradients("fill_tensor", {x, value}, [&] { return x.masked_fill(mask, value); });
  c.out("fill_in_place", x.detach().clone().masked_fill_(mask, std::numeric_limits<float>::infinity()));
  c.out("scatter", x.detach().masked_scatter(c.bools({3, 4}), c.randn({12})));
  auto a = c.leaf({3, 4}), b = c.leaf({4});
  c.gradients("where", {a, b}, [&] { return torch::where(a > 0, a, b); });
  c.out("where_numbers", torch::where(c.bools({5}), 1.5, 0.5));
  c.out("where_number_and_tensor", torch::where(c.bools({5}), c.randn({5}), 0.0));
  c.out("nonzero", torch::nonzero(c.randint(0, 2, {3, 4})));
  c.out("argwhere", torch::argwhere(c.bools({6})));
  c.out("nonzero_empty", torch::nonzero(torch::zeros({3, 2})));
  const auto parts = torch::where(c.bools({3, 4}));
  c.out("where_rows", parts[0]);
  c.out("where_columns", parts[1]);
  c.throws("mask_dtype", [&] { x.masked_fill(c.randn({4}), 0); });
}
PARITY_CASE(indexing, places_modulo_the_size) {
  const auto x = c.leaf({2, 3});
  const auto places = torch::tensor({{-1, 3, 1}, {0, -3, 2}});
  c.gradients("take_along_dim", {x}, [&] { return torch::take_along_dim(x, places, 1); });
  c.throws("without a dimension", [&] { torch::take_along_dim(x, torch::tensor({-1})); });
}
// Programs read the places of each dimension through data_ptr.
PARITY_CASE(indexing, layout_of_places) {
  const auto truth = torch::tensor({{1, 0, 1}, {0, 1, 1}}) > 0;
  const auto read = [&](const std::string& name, const Tensor& places) {
    const auto t = places.cpu();
    const auto* at = t.data_ptr<int64_t>();
    c.out(name, torch::tensor(std::vector<int64_t>(at, at + t.numel())));
    c.layout(name + " layout", places);
  };
  const auto where = torch::where(truth);
  for (size_t d = 0; d < where.size(); ++d) read("where" + std::to_string(d), where[d]);
  read("nonzero", truth.nonzero()), read("argwhere", torch::argwhere(truth));
  read("column", truth.nonzero().select(1, 1));
  c.layout("none", torch::nonzero(torch::zeros({2, 3}))), c.layout("of one", torch::nonzero(torch::ones({4})));
  c.layout("of a number", torch::nonzero(torch::tensor(3))), c.layout("of a zero", torch::nonzero(torch::tensor(0)));
  const auto large = c.bools({7, 65, 33});
  c.out("large", large.nonzero());
  for (const auto& t : large.nonzero_numpy()) c.layout("numpy", t);
}
PARITY_CASE(indexing, undefined_index) {
  using torch::indexing::Slice;
  const auto x = c.leaf({2, 3, 4});
  c.gradients("index", {x}, [&] { return x.index({Slice(), Tensor(), torch::tensor({0, 1})}); });
  c.gradients("first", {x}, [&] { return x.index({Tensor(), torch::tensor({0, 1, 1})}); });
  const auto y = c.randn({2, 3, 4});
  y.index_put_({Tensor(), torch::tensor({0, 2})}, torch::zeros({}));
  c.out("put", y);
}
