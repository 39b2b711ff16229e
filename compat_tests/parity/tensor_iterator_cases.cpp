// Loops that extensions write over operands of their own.
#include <ATen/CPUGeneratorImpl.h>
#include <ATen/TensorIterator.h>
#include <ATen/core/DistributionsHelper.h>
#include <ATen/native/cpu/Loops.h>

#include "parity/case.h"

PARITY_CASE(tensor_iterator, kernels) {
  const auto a = c.randn({3, 1, 40}).transpose(0, 2), b = c.randn({5, 3});
  torch::Tensor out;
  {
    at::TensorIterator iter = at::TensorIteratorConfig().add_output(out).add_input(a).add_input(b).build();
    at::native::cpu_kernel(iter, [](float x, float y) -> float { return x * y + 1; });
    c.out("broadcast", iter.output());
    c.value("counts", iter.ninputs() * 100 + iter.noutputs() * 10 + iter.ntensors());
    c.value("numel", iter.numel());
  }
  auto strided = torch::zeros({6, 40}).slice(1, 0, 40, 2);
  auto iter = at::TensorIteratorConfig().add_output(strided).add_input(strided).resize_outputs(false).build();
  at::native::cpu_kernel(iter, [](float x) -> float { return x + 3; });
  c.out("in_place", strided);
  torch::Tensor whole = torch::zeros({}, torch::kLong);
  auto scalar = at::TensorIterator::nullary_op(whole);
  at::native::cpu_kernel(scalar, []() -> int64_t { return 17; });
  c.out("scalar", whole);
}

PARITY_CASE(tensor_iterator, layouts_of_outputs) {
  const auto made = [&](const char* name, const torch::Tensor& x) {
    torch::Tensor out;
    auto iter = at::TensorIteratorConfig().add_output(out).add_const_input(x).build();
    c.text(name, c10::str(iter.output().strides()));
    const auto loop = [](char** data, const int64_t* strides, int64_t n) {
      for (int64_t i = 0; i < n; ++i)
        *reinterpret_cast<float*>(data[0] + i * strides[0]) = 2 * *reinterpret_cast<float*>(data[1] + i * strides[1]);
    };
    iter.serial_for_each(loop, {0, iter.numel()});
    c.out(std::string(name) + " values", iter.output());
  };
  made("rows", c.randn({3, 2}));
  made("columns", c.randn({2, 3}).t());
  made("channels last", c.randn({2, 3, 2, 2}).contiguous(torch::MemoryFormat::ChannelsLast));
}

PARITY_CASE(tensor_iterator, dtypes) {
  const auto x = c.randn({70}), n = c.arange({70}, torch::kLong);
  torch::Tensor sum;
  auto iter = at::TensorIterator::binary_op(sum, x, n);
  at::native::cpu_kernel(iter, [](float a, float b) -> float { return a - 2 * b; });
  c.out("promoted", iter.output());
  auto halves = torch::zeros({70}, torch::kHalf);
  auto cast = at::TensorIterator::binary_op(halves, x, x);
  at::native::cpu_kernel(cast, [](float a, float b) -> float { return a * b; });
  c.out("cast", halves);
  auto mask = torch::empty({70}, torch::kBool);
  auto compare =
      at::TensorIteratorConfig().check_all_same_dtype(false).add_output(mask).add_input(x).add_input(n).build();
  at::native::cpu_kernel(compare, [](float a, int64_t b) -> bool { return a > static_cast<float>(b % 2); });
  c.out("mask", mask);
  auto whole = torch::empty({70}), part = torch::empty({70});
  auto two = at::TensorIteratorConfig().add_output(whole).add_output(part).add_input(x).build();
  at::native::cpu_kernel_multiple_outputs(two, [](float a) -> std::tuple<float, float> {
    const float floor = std::floor(a);
    return {floor, a - floor};
  });
  c.out("whole", whole), c.out("part", part);
}

PARITY_CASE(tensor_iterator, loops) {
  const auto x = c.randn({40000, 3});
  auto out = torch::zeros({3, 40000}).t();
  auto iter = at::TensorIteratorConfig().add_output(out).add_input(x).build();
  iter.for_each([](char** data, const int64_t* strides, int64_t n) {
    for (int64_t i = 0; i < n; ++i)
      *reinterpret_cast<float*>(data[0] + i * strides[0]) = *reinterpret_cast<float*>(data[1] + i * strides[1]) * 2;
  });
  c.out("one_dimension", out);
  iter.for_each([](char** data, const int64_t* strides, int64_t size0, int64_t size1) {
    for (int64_t j = 0; j < size1; ++j)
      for (int64_t i = 0; i < size0; ++i) *reinterpret_cast<float*>(data[0] + i * strides[0] + j * strides[2]) += 1;
  });
  c.out("two_dimensions", out);
  double total = 0;
  auto each = at::TensorIteratorConfig().add_input(x).build();
  at::native::cpu_serial_kernel(each, [&](float value) -> void { total += value; });
  c.out("serial", torch::tensor({total}));
}

