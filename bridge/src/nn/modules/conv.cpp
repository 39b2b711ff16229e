#include <halfbridge/bridge/nn/conv.h>

#include <cmath>
#include <ostream>

#include <halfbridge/bridge/nn/init.h>

namespace hb::bridge::nn {

namespace {

Tensor conv(std::integral_constant<size_t, 1>, const Tensor& x, const Tensor& w, const Tensor& b, IntArrayRef stride,
            const auto& padding, IntArrayRef dilation, int64_t groups) {
  return hb::conv1d(x, w, b, stride, padding, dilation, groups);
}
Tensor conv(std::integral_constant<size_t, 2>, const Tensor& x, const Tensor& w, const Tensor& b, IntArrayRef stride,
            const auto& padding, IntArrayRef dilation, int64_t groups) {
  return hb::conv2d(x, w, b, stride, padding, dilation, groups);
}
Tensor conv(std::integral_constant<size_t, 3>, const Tensor& x, const Tensor& w, const Tensor& b, IntArrayRef stride,
            const auto& padding, IntArrayRef dilation, int64_t groups) {
  return hb::conv3d(x, w, b, stride, padding, dilation, groups);
}

template <size_t D>
Tensor conv_padded(const Tensor& x, const Tensor& w, const Tensor& b, IntArrayRef stride,
                   const detail::conv_padding_t<D>& padding, IntArrayRef dilation, int64_t groups) {
  const std::integral_constant<size_t, D> d;
  if (std::holds_alternative<enumtype::kSame>(padding))
    return conv(d, x, w, b, stride, std::string_view("same"), dilation, groups);
  if (std::holds_alternative<enumtype::kValid>(padding))
    return conv(d, x, w, b, stride, std::string_view("valid"), dilation, groups);
  return conv(d, x, w, b, stride, IntArrayRef(std::get<ExpandingArray<D>>(padding)), dilation, groups);
}

template <size_t D>
Tensor transposed(const Tensor& x, const Tensor& w, const Tensor& b, IntArrayRef stride, IntArrayRef padding,
                  IntArrayRef output_padding, int64_t groups, IntArrayRef dilation) {
  if constexpr (D == 1)
    return hb::conv_transpose1d(x, w, b, stride, padding, output_padding, groups, dilation);
  else if constexpr (D == 2)
    return hb::conv_transpose2d(x, w, b, stride, padding, output_padding, groups, dilation);
  else
    return hb::conv_transpose3d(x, w, b, stride, padding, output_padding, groups, dilation);
}

template <size_t D>
Tensor transposed(const Tensor& x, const Tensor& w, const functional::ConvTransposeFuncOptions<D>& o) {
  return transposed<D>(x, w, o.bias(), o.stride(), o.padding(), o.output_padding(), o.groups(), o.dilation());
}
template <size_t D>
Tensor plain(const Tensor& x, const Tensor& w, const functional::ConvFuncOptions<D>& o) {
  return conv_padded<D>(x, w, o.bias(), o.stride(), o.padding(), o.dilation(), o.groups());
}

// The padding of each side for hb::pad, last dimension first.
template <size_t D>
std::vector<int64_t> padding_per_side(const detail::ConvNdOptions<D>& o) {
  std::vector<int64_t> sides;
  if (const auto* array = std::get_if<ExpandingArray<D>>(&o.padding())) {
    for (size_t i = D; i-- > 0;) sides.insert(sides.end(), 2, (**array)[i]);
    return sides;
  }
  for (size_t i = D; i-- > 0;) {
    int64_t total = 0;
    if (std::holds_alternative<enumtype::kSame>(o.padding())) {
      HB_CHECK((*o.stride())[i] == 1, "padding='same' is not supported for strided convolutions");
      total = (*o.dilation())[i] * ((*o.kernel_size())[i] - 1);
    }
    sides.push_back(total / 2);
    sides.push_back(total - total / 2);
  }
  return sides;
}

template <size_t D, class Options>
detail::ConvNdOptions<D> shared_options(const Options& o, bool is_transposed) {
  detail::ConvNdOptions<D> r(o.in_channels(), o.out_channels(), o.kernel_size());
  r.stride(o.stride()).dilation(o.dilation()).groups(o.groups()).bias(o.bias()).padding_mode(o.padding_mode());
  r.padding(detail::conv_padding_t<D>(o.padding())).transposed(is_transposed);
  return r;
}

}  // namespace

namespace functional {
Tensor conv1d(const Tensor& x, const Tensor& w, const Conv1dFuncOptions& o) { return plain<1>(x, w, o); }
Tensor conv2d(const Tensor& x, const Tensor& w, const Conv2dFuncOptions& o) { return plain<2>(x, w, o); }
Tensor conv3d(const Tensor& x, const Tensor& w, const Conv3dFuncOptions& o) { return plain<3>(x, w, o); }
Tensor conv_transpose1d(const Tensor& x, const Tensor& w, const ConvTranspose1dFuncOptions& o) {
  return transposed<1>(x, w, o);
}
Tensor conv_transpose2d(const Tensor& x, const Tensor& w, const ConvTranspose2dFuncOptions& o) {
  return transposed<2>(x, w, o);
}
Tensor conv_transpose3d(const Tensor& x, const Tensor& w, const ConvTranspose3dFuncOptions& o) {
  return transposed<3>(x, w, o);
}
}  // namespace functional

inline namespace modules {

template <size_t D, typename Derived>
void ConvNdImpl<D, Derived>::reset() {
  HB_CHECK(options.in_channels() > 0 && options.groups() > 0 && options.out_channels() > 0,
           "in_channels, groups and out_channels must be a positive integer.");
  HB_CHECK(options.in_channels() % options.groups() == 0, "in_channels must be divisible by groups");
  HB_CHECK(options.out_channels() % options.groups() == 0, "out_channels must be divisible by groups");
  _reversed_padding_repeated_twice = padding_per_side(options);
  std::vector<int64_t> sizes = options.transposed()
                                   ? std::vector{options.in_channels(), options.out_channels() / options.groups()}
                                   : std::vector{options.out_channels(), options.in_channels() / options.groups()};
  sizes.insert(sizes.end(), options.kernel_size()->begin(), options.kernel_size()->end());
  weight = this->register_parameter("weight", hb::empty(sizes));
  if (options.bias())
    bias = this->register_parameter("bias", hb::empty({options.out_channels()}));
  else
    this->register_parameter("bias", Tensor(), /*requires_grad=*/false);
  reset_parameters();
}

template <size_t D, typename Derived>
void ConvNdImpl<D, Derived>::reset_parameters() {
  init::kaiming_uniform_(weight, std::sqrt(5));
  if (!bias.defined()) return;
  const int64_t fan_in = weight.numel() / weight.size(0);
  const double bound = 1 / std::sqrt(static_cast<double>(fan_in));
  init::uniform_(bias, -bound, bound);
}

template <size_t D, typename Derived>
void ConvNdImpl<D, Derived>::pretty_print(std::ostream& stream) const {
  stream << "torch::nn::Conv" << (options.transposed() ? "Transpose" : "") << D << "d(" << options.in_channels() << ", "
         << options.out_channels() << ", kernel_size=" << options.kernel_size() << ", stride=" << options.stride();
  if (std::holds_alternative<enumtype::kValid>(options.padding()))
    stream << ", padding='valid'";
  else if (std::holds_alternative<enumtype::kSame>(options.padding()))
    stream << ", padding='same'";
  else if (const auto& pad = std::get<ExpandingArray<D>>(options.padding()); *pad != *ExpandingArray<D>(0))
    stream << ", padding=" << pad;
  if (*options.dilation() != *ExpandingArray<D>(1)) stream << ", dilation=" << options.dilation();
  if (*options.output_padding() != *ExpandingArray<D>(0)) stream << ", output_padding=" << options.output_padding();
  if (options.groups() != 1) stream << ", groups=" << options.groups();
  if (!options.bias()) stream << ", bias=" << std::boolalpha << false;
  if (!std::holds_alternative<enumtype::kZeros>(options.padding_mode()))
    stream << ", padding_mode=" << enumtype::get_enum_name(options.padding_mode());
  stream << ")";
}

template <size_t D, typename Derived>
Tensor ConvNdImpl<D, Derived>::convolve(const Tensor& input, const Tensor& w) const {
  const auto& mode = options.padding_mode();
  if (std::holds_alternative<enumtype::kZeros>(mode))
    return conv_padded<D>(input, w, bias, options.stride(), options.padding(), options.dilation(), options.groups());
  const char* name = std::holds_alternative<enumtype::kReflect>(mode)     ? "reflect"
                     : std::holds_alternative<enumtype::kReplicate>(mode) ? "replicate"
                                                                          : "circular";
  return conv_padded<D>(hb::pad(input, _reversed_padding_repeated_twice, name), w, bias, options.stride(),
                        ExpandingArray<D>(0), options.dilation(), options.groups());
}

// The output padding that gives `output_size`, which may include the leading dimensions.
template <size_t D, class Options>
static std::vector<int64_t> output_padding_for(const Tensor& input, IntArrayRef wanted, const Options& o,
                                               const ExpandingArray<D>& padding) {
  const int64_t leading = input.dim() - static_cast<int64_t>(D);
  std::vector<int64_t> size = wanted.vec();
  if (static_cast<int64_t>(size.size()) == input.dim()) size.erase(size.begin(), size.begin() + leading);
  HB_CHECK(size.size() == D, "output_size must have ", D, " or ", input.dim(), " elements (got ", wanted.size(), ")");
  std::vector<int64_t> result;
  for (size_t d = 0; d < D; ++d) {
    const int64_t least = (input.size(leading + static_cast<int64_t>(d)) - 1) * (*o.stride())[d] - 2 * (*padding)[d] +
                          (*o.dilation())[d] * ((*o.kernel_size())[d] - 1) + 1;
    const int64_t most = least + (*o.stride())[d] - 1;
    HB_CHECK(size[d] >= least && size[d] <= most, "requested an output size of ", wanted,
             ", but valid sizes of dimension ", d, " range from ", least, " to ", most, " for an input of ",
             input.sizes());
    result.push_back(size[d] - least);
  }
  return result;
}

template <size_t D, typename Derived>
Tensor ConvNdImpl<D, Derived>::convolve_transposed(const Tensor& input, const std::optional<IntArrayRef>& output_size) {
  HB_CHECK(std::holds_alternative<enumtype::kZeros>(options.padding_mode()),
           "Only `zeros` padding mode is supported for ConvTranspose", D, "d");
  const auto& padding = std::get<ExpandingArray<D>>(options.padding());
  std::vector<int64_t> extra(options.output_padding()->begin(), options.output_padding()->end());
  if (output_size) extra = output_padding_for<D>(input, *output_size, options, padding);
  return transposed<D>(input, weight, bias, options.stride(), padding, extra, options.groups(), options.dilation());
}

#define HB_CONV(D)                                                                                              \
  template class ConvNdImpl<D, Conv##D##dImpl>;                                                                 \
  template class ConvNdImpl<D, ConvTranspose##D##dImpl>;                                                        \
  Conv##D##dImpl::Conv##D##dImpl(ConvOptions<D> o) : ConvNdImpl(shared_options<D>(o, false)) {}                 \
  Tensor Conv##D##dImpl::_conv_forward(const Tensor& input, const Tensor& w) { return convolve(input, w); }     \
  Tensor Conv##D##dImpl::forward(const Tensor& input) {                                                         \
    return hooked([this](const Tensor& x) { return _conv_forward(x, weight); }, input);                         \
  }                                                                                                             \
  ConvTranspose##D##dImpl::ConvTranspose##D##dImpl(ConvTransposeOptions<D> o)                                   \
      : ConvTransposeNdImpl(shared_options<D>(o, true).output_padding(o.output_padding())) {}                   \
  Tensor ConvTranspose##D##dImpl::forward(const Tensor& input, const std::optional<IntArrayRef>& output_size) { \
    return hooked([&](const Tensor& x) { return convolve_transposed(x, output_size); }, input);                 \
  }
HB_CONV(1)
HB_CONV(2)
HB_CONV(3)
#undef HB_CONV

}  // namespace modules
}  // namespace hb::bridge::nn
