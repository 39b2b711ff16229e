// New tensors, their options, and what a tensor says of itself.
#include "parity/case.h"

using torch::Tensor;

PARITY_CASE(factories, filled) {
  for (auto dtype : parity::kAll) {
    const auto name = parity::dtype_name(dtype);
    c.out(name + "_zeros", torch::zeros({2, 3}, dtype));
    c.out(name + "_ones", torch::ones({2, 3}, dtype));
    c.out(name + "_full", torch::full({2}, 1, dtype));
    c.out(name + "_ones_like", torch::ones_like(c.any({2, 2}, dtype)));
  }
  c.out("full_float", torch::full({2, 2}, 0.5));
  c.out("full_int", torch::full({2, 2}, 3));
  c.out("full_bool", torch::full({2}, true));
  c.out("zeros_0d", torch::zeros({}));
  c.out("zeros_empty", torch::zeros({0, 4}));
  c.out("full_like", torch::full_like(c.randn({3}), 7));
  c.out("zeros_like_dtype", torch::zeros_like(c.randn({3}), torch::kLong));
  c.out("new_zeros", c.randn({2}, torch::kDouble).new_zeros({2, 2}));
  c.out("new_ones", c.randn({2}, torch::kHalf).new_ones({3}));
  c.out("new_full", c.randint(0, 2, {2}).new_full({3}, 4));
  c.throws("negative_size", [&] { torch::zeros({-1}); });
}

PARITY_CASE(factories, ranges) {
  c.out("arange", torch::arange(5));
  c.out("arange_float", torch::arange(5.0));
  c.out("arange_start", torch::arange(2, 8));
  c.out("arange_step", torch::arange(1, 2, 0.25));
  c.out("arange_down", torch::arange(5, 0, -2));
  c.out("arange_dtype", torch::arange(0, 4, torch::kFloat));
  c.out("arange_half", torch::arange(0, 4, torch::kHalf));
  c.out("linspace", torch::linspace(0, 1, 11));
  c.out("linspace_down", torch::linspace(3, -2, 7, torch::kDouble));
  c.out("linspace_one", torch::linspace(2, 5, 1));
  c.out("logspace", torch::logspace(0, 3, 4));
  c.out("eye", torch::eye(3));
  c.out("eye_wide", torch::eye(2, 4, torch::kLong));
  c.out("tril_indices", torch::tril_indices(3, 4));
  for (int64_t offset : {-40, -2, 0, 1, 40})
    c.scope(std::to_string(offset), [&] {
      for (const auto& [rows, columns] : {std::pair<int64_t, int64_t>{3, 20}, {20, 3}, {0, 3}, {3, 0}}) {
        c.out("tril_indices", torch::tril_indices(rows, columns, offset));
        c.out("triu_indices", torch::triu_indices(rows, columns, offset, torch::kInt));
      }
    });
  c.throws("arange_never_ends", [&] { torch::arange(0, 5, -1); });
  c.throws("arange_zero_step", [&] { torch::arange(0, 5, 0); });
  // Bounds that are no integers, cut before or after the elements are counted.
  for (const auto dtype : {torch::kLong, torch::kInt, torch::kByte, torch::kFloat}) {
    c.scope(parity::dtype_name(dtype), [&] {
      c.out("arange cut end", torch::arange(0, 3.5, 1, dtype));
      c.out("arange cut step", torch::arange(0, 5, 1.5, dtype));
      c.out("arange cut all", torch::arange(0.5, 7.5, 2.5, dtype));
      c.out("range cut", torch::range(0.5, 3, 1, dtype));
      c.out("range cut step", torch::range(0, 4.9, 2.5, dtype));
      if (dtype != torch::kByte) c.out("arange cut down", torch::arange(5, -0.5, -1.5, dtype));
    });
  }
  c.out("linspace_complex",
        torch::linspace(c10::complex<double>(0, 1), c10::complex<double>(2, -3), 5, torch::kComplexDouble));
  c.out("linspace_complex_of_reals", torch::linspace(0, 1, 5, torch::kComplexFloat));
}