PARITY_CASE(tensor_iterator, static_shapes) {
  const auto x = c.randn({3, 4, 2});
  auto rows = torch::zeros({3, 4, 2}), sums = torch::zeros({3, 4, 1});
  auto iter = at::TensorIteratorConfig()
                  .resize_outputs(false)
                  .check_all_same_dtype(false)
                  .declare_static_shape(x.sizes(), /*squash_dims=*/{x.dim() - 1})
                  .add_output(rows)
                  .add_output(sums)
                  .add_input(x)
                  .build();
  c.value("elements", iter.numel());
  iter.for_each([](char** data, const int64_t* strides, int64_t n) {
    for (int64_t i = 0; i < n; ++i) {
      auto* row = reinterpret_cast<float*>(data[0] + i * strides[0]);
      const auto* in = reinterpret_cast<const float*>(data[2] + i * strides[2]);
      row[0] = in[1], row[1] = in[0];
      *reinterpret_cast<float*>(data[1] + i * strides[1]) = in[0] + in[1];
    }
  });
  c.out("rows", rows), c.out("sums", sums);
  auto kept = torch::zeros({5});
  auto part = at::TensorIteratorConfig()
                  .resize_outputs(false)
                  .check_all_same_dtype(false)
                  .declare_static_shape({3})
                  .add_output(kept)
                  .build();
  at::native::cpu_kernel(part, []() -> float { return 2; });
  c.out("kept", kept);
  c.throws("dimension", [&] { at::TensorIteratorConfig().resize_outputs(false).declare_static_shape({3}, {1}); });
  c.throws("order", [&] { at::TensorIteratorConfig().declare_static_shape({3}); });
}

PARITY_CASE(tensor_iterator, wrong) {
  const auto x = torch::ones({2, 3}), y = torch::ones({4}), n = torch::ones({2, 3}, torch::kLong);
  const auto row = torch::ones({3}), wide = torch::ones({1, 3}).expand({2, 3});
  torch::Tensor out;
  c.throws("shapes", [&] { at::TensorIteratorConfig().add_output(out).add_input(x).add_input(y).build(); });
  c.throws("dtypes", [&] { at::TensorIteratorConfig().add_output(out).add_input(x).add_input(n).build(); });
  c.throws("output", [&] { at::TensorIteratorConfig().add_output(row).add_input(x).resize_outputs(false).build(); });
  c.throws("overlap", [&] { at::TensorIteratorConfig().add_output(wide).add_input(x).build(); });
  c.throws("order", [&] { at::TensorIteratorConfig().add_input(x).add_output(out); });
  c.throws("unsafe", [&] {
    auto ints = torch::zeros({2, 3}, torch::kLong);
    at::TensorIterator::binary_op(ints, x, x);
  });
}

PARITY_CASE(tensor_iterator, builders) {
  const auto a = torch::arange(6).view({2, 3}), b = torch::arange(3.0) + 1;
  torch::Tensor made, longs = torch::zeros({2, 3}, torch::kLong);
  auto compare = at::TensorIterator::comparison_op(made, a, b);
  at::native::cpu_kernel(compare, [](float x, float y) -> bool { return x > y; });
  c.out("comparison", compare.output());
  auto cast = at::TensorIterator::comparison_op(longs, a, b);
  at::native::cpu_kernel(cast, [](float x, float y) -> float { return x > y; });
  c.out("comparison_in_longs", longs);
  auto half = at::TensorIterator::unary_float_op(made, a);
  at::native::cpu_kernel(half, [](float x) -> float { return x / 2; });
  c.out("unary_float", half.output());
  auto ratio = at::TensorIterator::binary_float_op(made, a, a);
  at::native::cpu_kernel(ratio, [](float x, float y) -> float { return x / (y + 2); });
  c.out("binary_float", ratio.output());
  at::TensorIterator three, two;
  three.build_ternary_op(made, a, b, torch::ones({1}));
  at::native::cpu_kernel(three, [](float x, float y, float z) -> float { return x + y + z; });
  c.out("ternary", three.output());
  two.build_binary_op(made, torch::arange(100.0), b[0]);
  c.value("scalar", two.scalar_value<int>(2) * 10 + two.original_scalar_value<int>(2));
  two.remove_operand(2);
  c.value("operands", two.ntensors() * 10 + two.operand(0).is_output);
}

