// Functions whose names begin with _.
#include <limits>

#include "parity/bad.h"
#include "parity/case.h"

namespace {
void out(parity::Case& c, const std::string& name, const std::tuple<torch::Tensor, torch::Tensor>& two) {
  c.out(name + ".0", std::get<0>(two)), c.out(name + ".1", std::get<1>(two));
}
void out(parity::Case& c, const std::string& name, const std::tuple<torch::Tensor, torch::Tensor, torch::Tensor>& all) {
  c.out(name + ".0", std::get<0>(all)), c.out(name + ".1", std::get<1>(all)), c.out(name + ".2", std::get<2>(all));
}
}  // namespace

PARITY_CASE(underscored, casts) {
  const auto x = c.rand({3, 4}, torch::kFloat, 0, 100);
  c.out("Byte", torch::_cast_Byte(x)), c.out("Char", torch::_cast_Char(x)), c.out("Double", torch::_cast_Double(x));
  c.out("Float", torch::_cast_Float(x)), c.out("Half", torch::_cast_Half(x)), c.out("Int", torch::_cast_Int(x));
  c.out("Long", torch::_cast_Long(x, true)), c.out("Short", torch::_cast_Short(x));
  c.check(torch::_cast_Float(x).is_same(x), "a cast to the same dtype copies nothing");
  c.out("mask", torch::_cast_Float(x > 50) * 2);
  c.out("to_copy", torch::_to_copy(x)), c.check(!torch::_to_copy(x).is_same(x), "_to_copy copies");
  c.layout("to_copy_double", torch::_to_copy(x.t(), torch::kDouble));
  c.out("to_cpu", torch::_to_cpu({x, x})[1]);
  auto leaf = c.leaf({3});
  c.gradients("cast", {leaf}, [&] { return torch::_cast_Double(leaf) * 3; });
}

PARITY_CASE(underscored, shapes) {
  const auto x = c.randn({2, 3, 4}), image = c.randn({1, 2, 5, 6});
  c.out("shape", torch::_shape_as_tensor(x)), c.out("shape0", torch::_shape_as_tensor(torch::ones({})));
  c.out("dim_arange", torch::_dim_arange(x, 1)), c.out("stack", torch::_stack({x, x + 1}, 1));
  c.out("unsafe_view", torch::_unsafe_view(x, {6, -1})), c.out("alias", torch::_reshape_alias(x, {4, 6}, {6, 1}));
  c.out("reshape_copy", torch::_reshape_copy(x.transpose(0, 2), {12, 2}));
  c.out("circular", torch::_pad_circular(image, {1, 2, 0, 3}));
  for (int64_t mode = 0; mode < 4; ++mode)
    c.out("pad" + std::to_string(mode), torch::_pad_enum(image, {1, 2, 0, 3}, mode));
  c.out("pad_value", torch::_pad_enum(image, {1, 2}, 3, 7.5));
  const auto z = torch::complex(c.randn({3}), c.randn({3}));
  c.out("conj", torch::_conj(z)), c.out("conj_physical", torch::_conj_physical(z)), c.out("copy", torch::_conj_copy(z));
  c.out("neg", torch::_neg_view(x));
  c.value("item", torch::_local_scalar_dense(torch::tensor(2.5)).toDouble());
  c.value("storage", torch::_has_same_storage_numel(x, x.clone()));
  c.out("lazy", torch::_lazy_clone(x));
}

PARITY_CASE(underscored, checks) {
  const auto x = torch::ones({2, 3});
  torch::_assert_async(torch::tensor(true));
  torch::_assert_async(torch::tensor(2.0), "not said");
  torch::_assert_scalar(1, "not said");
  torch::_assert_tensor_metadata(x, torch::IntArrayRef({2, 3}), torch::IntArrayRef({3, 1}), torch::kFloat);
  SAYS("Expected Tensor with single nonzero value, but got zero", torch::_assert_async(torch::tensor(0)));
  SAYS("a loss that is finite", torch::_assert_async(torch::tensor(false), "a loss that is finite"));
  SAYS("Boolean value of Tensor with more than one value is ambiguous", torch::_assert_async(x));
  SAYS("a number that counts", torch::_assert_scalar(0, "a number that counts"));
  SAYS("Tensor sizes mismatch!", torch::_assert_tensor_metadata(x, torch::IntArrayRef({3, 2})));
  SAYS("Tensor dtype mismatch!", torch::_assert_tensor_metadata(x, {}, {}, torch::kDouble));
  c.out("all", torch::_is_all_true(x > 0)), c.out("any", torch::_is_any_true(x < 0));
  BAD(torch::_is_all_true(x));
}

