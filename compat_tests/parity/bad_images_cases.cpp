// Poolings, paddings and resampling of torch::nn used wrongly.
#include "parity/bad.h"

using torch::Tensor;
namespace nn = torch::nn;
namespace F = torch::nn::functional;

PARITY_CASE(bad_images, pooling) {
  const Tensor x = c.randn({2, 3, 4}), image = c.randn({2, 3, 6, 6}), volume = c.randn({1, 2, 4, 4, 4}),
               whole = c.randint(0, 3, {2, 3});
  SAYS("Given input size: (3x1x4). Calculated output size: (3x1x0). Output size is too small",
       F::avg_pool1d(x, F::AvgPool1dFuncOptions(7)));
  BAD(F::avg_pool1d(x, F::AvgPool1dFuncOptions(0)));
  BAD(F::avg_pool2d(c.randn({6}), F::AvgPool2dFuncOptions(2)));
  SAYS("input image (T: 3 H: 6 W: 6) smaller than kernel size", F::avg_pool3d(image, F::AvgPool3dFuncOptions(7)));
  SAYS("divisor must be not zero", F::avg_pool2d(image, F::AvgPool2dFuncOptions(2).divisor_override(0)));
  SAYS("pad should be at most half of effective kernel size, but got pad=2, kernel_size=2 and",
       F::avg_pool2d(image, F::AvgPool2dFuncOptions(2).padding(2)));
  SAYS("max_pool1d() Invalid computed output size: 0", F::max_pool1d(x, F::MaxPool1dFuncOptions(7)));
  SAYS("max_pool1d() padding should be at most half of kernel size, but got padding=2 and",
       F::max_pool1d(x, F::MaxPool1dFuncOptions(2).padding(2)));
  SAYS("max_pool1d() stride must be greater than zero, but got 0",
       F::max_pool1d(x, F::MaxPool1dFuncOptions(2).stride(0)));
  SAYS("max_pool1d() dilation must be greater than zero, but got 0",
       F::max_pool1d(x, F::MaxPool1dFuncOptions(2).dilation(0)));
  SAYS("max_pool1d() kernel_size must be greater than zero, but got 0", F::max_pool1d(x, F::MaxPool1dFuncOptions(0)));
  SAYS("pad should be at most half of effective kernel size, but got pad=2, kernel_size=3 and",
       F::max_pool3d(volume, F::MaxPool3dFuncOptions(3).padding(2)));
  SAYS("dilation should be greater than zero, but got", F::max_pool3d(volume, F::MaxPool3dFuncOptions(2).dilation(0)));
  SAYS("Given input size: (2x4x4x4). Calculated output size: (2x0x0x0). Output size is too small",
       F::max_pool3d(volume, F::MaxPool3dFuncOptions(6)));
  SAYS("non-empty 3D or 4D (batch mode) tensor expected for input",
       F::max_pool2d_with_indices(c.randn({6}), F::MaxPool2dFuncOptions(2)));
  SAYS("not implemented for 'Bool'", F::max_pool2d(whole.view({1, 2, 3}).to(torch::kBool), F::MaxPool2dFuncOptions(2)));
  SAYS("Expected 2 to 3 dimensions, but got 1-dimensional tensor for argument #1 'self'",
       F::adaptive_avg_pool1d(c.randn({6}), F::AdaptiveAvgPool1dFuncOptions(2)));
  SAYS("elements of output_size must be greater than or equal to 0 but received",
       F::adaptive_avg_pool1d(x, F::AdaptiveAvgPool1dFuncOptions(-2)));
  SAYS("Input dimension should be at least 4", F::adaptive_avg_pool3d(x, F::AdaptiveAvgPool3dFuncOptions(2)));
  SAYS("Expected 2 to 3 dimensions, but got 1-dimensional tensor for argument #1 'self'",
       F::adaptive_max_pool1d(c.randn({6}), F::AdaptiveMaxPool1dFuncOptions(2)));
  SAYS("Input dimension should be at least 3",
       F::adaptive_max_pool2d(x.select(0, 0), F::AdaptiveMaxPool2dFuncOptions(2)));
  SAYS("Expected input to have non-zero size for non-batch dimensions, but input has sizes [1,",
       F::adaptive_max_pool3d(c.randn({1, 2, 0, 4, 4}), F::AdaptiveMaxPool3dFuncOptions(2)));
  SAYS("Found an invalid max index: 90",
       F::max_unpool1d(x, torch::zeros({2, 3, 4}, torch::kLong) + 90, F::MaxUnpool1dFuncOptions(2)));
  SAYS("Expected shape of indices to be same as that of the input tensor ([2, 3, 4",
       F::max_unpool1d(x, whole, F::MaxUnpool1dFuncOptions(2)));
  BAD(F::max_unpool2d(image, torch::zeros({2, 3, 6, 6}, torch::kLong),
                      F::MaxUnpool2dFuncOptions(2).output_size(std::vector<int64_t>{50, 50})));
  SAYS("output_size should be a sequence containing 2 or 4 elements, but it has a length of '",
       F::max_unpool2d(image, torch::zeros({2, 3, 6, 6}, torch::kLong),
                       F::MaxUnpool2dFuncOptions(2).output_size(std::vector<int64_t>{50})));
  SAYS("elements in indices should be type int64",
       F::max_unpool3d(volume, torch::zeros({1, 2, 4, 4, 4}, torch::kInt), F::MaxUnpool3dFuncOptions(2)));
  SAYS("Found an invalid max index: -7",
       F::max_unpool3d(volume, torch::full({1, 2, 4, 4, 4}, -7, torch::kLong), F::MaxUnpool3dFuncOptions(2)));
  SAYS("fractional_max_pool2d requires specifying either an output_size or an output_ratio",
       F::fractional_max_pool2d(image, F::FractionalMaxPool2dFuncOptions(2)));
  SAYS("pool height 7 too large relative to input height 6",
       F::fractional_max_pool2d(image, F::FractionalMaxPool2dFuncOptions(7).output_size(3)));
  SAYS("pool time 2 too large relative to input time 3",
       F::fractional_max_pool3d(image, F::FractionalMaxPool3dFuncOptions(2).output_size(9)));
  SAYS("FractionalMaxPool2d requires specifying either an output size, or a pooling ratio",
       nn::FractionalMaxPool2d(nn::FractionalMaxPool2dOptions(2)));
  SAYS("only one of output_size and output_ratio may be specified",
       nn::FractionalMaxPool2d(
           nn::FractionalMaxPool2dOptions(2).output_size(3).output_ratio(torch::ExpandingArray<2, double>(0.5))));
  SAYS("output_ratio must be between 0 and 1 (got [1.5, 1.5])",
       nn::FractionalMaxPool2d(nn::FractionalMaxPool2dOptions(2).output_ratio(torch::ExpandingArray<2, double>(1.5))));
  SAYS("output_ratio must be between 0 and 1 (got [1.5, 1.5, 1.5])",
       nn::FractionalMaxPool3d(nn::FractionalMaxPool3dOptions(2).output_ratio(torch::ExpandingArray<3, double>(1.5))));
  SAYS("Expected 2 to 3 dimensions, but got 1-dimensional tensor for argument #1 'self'",
       F::lp_pool1d(c.randn({6}), F::LPPool1dFuncOptions(2, 7)));
  SAYS("Given input size: (3x6x6). Calculated output size: (3x0x0). Output size is too small",
       F::lp_pool2d(image, F::LPPool2dFuncOptions(2, 7)));
  SAYS("input image (T: 3 H: 6 W: 6) smaller than kernel size", F::lp_pool3d(image, F::LPPool3dFuncOptions(2, 7)));
}

