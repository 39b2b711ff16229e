// Forms in which programs call functions that other cases call otherwise: optional tensors, options one by one, results
// written into a tensor, numbers on the left.
#include <sstream>

#include "parity/case.h"

using torch::Tensor;
using Maybe = std::optional<Tensor>;

PARITY_CASE(call_forms, optional_tensors) {
  const Tensor x = c.leaf({2, 4, 6, 6}), w = c.leaf({4, 4, 3, 3}), v = c.leaf({4}), row = c.leaf({3, 4});
  c.out("conv", torch::conv2d(x, w, std::nullopt, 1, 1));
  c.gradients("conv_bias", {x, w, v}, [&] { return torch::conv2d(x, w, Maybe(v), 1, "same"); });
  c.out("transposed", torch::conv_transpose2d(x, w, Maybe(), 2));
  c.out("linear", torch::linear(row, c.randn({5, 4}), Maybe(c.randn({5}))));
  c.gradients("layer_norm", {row, v}, [&] { return torch::layer_norm(row, {4}, Maybe(v), Maybe()); });
  c.out("group_norm", torch::group_norm(x, 2, Maybe(), Maybe(v)));
  c.out("batch_norm", torch::batch_norm(x, Maybe(v), Maybe(), Maybe(), Maybe(), true, 0.1, 1e-5, false));
  const Tensor target = c.randint(0, 4, {3}, torch::kLong);
  c.out("nll", torch::nll_loss(row.log_softmax(1), target, Maybe(c.rand({4}, torch::kFloat, 0.5, 1))));
  c.out("cross_entropy", torch::cross_entropy_loss(row, target, Maybe()));
  c.out("bce",
        torch::binary_cross_entropy_with_logits(row, c.rand({3, 4}, torch::kFloat, 0, 1), Maybe(), Maybe(v.detach())));
}

PARITY_CASE(call_forms, bce_without_dimensions_of_one) {
  const Tensor p = c.leaf_in(0.1, 0.9, {4, 1, 1, 1}), column = c.leaf_in(0.1, 0.9, {4, 1});
  const Tensor labels = c.rand({4}, torch::kFloat, 0, 1);
  c.gradients("images", {p}, [&] { return torch::binary_cross_entropy(p, labels); });
  c.gradients("column", {column}, [&] { return torch::binary_cross_entropy(column, labels, {}, at::Reduction::None); });
  c.throws("other", [&] { torch::binary_cross_entropy(column, c.rand({3}, torch::kFloat, 0, 1)); });
}

PARITY_CASE(call_forms, bounds) {
  const Tensor x = c.leaf({3, 4}), low = c.rand({4}, torch::kFloat, -1, 0), high = c.rand({3, 1}, torch::kFloat, 0, 1);
  c.gradients("clamp", {x}, [&] { return x.clamp(low, high); });
  c.out("low", x.clamp(low));
  c.out("none", torch::clip(x, Maybe(), Maybe(high)));
  Tensor y = c.randn({3, 4});
  c.out("clamp_", y.clamp_(low, high));
  c.out("clip_", y.clip_(low));
  c.out("clamp_min_", y.clamp_min_(high));
  c.out("clamp_max_", y.clamp_max_(low));
  c.throws("nothing", [&] { y.clamp(); });
}

PARITY_CASE(call_forms, devices_as_options) {
  const torch::DeviceType kind = torch::kMeta;
  const std::string name = "meta";
  const torch::TensorOptions numbered(kind, 0), named = name;
  c.value("numbered", numbered.device() == torch::Device("meta:0"));
  c.value("number", static_cast<int64_t>(numbered.device_index()));
  c.value("named", named.device().is_meta());
  c.value("braces", torch::empty({2}, {torch::kMeta, 0}).is_meta());
  c.value("text", torch::zeros({2}, "meta").is_meta() && torch::full({2}, 3.0, name).is_meta());
  c.out("zeros", torch::zeros({2}, "cpu"));
  const Tensor x = torch::ones({3}, torch::kCPU);
  c.out("to_braces", x.to({torch::kCPU, -1}, false, true));
  c.check(x.to("cpu").is_same(x), "a tensor that is there already is returned");
  c.out("to_device", x.to(torch::Device("cpu"), false, true, torch::MemoryFormat::Preserve));
  c.throws("unknown", [] { torch::zeros({2}, "nowhere"); });
}

