// nn::init draws the same weights from the same seed.
#include "parity/case.h"

namespace init = torch::nn::init;

namespace {

void exact(parity::Case& c) {
  for (auto dtype : parity::kFloats) c.tolerance(dtype, 0, 0);
}
void on_shapes(parity::Case& c, const std::function<void(torch::Tensor)>& fill) {
  const std::vector<parity::Shape> shapes{{3, 5}, {40, 30}, {6, 4, 3}, {8, 3, 3, 3}, {2, 3, 3, 2, 2}};
  c.for_dtypes({torch::kFloat, torch::kDouble}, [&](torch::Dtype dtype) {
    for (const auto& shape : shapes) {
      auto t = torch::zeros(shape, torch::dtype(dtype).requires_grad(true));
      fill(t);
      c.out(std::to_string(shape.size()) + "d" + std::to_string(shape[0]), t);
    }
  });
}

}  // namespace

PARITY_CASE(init, simple) {
  exact(c);
  on_shapes(c, [](torch::Tensor t) { init::constant_(t, 0.25); });
  on_shapes(c, [](torch::Tensor t) { init::ones_(t); });
  on_shapes(c, [](torch::Tensor t) { init::zeros_(t); });
  on_shapes(c, [](torch::Tensor t) { init::normal_(t, 0.5, 0.1); });
  on_shapes(c, [](torch::Tensor t) { init::uniform_(t, -0.5, 0.25); });
}
PARITY_CASE(init, xavier) {
  exact(c);
  on_shapes(c, [](torch::Tensor t) { init::xavier_uniform_(t); });
  on_shapes(c, [](torch::Tensor t) { init::xavier_uniform_(t, init::calculate_gain(torch::kTanh)); });
  on_shapes(c, [](torch::Tensor t) { init::xavier_normal_(t); });
  on_shapes(c, [](torch::Tensor t) { init::xavier_normal_(t, 0.7); });
}
PARITY_CASE(init, kaiming) {
  exact(c);
  on_shapes(c, [](torch::Tensor t) { init::kaiming_uniform_(t); });
  on_shapes(c, [](torch::Tensor t) { init::kaiming_uniform_(t, std::sqrt(5.0)); });
  on_shapes(c, [](torch::Tensor t) { init::kaiming_uniform_(t, 0, torch::kFanOut, torch::kReLU); });
  on_shapes(c, [](torch::Tensor t) { init::kaiming_normal_(t); });
  on_shapes(c, [](torch::Tensor t) { init::kaiming_normal_(t, 0, torch::kFanOut, torch::kReLU); });
  on_shapes(c, [](torch::Tensor t) { init::kaiming_normal_(t, 0.2, torch::kFanIn, torch::kLeakyReLU); });
}
PARITY_CASE(init, gains) {
  c.value("linear", init::calculate_gain(torch::kLinear));
  c.value("conv", init::calculate_gain(torch::kConv2D));
  c.value("sigmoid", init::calculate_gain(torch::kSigmoid));
  c.value("tanh", init::calculate_gain(torch::kTanh));
  c.value("relu", init::calculate_gain(torch::kReLU));
  c.value("leaky", init::calculate_gain(torch::kLeakyReLU));
  c.value("leaky2", init::calculate_gain(torch::kLeakyReLU, 0.3));
  auto fans = init::_calculate_fan_in_and_fan_out(torch::zeros({6, 4, 3, 2}));
  c.value("fan_in", std::get<0>(fans));
  c.value("fan_out", std::get<1>(fans));
}
PARITY_CASE(init, structured) {
  exact(c);
  c.out("eye", init::eye_(torch::ones({3, 5})));
  c.out("dirac3", init::dirac_(torch::ones({3, 2, 4})));
  c.out("dirac4", init::dirac_(torch::ones({3, 4, 3, 3})));
  c.out("dirac5", init::dirac_(torch::ones({2, 2, 3, 2, 1})));
  c.out("sparse", init::sparse_(torch::ones({9, 5}), 0.3));
  c.out("sparse_std", init::sparse_(torch::ones({4, 6}, torch::kDouble), 0.5, 2.0));
}
PARITY_CASE(init, orthogonal) {
  c.tolerance(1e-5, 1e-5);  // two QR decompositions, each rounded its own way
  c.out("square", init::orthogonal_(torch::zeros({8, 8})));
  c.out("tall", init::orthogonal_(torch::zeros({12, 5})));
  c.out("wide", init::orthogonal_(torch::zeros({5, 12}), 1.4));
  c.out("conv", init::orthogonal_(torch::zeros({6, 3, 2, 2})));
  c.out("large", init::orthogonal_(torch::zeros({128, 100})));
}
PARITY_CASE(init, errors) {
  c.throws("fan", [] { init::xavier_uniform_(torch::zeros({3})); });
  c.throws("kaiming", [] { init::kaiming_normal_(torch::zeros({})); });
  c.throws("eye", [] { init::eye_(torch::zeros({3})); });
  c.throws("dirac", [] { init::dirac_(torch::zeros({3, 3})); });
  c.throws("orthogonal", [] { init::orthogonal_(torch::zeros({3})); });
  c.throws("sparse", [] { init::sparse_(torch::zeros({3}), 0.5); });
}
