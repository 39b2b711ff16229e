#include <halfbridge/bridge/nn/dropout.h>

#include <ostream>

#include <halfbridge/ops.h>

namespace hb::bridge::nn {

namespace detail {
void check_dropout_probability(double p) {
  HB_CHECK(p >= 0. && p <= 1., "dropout probability has to be between 0 and 1, but got ", p);
}
}  // namespace detail

namespace functional {

Tensor dropout(Tensor input, const DropoutFuncOptions& o) {
  detail::check_dropout_probability(o.p());
  return o.inplace() ? hb::dropout_(input, o.p(), o.training()) : hb::dropout(input, o.p(), o.training());
}

namespace {
Tensor channels(Tensor& input, const DropoutFuncOptions& o, int64_t batched_dims) {
  detail::check_dropout_probability(o.p());
  // Without a batch dimension the channels would be taken for it.
  if (input.dim() != batched_dims) {
    Tensor batched = input.unsqueeze(0);
    return (o.inplace() ? hb::feature_dropout_(batched, o.p(), o.training())
                        : hb::feature_dropout(batched, o.p(), o.training()))
        .squeeze(0);
  }
  return o.inplace() ? hb::feature_dropout_(input, o.p(), o.training())
                     : hb::feature_dropout(input, o.p(), o.training());
}
}  // namespace

Tensor dropout2d(Tensor input, const Dropout2dFuncOptions& o) { return channels(input, o, 4); }
Tensor dropout3d(Tensor input, const Dropout3dFuncOptions& o) { return channels(input, o, 5); }

Tensor alpha_dropout(Tensor input, const AlphaDropoutFuncOptions& o) {
  detail::check_dropout_probability(o.p());
  return o.inplace() ? hb::alpha_dropout_(input, o.p(), o.training()) : hb::alpha_dropout(input, o.p(), o.training());
}

Tensor feature_alpha_dropout(Tensor input, const FeatureAlphaDropoutFuncOptions& o) {
  detail::check_dropout_probability(o.p());
  Tensor result = hb::feature_alpha_dropout(input, o.p(), o.training());
  return o.inplace() ? input.copy_(result) : result;
}

}  // namespace functional

inline namespace modules {
#define HB_DROPOUT(Name, Arg, function, Options)                                                                      \
  Tensor Name##Impl::forward(Arg input) {                                                                             \
    auto o = functional::Options().p(options.p()).training(is_training()).inplace(options.inplace());                 \
    return hooked([&](const Tensor& x) { return functional::function(x, o); }, input);                                \
  }                                                                                                                   \
  void Name##Impl::pretty_print(std::ostream& stream) const {                                                         \
    stream << std::boolalpha << "torch::nn::" #Name "(p=" << options.p() << ", inplace=" << options.inplace() << ")"; \
  }
HB_DROPOUT(Dropout, Tensor, dropout, DropoutFuncOptions)
HB_DROPOUT(Dropout2d, Tensor, dropout2d, DropoutFuncOptions)
HB_DROPOUT(Dropout3d, Tensor, dropout3d, DropoutFuncOptions)
HB_DROPOUT(AlphaDropout, const Tensor&, alpha_dropout, AlphaDropoutFuncOptions)
HB_DROPOUT(FeatureAlphaDropout, const Tensor&, feature_alpha_dropout, FeatureAlphaDropoutFuncOptions)
#undef HB_DROPOUT
}  // namespace modules

}  // namespace hb::bridge::nn
