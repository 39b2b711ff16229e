// Functions and methods of every tensor: views, places, numbers of integers and bits, conjugates of real tensors.
#include <cmath>

#include "parity/case.h"

using torch::Tensor;

PARITY_CASE(tensor_functions, conjugates) {
  c.for_dtypes(parity::kAll, [&](torch::Dtype dtype) {
    auto x = c.any({2, 3}, dtype);
    c.out("conj", torch::conj(x));
    c.out("conj_physical", x.conj_physical());
    c.out("conj_physical_", torch::conj_physical_(x));
    c.out("resolve_conj", torch::resolve_conj(x));
    c.out("resolve_neg", x.resolve_neg());
    c.value("is_conj", torch::is_conj(x) || x.is_conj() || torch::is_neg(x) || x.is_neg());
    c.value("same", x.conj().data_ptr() == x.data_ptr() && x.resolve_conj().data_ptr() == x.data_ptr());
    c.out("angle", torch::angle(x));
  });
  auto x = c.leaf({3, 4});
  c.gradients("gradient", {x}, [&] { return x.conj() * 2 + x.resolve_neg(); });
  c.gradients("angle_gradient", {x}, [&] { return x.angle() + x; });
  c.out("angle_special", torch::angle(c.special()));
  c.layout("mH", c.randn({2, 3, 4}).mH());
  c.layout("matrix_H", c.randn({3, 4}).matrix_H());
  c.layout("adjoint", torch::adjoint(c.randn({3, 4})));
  c.throws("imag", [&] { torch::imag(x); });
  c.throws("matrix_H_rank", [&] { c.randn({2, 3, 4}).matrix_H(); });
}

PARITY_CASE(tensor_functions, integers) {
  c.for_dtypes(parity::kInts, [&](torch::Dtype dtype) {
    const auto a = c.randint(0, 60, {4, 5}, dtype), b = c.randint(0, 12, {5}, dtype);
    c.out("gcd", torch::gcd(a, b));
    c.out("lcm", torch::lcm(a % 11, b));
    Tensor t = a.clone();
    c.out("gcd_", torch::gcd_(t, b));
    c.out("lcm_", (a % 7).lcm_(b));
  });
  c.out("negative", torch::gcd(torch::tensor({-12, 18, 0, -7}), torch::tensor({8, -27, -5, 0})));
  c.out("lcm_negative", torch::lcm(torch::tensor({-12, 18, 0, -7}), torch::tensor({8, -27, -5, 0})));
  c.out("promoted", torch::gcd(torch::tensor({12, 18}, torch::kInt), torch::tensor({8, 27})));
  c.throws("floats", [&] { torch::gcd(c.randn({3}), c.randn({3})); });
  c.throws("bools", [&] { torch::lcm(c.bools({3}), c.bools({3})); });
}

PARITY_CASE(tensor_functions, nextafter) {
  c.for_dtypes(parity::kFloats, [&](torch::Dtype dtype) {
    const auto a = c.values({0, -0.0, 1, 1, -1, -1, 2.5, INFINITY, -INFINITY, NAN, 1, 0, 3}, dtype),
               b = c.values({1, -1, 2, -3, 0, -5, 2.5, 0, 0, 1, NAN, 0, INFINITY}, dtype);
    c.out("y", torch::nextafter(a, b));
    c.out("in_place", a.clone().nextafter_(b));
    c.out("broadcast", torch::nextafter(a.unsqueeze(1), b.slice(0, 0, 3)));
    // The least number of the dtype, and twice back.
    const auto tiny = torch::nextafter(torch::zeros({2}, torch::dtype(dtype)), c.values({1, -1}, dtype));
    c.out("tiny", tiny);
    c.out("back", torch::nextafter(tiny, torch::zeros({2}, torch::dtype(dtype))));
  });
  c.throws("integers", [&] { torch::nextafter(c.randint(0, 4, {3}), c.randint(0, 4, {3})); });
}

PARITY_CASE(tensor_functions, frexp) {
  c.for_dtypes(parity::kFloats, [&](torch::Dtype dtype) {
    auto x = c.leaf({4, 3}, dtype);
    const auto [mantissa, exponent] = torch::frexp(x);
    c.out("mantissa", mantissa);
    c.out("exponent", exponent);
    c.backward("gradient", mantissa, {x});
    c.out("special", std::get<0>(c.special(dtype).frexp()));
    c.out("special_exponent", std::get<1>(c.special(dtype).frexp()));
  });
  c.throws("integers", [&] { torch::frexp(c.randint(0, 4, {3})); });
}

PARITY_CASE(tensor_functions, float_power) {
  auto x = c.leaf_in(0.5, 2, {3, 4}, torch::kDouble), y = c.leaf({3, 4}, torch::kDouble);
  c.gradients("in_place", {x, y}, [&] { return (x * 1).float_power_(y); });
  c.out("number", x.detach().clone().float_power_(2));
  c.out("of_number", torch::float_power(2, c.randint(-2, 3, {4})));
  c.throws("float", [&] { c.rand({3}).float_power_(2); });
}