PARITY_CASE(bad_images, images) {
  const Tensor x = c.randn({2, 3, 4}), image = c.randn({2, 3, 6, 6}), flat = c.randn({4, 5}),
               volume = c.randn({1, 2, 4, 4, 4}), whole = c.randint(0, 3, {2, 3});
  SAYS("Padding mode \"reflect\" doesn't take in value argument",
       F::pad(x, F::PadFuncOptions({1, 1}).mode(torch::kReflect).value(2)));
  SAYS("Padding size should be less than the corresponding input dimension, but got: padding",
       F::pad(x, F::PadFuncOptions({9, 9}).mode(torch::kReflect)));
  SAYS("Padding value causes wrapping around more than once",
       F::pad(x, F::PadFuncOptions({9, 9}).mode(torch::kCircular)));
  SAYS("Padding size 2 is not supported for 1D input tensor.",
       F::pad(c.randn({4}), F::PadFuncOptions({1, 1}).mode(torch::kReplicate)));
  SAYS("Padding size 2 is not supported for 6D input tensor.",
       F::pad(volume.unsqueeze(0), F::PadFuncOptions({1, 1}).mode(torch::kReflect)));
  SAYS("Padding length should be less than or equal to two times the input dimension but got",
       F::pad(x, F::PadFuncOptions({1, 1, 1, 1, 1, 1, 1, 1})));
  SAYS("narrow(): length must be non-negative", F::pad(x, F::PadFuncOptions({-3, -3})));
  SAYS("Padding size should be less than the corresponding input dimension, but got: padding",
       nn::ReflectionPad1d(5)->forward(x));
  SAYS("Padding size should be less than the corresponding input dimension, but got: padding",
       nn::ReflectionPad2d(7)->forward(image));
  SAYS("Padding size should be less than the corresponding input dimension, but got: padding",
       nn::ReflectionPad3d(5)->forward(volume));
  SAYS("Padding size 2 is not supported for 4D input tensor.", nn::ReplicationPad1d(1)->forward(image));
  SAYS("Padding size 4 is not supported for 2D input tensor.", nn::ReplicationPad2d(1)->forward(c.randn({3, 4})));
  SAYS("Padding size 6 is not supported for 3D input tensor.", nn::ReplicationPad3d(1)->forward(x));
  SAYS("narrow(): length must be non-negative", nn::ZeroPad2d(-4)->forward(image));
  SAYS("narrow(): length must be non-negative", nn::ConstantPad1d(-4, 1.0)->forward(x));
  SAYS("either size or scale_factor should be defined", F::interpolate(image, F::InterpolateFuncOptions()));
  SAYS("only one of size or scale_factor should be defined",
       F::interpolate(
           image,
           F::InterpolateFuncOptions().size(std::vector<int64_t>{4, 4}).scale_factor(std::vector<double>{2.0, 2.0})));
  BAD(F::interpolate(image, F::InterpolateFuncOptions().scale_factor(std::vector<double>{2.0})));
  SAYS("It is expected output_size equals to 2, but got size 3",
       F::interpolate(image, F::InterpolateFuncOptions().size(std::vector<int64_t>{4, 4, 4})));
  SAYS("align_corners option can only be set with the interpolating modes: linear | bilinear |",
       F::interpolate(image, F::InterpolateFuncOptions().size(std::vector<int64_t>{4, 4}).align_corners(true)));
  SAYS("Input Error: Only 3D, 4D and 5D input Tensors supported (got 3D) for the modes: nearest",
       F::interpolate(
           x, F::InterpolateFuncOptions().size(std::vector<int64_t>{4}).mode(torch::kBicubic).align_corners(false)));
  SAYS("Input Error: Only 3D, 4D and 5D input Tensors supported (got 2D) for the modes: nearest",
       F::interpolate(flat, F::InterpolateFuncOptions().size(std::vector<int64_t>{4})));
  SAYS("Input and output sizes should be greater than 0, but got input (H: 6, W: 6) output (H:",
       F::interpolate(image, F::InterpolateFuncOptions().size(std::vector<int64_t>{0, 4})));
  SAYS("Input and output sizes should be greater than 0, but got input (H: 6, W: 6) output (H:",
       F::interpolate(image, F::InterpolateFuncOptions().scale_factor(std::vector<double>{0.01, 0.01})));
  SAYS("Anti-alias option is only supported for bilinear and bicubic modes",
       F::interpolate(image, F::InterpolateFuncOptions().size(std::vector<int64_t>{4, 4}).antialias(true)));
  SAYS("It is expected output_size equals to 2, but got size 1",
       nn::Upsample(nn::UpsampleOptions().size(std::vector<int64_t>{4}))->forward(image));
  SAYS("grid_sampler(): expected grid to have size 2 in last dimension, but got grid with sizes",
       F::grid_sample(image, c.rand({2, 3, 3, 3})));
  SAYS("grid with sizes [2, 3, 2]", F::grid_sample(x, c.rand({2, 3, 2})));
  SAYS("affine_grid only supports 4D and 5D sizes, for 2D and 3D affine transforms,",
       F::affine_grid(c.randn({2, 2, 3}), {2, 3, 4}));
  SAYS("Expected non-zero, positive output size. Got [2, 3, 0, 4]", F::affine_grid(c.randn({2, 2, 3}), {2, 3, 0, 4}));
  SAYS("Expected a batch of 2D affine matrices of shape Nx2x3 for size [2, 3, 4, 4]. Got [2, 3,",
       F::affine_grid(c.randn({2, 3, 3}), {2, 3, 4, 4}));
  SAYS("Expected theta to have floating point type, but got long int", F::affine_grid(whole, {2, 3, 4, 4}));
  SAYS("pixel_shuffle expects its input's 'channel' dimension to be divisible by the square of",
       F::pixel_shuffle(image, F::PixelShuffleFuncOptions(2)));
  SAYS("pixel_shuffle expects input to have at least 3 dimensions, but got input with 2",
       F::pixel_shuffle(flat, F::PixelShuffleFuncOptions(2)));
  SAYS("pixel_unshuffle expects height to be divisible by downscale_factor, but",
       F::pixel_unshuffle(image, F::PixelUnshuffleFuncOptions(4)));
  SAYS("pixel_unshuffle expects a positive downscale_factor, but got 0",
       F::pixel_unshuffle(image, F::PixelUnshuffleFuncOptions(0)));
  SAYS("Expected size of input's dimension 1 to be divisible by the product of kernel_size, but",
       F::fold(c.randn({1, 5, 9}), F::FoldFuncOptions({4, 4}, {2, 2})));
  SAYS("Input Error: Only unbatched (2D) or batched (3D) input Tensors are supported (got 4D)",
       F::fold(image, F::FoldFuncOptions({4, 4}, {2, 2})));
  SAYS("expected size of input's dimension 2 to match the calculated number of sliding blocks 3",
       F::fold(c.randn({1, 8, 7}), F::FoldFuncOptions({4, 4}, {2, 2})));
  SAYS("Input Error: Only 4D input Tensors are supported (got 3D)", F::unfold(x, F::UnfoldFuncOptions({2, 2})));
  SAYS(", but its components must be at least one.", F::unfold(image, F::UnfoldFuncOptions({7, 7})));
  SAYS("stride should be greater than zero, but got stride_height: 0 stride_width: 0",
       F::unfold(image, F::UnfoldFuncOptions({2, 2}).stride(0)));
  SAYS("expected size of input's dimension 2 to match the calculated number of sliding blocks 3",
       nn::Fold(nn::FoldOptions({4, 4}, {2, 2}))->forward(c.randn({1, 8, 7})));
  SAYS(", but its components must be at least one.", nn::Unfold(nn::UnfoldOptions(9))->forward(image));
  SAYS("Got 3D input, but bilinear mode needs 4D input",
       F::interpolate(
           x, F::InterpolateFuncOptions().size(std::vector<int64_t>{4}).mode(torch::kBilinear).align_corners(false)));
  SAYS("Got 4D input, but linear mode needs 3D input",
       F::interpolate(
           image,
           F::InterpolateFuncOptions().size(std::vector<int64_t>{4, 4}).mode(torch::kLinear).align_corners(false)));
  SAYS("Got 4D input, but trilinear mode needs 5D input",
       F::interpolate(
           image,
           F::InterpolateFuncOptions().size(std::vector<int64_t>{4, 4}).mode(torch::kTrilinear).align_corners(false)));
}
