#pragma once

#include <halfbridge/bridge/nn/cloneable.h>

namespace hb::bridge::nn {
inline namespace modules {

struct HB_API DropoutOptions {
  DropoutOptions(double p = 0.5) : p_(p) {}  // NOLINT: implicit as in LibTorch
  HB_ARG(double, p) = 0.5;
  HB_ARG(bool, inplace) = false;
};
using Dropout2dOptions = DropoutOptions;
using Dropout3dOptions = DropoutOptions;
using AlphaDropoutOptions = DropoutOptions;
using FeatureAlphaDropoutOptions = DropoutOptions;
}  // namespace modules

namespace detail {
HB_API void check_dropout_probability(double p);
template <typename Derived>
class HB_API _DropoutNd : public Cloneable<Derived> {
 public:
  _DropoutNd(double p) : _DropoutNd(DropoutOptions().p(p)) {}  // NOLINT
  explicit _DropoutNd(const DropoutOptions& options_ = {}) : options(options_) { _DropoutNd::reset(); }
  void reset() override { check_dropout_probability(options.p()); }

  DropoutOptions options;
};
}  // namespace detail

inline namespace modules {

/// While training, values (or with 2d and 3d whole channels) become zero with probability p; the others are scaled up.
#define HB_DROPOUT(Name, Arg)                                       \
  class HB_API Name##Impl : public detail::_DropoutNd<Name##Impl> { \
   public:                                                          \
    using detail::_DropoutNd<Name##Impl>::_DropoutNd;               \
    Tensor forward(Arg input);                                      \
    void pretty_print(std::ostream& stream) const override;         \
  };                                                                \
  HB_LIBRARY_MODULE(Name)
HB_DROPOUT(Dropout, Tensor);
HB_DROPOUT(Dropout2d, Tensor);
HB_DROPOUT(Dropout3d, Tensor);
/// The same keeping mean and variance of what SELU gives.
HB_DROPOUT(AlphaDropout, const Tensor&);
HB_DROPOUT(FeatureAlphaDropout, const Tensor&);
#undef HB_DROPOUT

}  // namespace modules

namespace functional {

struct HB_API DropoutFuncOptions {
  HB_ARG(double, p) = 0.5;
  HB_ARG(bool, training) = true;
  HB_ARG(bool, inplace) = false;
};
using Dropout2dFuncOptions = DropoutFuncOptions;
using Dropout3dFuncOptions = DropoutFuncOptions;
struct HB_API AlphaDropoutFuncOptions {
  HB_ARG(double, p) = 0.5;
  HB_ARG(bool, training) = false;
  HB_ARG(bool, inplace) = false;
};
struct HB_API FeatureAlphaDropoutFuncOptions {
  HB_ARG(double, p) = 0.5;
  HB_ARG(bool, training) = false;
  HB_ARG(bool, inplace) = false;
};

HB_API Tensor dropout(Tensor input, const DropoutFuncOptions& options = {});
HB_API Tensor dropout2d(Tensor input, const Dropout2dFuncOptions& options = {});
HB_API Tensor dropout3d(Tensor input, const Dropout3dFuncOptions& options = {});
HB_API Tensor alpha_dropout(Tensor input, const AlphaDropoutFuncOptions& options = {});
HB_API Tensor feature_alpha_dropout(Tensor input, const FeatureAlphaDropoutFuncOptions& options = {});

}  // namespace functional
}  // namespace hb::bridge::nn
