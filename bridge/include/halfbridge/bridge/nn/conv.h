#pragma once

#include <variant>
#include <vector>

#include <halfbridge/bridge/enum.h>
#include <halfbridge/bridge/expanding_array.h>
#include <halfbridge/bridge/nn/cloneable.h>

namespace hb::bridge::nn {
namespace detail {
using conv_padding_mode_t =
    std::variant<enumtype::kZeros, enumtype::kReflect, enumtype::kReplicate, enumtype::kCircular>;
template <size_t D>
using conv_padding_t = std::variant<ExpandingArray<D>, enumtype::kValid, enumtype::kSame>;

// What convolutions and transposed ones are made of inside.
template <size_t D>
struct ConvNdOptions {
  using padding_t = conv_padding_t<D>;
  ConvNdOptions(int64_t in_channels, int64_t out_channels, ExpandingArray<D> kernel_size)
      : in_channels_(in_channels), out_channels_(out_channels), kernel_size_(std::move(kernel_size)) {}
  HB_ARG(int64_t, in_channels);
  HB_ARG(int64_t, out_channels);
  HB_ARG(ExpandingArray<D>, kernel_size);
  HB_ARG(ExpandingArray<D>, stride) = 1;
  HB_ARG(padding_t, padding) = ExpandingArray<D>(0);

 public:
  auto padding(std::initializer_list<int64_t> il) { return padding(padding_t(ExpandingArray<D>(il))); }
  HB_ARG(ExpandingArray<D>, dilation) = 1;
  HB_ARG(bool, transposed) = false;
  HB_ARG(ExpandingArray<D>, output_padding) = 0;
  HB_ARG(int64_t, groups) = 1;
  HB_ARG(bool, bias) = true;
  HB_ARG(conv_padding_mode_t, padding_mode) = kZeros;
};
}  // namespace detail

inline namespace modules {

template <size_t D>
struct ConvOptions {
  using padding_mode_t = detail::conv_padding_mode_t;
  using padding_t = detail::conv_padding_t<D>;
  ConvOptions(int64_t in_channels, int64_t out_channels, ExpandingArray<D> kernel_size)
      : in_channels_(in_channels), out_channels_(out_channels), kernel_size_(std::move(kernel_size)) {}
  HB_ARG(int64_t, in_channels);
  HB_ARG(int64_t, out_channels);
  HB_ARG(ExpandingArray<D>, kernel_size);
  HB_ARG(ExpandingArray<D>, stride) = 1;
  HB_ARG(padding_t, padding) = ExpandingArray<D>(0);

 public:
  auto padding(std::initializer_list<int64_t> il) { return padding(padding_t(ExpandingArray<D>(il))); }
  HB_ARG(ExpandingArray<D>, dilation) = 1;
  HB_ARG(int64_t, groups) = 1;
  HB_ARG(bool, bias) = true;
  HB_ARG(padding_mode_t, padding_mode) = kZeros;
};
using Conv1dOptions = ConvOptions<1>;
using Conv2dOptions = ConvOptions<2>;
using Conv3dOptions = ConvOptions<3>;

template <size_t D>
struct ConvTransposeOptions {
  using padding_mode_t = detail::conv_padding_mode_t;
  ConvTransposeOptions(int64_t in_channels, int64_t out_channels, ExpandingArray<D> kernel_size)
      : in_channels_(in_channels), out_channels_(out_channels), kernel_size_(std::move(kernel_size)) {}
  HB_ARG(int64_t, in_channels);
  HB_ARG(int64_t, out_channels);
  HB_ARG(ExpandingArray<D>, kernel_size);
  HB_ARG(ExpandingArray<D>, stride) = 1;
  HB_ARG(ExpandingArray<D>, padding) = 0;
  HB_ARG(ExpandingArray<D>, output_padding) = 0;
  HB_ARG(int64_t, groups) = 1;
  HB_ARG(bool, bias) = true;
  HB_ARG(ExpandingArray<D>, dilation) = 1;
  HB_ARG(padding_mode_t, padding_mode) = kZeros;
};
using ConvTranspose1dOptions = ConvTransposeOptions<1>;
using ConvTranspose2dOptions = ConvTransposeOptions<2>;
using ConvTranspose3dOptions = ConvTransposeOptions<3>;

/// What the convolutions share. Defined for D = 1, 2, 3 in the library.
template <size_t D, typename Derived>
class HB_API ConvNdImpl : public Cloneable<Derived> {
 public:
  explicit ConvNdImpl(detail::ConvNdOptions<D> options_) : options(std::move(options_)) { ConvNdImpl::reset(); }
  void reset() override;
  void reset_parameters();
  void pretty_print(std::ostream& stream) const override;

  detail::ConvNdOptions<D> options;
  Tensor weight;
  Tensor bias;

 protected:
  Tensor convolve(const Tensor& input, const Tensor& with_weight) const;
  Tensor convolve_transposed(const Tensor& input, const std::optional<IntArrayRef>& output_size);
  std::vector<int64_t> _reversed_padding_repeated_twice;
};

template <size_t D, typename Derived>
class HB_API ConvTransposeNdImpl : public ConvNdImpl<D, Derived> {
 public:
  using ConvNdImpl<D, Derived>::ConvNdImpl;
};

#define HB_CONV(D)                                                                                          \
  class HB_API Conv##D##dImpl : public ConvNdImpl<D, Conv##D##dImpl> {                                      \
   public:                                                                                                  \
    Conv##D##dImpl(int64_t input_channels, int64_t output_channels, ExpandingArray<D> kernel_size)          \
        : Conv##D##dImpl(ConvOptions<D>(input_channels, output_channels, kernel_size)) {}                   \
    explicit Conv##D##dImpl(ConvOptions<D> options_);                                                       \
    Tensor forward(const Tensor& input);                                                                    \
                                                                                                            \
   protected:                                                                                               \
    Tensor _conv_forward(const Tensor& input, const Tensor& weight);                                        \
  };                                                                                                        \
  HB_LIBRARY_MODULE(Conv##D##d);                                                                            \
  class HB_API ConvTranspose##D##dImpl : public ConvTransposeNdImpl<D, ConvTranspose##D##dImpl> {           \
   public:                                                                                                  \
    ConvTranspose##D##dImpl(int64_t input_channels, int64_t output_channels, ExpandingArray<D> kernel_size) \
        : ConvTranspose##D##dImpl(ConvTransposeOptions<D>(input_channels, output_channels, kernel_size)) {} \
    explicit ConvTranspose##D##dImpl(ConvTransposeOptions<D> options_);                                     \
    Tensor forward(const Tensor& input, const std::optional<IntArrayRef>& output_size = std::nullopt);      \
                                                                                                            \
   protected:                                                                                               \
    HB_LIBRARY_DEFAULT_ARGS;                                                                                \
  };                                                                                                        \
  HB_LIBRARY_MODULE(ConvTranspose##D##d)
/// Convolution over D spatial dimensions: (N, Cin, …) or (Cin, …) to (N, Cout, …) or (Cout, …).
HB_CONV(1);
HB_CONV(2);
HB_CONV(3);
#undef HB_CONV

}  // namespace modules

namespace functional {

template <size_t D>
struct ConvFuncOptions {
  using padding_t = detail::conv_padding_t<D>;
  HB_ARG(Tensor, bias);
  HB_ARG(ExpandingArray<D>, stride) = 1;
  HB_ARG(padding_t, padding) = ExpandingArray<D>(0);

