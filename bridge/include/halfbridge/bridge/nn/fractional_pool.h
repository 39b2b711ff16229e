#pragma once
// Max pooling over windows that start at pseudo-random places (Graham, 2015).

#include <optional>
#include <tuple>

#include <halfbridge/bridge/expanding_array.h>
#include <halfbridge/bridge/nn/cloneable.h>

namespace hb::bridge {
inline namespace api {

/// Values and places in the input's plane, of input (N, C, …) or (C, …). `random_samples`, in [0, 1), has the input's
/// dtype and size (N, C, D): for 2 dimensions its last one stands for width and height, for 3 for time, height and
/// width.
HB_API std::tuple<Tensor, Tensor> fractional_max_pool2d(const Tensor& self, IntArrayRef kernel_size,
                                                        IntArrayRef output_size, const Tensor& random_samples);
HB_API std::tuple<Tensor, Tensor> fractional_max_pool3d(const Tensor& self, IntArrayRef kernel_size,
                                                        IntArrayRef output_size, const Tensor& random_samples);

}  // namespace api

namespace nn {
inline namespace modules {

/// One of output_size and output_ratio is needed; the ratio lies between 0 and 1.
template <size_t D>
struct FractionalMaxPoolOptions {
  FractionalMaxPoolOptions(ExpandingArray<D> kernel_size) : kernel_size_(kernel_size) {}  // NOLINT
  using ExpandingArrayDouble = ExpandingArray<D, double>;
  HB_ARG(ExpandingArray<D>, kernel_size);
  HB_ARG(std::optional<ExpandingArray<D>>, output_size) = std::nullopt;
  HB_ARG(std::optional<ExpandingArrayDouble>, output_ratio) = std::nullopt;
  /// Drawn at each call when it is undefined.
  HB_ARG(Tensor, _random_samples);
};
using FractionalMaxPool2dOptions = FractionalMaxPoolOptions<2>;
using FractionalMaxPool3dOptions = FractionalMaxPoolOptions<3>;

#define HB_FRACTIONAL_POOL(D)                                                                                      \
  class HB_API FractionalMaxPool##D##dImpl : public Cloneable<FractionalMaxPool##D##dImpl> {                       \
   public:                                                                                                         \
    FractionalMaxPool##D##dImpl(ExpandingArray<D> kernel_size) /* NOLINT */                                        \
        : FractionalMaxPool##D##dImpl(FractionalMaxPool##D##dOptions(kernel_size)) {}                              \
    explicit FractionalMaxPool##D##dImpl(FractionalMaxPool##D##dOptions options_) : options(std::move(options_)) { \
      FractionalMaxPool##D##dImpl::reset();                                                                        \
    }                                                                                                              \
    void reset() override;                                                                                         \
    void pretty_print(std::ostream& stream) const override;                                                        \
    Tensor forward(const Tensor& input);                                                                           \
    std::tuple<Tensor, Tensor> forward_with_indices(const Tensor& input);                                          \
                                                                                                                   \
    FractionalMaxPool##D##dOptions options;                                                                        \
    Tensor _random_samples;                                                                                        \
  };                                                                                                               \
  HB_LIBRARY_MODULE(FractionalMaxPool##D##d)
HB_FRACTIONAL_POOL(2);
HB_FRACTIONAL_POOL(3);
#undef HB_FRACTIONAL_POOL

}  // namespace modules

namespace functional {

using FractionalMaxPool2dFuncOptions = FractionalMaxPool2dOptions;
using FractionalMaxPool3dFuncOptions = FractionalMaxPool3dOptions;
HB_API Tensor fractional_max_pool2d(const Tensor& input, const FractionalMaxPool2dFuncOptions& options);
HB_API Tensor fractional_max_pool3d(const Tensor& input, const FractionalMaxPool3dFuncOptions& options);
HB_API std::tuple<Tensor, Tensor> fractional_max_pool2d_with_indices(const Tensor& input,
                                                                     const FractionalMaxPool2dFuncOptions& options);
HB_API std::tuple<Tensor, Tensor> fractional_max_pool3d_with_indices(const Tensor& input,
                                                                     const FractionalMaxPool3dFuncOptions& options);

}  // namespace functional
}  // namespace nn
}  // namespace hb::bridge