PARITY_CASE(underscored, indices) {
  const auto x = c.randn({4, 5}), values = c.randn({3});
  const c10::List<std::optional<torch::Tensor>> at({torch::tensor({0, 3, 0}), torch::tensor({1, 2, 1})});
  c.out("index", torch::_unsafe_index(x, at)), c.out("put", torch::_unsafe_index_put(x, at, values, true));
  auto changed = x.clone();
  torch::_index_put_impl_(changed, at, values, true);
  c.out("impl", changed);
}

PARITY_CASE(underscored, arithmetic) {
  const auto a = c.randn({4, 6}), b = c.randn({6, 3}), bias = c.randn({3});
  c.out("relu", torch::_addmm_activation(bias, a, b)),
      c.out("gelu", torch::_addmm_activation(bias, a, b, 0.5, 2, true));
  c.out("int_mm",
        torch::_int_mm(c.randint(-128, 127, {5, 8}, torch::kChar), c.randint(-128, 127, {8, 4}, torch::kChar)));
  auto p = c.leaf({2, 4, 3}), q = c.leaf({2, 5, 3});
  c.gradients("distance", {p, q}, [&] { return torch::_euclidean_dist(p, q); });
  c.out("pdist", torch::_pdist_forward(a, 1));
  auto i1 = c.leaf({2, 3}), i2 = c.leaf({3, 4}), i3 = c.leaf({2, 4});
  c.gradients("trilinear", {i1, i2, i3}, [&] { return torch::_trilinear(i1, i2, i3, {2}, {0}, {1}, {1, 2}); });
  out(c, "aminmax", torch::_aminmax(a)), out(c, "aminmax_dim", torch::_aminmax(a, 1, true));
  c.out("logcumsumexp", torch::_logcumsumexp(a, 0));
  const auto square = c.randn({4, 4}), symmetric = square + square.t();
  c.out("eigh", std::get<0>(torch::_linalg_eigh(symmetric)));
  c.out("eigvalsh", std::get<0>(torch::_linalg_eigh(symmetric, "U", false)));
  c.out("svd", std::get<1>(torch::_linalg_svd(a))), c.out("svdvals", std::get<1>(torch::_linalg_svd(a, false, false)));
  out(c, "lu", torch::_lu_with_info(square));
}

PARITY_CASE(underscored, transforms) {
  const auto x = c.randn({3, 6, 8}), z = torch::complex(c.randn({3, 6, 8}), c.randn({3, 6, 8}));
  for (int64_t normalization = 0; normalization < 3; ++normalization)
    c.scope(std::to_string(normalization), [&] {
      c.out("c2c", torch::_fft_c2c(z, {1, 2}, normalization, true));
      c.out("inverse", torch::_fft_c2c(z, {2}, normalization, false));
      c.out("r2c", torch::_fft_r2c(x, {1, 2}, normalization, true));
      c.out("twosided", torch::_fft_r2c(x, {2}, normalization, false));
      c.out("c2r", torch::_fft_c2r(torch::fft::rfft(x), {2}, normalization, 8));
      c.out("c2r_odd", torch::_fft_c2r(torch::fft::rfft(x), {1, 2}, normalization, 9));
    });
}

