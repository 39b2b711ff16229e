// Which dtype a result gets that nobody named: lists and numbers, the default dtype, integers given to layers.
#include "parity/case.h"

#include <torch/csrc/utils/tensor_flatten.h>

#include <sstream>
#include <vector>

using torch::Tensor;
namespace F = torch::nn::functional;

namespace {

// The default dtype, back as it was at the end.
struct DefaultDtype {
  explicit DefaultDtype(torch::ScalarType dtype) : before(torch::get_default_dtype()) {
    torch::set_default_dtype(c10::scalarTypeToTypeMeta(dtype));
  }
  ~DefaultDtype() { torch::set_default_dtype(before); }
  const decltype(torch::get_default_dtype()) before;
};

// A refusal is a result as well.
void each(parity::Case& c, const std::string& name, const std::function<Tensor()>& fn) {
  try {
    c.out(name, fn());
  } catch (const std::exception&) {
    c.text(name, "throws");
  }
}

}  // namespace

PARITY_CASE(inferred_dtypes, lists_and_numbers) {
  c.out("at_list", at::tensor({1, 2, 3}));
  c.out("torch_list", torch::tensor({1, 2, 3}));
  c.out("at_number", at::tensor(123));
  c.out("torch_number", torch::tensor(123));
  c.out("at_double", at::tensor(1.5));
  c.out("torch_double", torch::tensor(1.5));
  c.out("at_float", at::tensor(1.5f));
  c.out("at_doubles", at::tensor({1.5, 2.25}));
  c.out("torch_doubles", torch::tensor({1.5, 2.25}));
  c.out("torch_bools", torch::tensor({true, false}));
  c.out("at_vector", at::tensor(std::vector<int>{1, 2}));
  c.out("torch_vector", torch::tensor(std::vector<int>{1, 2}));
  c.out("at_longs", at::tensor(std::vector<int64_t>{1, 2}));
  c.out("torch_double_vector", torch::tensor(std::vector<double>{1, 2}));
  c.out("torch_short", torch::tensor(std::vector<int16_t>{1, 2}));
  c.out("at_options", at::tensor({1, 2}, at::kFloat));
  c.out("at_int_of_doubles", at::tensor({1.1, 2.9}, at::kInt));
  c.out("nested", torch::tensor({{1, 2}, {3, 4}}));
  c.out("nested_doubles", torch::tensor({{{1.0}, {2.0}}}));
  c.out("empty", torch::tensor({}));
  c.out("empty_rows", torch::tensor({{}, {}}));
  c.out("complex", torch::tensor(c10::complex<double>(1, 2)));
  c.out("scalar_tensor", torch::scalar_tensor(3));
  c.out("full", torch::full({2}, 3));
  c.out("full_double", torch::full({2}, 1.5));
  c.out("full_bool", torch::full({2}, true));
  c.out("full_complex", torch::full({2}, c10::complex<double>(1, 2)));
  c.out("to_real", torch::tensor({c10::complex<float>(1, 2)}).to(torch::kFloat));
  c.out("empty_like_text", torch::zeros_like(torch::tensor({1, 2})));
}

PARITY_CASE(inferred_dtypes, default_dtype) {
  for (auto dtype : {torch::kFloat, torch::kDouble, torch::kHalf, torch::kBFloat16}) {
    DefaultDtype set(dtype);
    c.scope(toString(dtype), [&] {
      const Tensor i = torch::arange(1, 4);
      c.out("list", torch::tensor({1.5, 2.5}));
      c.out("float_list", torch::tensor({1.5f, 2.5f}));
      c.out("at_list", at::tensor({1.5, 2.5}));
      c.out("number", torch::tensor(1.5));
      c.out("at_number", at::tensor(1.5));
      c.out("vector", torch::tensor(std::vector<double>{1.5, 2.5}));
      c.out("full", torch::full({2}, 1.5));
      if (dtype == torch::kFloat || dtype == torch::kDouble)
        c.out("full_complex", torch::full({2}, c10::complex<double>(1, 2)));
      c.out("arange", torch::arange(0, 3, 1.5));
      c.out("linspace", torch::linspace(0, 1, 3));
      c.out("zeros", torch::zeros({2}));
      c.out("eye", torch::eye(2));
      c.out("empty", torch::tensor({}));
      c.out("scalar_tensor", torch::scalar_tensor(2));
      c.out("promotion", i + 0.5);
      c.out("division", i / i);
      c.out("sqrt", i.sqrt());
      c.out("mul", i.mul(1.5));
      c.out("where", torch::where(i > 1, 1.5, 2));
      c.out("hann", torch::hann_window(4));
      c.out("one", torch::ones({2}) + torch::tensor(1.5));
      c.shape_only("rand", torch::rand({2}));
      c.shape_only("randn", torch::randn({2}));
      c.out("ones_to", i.to(torch::get_default_dtype()));
      c.out("linear", torch::nn::Linear(2, 2)->weight.detach().zero_());
      c.out("batch_norm", torch::nn::BatchNorm1d(2)->running_mean);
      c.out("one_hot", torch::one_hot(i));
    });
  }
}