PARITY_CASE(call_forms, arithmetic) {
  const Tensor x = c.randn({3, 4}), i = c.randint(-9, 10, {3, 4}, torch::kLong);
  c.out("divide", x.divide(c.randn({4}), "floor"));
  c.out("divide_number", torch::divide(x, 0.3, "trunc"));
  c.out("divide_", x.clone().divide_(0.7, "floor"));
  c.out("div_", x.clone().div_(2, "trunc"));
  c.out("subtract", x.subtract(2, 3));
  c.out("subtract_", x.clone().subtract_(x, 0.5));
  c.out("round_", (x * 100).round_(1));
  c.out("remainder", torch::remainder(7, i.masked_fill(i == 0, 4)));
  c.out("bits",
        i.__and__(6) + i.__or__(i.flip({0})) + i.__xor__(5) + torch::__lshift__(i, 2) + torch::__rshift__(i, 1));
  Tensor j = i.clone();
  c.out("bits_", j.__iand__(13).__ior__(16).__ixor__(i));
  c.out("number_left", torch::bitwise_and(6, i) + torch::bitwise_or(1, i) + torch::bitwise_xor(2, i));
  c.out("norm", x.norm(2, torch::kDouble));
  c.out("norm_dim", x.norm(1, {1}, true, torch::kDouble));
  c.out("diff", torch::diff(x, 2, 1, c.randn({3, 1}), c.randn({3, 2})));
  c.out("diff_append", x.diff(1, 0, {}, c.randn({2, 4})));
  c.text("type", torch::toString(torch::result_type(1.5, i)));
}

PARITY_CASE(call_forms, truth_and_order) {
  const Tensor m = c.bools({3, 4, 2}), x = c.randn({5}), edges = c.values({-1, 0, 0.5, 2}, torch::kFloat);
  c.out("any", m.any(at::IntArrayRef({0, 2})));
  c.out("all", torch::all(m, at::IntArrayRef({0, 1}), true));
  c.out("argsort", c.randint(0, 3, {20}, torch::kLong).argsort(true, 0, true));
  c.out("side", torch::searchsorted(edges, edges, false, false, "right"));
  const Tensor order = c.values({3, 0, 2, 1}, torch::kLong);
  c.out("sorter", torch::searchsorted(edges.index_select(0, order.argsort()), x, false, false, std::nullopt, order));
  c.out("number", torch::searchsorted(edges, 0.25));
  c.out("bucket", torch::bucketize(0.25, edges));
  c.throws("sides", [&] { torch::searchsorted(edges, x, false, true, "left"); });
  const Tensor k = c.randint(0, 6, {8}, torch::kLong);
  c.out("isin", torch::isin(k, c.values({1, 3}, torch::kLong), false, true));
  c.out("isin_number", torch::isin(k, 3));
  c.out("bincount", k.bincount(c.rand({8}), 9));
  c.out("bincount_counts", k.bincount());
}

PARITY_CASE(call_forms, places) {
  const Tensor x = c.leaf({3, 5}), index = c.values({2, 0}, torch::kLong);
  c.gradients("index_fill", {x}, [&] { return x.index_fill(0, index, c.values({7}, torch::kFloat).squeeze()); });
  c.throws("index_fill_dims", [&] { x.index_fill(0, index, c.randn({2})); });
  const Tensor at = c.randint(0, 3, {3, 5}, torch::kLong), src = c.randn({3, 5}), y = c.randn({3, 5});
  c.out("scatter_add", y.scatter(0, at, src, "add"));
  c.out("scatter_number", torch::scatter(y, 0, at.narrow(0, 0, 1), 2, "multiply"));
  c.out("scatter_", y.clone().scatter_(0, at, 0.5, "add"));
  c.out("narrow", y.narrow(1, c.values({2}, torch::kLong).squeeze(), 2));
  c.out("narrow_copy", y.narrow_copy(1, 1, 3));
  c.out("split", y.tensor_split(c.values({1, 4}, torch::kLong), 1)[1]);
  c.out("repeat", torch::repeat_interleave(c.values({1, 0, 3}, torch::kLong)));
  c.out("repeat_size", y.repeat_interleave(2, 0, 6));
  c.out("squeeze_", c.randn({1, 3, 1}).squeeze_(at::IntArrayRef({0, 2})));
  c.out("where", y.where(y > 0, 1));
  torch::List<Maybe> list;
  list.push_back(Maybe()), list.push_back(Maybe(index));
  c.out("list", y.index(list));
  c.out("index", at::index(y, {index}));
  c.out("index_put_", y.clone().index_put_(list, c.values({1}, torch::kFloat), true));
}

PARITY_CASE(call_forms, out_tensors) {
  const Tensor a = c.randn({3, 4}), b = c.randn({4, 3}), v = c.randn({4});
  Tensor out = torch::empty({0}), places = torch::empty({0}, torch::kLong);
  c.out("mean", torch::mean_out(out, a, {1}, true).clone());
  c.out("mv", torch::mv_out(out, a, v).clone());
  c.out("lerp", torch::lerp_out(out, a, b.t(), 0.3).clone());
  c.out("linear", at::linear_out(out, a, b.t(), c.randn({3})).clone());
  c.out("arange", torch::arange_out(out, 2, 9, 3).clone());
  c.out("stack", torch::stack_out(out, {v, v}, 1).clone());
  c.out("mul", torch::mul_out(out, a, 3).clone());
  torch::max_out(out, places, a, 1);
  c.out("max", out.clone()), c.out("max_places", places.clone());
  torch::sort_out(out, places, v);
  c.out("sort", out.clone()), c.out("sort_places", places.clone());
  c.throws("grad", [&] { torch::mean_out(out, c.leaf({2, 2}), {1}); });
  c.throws("dtype", [&] { torch::mean_out(places, a, {1}); });
}

