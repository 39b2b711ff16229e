#include <halfbridge/bridge/nn/pooling.h>

#include <ostream>

namespace hb::bridge::nn {
inline namespace modules {

namespace F = functional;

#define HB_POOLS(nd, D)                                                                                                \
  Tensor AvgPool##D##dImpl::forward(const Tensor& input) {                                                             \
    return hooked([this](const Tensor& x) { return F::avg_pool##nd(x, options); }, input);                             \
  }                                                                                                                    \
  Tensor MaxPool##D##dImpl::forward(const Tensor& input) {                                                             \
    return hooked([this](const Tensor& x) { return F::max_pool##nd(x, options); }, input);                             \
  }                                                                                                                    \
  std::tuple<Tensor, Tensor> MaxPool##D##dImpl::forward_with_indices(const Tensor& input) {                            \
    return F::max_pool##nd##_with_indices(input, options);                                                             \
  }                                                                                                                    \
  Tensor AdaptiveAvgPool##D##dImpl::forward(const Tensor& input) {                                                     \
    return hooked([this](const Tensor& x) { return F::adaptive_avg_pool##nd(x, options); }, input);                    \
  }                                                                                                                    \
  Tensor AdaptiveMaxPool##D##dImpl::forward(const Tensor& input) {                                                     \
    return hooked([this](const Tensor& x) { return F::adaptive_max_pool##nd(x, options); }, input);                    \
  }                                                                                                                    \
  std::tuple<Tensor, Tensor> AdaptiveMaxPool##D##dImpl::forward_with_indices(const Tensor& input) {                    \
    return F::adaptive_max_pool##nd##_with_indices(input, options);                                                    \
  }                                                                                                                    \
  Tensor MaxUnpool##D##dImpl::forward(const Tensor& input, const Tensor& indices,                                      \
                                      const std::optional<std::vector<int64_t>>& output_size) {                        \
    auto o = F::MaxUnpool##D##dFuncOptions(options.kernel_size()).stride(options.stride()).padding(options.padding()); \
    o.output_size(output_size);                                                                                        \
    return hooked([&](const Tensor& x, const Tensor& i) { return F::max_unpool##nd(x, i, o); }, input, indices);       \
  }                                                                                                                    \
  Tensor LPPool##D##dImpl::forward(const Tensor& input) {                                                              \
    return hooked([this](const Tensor& x) { return F::lp_pool##nd(x, options); }, input);                              \
  }                                                                                                                    \
  void AvgPool##D##dImpl::pretty_print(std::ostream& stream) const {                                                   \
    stream << "torch::nn::AvgPool" #D "d(kernel_size=" << options.kernel_size() << ", stride=" << options.stride()     \
           << ", padding=" << options.padding() << ")";                                                                \
  }                                                                                                                    \
  void MaxPool##D##dImpl::pretty_print(std::ostream& stream) const {                                                   \
    stream << std::boolalpha << "torch::nn::MaxPool" #D "d(kernel_size=" << options.kernel_size()                      \
           << ", stride=" << options.stride() << ", padding=" << options.padding()                                     \
           << ", dilation=" << options.dilation() << ", ceil_mode=" << options.ceil_mode() << ")";                     \
  }                                                                                                                    \
  void AdaptiveAvgPool##D##dImpl::pretty_print(std::ostream& stream) const {                                           \
    stream << "torch::nn::AdaptiveAvgPool" #D "d(output_size=" << options.output_size() << ")";                        \
  }                                                                                                                    \
  void AdaptiveMaxPool##D##dImpl::pretty_print(std::ostream& stream) const {                                           \
    stream << "torch::nn::AdaptiveMaxPool" #D "d(output_size=" << options.output_size() << ")";                        \
  }                                                                                                                    \
  void MaxUnpool##D##dImpl::pretty_print(std::ostream& stream) const {                                                 \
    stream << std::boolalpha << "torch::nn::MaxUnpool" #D "d(kernel_size=" << options.kernel_size()                    \
           << ", stride=" << options.stride() << ", padding=" << options.padding() << ")";                             \
  }                                                                                                                    \
  void LPPool##D##dImpl::pretty_print(std::ostream& stream) const {                                                    \
    stream << std::boolalpha << "torch::nn::LPPool" #D "d(norm_type=" << options.norm_type()                           \
           << ", kernel_size=" << options.kernel_size() << ", stride=" << options.stride()                             \
           << ", ceil_mode=" << options.ceil_mode() << ")";                                                            \
  }
HB_POOLS(1d, 1)
HB_POOLS(2d, 2)
HB_POOLS(3d, 3)
#undef HB_POOLS

}  // namespace modules
}  // namespace hb::bridge::nn
