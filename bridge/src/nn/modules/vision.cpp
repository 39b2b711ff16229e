#include <halfbridge/bridge/nn/vision.h>

#include <ostream>

namespace hb::bridge::nn {
inline namespace modules {

namespace F = functional;

Tensor UpsampleImpl::forward(const Tensor& input) {
  F::InterpolateFuncOptions o;
  std::visit([&](const auto& mode) { o.mode(mode); }, options.mode());
  o.size(options.size()).scale_factor(options.scale_factor()).align_corners(options.align_corners());
  return hooked([&](const Tensor& x) { return F::interpolate(x, o); }, input);
}
void UpsampleImpl::pretty_print(std::ostream& stream) const {
  stream << "torch::nn::Upsample(";
  if (options.scale_factor())
    stream << "scale_factor=" << ArrayRef<double>(*options.scale_factor());
  else if (options.size())
    stream << "size=" << IntArrayRef(*options.size());
  stream << ", mode=" << enumtype::get_enum_name(options.mode()) << ")";
}

#define HB_FORWARD(Name, function)                                                     \
  Tensor Name##Impl::forward(const Tensor& input) {                                    \
    return hooked([this](const Tensor& x) { return F::function(x, options); }, input); \
  }
HB_FORWARD(PixelShuffle, pixel_shuffle)
HB_FORWARD(PixelUnshuffle, pixel_unshuffle)
HB_FORWARD(Fold, fold)
HB_FORWARD(Unfold, unfold)
#undef HB_FORWARD

void PixelShuffleImpl::pretty_print(std::ostream& stream) const {
  stream << "torch::nn::PixelShuffle(upscale_factor=" << options.upscale_factor() << ")";
}
void PixelUnshuffleImpl::pretty_print(std::ostream& stream) const {
  stream << "torch::nn::PixelUnshuffle(downscale_factor=" << options.downscale_factor() << ")";
}
void FoldImpl::pretty_print(std::ostream& stream) const {
  stream << "torch::nn::Fold(output_size=" << options.output_size() << ", kernel_size=" << options.kernel_size()
         << ", dilation=" << options.dilation() << ", padding=" << options.padding() << ", stride=" << options.stride()
         << ")";
}
void UnfoldImpl::pretty_print(std::ostream& stream) const {
  stream << "torch::nn::Unfold(kernel_size=" << options.kernel_size() << ", dilation=" << options.dilation()
         << ", padding=" << options.padding() << ", stride=" << options.stride() << ")";
}

}  // namespace modules
}  // namespace hb::bridge::nn