PARITY_CASE(underscored, layers) {
  const auto x = c.randn({2, 4, 7, 7}), weight = c.randn({6, 2, 3, 3}), bias = c.randn({6}),
             thin = c.randn({4, 1, 3, 3});
  c.out("same", torch::_convolution_mode(x, weight, bias, 1, "same", 1, 2));
  c.out("valid", torch::_convolution_mode(x, weight, {}, 2, "valid", 1, 2));
  auto mean = torch::zeros({4}), var = torch::ones({4});
  const auto gamma = c.rand({4}), beta = c.randn({4});
  out(c, "norm", torch::_native_batch_norm_legit(x, gamma, beta, mean, var, true, 0.1, 1e-5));
  c.out("mean", mean), c.out("var", var);
  out(c, "norm_alone", torch::_native_batch_norm_legit(x, gamma, beta, true, 0.1, 1e-5));
  c.out("norm_eval", std::get<0>(torch::_native_batch_norm_legit_no_training(x, gamma, beta, mean, var, 0.1, 1e-5)));
  const auto scale = c.rand({7});
  out(c, "rms", torch::_fused_rms_norm(x, {7}, scale, 1e-4)),
      out(c, "rms_eps", torch::_fused_rms_norm(x, {7, 7}, {}, {}));
  c.out("prelu", torch::_prelu_kernel(x, c.rand({1, 4, 1, 1})));
  auto scores = c.randn({3, 5});
  scores[1].fill_(-std::numeric_limits<double>::infinity()), scores[2][0] = -std::numeric_limits<double>::infinity();
  c.out("softmax", torch::_safe_softmax(scores, -1)),
      c.out("softmax_double", torch::_safe_softmax(scores, 1, torch::kDouble));
  auto v = c.leaf({3, 4, 2}), g = c.leaf({1, 4, 1}), g0 = c.leaf({3, 1, 1});
  c.gradients("weight_norm", {v, g}, [&] { return torch::_weight_norm(v, g, 1); });
  c.gradients("weight_norm0", {v, g0}, [&] { return std::get<0>(torch::_weight_norm_interface(v, g0)); });
  c.out("norms", std::get<1>(torch::_weight_norm_interface(v, g0)));
  const auto table = c.randn({8, 3}), bags = torch::tensor({1, 7, 2, 4, 4}), offsets = torch::tensor({0, 2, 4});
  for (int64_t mode = 0; mode < 3; ++mode)
    c.out("bag" + std::to_string(mode), std::get<0>(torch::_embedding_bag(table, bags, offsets, false, mode)));
  c.out("bag_padding", std::get<0>(torch::_embedding_bag(table, bags, offsets, false, 1, false, {}, false, 4)));
  c.out("bag_last", std::get<0>(torch::_embedding_bag(table, bags, offsets, false, 0, false, {}, true)));
}

PARITY_CASE(underscored, attention) {
  auto q = c.leaf({2, 4, 5, 8}), k = c.leaf({2, 4, 6, 8}), v = c.leaf({2, 4, 6, 3});
  const auto math = [&](std::optional<torch::Tensor> mask, bool causal, std::optional<double> scale) {
    return torch::_scaled_dot_product_attention_math(q, k, v, mask, 0.0, causal, {}, scale);
  };
  c.gradients("plain", {q, k, v}, [&] { return std::get<0>(math({}, false, {})); });
  out(c, "causal", math({}, true, {})), out(c, "scale", math({}, false, 0.5));
  out(c, "added", math(c.randn({5, 6}), false, {})), out(c, "bools", math(c.bools({2, 1, 5, 6}), false, {}));
  const auto few = c.randn({2, 2, 6, 8});
  out(c, "groups", torch::_scaled_dot_product_attention_math(q, few, few, {}, 0.0, false, {}, {}, true));
  out(c, "kept", torch::_scaled_dot_product_attention_math(q, k, v, {}, 0.25, false, c.bools({2, 4, 5, 6})));
  BAD(math(c.randn({5, 6}), true, {}));
}

PARITY_CASE(underscored, packed) {
  auto x = c.leaf({4, 3, 2});
  const auto lengths = torch::tensor({4, 2, 1});
  const auto [data, sizes] = torch::_pack_padded_sequence(x, lengths, false);
  c.out("data", data), c.out("sizes", sizes), c.backward("data", data, {x});
  out(c, "padded", torch::_pad_packed_sequence(data, sizes, true, -1.5, 0));
  out(c, "longer", torch::_pad_packed_sequence(data, sizes, false, 0, 6));
  out(c, "batch_first", torch::_pack_padded_sequence(x.transpose(0, 1), lengths, true));
}
