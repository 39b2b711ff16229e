#include "../include/model.h"

#define WARN_ONCE(name) TORCH_WARN_ONCE("see torch::" #name)
#define UNARY(name) torch::name(Tensor())

#if 0
auto hidden = torch::jit::load("not compiled");
#endif

namespace {
const char* kText = R"help(torch::fft::fft(x) in a raw string, "quoted")help";
const char* kEscaped = "torch::jit::load(\"\\\")";  // torch::jit::load in a comment
/* x.to_sparse_csr() in
   another */
constexpr long kMany = 1'000'000;

Tensor lu(const Matrix& m) {
  shapes::Grid grid;
  const int three = grid.values() + grid.q_scale().values();
  auto rows = m.index({Slice(0, three), indexing::None});
  return (rows + 1).to_sparse_bsr();
}
}  // namespace

Net::Net() : conv(register_module("conv", nn::Conv2d(nn::Conv2dOptions(3, 8, 3).stride(1).bias(false)))) {
  head->push_back(nn::Functional([](const Tensor& x) { return torch::relu(x); }));
}

Tensor Net::forward(Tensor x) {
  auto y = conv(x).flatten(1);
  kept.push_back(y);
  std::map<std::string, Tensor> by_name{{"y", y}};
  Tensor first = kept[0].
      to_sparse_bsc(2)[0];  // a method on the next line
  for (const auto& p : parameters()) first += p.to_mkldnn();
  const auto& [low, high] = std::make_pair(y.amin(), y.amax());
  return UNARY(neg) + special::bessel_j0(first) + sparse_bsr_tensor(low, high) + lu(std::get<0>(y.max(1)).q_scale());
}