PARITY_CASE(tensor_functions, index_reduce) {
  const auto index = torch::tensor({0, 2, 0, 1});
  for (const std::string kind : {"prod", "mean", "amax", "amin"})
    for (const bool include : {true, false})
      c.scope(kind + (include ? "" : "_alone"), [&] {
        auto x = c.leaf({3, 5}), s = c.leaf({4, 5});
        c.gradients("y", {x, s}, [&] { return torch::index_reduce(x, 0, index, s, kind, include); });
        auto y = c.leaf({2, 3}), t = c.leaf({2, 4});
        c.gradients("in_place", {y, t}, [&] { return (y * 1).index_reduce_(1, index, t, kind, include); });
        c.for_dtypes({torch::kDouble, torch::kLong, torch::kInt}, [&](torch::Dtype dtype) {
          c.out("z", torch::index_reduce(c.randint(1, 9, {3, 2}).to(dtype), 0, index, c.randint(1, 9, {4, 2}).to(dtype),
                                         kind, include));
        });
      });
  c.throws("sum", [&] { torch::index_reduce(c.randn({3}), 0, index, c.randn({4}), "sum"); });
  c.throws("source", [&] { torch::index_reduce(c.randn({3, 2}), 0, index, c.randn({4, 3}), "prod"); });
  c.throws("count", [&] { torch::index_reduce(c.randn({3, 2}), 0, index, c.randn({3, 2}), "prod"); });
  c.throws("range", [&] { torch::index_reduce(c.randn({2}), 0, index, c.randn({4}), "amax"); });
}

PARITY_CASE(tensor_functions, places) {
  auto x = c.leaf({3, 4}), s = c.leaf({2, 2});
  const auto at = torch::tensor({{0, 11}, {5, -2}});
  c.gradients("put", {x, s}, [&] { return torch::put(x, at, s); });
  c.gradients("put_added", {x, s}, [&] { return x.put(torch::tensor({{0, 11}, {0, -2}}), s, true); });
  c.throws("put_count", [&] { torch::put(x, at, c.randn({3})); });
  const auto flags = torch::tensor({{0, 3, 0}, {1, 0, 2}});
  c.out("nonzero_static", torch::nonzero_static(flags, 2));
  c.out("nonzero_filled", flags.nonzero_static(5, -7));
  c.out("nonzero_none", torch::nonzero_static(flags, 0));
  c.throws("nonzero_size", [&] { torch::nonzero_static(flags, -1); });
}

PARITY_CASE(tensor_functions, views) {
  auto x = c.leaf({4, 6}), s = c.leaf({2, 3});
  // Of self, LibTorch gives the gradient of the part that was replaced in place of that of the rest.
  c.out("as_strided_scatter", torch::as_strided_scatter(x.detach(), s.detach(), {2, 3}, {6, 2}, 1));
  c.gradients("as_strided_scatter_source", {s}, [&] {
    return torch::as_strided_scatter(x.detach(), s, {2, 3}, {6, 2}, 1);
  });
  c.gradients("as_strided_", {x}, [&] { return (x * 1).as_strided_({3, 2}, {2, 5}, 2) * 2; });
  Tensor t = c.arange({6});
  c.layout("strided", t.as_strided_({2, 2}, {1, 3}, 1));
  const auto parts = torch::unsafe_split(x, 3, 1);
  c.value("split", static_cast<int64_t>(parts.size()));
  c.gradients("unsafe_split", {x}, [&] { return torch::unsafe_split(x, 4, 1)[1]; });
  c.gradients("unsafe_chunk", {x}, [&] { return x.unsafe_chunk(3, 1)[2]; });
  c.gradients("unsafe_split_with_sizes", {x}, [&] { return torch::unsafe_split_with_sizes(x, {1, 5}, 1)[1]; });
  c.throws("sizes", [&] { torch::unsafe_split_with_sizes(x, {1, 4}, 1); });
  Tensor same = x.detach();
  c.value("set_to", same.is_set_to(x) && !x.is_set_to(x.t()) && !x.is_set_to(x.detach().clone()));
  c.out("row_stack", torch::row_stack({c.randn({2}), c.randn({3, 2})}));
  c.gradients("renorm_", {x}, [&] { return (x * 1).renorm_(2, 0, 1.5); });
  Tensor small = c.randn({2, 3});
  const Tensor resized = torch::resize_as(small, c.randn({3, 2}));
  c.out("resize_as", resized);
  c.out("resize_as_", torch::resize_as_(small, c.randn({6})));
  c.layout("resize_as_format",
           c.randn({2, 3, 4, 5}).resize_as_(c.randn({2, 3, 4, 5}), torch::MemoryFormat::ChannelsLast));
}

PARITY_CASE(tensor_functions, about) {
  auto x = c.leaf({4, 6});
  c.value("numel", static_cast<int64_t>(torch::numel(x)));
  c.value("size", torch::size(x, 1) * 10 + torch::stride(x, 0));
  c.value("device", static_cast<int64_t>(torch::get_device(x)));
  c.value("inference", torch::is_inference(x));
  c.value("kinds", x.is_xla() || x.is_xpu() || x.is_mkldnn() || x.is_nested() || x.is_sparse_csr() || x.is_vulkan());
  Tensor y = x * 2;
  c.value("detach_", torch::detach_(y).requires_grad());
  c.value("leaf", y.is_leaf());
  c.out("zero", torch::zero(x));
  c10::OptionalArrayRef<int64_t> dims = std::vector<int64_t>{0};
  c.value("optional", dims.has_value() && !c10::OptionalArrayRef<double>().has_value());
  at::OptionalIntArrayRef none = std::nullopt;
  c.value("value_or", static_cast<int64_t>(none.value_or(torch::IntArrayRef({3, 4})).size()));
}

PARITY_CASE(tensor_functions, items) {
  namespace indexing = torch::indexing;
  auto x = c.arange({4, 5});
  c.value("min", indexing::INDEX_MIN);
  c.value("max", indexing::INDEX_MAX);
  const std::vector<indexing::TensorIndex> row{1, indexing::Slice(1, 4)};
  c.out("get_item", indexing::get_item(x, row));
  c.out("all", indexing::get_item(x, {indexing::Slice(0, indexing::INDEX_MAX), 2}));
  indexing::set_item(x, row, torch::full({3}, 7.0));
  indexing::set_item(x, {indexing::Slice(), 0}, torch::full({}, -1.0));
  c.out("set_item", x);
}
