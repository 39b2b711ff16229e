#include <halfbridge/bridge/nn/activation.h>

#include <ostream>

#include <halfbridge/bridge/nn/init.h>

namespace hb::bridge::nn {
inline namespace modules {

namespace F = functional;

// forward through the functional form that takes the module's options.
#define HB_FORWARD(Name, Arg, call)                                           \
  Tensor Name##Impl::forward(Arg input) {                                     \
    return hooked([this](const Tensor& x) -> Tensor { return call; }, input); \
  }
#define HB_FORWARD_PLAIN(Name, call)                                      \
  Tensor Name##Impl::forward(const Tensor& input) {                       \
    return hooked([](const Tensor& x) -> Tensor { return call; }, input); \
  }                                                                       \
  void Name##Impl::pretty_print(std::ostream& stream) const { stream << "torch::nn::" #Name "()"; }
HB_FORWARD(ELU, Tensor, F::elu(x, options))
HB_FORWARD(SELU, Tensor, F::selu(x, options))
HB_FORWARD(CELU, Tensor, F::celu(x, options))
HB_FORWARD(Hardshrink, const Tensor&, F::hardshrink(x, options))
HB_FORWARD(Hardtanh, Tensor, F::hardtanh(x, options))
HB_FORWARD(LeakyReLU, Tensor, F::leaky_relu(x, options))
HB_FORWARD(Softmax, const Tensor&, x.softmax(options.dim()))
HB_FORWARD(Softmin, const Tensor&, (-x).softmax(options.dim()))
HB_FORWARD(LogSoftmax, const Tensor&, x.log_softmax(options.dim()))
HB_FORWARD(PReLU, const Tensor&, hb::prelu(x, weight))
HB_FORWARD(ReLU, Tensor, F::relu(x, options))
HB_FORWARD(ReLU6, Tensor, F::relu6(x, options))
HB_FORWARD(RReLU, Tensor,
           F::rrelu(x, F::RReLUFuncOptions()
                           .lower(options.lower())
                           .upper(options.upper())
                           .training(is_training())
                           .inplace(options.inplace())))
HB_FORWARD(GLU, const Tensor&, F::glu(x, options))
HB_FORWARD(GELU, const Tensor&, F::gelu(x, options))
HB_FORWARD(Softplus, const Tensor&, F::softplus(x, options))
HB_FORWARD(Softshrink, const Tensor&, F::softshrink(x, options))
HB_FORWARD(Threshold, Tensor, F::threshold(x, options))
HB_FORWARD_PLAIN(LogSigmoid, hb::log_sigmoid(x))
HB_FORWARD_PLAIN(SiLU, hb::silu(x))
HB_FORWARD_PLAIN(Mish, hb::mish(x))
HB_FORWARD_PLAIN(Sigmoid, hb::sigmoid(x))
HB_FORWARD_PLAIN(Softsign, F::softsign(x))
HB_FORWARD_PLAIN(Tanh, hb::tanh(x))
HB_FORWARD_PLAIN(Tanhshrink, F::tanhshrink(x))
#undef HB_FORWARD
#undef HB_FORWARD_PLAIN

Tensor Softmax2dImpl::forward(const Tensor& input) {
  HB_CHECK(input.dim() == 4 || input.dim() == 3, "Softmax2d requires a 3D or 4D tensor as input, got ", input.sizes());
  return hooked([](const Tensor& x) { return x.softmax(-3); }, input);
}
void Softmax2dImpl::pretty_print(std::ostream& stream) const { stream << "torch::nn::Softmax2d()"; }

PReLUImpl::PReLUImpl(const PReLUOptions& options_) : options(options_) { PReLUImpl::reset(); }
void PReLUImpl::reset() { weight = register_parameter("weight", hb::full({options.num_parameters()}, options.init())); }

// --- printing
namespace {
std::ostream& end(std::ostream& stream, bool inplace, const char* separator = ", ") {
  if (inplace) stream << std::boolalpha << separator << "inplace=" << true;
  return stream << ")";
}
}  // namespace

void ELUImpl::pretty_print(std::ostream& stream) const {
  end(stream << "torch::nn::ELU(alpha=" << options.alpha(), options.inplace());
}
void SELUImpl::pretty_print(std::ostream& stream) const { end(stream << "torch::nn::SELU(", options.inplace(), ""); }
void CELUImpl::pretty_print(std::ostream& stream) const {
  end(stream << "torch::nn::CELU(alpha=" << options.alpha(), options.inplace());
}
void HardshrinkImpl::pretty_print(std::ostream& stream) const {
  stream << std::boolalpha << "torch::nn::Hardshrink(" << options.lambda() << ")";
}
void HardtanhImpl::pretty_print(std::ostream& stream) const {
  stream << std::boolalpha << "torch::nn::Hardtanh(min_val=" << options.min_val() << ", max_val=" << options.max_val();
  end(stream, options.inplace());
}
void LeakyReLUImpl::pretty_print(std::ostream& stream) const {
  end(stream << std::boolalpha << "torch::nn::LeakyReLU(negative_slope=" << options.negative_slope(),
      options.inplace());
}
void SoftmaxImpl::pretty_print(std::ostream& stream) const {
  stream << "torch::nn::Softmax(dim=" << options.dim() << ")";
}
void SoftminImpl::pretty_print(std::ostream& stream) const {
  stream << "torch::nn::Softmin(dim=" << options.dim() << ")";
}
void LogSoftmaxImpl::pretty_print(std::ostream& stream) const {
  stream << "torch::nn::LogSoftmax(dim=" << options.dim() << ")";
}
void PReLUImpl::pretty_print(std::ostream& stream) const {
  stream << "torch::nn::PReLU(num_parameters=" << options.num_parameters() << ")";
}
void ReLUImpl::pretty_print(std::ostream& stream) const { end(stream << "torch::nn::ReLU(", options.inplace(), ""); }
void ReLU6Impl::pretty_print(std::ostream& stream) const { end(stream << "torch::nn::ReLU6(", options.inplace(), ""); }
void RReLUImpl::pretty_print(std::ostream& stream) const {
  stream << "torch::nn::RReLU(lower=" << options.lower() << ", upper=" << options.upper();
  end(stream, options.inplace());
}
void GLUImpl::pretty_print(std::ostream& stream) const { stream << "torch::nn::GLU(dim=" << options.dim() << ")"; }
void GELUImpl::pretty_print(std::ostream& stream) const { stream << "torch::nn::GELU()"; }
void SoftplusImpl::pretty_print(std::ostream& stream) const {
  stream << "torch::nn::Softplus(beta=" << options.beta() << ", threshold=" << options.threshold() << ")";
}
void SoftshrinkImpl::pretty_print(std::ostream& stream) const {
  stream << "torch::nn::Softshrink(" << options.lambda() << ")";
}
void ThresholdImpl::pretty_print(std::ostream& stream) const {
  stream << "torch::nn::Threshold(threshold=" << options.threshold() << ", value=" << options.value();
  end(stream, options.inplace());
}

}  // namespace modules
}  // namespace hb::bridge::nn
