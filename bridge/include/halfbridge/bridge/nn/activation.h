#pragma once
// Activations: PyTorch's documentation of the same name says what they compute.

#include <halfbridge/bridge/nn/activation_options.h>
#include <halfbridge/bridge/nn/cloneable.h>

namespace hb::bridge::nn {
inline namespace modules {

class HB_API ELUImpl : public Cloneable<ELUImpl> {
 public:
  explicit ELUImpl(const ELUOptions& options_ = {}) : options(options_) {}
  void reset() override {}
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(Tensor input);

  ELUOptions options;
};
HB_LIBRARY_MODULE(ELU);
class HB_API SELUImpl : public Cloneable<SELUImpl> {
 public:
  explicit SELUImpl(const SELUOptions& options_ = {}) : options(options_) {}
  void reset() override {}
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(Tensor input);

  SELUOptions options;
};
HB_LIBRARY_MODULE(SELU);
class HB_API CELUImpl : public Cloneable<CELUImpl> {
 public:
  explicit CELUImpl(const CELUOptions& options_ = {}) : options(options_) {}
  void reset() override {}
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(Tensor input);

  CELUOptions options;
};
HB_LIBRARY_MODULE(CELU);
class HB_API HardshrinkImpl : public Cloneable<HardshrinkImpl> {
 public:
  explicit HardshrinkImpl(const HardshrinkOptions& options_ = {}) : options(options_) {}
  void reset() override {}
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(const Tensor& input);

  HardshrinkOptions options;
};
HB_LIBRARY_MODULE(Hardshrink);
class HB_API HardtanhImpl : public Cloneable<HardtanhImpl> {
 public:
  explicit HardtanhImpl(const HardtanhOptions& options_ = {}) : options(options_) { HardtanhImpl::reset(); }
  void reset() override {
    HB_CHECK(options.min_val() < options.max_val(), "max_val must be greater than min_val, got ", options.max_val(),
             " and ", options.min_val());
  }
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(Tensor input);

  HardtanhOptions options;
};
HB_LIBRARY_MODULE(Hardtanh);
class HB_API LeakyReLUImpl : public Cloneable<LeakyReLUImpl> {
 public:
  explicit LeakyReLUImpl(const LeakyReLUOptions& options_ = {}) : options(options_) {}
  void reset() override {}
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(Tensor input);

  LeakyReLUOptions options;
};
HB_LIBRARY_MODULE(LeakyReLU);
class HB_API LogSigmoidImpl : public Cloneable<LogSigmoidImpl> {
 public:
  void reset() override {}
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(const Tensor& input);
};
HB_LIBRARY_MODULE(LogSigmoid);
class HB_API SoftmaxImpl : public Cloneable<SoftmaxImpl> {
 public:
  explicit SoftmaxImpl(int64_t dim) : SoftmaxImpl(SoftmaxOptions(dim)) {}
  explicit SoftmaxImpl(const SoftmaxOptions& options_) : options(options_) {}
  void reset() override {}
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(const Tensor& input);

  SoftmaxOptions options;
};
HB_LIBRARY_MODULE(Softmax);
class HB_API SoftminImpl : public Cloneable<SoftminImpl> {
 public:
  explicit SoftminImpl(int64_t dim) : SoftminImpl(SoftminOptions(dim)) {}
  explicit SoftminImpl(const SoftminOptions& options_) : options(options_) {}
  void reset() override {}
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(const Tensor& input);

  SoftminOptions options;
};
HB_LIBRARY_MODULE(Softmin);
class HB_API LogSoftmaxImpl : public Cloneable<LogSoftmaxImpl> {
 public:
  explicit LogSoftmaxImpl(int64_t dim) : LogSoftmaxImpl(LogSoftmaxOptions(dim)) {}
  explicit LogSoftmaxImpl(const LogSoftmaxOptions& options_) : options(options_) {}
  void reset() override {}
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(const Tensor& input);

  LogSoftmaxOptions options;
};
HB_LIBRARY_MODULE(LogSoftmax);
class HB_API Softmax2dImpl : public Cloneable<Softmax2dImpl> {
 public:
  void reset() override {}
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(const Tensor& input);
};
HB_LIBRARY_MODULE(Softmax2d);
class HB_API PReLUImpl : public Cloneable<PReLUImpl> {
 public:
  explicit PReLUImpl(const PReLUOptions& options_ = {});
  void reset() override;
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(const Tensor& input);

  PReLUOptions options;
  Tensor weight;  // (num_parameters)
};
HB_LIBRARY_MODULE(PReLU);
class HB_API ReLUImpl : public Cloneable<ReLUImpl> {
 public:
  explicit ReLUImpl(const ReLUOptions& options_ = {}) : options(options_) {}
  void reset() override {}
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(Tensor input);

  ReLUOptions options;
};
HB_LIBRARY_MODULE(ReLU);
class HB_API ReLU6Impl : public Cloneable<ReLU6Impl> {
 public:
  explicit ReLU6Impl(const ReLU6Options& options_ = {}) : options(options_) {}
  void reset() override {}
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(Tensor input);

  ReLU6Options options;
};
HB_LIBRARY_MODULE(ReLU6);
class HB_API RReLUImpl : public Cloneable<RReLUImpl> {
 public:
  explicit RReLUImpl(const RReLUOptions& options_ = {}) : options(options_) {}
  void reset() override {}
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(Tensor input);

  RReLUOptions options;
};
HB_LIBRARY_MODULE(RReLU);
class HB_API GLUImpl : public Cloneable<GLUImpl> {
 public:
  explicit GLUImpl(const GLUOptions& options_ = {}) : options(options_) {}
  void reset() override {}
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(const Tensor& input);

  GLUOptions options;
};
HB_LIBRARY_MODULE(GLU);
class HB_API GELUImpl : public Cloneable<GELUImpl> {
 public:
  explicit GELUImpl(const GELUOptions& options_ = {}) : options(options_) {}
  void reset() override {}
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(const Tensor& input);

  GELUOptions options;
};
HB_LIBRARY_MODULE(GELU);
class HB_API SiLUImpl : public Cloneable<SiLUImpl> {
 public:
  void reset() override {}
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(const Tensor& input);
};
HB_LIBRARY_MODULE(SiLU);
class HB_API MishImpl : public Cloneable<MishImpl> {
 public:
  void reset() override {}
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(const Tensor& input);
};
HB_LIBRARY_MODULE(Mish);
class HB_API SigmoidImpl : public Cloneable<SigmoidImpl> {
 public:
  void reset() override {}
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(const Tensor& input);
};
HB_LIBRARY_MODULE(Sigmoid);
class HB_API SoftplusImpl : public Cloneable<SoftplusImpl> {
 public:
  explicit SoftplusImpl(const SoftplusOptions& options_ = {}) : options(options_) {}
  void reset() override {}
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(const Tensor& input);

  SoftplusOptions options;
};
HB_LIBRARY_MODULE(Softplus);
class HB_API SoftshrinkImpl : public Cloneable<SoftshrinkImpl> {
 public:
  explicit SoftshrinkImpl(const SoftshrinkOptions& options_ = {}) : options(options_) {}
  void reset() override {}
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(const Tensor& input);

  SoftshrinkOptions options;
};
HB_LIBRARY_MODULE(Softshrink);
class HB_API SoftsignImpl : public Cloneable<SoftsignImpl> {
 public:
  void reset() override {}
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(const Tensor& input);
};
HB_LIBRARY_MODULE(Softsign);
class HB_API TanhImpl : public Cloneable<TanhImpl> {
 public:
  void reset() override {}
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(const Tensor& input);
};
HB_LIBRARY_MODULE(Tanh);
class HB_API TanhshrinkImpl : public Cloneable<TanhshrinkImpl> {
 public:
  void reset() override {}
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(const Tensor& input);
};
HB_LIBRARY_MODULE(Tanhshrink);
class HB_API ThresholdImpl : public Cloneable<ThresholdImpl> {
 public:
  ThresholdImpl(double threshold, double value) : ThresholdImpl(ThresholdOptions(threshold, value)) {}
  explicit ThresholdImpl(const ThresholdOptions& options_) : options(options_) {}
  void reset() override {}
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(Tensor input);

  ThresholdOptions options;
};
HB_LIBRARY_MODULE(Threshold);

}  // namespace modules

namespace functional {

HB_API Tensor elu(Tensor input, const ELUFuncOptions& options = {});
HB_API Tensor selu(Tensor input, const SELUFuncOptions& options = {});
HB_API Tensor celu(Tensor input, const CELUFuncOptions& options = {});
HB_API Tensor hardshrink(const Tensor& input, const HardshrinkFuncOptions& options = {});
HB_API Tensor hardtanh(Tensor input, const HardtanhFuncOptions& options = {});
HB_API Tensor leaky_relu(Tensor input, const LeakyReLUFuncOptions& options = {});
HB_API Tensor logsigmoid(const Tensor& input);
HB_API Tensor gumbel_softmax(const Tensor& logits, const GumbelSoftmaxFuncOptions& options = {});
HB_API Tensor softmax(const Tensor& input, const SoftmaxFuncOptions& options);
HB_API Tensor softmin(const Tensor& input, const SoftminFuncOptions& options);
HB_API Tensor log_softmax(const Tensor& input, const LogSoftmaxFuncOptions& options);
HB_API Tensor glu(const Tensor& input, const GLUFuncOptions& options = {});
HB_API Tensor gelu(const Tensor& input, const GELUFuncOptions& options = {});
HB_API Tensor silu(const Tensor& input);
HB_API Tensor mish(const Tensor& input);
HB_API Tensor prelu(const Tensor& input, const Tensor& weight);
HB_API Tensor relu(Tensor input, const ReLUFuncOptions& options = {});
HB_API Tensor relu6(Tensor input, const ReLU6FuncOptions& options = {});
HB_API Tensor rrelu(Tensor input, const RReLUFuncOptions& options = {});
HB_API Tensor softplus(const Tensor& input, const SoftplusFuncOptions& options = {});
HB_API Tensor softshrink(const Tensor& input, const SoftshrinkFuncOptions& options = {});
HB_API Tensor softsign(const Tensor& input);
HB_API Tensor tanhshrink(const Tensor& input);
HB_API Tensor threshold(Tensor input, const ThresholdFuncOptions& options);

}  // namespace functional
}  // namespace hb::bridge::nn