PARITY_CASE(factories, tensor_of_values) {
  c.out("float", torch::tensor(1.5f));
  c.out("double", torch::tensor(1.5));
  c.out("int", torch::tensor(3));
  c.out("bool", torch::tensor(true));
  c.out("list", torch::tensor({1.5, 2.5}));
  c.out("ints", torch::tensor({1, 2, 3}));
  c.out("nested", torch::tensor({{1, 2}, {3, 4}}));
  c.out("deep", torch::tensor({{{1.f}, {2.f}}, {{3.f}, {4.f}}}));
  c.out("bools", torch::tensor({true, false}));
  c.out("vector", torch::tensor(std::vector<double>{1, 2}));
  c.out("vector_float", torch::tensor(std::vector<float>{1, 2}));
  c.out("vector_long", torch::tensor(std::vector<int64_t>{1, 2}));
  c.out("dtype", torch::tensor({1, 2}, torch::kHalf));
  c.out("options", torch::tensor({1.0, 2.0}, torch::TensorOptions().dtype(torch::kDouble).requires_grad(true)));
  c.out("scalar_tensor", torch::scalar_tensor(2.5));
  c.throws("ragged", [&] { torch::tensor({{1, 2}, {3}}); });
}

PARITY_CASE(factories, from_blob) {
  float data[6] = {1, 2, 3, 4, 5, 6};
  auto x = torch::from_blob(data, {2, 3});
  c.out("rows", x);
  data[0] = 9;
  c.out("shares", x);
  c.out("strided", torch::from_blob(data, {3, 2}, {1, 3}));
  bool deleted = false;
  {
    auto owned = torch::from_blob(data, {6}, [&](void*) { deleted = true; });
  }
  c.check(deleted, "the deleter runs");
  int64_t numbers[2] = {4, 5};
  c.out("long", torch::from_blob(numbers, {2}, torch::kLong));
}

PARITY_CASE(factories, options) {
  auto options = torch::TensorOptions().dtype(torch::kDouble).requires_grad(true);
  auto x = torch::ones({2}, options);
  c.value("requires_grad", x.requires_grad());
  c.text("dtype", parity::dtype_name(x.scalar_type()));
  c.value("device", x.device().is_cpu());
  c.text("device_text", x.device().str());
  c.value("layout", x.layout() == torch::kStrided);
  c.value("same_options", torch::ones({1}, x.options()).dtype() == torch::kDouble);
  c.value("element_size", static_cast<int64_t>(x.element_size()));
  c.value("nbytes", static_cast<int64_t>(x.nbytes()));
  c.text("default_dtype", parity::dtype_name(torch::typeMetaToScalarType(torch::get_default_dtype())));
}

PARITY_CASE(factories, properties) {
  auto x = c.randn({2, 3, 4});
  c.value("dim", x.dim());
  c.value("numel", x.numel());
  c.value("size", x.size(-1));
  c.value("stride", x.stride(0));
  c.value("contiguous", x.is_contiguous());
  c.value("transposed_contiguous", x.transpose(0, 1).is_contiguous());
  c.value("defined", Tensor().defined());
  c.value("floating", x.is_floating_point());
  c.value("integers_floating", c.bools({1}).is_floating_point());
  std::ostringstream sizes;
  sizes << x.sizes() << " " << x.dtype() << " " << x.device();
  c.text("streamed", sizes.str());
  c.throws("size_of_no_dim", [&] { x.size(3); });
  c.throws("undefined_add", [&] { Tensor() + x; });
}

