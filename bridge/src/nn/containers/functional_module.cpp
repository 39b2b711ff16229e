#include <halfbridge/bridge/nn/containers/functional_module.h>

#include <ostream>

namespace hb::bridge::nn {
inline namespace modules {

FunctionalImpl::FunctionalImpl(Function function) : function_(std::move(function)) {}
void FunctionalImpl::reset() {}
void FunctionalImpl::pretty_print(std::ostream& stream) const { stream << "torch::nn::Functional()"; }
Tensor FunctionalImpl::forward(Tensor input) {
  return hooked([this](const Tensor& x) { return function_(x); }, input);
}
Tensor FunctionalImpl::operator()(Tensor input) { return forward(std::move(input)); }
bool FunctionalImpl::is_serializable() const { return false; }

}  // namespace modules
}  // namespace hb::bridge::nn
