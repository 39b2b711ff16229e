// The forms name_outf, with the out tensors last, and name_symint, with sizes as SymInt.
#include "parity/bad.h"
#include "parity/case.h"

PARITY_CASE(outf_forms, out_last) {
  const auto x = c.randn({3, 4}), y = c.randn({3, 4}), m = c.randn({4, 2});
  auto out = torch::empty({0}), row = torch::empty({4});
  c.out("add", at::add_outf(x, y, 2, out));
  c.check(at::mul_outf(x, y, out).is_same(out), "the out tensor comes back");
  c.out("mul", out);
  auto other = c.randn({3, 4});  // inputs that could be out tensors
  auto third = torch::empty({0});
  c.out("maximum", at::maximum_outf(out, other, third));
  c.out("sum", at::sum_outf(x, torch::IntArrayRef({0}), false, std::nullopt, row));
  c.out("mean", at::mean_outf(x, std::vector<int64_t>{1}, true, std::nullopt, out));
  c.out("mm", at::mm_outf(x, m, out));
  c.out("addmm", at::addmm_outf(c.randn({2}), x, m, 1, 2, out));
  c.out("cat", at::cat_outf(std::vector<torch::Tensor>{x, y}, 1, out));
  c.out("stack", at::stack_outf(std::vector<torch::Tensor>{x, y}, 0, out));
  c.out("clamp", at::clamp_outf(x, torch::Scalar(-0.5), std::nullopt, out));
  c.out("relu", at::relu_outf(x, out));
  c.out("gelu", at::gelu_outf(x, "tanh", out));
  c.out("index_select", at::index_select_outf(x, 0, torch::tensor({2, 0}), out));
  c.out("arange", at::arange_outf(1, 4, 0.5, out));
  c.out("zeros", at::zeros_outf(torch::IntArrayRef({2, 2}), out));
  c.out("full", at::full_outf(torch::IntArrayRef({2, 2}), 3, out));
}

PARITY_CASE(outf_forms, several_out_last) {
  const auto x = c.randn({3, 4});
  auto self = x.clone();  // no const: must not be taken for an out tensor
  auto a = torch::empty({0}), b = torch::empty({0}), d = torch::empty({0});
  auto places = torch::empty({0}, torch::kLong), exponent = torch::empty({0}, torch::kInt);
  at::max_outf(self, 1, false, a, places);
  c.out("max", a), c.out("max.indices", places);
  c.out("max.all", at::max_outf(self, a));
  c.out("max.two", at::max_outf(self, x, b));
  at::sort_outf(self, 1, true, a, places);
  c.out("sort", a), c.out("sort.indices", places);
  at::topk_outf(self, 2, 1, true, true, a, places);
  c.out("topk", a);
  at::frexp_outf(self, a, exponent);
  c.out("frexp", a), c.out("frexp.exponent", exponent);
  const auto results = at::linalg_svd_outf(self, false, std::nullopt, a, b, d);
  c.check(std::get<1>(results).is_same(b), "the out tensors come back");
  c.out("svd", b);
  at::native_layer_norm_outf(self, torch::IntArrayRef({4}), std::nullopt, std::nullopt, 1e-5, a, b, d);
  c.out("layer_norm", a), c.out("layer_norm.mean", b), c.out("layer_norm.rstd", d);
}

PARITY_CASE(outf_forms, out_forms_of_functions_without) {
  const auto image = c.randn({1, 4, 3, 3});
  auto out = torch::empty({0}), more = torch::empty({0}), last = torch::empty({0});
  c.out("shuffle", at::channel_shuffle_out(out, image, 2));
  c.out("shuffle.last", at::pixel_shuffle_outf(image, 2, out));
  c.out("pooled", at::_adaptive_avg_pool2d_out(out, image, torch::IntArrayRef({2, 2})));
  c.out("softmax", at::_softmax_out(out, image, 1, false));
  c.out("softmax.last", at::_log_softmax_outf(image, 1, false, out));
  c.out("grid", at::grid_sampler_2d_out(out, image, c.randn({1, 2, 2, 2}), 0, 0, false));
  c.out("filled", at::fill_out(out, image, 2.5));
  c.out("trace", at::trace_out(out, c.randn({3, 3})));
  at::native_group_norm_out(out, more, last, image, std::nullopt, std::nullopt, 1, 4, 9, 2, 1e-5);
  c.out("group_norm", out), c.out("group_norm.mean", more), c.out("group_norm.rstd", last);
  auto counts = torch::empty({0}, torch::kLong), inverse = torch::empty({0}, torch::kLong);
  at::unique_dim_outf(torch::tensor({3.f, 1.f, 3.f}), 0, true, true, true, out, inverse, counts);
  c.out("unique", out), c.out("unique.inverse", inverse), c.out("unique.counts", counts);
  c.throws("dtype", [&] {
    auto whole = torch::empty({0}, torch::kLong);
    at::channel_shuffle_out(whole, image, 2);
  });
}

PARITY_CASE(outf_forms, symbolic_sizes) {
  const auto x = c.randn({3, 4});
  auto out = torch::empty({0});
  const std::vector<c10::SymInt> sizes{c10::SymInt(2), c10::SymInt(6)};
  const c10::SymIntArrayRef two(sizes);
  c.out("reshape", at::reshape_symint(x, two));
  c.out("like", at::reshape_symint(c.randn({12}), x.sym_sizes()));
  c.out("narrow", at::narrow_symint(x, 1, c10::SymInt(1), x.sym_size(0) - 1));
  c.out("braces", at::zeros_symint({x.sym_size(0), 2}, torch::TensorOptions(torch::kInt)));
  c.out("zeros", at::zeros_symint(two, torch::TensorOptions(torch::kInt)));
  c.out("full", at::full_symint(two, 3, torch::TensorOptions(torch::kFloat)));
  c.out("ones", at::ones_symint(x.sym_sizes()));
  c.out("slice", at::slice_symint(x, 1, std::optional<c10::SymInt>(1), std::optional<c10::SymInt>(), c10::SymInt(2)));
  c.out("select", at::select_symint(x, 0, c10::SymInt(1)));
  const auto parts = at::split_symint(x, c10::SymInt(3), 1);
  c.out("split", parts[1]);
  c.out("tile", at::tile_symint(x, two));
  c.out("out", at::zeros_symint_out(out, two));
  c.out("out last", at::select_backward_symint_outf(c.randn({4}), x.sym_sizes(), 0, c10::SymInt(1), out));
  auto leaf = c.leaf({3, 4});
  c.gradients("gradient", {leaf}, [&] { return at::reshape_symint(leaf, two) * 2; });
}
