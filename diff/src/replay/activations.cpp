// Activations and other functions of one tensor.
#include <halfbridge/ops.h>
#include <halfbridge/ops/activation.h>

#include "declarations.h"

namespace hb::layer_diff::replay {

// A function of x, the first input, and of the options o.
#define HB_OF_X(expression)                         \
  [](Run& run) -> Tensors {                         \
    [[maybe_unused]] const Arguments& o = run.args; \
    const Tensor& x = run.input(0);                 \
    return {expression};                            \
  }

namespace {
// Random slopes while training: nothing that could be run again.
Tensors rrelu(Run& run) {
  HB_CHECK(!run.training(), "[replay] the random slopes of rrelu in training mode are not in the trace");
  return {hb::leaky_relu(run.input(0), (run.args.number("lower") + run.args.number("upper")) / 2)};
}
}  // namespace

const Lines& activation_lines() {
  static const Lines lines = {
      {"elu", HB_OF_X(hb::elu(x, o.number("alpha")))},
      {"selu", HB_OF_X(hb::selu(x))},
      {"celu", HB_OF_X(hb::celu(x, o.number("alpha")))},
      {"hardshrink", HB_OF_X(x.masked_fill(x.abs() <= o.number("lambda"), 0))},
      {"hardtanh", HB_OF_X(hb::hardtanh(x, o.number("min_val"), o.number("max_val")))},
      {"leaky_relu", HB_OF_X(hb::leaky_relu(x, o.number("negative_slope")))},
      {"log_sigmoid", HB_OF_X(hb::log_sigmoid(x))},
      {"softmax", HB_OF_X(x.softmax(o.has("dim") ? o.integer("dim") : -1))},
      {"softmin", HB_OF_X((-x).softmax(o.has("dim") ? o.integer("dim") : -1))},
      {"log_softmax", HB_OF_X(x.log_softmax(o.has("dim") ? o.integer("dim") : -1))},
      {"softmax2d", HB_OF_X(x.softmax(-3))},
      {"prelu", [](Run& run) -> Tensors { return {hb::prelu(run.input(0), run.operand("weight", 1))}; }},
      {"relu", HB_OF_X(hb::relu(x))},
      {"relu6", HB_OF_X(hb::relu6(x))},
      {"rrelu", rrelu},
      {"glu", HB_OF_X(hb::glu(x, o.integer("dim")))},
      {"gelu", HB_OF_X(hb::gelu(x, o.word("approximate")))},
      {"silu", HB_OF_X(hb::silu(x))},
      {"mish", HB_OF_X(hb::mish(x))},
      {"sigmoid", HB_OF_X(hb::sigmoid(x))},
      {"hardsigmoid", HB_OF_X(hb::hardsigmoid(x))},
      {"hardswish", HB_OF_X(hb::hardswish(x))},
      {"softplus", HB_OF_X(hb::softplus(x, o.number("beta"), o.number("threshold")))},
      {"softshrink", HB_OF_X(hb::softshrink(x, o.number("lambda")))},
      {"softsign", HB_OF_X(x / (x.abs() + 1))},
      {"tanh", HB_OF_X(hb::tanh(x))},
      {"tanhshrink", HB_OF_X(x - hb::tanh(x))},
      {"threshold", HB_OF_X(hb::threshold(x, o.number("threshold"), o.number("value")))},
      {"exp", HB_OF_X(hb::exp(x))},
      {"log", HB_OF_X(hb::log(x))},
      {"sqrt", HB_OF_X(hb::sqrt(x))},
      {"rsqrt", HB_OF_X(hb::rsqrt(x))},
      {"abs", HB_OF_X(hb::abs(x))},
      {"neg", HB_OF_X(-x)},
      {"sin", HB_OF_X(hb::sin(x))},
      {"cos", HB_OF_X(hb::cos(x))},
      {"erf", HB_OF_X(hb::erf(x))},
  };
  return lines;
}

}  // namespace hb::layer_diff::replay