PARITY_CASE(inferred_dtypes, default_dtype_that_is_not_floating) {
  for (auto dtype : {torch::kInt, torch::kLong, torch::kByte, torch::kBool}) {
    DefaultDtype set(dtype);
    c.scope(toString(dtype), [&] {
      const Tensor i = torch::arange(1, 4);
      c.text("itself", toString(torch::get_default_dtype_as_scalartype()));
      const auto type = torch::get_default_dtype();
      c.text("as meta", std::string(type.name()) + toString(type.toScalarType()) + std::to_string(type.itemsize()));
      each(c, "zeros", [&] { return torch::zeros({2}); });
      each(c, "number", [&] { return torch::tensor(1.5); });
      each(c, "doubles", [&] { return torch::tensor({1.5, 2.5}); });
      each(c, "integers", [&] { return torch::tensor({1, 2}); });
      each(c, "full", [&] { return torch::full({2}, 1.5); });
      each(c, "arange", [&] { return torch::arange(0, 3, 1.5); });
      each(c, "linspace", [&] { return torch::linspace(0, 4, 3); });
      each(c, "eye", [&] { return torch::eye(2); });
      each(c, "mul", [&] { return i.to(torch::kInt).mul(1.5); });
      each(c, "float stays", [&] { return torch::ones({2}, torch::kFloat).mul(1.5); });
      each(c, "of its kind", [&] { return i.mul(1.5); });
      each(c, "smaller", [&] { return i.to(torch::kChar).add(1.5); });
      each(c, "bool", [&] { return i.gt(1).mul(2.5); });
      each(c, "power", [&] { return i.pow(0.5); });
      each(c, "clamp", [&] { return i.clamp(0.5, 2.5); });
      each(c, "where", [&] { return torch::where(i > 1, 1.5, i); });
      each(c, "division", [&] { return i / i; });
      each(c, "sqrt", [&] { return i.sqrt(); });
      each(c, "sigmoid", [&] { return i.sigmoid(); });
      each(c, "logsumexp", [&] { return i.logsumexp(0); });
      each(c, "rand", [&] { return torch::rand({2}); });
      each(c, "hann", [&] { return torch::hann_window(4); });
    });
  }
}

