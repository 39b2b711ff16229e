// What programs meet rarely: powers of 0 and 1, complex running sums, tensors without values in archives, halves in
// streams.
#include <sstream>

#include "parity/case.h"

using torch::Tensor;

PARITY_CASE(rare_uses, matrix_power) {
  const Tensor x = c.leaf({2, 3, 3}, torch::kDouble);
  for (const int64_t n : {0, 1, 2, 5}) c.gradients(std::to_string(n), {x}, [&] { return torch::matrix_power(x, n); });
  const Tensor plain = c.randn({2, 2});
  torch::matrix_power(plain, 1).zero_();
  c.out("the matrix itself", plain);
}

PARITY_CASE(rare_uses, complex_logcumsumexp) {
  for (const torch::Dtype dtype : {torch::kComplexFloat, torch::kComplexDouble}) {
    const torch::Dtype part = dtype == torch::kComplexFloat ? torch::kFloat : torch::kDouble;
    const Tensor re = c.leaf({3, 5}, part), im = c.leaf({3, 5}, part);
    for (const int64_t dim : {0, 1})
      c.gradients(c10::str(dtype, dim), {re, im},
                  [&] { return torch::view_as_real(torch::logcumsumexp(torch::complex(re, im), dim)); });
  }
  c.out("0-d", torch::view_as_real(torch::logcumsumexp(torch::complex(c.randn({}), c.randn({})), 0)));
  const Tensor low = c.values({-1e4, -1e4, 1e4}, torch::kDouble);
  c.out("far apart", torch::view_as_real(torch::logcumsumexp(torch::complex(low, low * 1e-4), 0)));
}

// With a gradient wanted, though the index reads a part of the source.
PARITY_CASE(rare_uses, scatter_of_a_part) {
  const Tensor x = c.leaf({3, 4}), y = c.leaf({3, 4});
  const Tensor index = torch::zeros({1, 3}, torch::kLong);
  c.out("sum", torch::scatter_reduce(x, 0, index, y, "sum"));
  c.out("multiply", torch::scatter(x, 0, index, y, "multiply"));
}

PARITY_CASE(rare_uses, archive_of_meta) {
  std::stringstream file;
  torch::save(std::vector<Tensor>{torch::empty({2, 3}, torch::kMeta), c.randn({2})}, file);
  std::vector<Tensor> read;
  torch::load(read, file);
  c.check(read.size() == 2 && read[0].is_meta(), "tensors on meta come back there");
  c.text("sizes", c10::str(read[0].sizes(), read[0].strides(), read[0].dtype()));
  c.out("beside it", read[1]);
}

PARITY_CASE(rare_uses, halves_in_streams) {
  std::ostringstream text;
  text << torch::tensor(1.5).item<at::Half>() << ' ' << c10::BFloat16(2.5f) << ' ' << c10::Half(1e5f);
  c.text("halves", text.str());
}

PARITY_CASE(rare_uses, error_of_an_accelerator) {
  try {
    throw c10::AcceleratorError({"f", "file", 1}, 7, "boom");
  } catch (const c10::Error& e) {
    const auto* error = dynamic_cast<const c10::AcceleratorError*>(&e);
    c.value("code", error ? error->get_error_code() : -1);
  }
}

PARITY_CASE(rare_uses, layout_of_bilinear) {
  c.layout("y", torch::bilinear(c.randn({2, 3}), c.randn({2, 4}), c.randn({5, 3, 4}), {}));
}
