// operator<< prints as LibTorch does.
#include "parity/case.h"

#include <iomanip>

PARITY_CASE(printing, dtypes) {
  for (auto dtype : parity::kAll) c.printed(parity::dtype_name(dtype), c.any({2, 3}, dtype));
}

PARITY_CASE(printing, shapes) {
  c.printed("0d", c.values({1.5})[0]);
  c.printed("1d", c.randn({5}));
  c.printed("2d", c.randn({3, 4}));
  c.printed("3d", c.randn({2, 2, 3}));
  c.printed("4d", c.randn({2, 1, 2, 2}));
  c.printed("empty", c.randn({0}));
  c.printed("empty2", c.randn({2, 0}));
  c.printed("wide", c.randn({2, 30}));
  c.printed("transposed", c.randn({3, 2}).t());
  std::ostringstream out;
  out << torch::Tensor();
  c.text("undefined", out.str());
}

PARITY_CASE(printing, magnitudes) {
  c.printed("large", c.values({1e10, 1, 2.5}));
  c.printed("small", c.values({1e-10, 1, 2.5}));
  c.printed("mixed", c.values({1e5, 1e-5, 0}));
  c.printed("integral", c.values({1, 2, 300}));
  c.printed("integral_large", c.values({1e9, 2, 3}));
  c.printed("special", c.values({NAN, INFINITY, -INFINITY, 1}));
  c.printed("all_nan", c.values({NAN, NAN}));
  c.printed("zeros", torch::zeros({2, 2}));
  c.printed("negative", c.values({-1, -22.5}));
  c.printed("long", c.values({123456789, -1}, torch::kLong));
  c.printed("double", c.values({0.1, 1e-17, 3}, torch::kDouble));
}

PARITY_CASE(printing, scalars_and_others) {
  std::ostringstream out;
  out << torch::kFloat << " " << torch::kLong << " " << torch::Device(torch::kCPU) << " " << torch::Scalar(1.5) << " "
      << torch::Scalar(3) << " " << c.randn({2, 3}).sizes() << " " << torch::TensorOptions().dtype(torch::kHalf) << " "
      << torch::TensorOptions(caffe2::TypeMeta::Make<double>()).pinned_memory(false).requires_grad(false);
  c.text("streamed", out.str());
  c.text("item", c10::toString(torch::kBFloat16));
}

PARITY_CASE(printing, requires_grad) { c.printed("leaf", c.leaf({2})); }
PARITY_CASE(printing, flags_of_the_stream) {
  const auto x = torch::tensor({{1.5, -2.0}, {300.0, 0.25}}), n = torch::tensor({{1, -20}, {300, 4}});
  for (const auto& t : {x, n}) {
    std::ostringstream out;
    out << std::showpos << std::setfill('*') << std::left << std::hex << std::uppercase << t.cpu();
    c.text(c10::toString(t.scalar_type()), out.str());
    c.value("flags", static_cast<int64_t>(out.flags()));
  }
}
