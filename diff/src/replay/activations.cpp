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
      {"ELU elu", "alpha~1 inplace=false", HB_OF_X(hb::elu(x, o.number("alpha")))},
      {"SELU selu", "inplace=false", HB_OF_X(hb::selu(x))},
      {"CELU celu", "alpha~1 inplace=false", HB_OF_X(hb::celu(x, o.number("alpha")))},
      {"Hardshrink hardshrink", "lambda~0.5", HB_OF_X(x.masked_fill(x.abs() <= o.number("lambda"), 0))},
      {"Hardtanh hardtanh", "min_val=-1|0 max_val=1|6|20 inplace=false",
       HB_OF_X(hb::hardtanh(x, o.number("min_val"), o.number("max_val")))},
      {"LeakyReLU leaky_relu", "negative_slope~0.01|0.1|0.2|0.3|0 inplace=false",
       HB_OF_X(hb::leaky_relu(x, o.number("negative_slope")))},
      {"LogSigmoid log_sigmoid", "", HB_OF_X(hb::log_sigmoid(x))},
      {"Softmax softmax _softmax", "dim=-1|0|1|2|3", HB_OF_X(x.softmax(o.has("dim") ? o.integer("dim") : -1))},
      {"Softmin", "dim=-1|0|1|2|3", HB_OF_X((-x).softmax(o.has("dim") ? o.integer("dim") : -1))},
      {"LogSoftmax log_softmax _log_softmax", "dim=-1|0|1|2|3",
       HB_OF_X(x.log_softmax(o.has("dim") ? o.integer("dim") : -1))},
      {"Softmax2d", "", HB_OF_X(x.softmax(-3))},
      {"PReLU prelu", "num_parameters=1",
       [](Run& run) -> Tensors { return {hb::prelu(run.input(0), run.operand("weight", 1))}; }},
      {"ReLU relu", "inplace=false", HB_OF_X(hb::relu(x))},
      {"ReLU6 relu6", "inplace=false", HB_OF_X(hb::relu6(x))},
      {"RReLU", "lower=0.125 upper=0.333333333333 inplace=false", rrelu},
      {"GLU glu", "dim=-1|0|1|2", HB_OF_X(hb::glu(x, o.integer("dim")))},
      {"GELU gelu", "approximate=none|tanh", HB_OF_X(hb::gelu(x, o.word("approximate")))},
      {"SiLU silu", "inplace=false", HB_OF_X(hb::silu(x))},
      {"Mish mish", "inplace=false", HB_OF_X(hb::mish(x))},
      {"Sigmoid sigmoid", "", HB_OF_X(hb::sigmoid(x))},
      {"Hardsigmoid hardsigmoid", "inplace=false", HB_OF_X(hb::hardsigmoid(x))},
      {"Hardswish hardswish", "inplace=false", HB_OF_X(hb::hardswish(x))},
      {"Softplus softplus", "beta~1 threshold=20", HB_OF_X(hb::softplus(x, o.number("beta"), o.number("threshold")))},
      {"Softshrink softshrink", "lambda~0.5", HB_OF_X(hb::softshrink(x, o.number("lambda")))},
      {"Softsign softsign", "", HB_OF_X(x / (x.abs() + 1))},
      {"Tanh tanh", "", HB_OF_X(hb::tanh(x))},
      {"Tanhshrink tanhshrink", "", HB_OF_X(x - hb::tanh(x))},
      {"Threshold threshold", "threshold=0 value=0 inplace=false",
       HB_OF_X(hb::threshold(x, o.number("threshold"), o.number("value")))},
      {"exp", "", HB_OF_X(hb::exp(x))},
      {"log", "", HB_OF_X(hb::log(x))},
      {"sqrt", "", HB_OF_X(hb::sqrt(x))},
      {"rsqrt", "", HB_OF_X(hb::rsqrt(x))},
      {"abs", "", HB_OF_X(hb::abs(x))},
      {"neg", "", HB_OF_X(-x)},
      {"sin", "", HB_OF_X(hb::sin(x))},
      {"cos", "", HB_OF_X(hb::cos(x))},
      {"erf", "", HB_OF_X(hb::erf(x))},
  };
  return lines;
}

}  // namespace hb::layer_diff::replay