PARITY_CASE(inferred_dtypes, integers_in_layers) {
  const Tensor x = c.randint(0, 9, {1, 2, 6, 6}), row = c.randint(0, 9, {1, 2, 6});
  each(c, "max_pool2d", [&] { return torch::max_pool2d(x, 2); });
  each(c, "max_pool2d_int", [&] { return torch::max_pool2d(x.to(torch::kInt), 2); });
  each(c, "max_pool2d_char", [&] { return torch::max_pool2d(x.to(torch::kChar), 2); });
  each(c, "max_pool2d_byte", [&] { return torch::max_pool2d(x.to(torch::kByte), 2); });
  each(c, "max_pool3d", [&] { return torch::max_pool3d(x, 2); });
  each(c, "avg_pool1d", [&] { return torch::avg_pool1d(row, 2); });
  each(c, "avg_pool2d", [&] { return torch::avg_pool2d(x, 2); });
  each(c, "avg_pool3d", [&] { return torch::avg_pool3d(x, 2); });
  each(c, "adaptive_avg_pool2d", [&] { return torch::adaptive_avg_pool2d(x, {2, 2}); });
  each(c, "adaptive_max_pool2d", [&] { return std::get<0>(torch::adaptive_max_pool2d(x, {2, 2})); });
  each(c, "lp_pool", [&] { return F::lp_pool2d(x, F::LPPool2dFuncOptions(2, 2)); });
  each(c, "batch_norm", [&] { return torch::batch_norm(x, {}, {}, {}, {}, true, 0.1, 1e-5, false); });
  each(c, "layer_norm", [&] { return torch::layer_norm(row, {6}); });
  each(c, "group_norm", [&] { return torch::group_norm(x, 2); });
  each(c, "instance_norm", [&] { return torch::instance_norm(x, {}, {}, {}, {}, true, 0.1, 1e-5, false); });
  each(c, "normalize", [&] { return F::normalize(row); });
  each(c, "relu", [&] { return torch::relu(x); });
  each(c, "leaky_relu", [&] { return torch::leaky_relu(x); });
  each(c, "hardtanh", [&] { return torch::hardtanh(x, 0, 5); });
  each(c, "relu6", [&] { return torch::relu6(x); });
  each(c, "threshold", [&] { return torch::threshold(x, 3, 1); });
  each(c, "gelu", [&] { return torch::gelu(x); });
  each(c, "elu", [&] { return torch::elu(x); });
  each(c, "softplus", [&] { return torch::softplus(x); });
  each(c, "sigmoid", [&] { return torch::sigmoid(x); });
  each(c, "dropout_off", [&] { return torch::dropout(x, 0.5, false); });
  each(c, "reflection_pad2d", [&] { return torch::reflection_pad2d(x, {1, 1, 1, 1}); });
  each(c, "replication_pad2d", [&] { return torch::replication_pad2d(x, {1, 1, 1, 1}); });
  each(c, "constant_pad", [&] { return torch::constant_pad_nd(x, {1, 1}, 2); });
  each(c, "circular_pad", [&] { return torch::pad(row, {1, 1}, "circular"); });
  each(c, "upsample_nearest_byte", [&] { return torch::upsample_nearest2d(x.to(torch::kByte), {12, 12}); });
  each(c, "mse_loss", [&] { return torch::mse_loss(x, x + 1); });
  each(c, "l1_loss", [&] { return torch::l1_loss(x, x + 1); });
  each(c, "smooth_l1_loss", [&] { return torch::smooth_l1_loss(x, x + 1); });
  each(c, "pixel_shuffle", [&] { return torch::pixel_shuffle(c.randint(0, 9, {1, 4, 2, 2}), 2); });
  each(c, "matmul", [&] { return torch::matmul(row, row.transpose(1, 2)); });
  each(c, "linear", [&] { return torch::linear(row, c.randint(0, 9, {3, 6})); });
  each(c, "conv2d", [&] { return torch::conv2d(x, c.randint(0, 3, {1, 2, 3, 3})); });
  each(c, "cumsum", [&] { return torch::cumsum(x.to(torch::kInt), 0); });
  each(c, "std", [&] { return x.std(); });
}

PARITY_CASE(inferred_dtypes, flattened) {
  namespace utils = torch::utils;
  const std::vector<Tensor> list = {c.randn({2, 3}), c.randn({0, 2}), c.randn({}), c.randn({4})};
  const Tensor flat = utils::flatten_dense_tensors(list);
  c.out("flat", flat);
  const auto parts = utils::unflatten_dense_tensors(flat, list);
  for (size_t i = 0; i < parts.size(); ++i) c.out("part" + std::to_string(i), parts[i]);
  const std::vector<Tensor> empty = {torch::empty({0}), torch::empty({0, 3})};
  const Tensor nothing = utils::flatten_dense_tensors(empty);
  c.out("nothing", nothing);
  for (const auto& part : utils::unflatten_dense_tensors(nothing, empty))
    c.value("empty_part_" + std::to_string(part.dim()), double(part.numel()));
}
