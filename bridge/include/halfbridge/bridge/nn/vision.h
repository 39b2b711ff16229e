#pragma once
// Resizing, rearranging pixels, sliding windows, sampling along a grid.

#include <optional>
#include <variant>
#include <vector>

#include <halfbridge/bridge/enum.h>
#include <halfbridge/bridge/expanding_array.h>
#include <halfbridge/bridge/nn/cloneable.h>

namespace hb::bridge::nn {
inline namespace modules {

struct HB_API UpsampleOptions {
  using mode_t = std::variant<enumtype::kNearest, enumtype::kLinear, enumtype::kBilinear, enumtype::kBicubic,
                              enumtype::kTrilinear>;
  /// One of size and scale_factor, a value per spatial dimension.
  HB_ARG(std::optional<std::vector<int64_t>>, size) = std::nullopt;
  HB_ARG(std::optional<std::vector<double>>, scale_factor) = std::nullopt;
  HB_ARG(mode_t, mode) = kNearest;
  HB_ARG(std::optional<bool>, align_corners) = std::nullopt;
};
struct HB_API PixelShuffleOptions {
  PixelShuffleOptions(int64_t upscale_factor) : upscale_factor_(upscale_factor) {}  // NOLINT: implicit as in LibTorch
  HB_ARG(int64_t, upscale_factor);
};
struct HB_API PixelUnshuffleOptions {
  PixelUnshuffleOptions(int64_t downscale_factor) : downscale_factor_(downscale_factor) {}  // NOLINT
  HB_ARG(int64_t, downscale_factor);
};
struct HB_API FoldOptions {
  FoldOptions(ExpandingArray<2> output_size, ExpandingArray<2> kernel_size)
      : output_size_(output_size), kernel_size_(kernel_size) {}
  HB_ARG(ExpandingArray<2>, output_size);
  HB_ARG(ExpandingArray<2>, kernel_size);
  HB_ARG(ExpandingArray<2>, dilation) = 1;
  HB_ARG(ExpandingArray<2>, padding) = 0;
  HB_ARG(ExpandingArray<2>, stride) = 1;
};
struct HB_API UnfoldOptions {
  UnfoldOptions(ExpandingArray<2> kernel_size) : kernel_size_(kernel_size) {}  // NOLINT
  HB_ARG(ExpandingArray<2>, kernel_size);
  HB_ARG(ExpandingArray<2>, dilation) = 1;
  HB_ARG(ExpandingArray<2>, padding) = 0;
  HB_ARG(ExpandingArray<2>, stride) = 1;
};

/// Resizes the spatial dimensions of (N, C, …).
class HB_API UpsampleImpl : public Cloneable<UpsampleImpl> {
 public:
  explicit UpsampleImpl(UpsampleOptions options_ = {}) : options(std::move(options_)) {}
  void reset() override {}
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(const Tensor& input);

  UpsampleOptions options;
};
HB_LIBRARY_MODULE(Upsample);

/// (N, C·r², H, W) to (N, C, H·r, W·r), and back.
class HB_API PixelShuffleImpl : public Cloneable<PixelShuffleImpl> {
 public:
  explicit PixelShuffleImpl(const PixelShuffleOptions& options_) : options(options_) {}
  void reset() override {}
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(const Tensor& input);

  PixelShuffleOptions options;
};
HB_LIBRARY_MODULE(PixelShuffle);
class HB_API PixelUnshuffleImpl : public Cloneable<PixelUnshuffleImpl> {
 public:
  explicit PixelUnshuffleImpl(const PixelUnshuffleOptions& options_) : options(options_) {}
  void reset() override {}
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(const Tensor& input);

  PixelUnshuffleOptions options;
};
HB_LIBRARY_MODULE(PixelUnshuffle);

/// Sums windows (N, C·k, L) into (N, C, H, W).
class HB_API FoldImpl : public Cloneable<FoldImpl> {
 public:
  FoldImpl(ExpandingArray<2> output_size, ExpandingArray<2> kernel_size)
      : FoldImpl(FoldOptions(output_size, kernel_size)) {}
  explicit FoldImpl(const FoldOptions& options_) : options(options_) {}
  void reset() override {}
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(const Tensor& input);

  FoldOptions options;
};
HB_LIBRARY_MODULE(Fold);
/// Windows of (N, C, H, W) as columns (N, C·k, L).
class HB_API UnfoldImpl : public Cloneable<UnfoldImpl> {
 public:
  UnfoldImpl(ExpandingArray<2> kernel_size) : UnfoldImpl(UnfoldOptions(kernel_size)) {}  // NOLINT
  explicit UnfoldImpl(const UnfoldOptions& options_) : options(options_) {}
  void reset() override {}
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(const Tensor& input);

  UnfoldOptions options;
};
HB_LIBRARY_MODULE(Unfold);

}  // namespace modules

namespace functional {

struct HB_API InterpolateFuncOptions {
  using mode_t = std::variant<enumtype::kNearest, enumtype::kLinear, enumtype::kBilinear, enumtype::kBicubic,
                              enumtype::kTrilinear, enumtype::kArea, enumtype::kNearestExact>;
  HB_ARG(std::optional<std::vector<int64_t>>, size) = std::nullopt;
  HB_ARG(std::optional<std::vector<double>>, scale_factor) = std::nullopt;
  HB_ARG(mode_t, mode) = kNearest;
  HB_ARG(std::optional<bool>, align_corners) = std::nullopt;
  HB_ARG(std::optional<bool>, recompute_scale_factor) = std::nullopt;
  HB_ARG(bool, antialias) = false;
};
struct HB_API GridSampleFuncOptions {
  using mode_t = std::variant<enumtype::kBilinear, enumtype::kNearest, enumtype::kBicubic>;
  using padding_mode_t = std::variant<enumtype::kZeros, enumtype::kBorder, enumtype::kReflection>;
  HB_ARG(mode_t, mode) = kBilinear;
  HB_ARG(padding_mode_t, padding_mode) = kZeros;
  HB_ARG(std::optional<bool>, align_corners) = std::nullopt;
};
using PixelShuffleFuncOptions = PixelShuffleOptions;
using PixelUnshuffleFuncOptions = PixelUnshuffleOptions;
using FoldFuncOptions = FoldOptions;
using UnfoldFuncOptions = UnfoldOptions;

/// Antialiasing: of kBilinear and kBicubic, as Pillow's; integers are not resampled but by the nearest modes.
HB_API Tensor interpolate(const Tensor& input, const InterpolateFuncOptions& options = {});
HB_API Tensor pixel_shuffle(const Tensor& input, const PixelShuffleFuncOptions& options);
HB_API Tensor pixel_unshuffle(const Tensor& input, const PixelUnshuffleFuncOptions& options);
HB_API Tensor fold(const Tensor& input, const FoldFuncOptions& options);
HB_API Tensor unfold(const Tensor& input, const UnfoldFuncOptions& options);
HB_API Tensor grid_sample(const Tensor& input, const Tensor& grid, const GridSampleFuncOptions& options = {});
HB_API Tensor affine_grid(const Tensor& theta, const IntArrayRef& size, bool align_corners = false);

}  // namespace functional
}  // namespace hb::bridge::nn