 public:
  auto padding(std::initializer_list<int64_t> il) { return padding(padding_t(ExpandingArray<D>(il))); }
  HB_ARG(ExpandingArray<D>, dilation) = 1;
  HB_ARG(int64_t, groups) = 1;
};
using Conv1dFuncOptions = ConvFuncOptions<1>;
using Conv2dFuncOptions = ConvFuncOptions<2>;
using Conv3dFuncOptions = ConvFuncOptions<3>;
template <size_t D>
struct ConvTransposeFuncOptions {
  HB_ARG(Tensor, bias);
  HB_ARG(ExpandingArray<D>, stride) = 1;
  HB_ARG(ExpandingArray<D>, padding) = 0;
  HB_ARG(ExpandingArray<D>, output_padding) = 0;
  HB_ARG(int64_t, groups) = 1;
  HB_ARG(ExpandingArray<D>, dilation) = 1;
};
using ConvTranspose1dFuncOptions = ConvTransposeFuncOptions<1>;
using ConvTranspose2dFuncOptions = ConvTransposeFuncOptions<2>;
using ConvTranspose3dFuncOptions = ConvTransposeFuncOptions<3>;

HB_API Tensor conv1d(const Tensor& input, const Tensor& weight, const Conv1dFuncOptions& options = {});
HB_API Tensor conv2d(const Tensor& input, const Tensor& weight, const Conv2dFuncOptions& options = {});
HB_API Tensor conv3d(const Tensor& input, const Tensor& weight, const Conv3dFuncOptions& options = {});
HB_API Tensor conv_transpose1d(const Tensor& input, const Tensor& weight,
                               const ConvTranspose1dFuncOptions& options = {});
HB_API Tensor conv_transpose2d(const Tensor& input, const Tensor& weight,
                               const ConvTranspose2dFuncOptions& options = {});
HB_API Tensor conv_transpose3d(const Tensor& input, const Tensor& weight,
                               const ConvTranspose3dFuncOptions& options = {});

}  // namespace functional
}  // namespace hb::bridge::nn
