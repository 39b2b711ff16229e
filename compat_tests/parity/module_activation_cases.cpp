#include "parity/modules.h"

namespace nn = torch::nn;
namespace F = torch::nn::functional;

PARITY_CASE(module_activation, modules) {
  auto x = [&] { return c.leaf({3, 4, 6}); };
  parity::module(c, "ELU", nn::ELU(nn::ELUOptions().alpha(0.7)), x());
  parity::module(c, "SELU", nn::SELU(), x());
  parity::module(c, "CELU", nn::CELU(nn::CELUOptions().alpha(0.7)), x());
  parity::module(c, "Hardshrink", nn::Hardshrink(0.4), x());
  parity::module(c, "Hardtanh", nn::Hardtanh(nn::HardtanhOptions().min_val(-0.5).max_val(0.8)), x());
  parity::module(c, "LeakyReLU", nn::LeakyReLU(nn::LeakyReLUOptions().negative_slope(0.2)), x());
  parity::module(c, "LogSigmoid", nn::LogSigmoid(), x());
  parity::module(c, "Softmax", nn::Softmax(1), x());
  parity::module(c, "Softmin", nn::Softmin(nn::SoftminOptions(-1)), x());
  parity::module(c, "LogSoftmax", nn::LogSoftmax(2), x());
  parity::module(c, "Softmax2d", nn::Softmax2d(), x());
  parity::module(c, "PReLU", nn::PReLU(nn::PReLUOptions().num_parameters(4)), x());
  parity::module(c, "ReLU", nn::ReLU(), x());
  parity::module(c, "ReLU6", nn::ReLU6(), x());
  parity::module(c, "GLU", nn::GLU(1), x());
  parity::module(c, "GELU", nn::GELU(), x());
  parity::module(c, "GELU_tanh", nn::GELU(nn::GELUOptions().approximate("tanh")), x());
  parity::module(c, "SiLU", nn::SiLU(), x());
  parity::module(c, "Mish", nn::Mish(), x());
  parity::module(c, "Sigmoid", nn::Sigmoid(), x());
  parity::module(c, "Softplus", nn::Softplus(nn::SoftplusOptions().beta(1.5).threshold(2)), x());
  parity::module(c, "Softshrink", nn::Softshrink(0.4), x());
  parity::module(c, "Softsign", nn::Softsign(), x());
  parity::module(c, "Tanh", nn::Tanh(), x());
  parity::module(c, "Tanhshrink", nn::Tanhshrink(), x());
  parity::module(c, "Threshold", nn::Threshold(0.1, -2), x());
}

PARITY_CASE(module_activation, in_place) {
  auto run = [&](const char* name, auto m) {
    c.scope(name, [&] {
      c.text("text", parity::text_of(m));
      auto x = c.randn({3, 5});
      auto y = m->forward(x);
      c.out("y", y);
      c.out("x", x);
    });
  };
  run("ReLU", nn::ReLU(true));
  run("ReLU_options", nn::ReLU(nn::ReLUOptions().inplace(true)));
  run("ReLU6", nn::ReLU6(true));
  run("ELU", nn::ELU(nn::ELUOptions().inplace(true)));
  run("SELU", nn::SELU(true));
  run("CELU", nn::CELU(nn::CELUOptions().inplace(true)));
  run("LeakyReLU", nn::LeakyReLU(nn::LeakyReLUOptions().inplace(true)));
  run("Hardtanh", nn::Hardtanh(nn::HardtanhOptions().inplace(true)));
  run("Threshold", nn::Threshold(nn::ThresholdOptions(0.1, 3).inplace(true)));
}

PARITY_CASE(module_activation, rrelu) {
  nn::RReLU m;
  c.text("text", parity::text_of(m));
  m->eval();
  auto x = c.leaf({4, 5});
  c.gradients("eval", {x}, [&] { return m->forward(x); });
}

PARITY_CASE(module_activation, functional) {
  auto x = c.leaf({3, 6});
  c.gradients("softmax", {x}, [&] { return F::softmax(x, 1); });
  c.gradients("softmax_dtype", {x}, [&] { return F::softmax(x, F::SoftmaxFuncOptions(0).dtype(torch::kDouble)); });
  c.gradients("softmin", {x}, [&] { return F::softmin(x, 1); });
  c.gradients("log_softmax", {x}, [&] { return F::log_softmax(x, F::LogSoftmaxFuncOptions(1)); });
  c.gradients("elu", {x}, [&] { return F::elu(x, F::ELUFuncOptions().alpha(0.3)); });
  c.gradients("leaky_relu", {x}, [&] { return F::leaky_relu(x, F::LeakyReLUFuncOptions().negative_slope(0.3)); });
  c.gradients("gelu", {x}, [&] { return F::gelu(x); });
  c.gradients("silu", {x}, [&] { return F::silu(x); });
  c.gradients("mish", {x}, [&] { return F::mish(x); });
  c.gradients("softplus", {x}, [&] { return F::softplus(x); });
  c.gradients("softsign", {x}, [&] { return F::softsign(x); });
  c.gradients("tanhshrink", {x}, [&] { return F::tanhshrink(x); });
  c.gradients("logsigmoid", {x}, [&] { return F::logsigmoid(x); });
  c.gradients("glu", {x}, [&] { return F::glu(x); });
  c.gradients("relu", {x}, [&] { return F::relu(x); });
  c.gradients("relu_inplace", {x}, [&] { return F::relu(x * 2, F::ReLUFuncOptions().inplace(true)); });
  auto w = c.leaf({6});
  c.gradients("prelu", {x, w}, [&] { return F::prelu(x, w); });
  c.gradients("threshold", {x}, [&] { return F::threshold(x, F::ThresholdFuncOptions(0.2, 1)); });
  c.throws("glu_of_number", [&] { F::glu(torch::tensor(1.0)); });
}
