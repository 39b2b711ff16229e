#include "sweep.h"

namespace sweep {

torch::Device device = torch::kCPU;
torch::TensorOptions on_device(torch::Dtype dtype) { return torch::TensorOptions(device).dtype(dtype); }

Tensor any(std::vector<int64_t> shape, torch::Dtype dtype) {
  if (!torch::isFloatingType(dtype)) return torch::randint(-9, 10, shape, on_device(dtype));
  return torch::randn(shape, on_device(torch::kFloat)).to(dtype);
}
Tensor below(int64_t end, std::vector<int64_t> shape) { return torch::randint(end, shape, on_device(torch::kLong)); }

Tensor grid(int64_t n, torch::Dtype dtype) { return any({n, n}, dtype); }
Tensor positive(int64_t n, torch::Dtype dtype) {
  if (!torch::isFloatingType(dtype)) return torch::randint(1, 10, {n, n}, on_device(dtype));
  return (torch::rand({n, n}, on_device(torch::kFloat)) * 0.8 + 0.1).to(dtype);
}
// Whose products neither vanish nor overflow: numbers on the way to zero take a CPU many times as long.
Tensor near_one(int64_t n, torch::Dtype dtype) {
  const Tensor x = positive(n, dtype);
  return torch::isFloatingType(dtype) ? x * 0.2 + 0.9 : x;
}
Tensor flat(int64_t n, torch::Dtype dtype) { return any({n * n}, dtype); }
Tensor row(int64_t n, torch::Dtype dtype) { return any({n}, dtype); }
Tensor column(int64_t n, torch::Dtype dtype) { return any({n, 1}, dtype); }
Tensor number(int64_t, torch::Dtype dtype) { return any({}, dtype); }
Tensor transposed(int64_t n, torch::Dtype dtype) { return any({n, n}, dtype).t(); }
Tensor mask(int64_t n, torch::Dtype) { return torch::rand({n, n}, on_device(torch::kFloat)) < 0.5; }
Tensor places(int64_t n, torch::Dtype) { return below(n, {n, n}); }
Tensor indices(int64_t n, torch::Dtype) { return below(n, {n}); }
Tensor images(int64_t n, torch::Dtype dtype) {
  const int64_t side = n <= 32 ? 4 : n <= 256 ? 16 : 32;
  return any({n * n / (16 * side * side), 16, side, side}, dtype);
}
Tensor half_grid(int64_t n, torch::Dtype dtype) { return any({n / 2, n / 2}, dtype); }
Tensor stack_of_medium(int64_t n, torch::Dtype dtype) { return any({n / 8, 32, 32}, dtype); }
Tensor sequence(int64_t n, torch::Dtype dtype) { return any({8, n / 8, 64}, dtype); }

std::vector<std::pair<std::string, std::vector<Row>>> families() {
  return {{"pointwise", pointwise_rows()},
          {"reductions", reduction_rows()},
          {"shapes", shape_rows()},
          {"products", product_rows()},
          {"layers", layer_rows()},
          {"others", other_rows()},
          {"special", special_rows()},
          {"rare", rare_rows()},
          {"out", out_rows()}};
}

}  // namespace sweep