PARITY_CASE(factories, accessors) {
  auto x = c.randn({3, 4});
  auto a = x.accessor<float, 2>();
  double sum = 0;
  for (int64_t i = 0; i < a.size(0); ++i) {
    for (int64_t j = 0; j < a.size(1); ++j) sum += a[i][j];
  }
  c.value("sum", sum);
  a[1][2] = 42;
  c.out("written", x);
  const auto transposed = x.t();
  auto t = transposed.accessor<float, 2>();
  c.value("transposed", static_cast<double>(t[2][1]));
  c.throws("rank", [&] { x.accessor<float, 3>(); });
  c.throws("dtype", [&] { x.accessor<double, 2>(); });
  c.throws("data_ptr_dtype", [&] { x.data_ptr<int64_t>(); });
  c.value("item_double", c.values({1.25}).item<double>());
  c.value("item_int", c.values({7}, torch::kInt).item<int>());
  c.value("item_scalar", c.values({2.5})[0].item().toDouble());
}

PARITY_CASE(factories, resize_and_set) {
  auto x = c.arange({2, 3});
  x.resize_({3, 2});
  c.out("resized", x);
  x.resize_({2});
  c.out("smaller", x);
  auto y = torch::empty({0});
  torch::add_out(y, c.randn({2, 2}), c.randn({2, 2}));
  c.out("out_grows", y);
  auto z = torch::zeros({2, 2});
  torch::mul_out(z, c.randn({2, 2}), c.randn({2, 2}));
  c.out("out", z);
  torch::matmul_out(z, c.randn({2, 3}), c.randn({3, 2}));
  c.out("matmul_out", z);
  torch::cat_out(z, {c.randn({1, 2}), c.randn({1, 2})});
  c.out("cat_out", z);
  auto precise = torch::empty({0}, torch::kDouble), single = torch::empty({0}, torch::kFloat);
  torch::cat_out(precise, {torch::full({1}, 16777217, torch::kInt), torch::ones({1})});
  torch::cat_out(single, {torch::full({1}, 100000, torch::kInt), torch::ones({1}, torch::kHalf)});
  c.out("cat_out.by_no_other_dtype", precise - 16777216);
  c.out("cat_out.from_half", single);
  c.out("linspace.whole", torch::linspace(0.5, 5.5, 5, torch::kLong));
  c.out("linspace.complex", torch::linspace(c10::complex<double>(0, 1), c10::complex<double>(2, -1), 3));
  z.zero_();
  z.fill_(3);
  c.out("fill", z);
  auto a = c.randn({2}), b = c.randn({2});
  std::swap(a, b);
  c.out("swapped", a);
}
PARITY_CASE(factories, memory_formats_in_options) {
  const auto last = torch::TensorOptions().memory_format(torch::MemoryFormat::ChannelsLast);
  const std::vector<int64_t> sizes{1, 2, 3, 2};
  torch::manual_seed(3);
  c.layout("randn", torch::randn(sizes, last)), c.out("randn values", torch::randn(sizes, last).flatten());
  c.layout("rand", torch::rand(sizes, last)), c.layout("randint", torch::randint(5, sizes, last));
  c.layout("zeros", torch::zeros(sizes, last)), c.layout("ones", torch::ones(sizes, last));
  c.layout("full", torch::full(sizes, 2.5, last)), c.layout("empty", torch::empty(sizes, last));
  c.layout("zeros_like", torch::zeros_like(torch::zeros(sizes), last));
}

PARITY_CASE(factories, names_of_dtypes) {
  for (const auto dtype : parity::kAll) {
    const auto t = torch::zeros({1}, dtype);
    c.text(std::string(t.dtype().name()), std::string(t.dtype().name().substr(0, 3)));
    c.value("is float", t.dtype().name() == "float");
    c.value("of the type", t.dtype() == caffe2::TypeMeta::fromScalarType(dtype));
  }
  c.text("TypeName", std::string(caffe2::TypeMeta::TypeName<float>()));
  c.text("options", c10::toString(torch::TensorOptions().dtype(torch::kHalf)));
}