PARITY_CASE(tensor_iterator, vectors) {
  const auto a = c.randn({5, 40}), b = c.randn({5, 40});
  using Vector = at::vec::Vectorized<float>;
  const auto product = [&](const torch::Tensor& x, const torch::Tensor& y) {
    torch::Tensor made;
    at::TensorIterator iter = at::TensorIterator::binary_op(made, x, y);
    at::native::cpu_kernel_vec(
        iter, [](float p, float q) -> float { return p * q; }, [](Vector p, Vector q) -> Vector { return p * q; });
    return iter.output();
  };
  c.out("contiguous", product(a, b));
  c.out("strided", product(a.t(), b.t().contiguous()));
  c.out("row", product(a, b[0]));
}

PARITY_CASE(tensor_iterator, reductions) {
  const auto x = c.randn({2, 3, 4}), large = c.rand({200, 1000});
  auto sums = torch::zeros({2, 1, 4}), many = torch::zeros({200, 1});
  auto seen = sums.expand({2, 3, 4}), seen_many = many.expand({200, 1000});
  auto iter = at::TensorIterator::reduce_op(seen, x);
  c.value("counts", iter.num_reduce_dims() * 100 + iter.num_output_elements());
  iter.foreach_reduced_elt([](at::TensorIteratorBase& part) {
    float sum = 0;
    part.serial_for_each(
        [&](char** data, const int64_t* strides, int64_t size) {
          for (int64_t i = 0; i < size; ++i) sum += *reinterpret_cast<float*>(data[1] + i * strides[1]);
        },
        {0, part.numel()});
    *static_cast<float*>(part.data_ptr(0)) = sum;
  });
  c.out("by_element", sums);
  const auto add = [](char** data, const int64_t* strides, int64_t size0, int64_t size1) {
    for (int64_t j = 0; j < size1; ++j)
      for (int64_t i = 0; i < size0; ++i)
        *reinterpret_cast<float*>(data[0] + i * strides[0] + j * strides[2]) +=
            *reinterpret_cast<float*>(data[1] + i * strides[1] + j * strides[3]);
  };
  sums.zero_();
  iter.parallel_reduce(add);
  c.out("in_parallel", sums);
  auto wide = at::TensorIterator::reduce_op(seen_many, large);
  wide.parallel_reduce(add);
  c.out("many", many);
  int64_t elements = 0;
  for (auto& part : wide.with_32bit_indexing()) elements += part.numel();
  c.value("parts", elements);
}

PARITY_CASE(tensor_iterator, distributions) {
  auto generator = at::detail::createCPUGenerator(7);
  auto* const g = generator.get<at::CPUGeneratorImpl>();
  std::vector<double> drawn;
  at::normal_distribution<double> normal(1, 2);
  at::normal_distribution<float> normal_float(0, 1);
  for (int i = 0; i < 3; ++i) {
    drawn.push_back(at::uniform_real_distribution<double>(-1, 2)(g));
    drawn.push_back(at::uniform_real_distribution<float>(0, 1)(g));
    drawn.push_back(normal(g));
    drawn.push_back(normal_float(g));
    drawn.push_back(at::bernoulli_distribution<double>(0.5)(g));
    drawn.push_back(at::geometric_distribution<double>(0.1)(g));
    drawn.push_back(at::exponential_distribution<double>(2)(g));
    drawn.push_back(at::cauchy_distribution<double>(0, 1)(g));
    drawn.push_back(at::lognormal_distribution<double>(0, 1)(g));
    drawn.push_back(static_cast<double>(at::uniform_int_from_to_distribution<int64_t>(10, 5)(g)));
    drawn.push_back(static_cast<double>(at::uniform_int_from_to_distribution<int64_t>(uint64_t(1) << 40, -5)(g)));
    drawn.push_back(static_cast<double>(at::uniform_int_full_range_distribution<int64_t>()(g)));
    drawn.push_back(static_cast<double>(at::uniform_int_distribution<int64_t>()(g)));
    drawn.push_back(at::uniform_int_distribution<int>()(g));
    drawn.push_back(at::uniform_int_distribution<uint8_t>()(g));
    drawn.push_back(at::uniform_int_distribution<bool>()(g));
    drawn.push_back(at::uniform_int_distribution<float>()(g));
    drawn.push_back(at::uniform_int_distribution<double>()(g));
  }
  c.out("drawn", torch::tensor(drawn, torch::kDouble));
}