PARITY_CASE(call_forms, options_one_by_one) {
  c.out("zeros", at::zeros({2, 3}, torch::kDouble, std::nullopt, std::nullopt, std::nullopt));
  c.out("full", at::full({2}, 1.5, std::nullopt, torch::kStrided, torch::Device("cpu"), false));
  c.out("arange", at::arange(1, 7, 2, torch::kInt, std::nullopt, std::nullopt, std::nullopt));
  c.out("eye", at::eye(3, torch::kLong, std::nullopt, std::nullopt, std::nullopt));
  c.out("like", at::zeros_like(c.randn({2, 2}), torch::kHalf, std::nullopt, std::nullopt, std::nullopt, std::nullopt));
  c.layout("full_like", torch::full_like(c.randn({1, 2, 3, 4}), 2, {}, torch::MemoryFormat::ChannelsLast));
  c.out("linspace", torch::linspace(c.values({1}, torch::kFloat).squeeze(), 5, 9));
}

PARITY_CASE(call_forms, linear_algebra) {
  Tensor a = c.randn({5, 2}, torch::kFloat);
  a = torch::cat({a, a.sum(1, true)}, 1);  // of rank 2
  c.tolerance(1e-4, 1e-5);
  c.out("pinv", torch::linalg_pinv(a));
  c.out("pinv_rtol", torch::linalg_pinv(a, std::optional<double>(), std::optional<double>(0.9)));
  c.out("pinv_tensors", torch::linalg_pinv(a, Maybe(c.values({0.01}, torch::kFloat).squeeze()), Maybe()));
  c.out("rank", torch::linalg_matrix_rank(a, Maybe(), Maybe(), false));
  c.out("rank_tol", torch::linalg_matrix_rank(a, c.values({100}, torch::kFloat).squeeze()));
  c.throws("driver", [&] { torch::linalg_svdvals(a, "gesvd"); });
  c.out("einsum", torch::einsum("ij,jk,kl->il", {c.randn({2, 3}), c.randn({3, 4}), c.randn({4, 2})}, {0, 1, 0, 1}));
}

PARITY_CASE(call_forms, sizes_and_factors) {
  const Tensor x = c.leaf({1, 2, 4, 5}), line = c.randn({1, 2, 5});
  const std::vector<double> factors{2.5, 1.4}, one{1.7};
  c.gradients("nearest", {x},
              [&] { return torch::upsample_nearest2d(x, std::nullopt, at::ArrayRef<double>(factors)); });
  c.gradients("bilinear", {x},
              [&] { return torch::upsample_bilinear2d(x, std::nullopt, false, at::ArrayRef<double>(factors)); });
  c.out("linear", torch::upsample_linear1d(line, std::nullopt, true, at::ArrayRef<double>(one)));
  c.throws("both", [&] { torch::upsample_nearest2d(x, at::IntArrayRef({2, 2}), at::ArrayRef<double>(factors)); });
  const Tensor logs = c.leaf({12, 2, 5}).log_softmax(2), targets = c.randint(1, 5, {2, 3}, torch::kLong);
  c.out("ctc", torch::ctc_loss(logs, targets, {12, 10}, {3, 2}));
  c.throws("ctc_lengths", [&] { torch::ctc_loss(logs, targets, c.randn({2}), c.randn({2})); });
}

PARITY_CASE(call_forms, indices) {
  using namespace torch::indexing;
  const std::vector<TensorIndex> items{None, "...", Ellipsis, 0, true, Slice(1, None, 2), Slice(None, 3)};
  std::ostringstream text;
  text << items << " " << items[5] << " " << Slice(1, 2, 3);
  c.text("printed", text.str());
  c.check(items[3].is_integer() && items[3].integer() == 0, "integer");
  c.check(items[4].is_boolean() && items[4].boolean(), "boolean");
  c.check(items[5].slice().start() == 1 && items[5].slice().stop() == INDEX_MAX && items[5].slice().step() == 2,
          "slice");
  c.out("whole", c.randn({3, 4}).index({Slice(None, 2), Slice(-3, None, 2)}));
}

PARITY_CASE(call_forms, names) {
  c.check(torch::Device("cuda:1").type() == torch::Device::Type::CUDA, "Device::Type");
  c.check(torch::device_index(1).device() == torch::Device(torch::kCUDA, 1), "device_index");
  Tensor v = torch::autograd::make_variable(c.randn({2}), true);
  (v * v).sum().backward();
  c.out("grad", v.grad());
  c.check(!c.randn({2}).is_pinned(torch::Device("cpu")), "is_pinned");
}
