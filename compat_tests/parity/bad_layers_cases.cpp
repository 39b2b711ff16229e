// Functions of layers and losses used wrongly.
#include "parity/bad.h"

using torch::Tensor;

PARITY_CASE(bad_layers, convolutions) {
  const Tensor x = c.randn({2, 4, 6, 6}), w = c.randn({6, 4, 3, 3}), line = c.randn({2, 4, 6});
  const Tensor volume = c.randn({1, 2, 4, 4, 4});
  const std::vector<int64_t> zero{0, 0};
  BAD(torch::conv1d(x, w));
  SAYS("expected stride to be a single integer value or a list of 2 values to match the",
       torch::conv2d(line, w, {}, {1, 1, 1}));
  SAYS("Given groups=1, weight of size [6, 3, 3, 3], expected input[2, 4, 6, 6] to have 3",
       torch::conv2d(x, c.randn({6, 3, 3, 3})));
  SAYS("Given weight of size [6, 4, 3, 3], expected bias to be 1-dimensional with 6 elements, but",
       torch::conv2d(x, w, c.randn({5})));
  SAYS("should be the same", torch::conv2d(x, w, c.randn({6}, torch::kDouble)));
  SAYS("non-positive stride is not supported", torch::conv2d(x, w, {}, 0));
  SAYS("non-positive stride is not supported", torch::conv2d(x, w, {}, -1));
  SAYS("negative padding is not supported", torch::conv2d(x, w, {}, 1, -1));
  SAYS("non-positive dilation is not supported", torch::conv2d(x, w, Tensor(), 1, zero, 0));
  SAYS("Kernel size can't be greater than actual input size", torch::conv2d(x, w, Tensor(), 1, zero, 3));
  SAYS("non-positive groups is not supported", torch::conv2d(x, w, Tensor(), 1, zero, 1, 0));
  SAYS("Given groups=4, expected weight to be divisible by 4 at dimension 0, but got weight of",
       torch::conv2d(x, w, Tensor(), 1, zero, 1, 4));
  SAYS("expected stride to be a single integer value or a list of 2 values to match the",
       torch::conv2d(x, w, {}, {1, 2, 3}));
  SAYS("Invalid padding string: 'full'", torch::conv2d(x, w, {}, 1, "full"));
  SAYS("Expected a proper Tensor but got None (or an undefined Tensor in C++)", torch::conv2d(x, Tensor()));
  BAD(torch::conv2d(x.to(torch::kLong), w));
  SAYS("Kernel size can't be greater than actual input size", torch::conv2d(x, c.randn({6, 4, 7, 7})));
  SAYS("Given transposed=1, weight of size [6, 4, 3, 3], expected input[2, 4, 6, 6] to have 6",
       torch::conv_transpose2d(x, w));
  SAYS("output padding must be smaller than either stride or dilation, but got",
       torch::conv_transpose2d(x, c.randn({4, 3, 3, 3}), {}, 1, 0, 1));
  SAYS("negative output_padding is not supported", torch::conv_transpose2d(x, c.randn({4, 3, 3, 3}), {}, 2, 0, -1));
  BAD(torch::conv_transpose2d(x, c.randn({4, 3, 3, 3}), {}, 1, 9));
  BAD(torch::conv_transpose1d(x, w));
  SAYS("Kernel size can't be greater than actual input size", torch::conv3d(volume, c.randn({2, 2, 5, 5, 5})));
}

PARITY_CASE(bad_layers, pooling) {
  const Tensor x = c.randn({2, 4, 6, 6}), line = c.randn({2, 4, 6});
  const Tensor volume = c.randn({1, 2, 4, 4, 4});
  SAYS("stride should not be zero", torch::max_pool2d(x, 0));
  SAYS("stride should not be zero", torch::max_pool2d(x, 2, 0));
  SAYS("pad must be non-negative, but got pad: -1", torch::max_pool2d(x, 2, 2, -1));
  SAYS("pad should be at most half of effective kernel size, but got pad=2, kernel_size=2 and",
       torch::max_pool2d(x, 2, 2, 2));
  SAYS("dilation should be greater than zero, but got", torch::max_pool2d(x, 2, 2, 0, 0));
  SAYS("Calculated output size", torch::max_pool2d(x, 8));
  SAYS("max_pool2d: kernel_size must either be a single int, or a tuple of", torch::max_pool2d(x, {2, 2, 2}));
  SAYS("non-empty 3D or 4D (batch mode) tensor expected for input", torch::max_pool2d(line.select(0, 0), 2));
  SAYS("2D or 3D (batch mode) tensor", torch::max_pool1d(c.randn({6}), 2));
  SAYS("non-empty 4D or 5D (batch mode) tensor expected for input", torch::max_pool3d(x.select(0, 0), 2));
  BAD(torch::avg_pool2d(x, 0));
  SAYS("pad should be at most half of effective kernel size, but got pad=2, kernel_size=2 and",
       torch::avg_pool2d(x, 2, 2, 2));
  SAYS("Calculated output size", torch::avg_pool2d(x, 8));
  SAYS("divisor must be not zero", torch::avg_pool2d(x, 2, 2, 0, false, true, 0));
  SAYS("stride should not be zero", torch::avg_pool1d(line, 2, 0));
  SAYS("pad should be at most half of effective kernel size, but got pad=2, kernel_size=2 and",
       torch::avg_pool3d(volume, 2, 2, 2));
  SAYS("elements of output_size must be greater than or equal to 0 but received",
       torch::adaptive_avg_pool2d(x, {-1, 2}));
  BAD(torch::adaptive_avg_pool2d(x, {2, 2, 2}));
  SAYS("Expected 3D or 4D tensor", torch::adaptive_avg_pool2d(c.randn({6}), {2, 2}));
  BAD(torch::adaptive_max_pool2d(x, {2}));
  BAD(torch::adaptive_max_pool2d(c.randn({1, 2, 0, 3}), {2, 2}));
  SAYS("Found an invalid max index: 400", torch::max_unpool2d(x, torch::full({2, 4, 6, 6}, 400), {12, 12}));
  SAYS("Found an invalid max index: -1", torch::max_unpool2d(x, torch::full({2, 4, 6, 6}, -1), {12, 12}));
  SAYS("Expected shape of indices to be same as that of the input tensor ([2, 4, 6, 6]) but got",
       torch::max_unpool2d(x, torch::zeros({2, 4, 3, 6}, torch::kLong), {12, 12}));
  SAYS("elements in indices should be type int64 but got: Float", torch::max_unpool2d(x, x, {12, 12}));
  BAD(torch::im2col(x, {7, 7}, {1, 1}, {0, 0}, {1, 1}));
  BAD(torch::im2col(x, {2, 2}, {1, 1}, {0, 0}, {0, 1}));
  BAD(torch::im2col(x, {2}, {1, 1}, {0, 0}, {1, 1}));
  SAYS("Expected size of input's dimension 1 to be divisible by the product of kernel_size, but",
       torch::col2im(c.randn({1, 5, 9}), {4, 4}, {2, 2}, {1, 1}, {0, 0}, {1, 1}));
  SAYS("expected size of input's dimension 2 to match the calculated number of sliding blocks 3 *",
       torch::col2im(c.randn({1, 8, 7}), {4, 4}, {2, 2}, {1, 1}, {0, 0}, {1, 1}));
}

PARITY_CASE(bad_layers, normalisation_and_attention) {
  const Tensor x = c.randn({2, 4, 6}), q = c.randn({2, 3, 5, 8});
  SAYS("weight should contain 4 elements not 3",
       torch::batch_norm(x, c.randn({3}), {}, {}, {}, true, 0.1, 1e-5, false));
  SAYS("bias should contain 4 elements not 5", torch::batch_norm(x, {}, c.randn({5}), {}, {}, true, 0.1, 1e-5, false));
  SAYS("running_mean should contain 4 elements not 3",
       torch::batch_norm(x, {}, {}, c.randn({3}), c.rand({3}), true, 0.1, 1e-5, false));
  SAYS("running_mean must be defined in evaluation mode",
       torch::batch_norm(x, {}, {}, {}, {}, false, 0.1, 1e-5, false));
  BAD(torch::batch_norm(c.randn({4}), {}, {}, {}, {}, true, 0.1, 1e-5, false));
  SAYS("Given normalized_shape=[5], expected input", torch::layer_norm(x, {5}));
  SAYS("Expected normalized_shape to be at least 1-dimensional, i.e., containing at least one",
       torch::layer_norm(x, {}));
  SAYS("Given normalized_shape=[2, 4, 6, 1], expected input", torch::layer_norm(x, {2, 4, 6, 1}));
  SAYS("Expected weight to be of same shape as normalized_shape, but got weight of shape [5] and",
       torch::layer_norm(x, {6}, c.randn({5})));
  SAYS("Expected bias to be of same shape as normalized_shape, but got bias of shape [6, 1] and",
       torch::layer_norm(x, {6}, {}, c.randn({6, 1})));
  SAYS("Given normalized_shape=[5], expected input", torch::rms_norm(x, {5}));
  SAYS("Expected weight to be of same shape as normalized_shape, but got weight of shape [5] and",
       torch::rms_norm(x, {6}, c.randn({5})));
  SAYS("Expected number of channels in input to be divisible by num_groups, but got input of", torch::group_norm(x, 3));
  SAYS("Expected num groups to be greater than 0, got 0", torch::group_norm(x, 0));
  SAYS("Expected weight to be a vector of size equal to the number of channels in input, but got",
       torch::group_norm(x, 2, c.randn({3})));
  BAD(torch::group_norm(c.randn({4}), 2));
  SAYS("weight should contain 8 elements not 6",
       torch::instance_norm(x, c.randn({3}), {}, {}, {}, true, 0.1, 1e-5, false));
  BAD(torch::scaled_dot_product_attention(q, c.randn({2, 3, 5, 7}), q));
  SAYS("4) at non-singleton dimension 3", torch::scaled_dot_product_attention(q, q, q, c.randn({5, 4})));
  SAYS("Expected attn_mask dtype to be bool or float or to match query dtype, but got",
       torch::scaled_dot_product_attention(q, q, q, c.randint(0, 2, {5, 5})));
  SAYS("Expected query, key, and value to have the same dtype, but got",
       torch::scaled_dot_product_attention(q, q.to(torch::kDouble), q));
  SAYS("Expected query, key, and value to all be",
       torch::scaled_dot_product_attention(c.randn({5}), c.randn({5}), c.randn({5})));
  SAYS("dropout probability has to be between 0 and 1, but got -0.1", torch::dropout(x, -0.1, true));
  SAYS("dropout probability has to be between 0 and 1, but got 2", torch::feature_dropout(x, 2, true));
  SAYS("Mismatch of parameter numbers and input channel size. Found parameter numbers = 3 and",
       torch::prelu(x, c.randn({3})));
  SAYS("Expected `weight` to be a scalar or 1D tensor, but got: ndim = 2", torch::prelu(x, c.randn({2, 2})));
  SAYS("Halving dimension must be even, but dimension 1 is size 3", torch::glu(c.randn({2, 3})));
  SAYS("Dimension out of range (expected to be in range of [-3, 2], but got 3)", torch::glu(x, 3));
  SAYS("Lower bound should be less than or equal to the upper bound", torch::rrelu(x, 0.9, 0.1));
  SAYS("approximate argument must be either none or tanh", torch::gelu(x, "exact"));
  SAYS("Bool inputs not supported for hardtanh", torch::hardtanh(c.randint(0, 4, {3}).to(torch::kBool), 0, 1));
}
PARITY_CASE(bad_layers, images) {
  const Tensor x = c.randn({2, 4, 6, 6}), grid = c.rand({2, 3, 3, 2}, torch::kFloat, -1, 1);
  SAYS("Length of pad must be even", torch::constant_pad_nd(x, {1}));
  BAD(torch::constant_pad_nd(x, {-4, -4}));
  SAYS("Length of pad should be no more than twice the number of dimensions of the input",
       torch::constant_pad_nd(c.randn({2}), {1, 1, 1, 1}));
  SAYS("Unrecognised padding mode wrong", torch::pad(x, {1, 1}, "wrong"));
  SAYS("Padding size 8 is not supported for 4D input tensor.", torch::pad(x, {1, 1, 1, 1, 1, 1, 1, 1}, "reflect"));
  SAYS("Padding size should be less than the corresponding input dimension, but got: padding (6,",
       torch::reflection_pad2d(x, {6, 0, 0, 0}));
  SAYS("padding size is expected to be 4, but got: 2", torch::reflection_pad2d(x, {1, 1}));
  SAYS("Expected 2D or 3D (batch mode) tensor with possibly 0 batch size and other non-zero",
       torch::reflection_pad1d(x, {1, 1}));
  BAD(torch::replication_pad2d(x, {-4, -4, 0, 0}));
  BAD(torch::replication_pad2d(c.randn({1, 2, 0, 3}), {1, 1, 1, 1}));
  SAYS("Input and output sizes should be greater than 0, but got input", torch::upsample_nearest2d(x, {0, 4}));
  SAYS("It is expected output_size equals to 2, but got size 1", torch::upsample_nearest2d(x, {4}));
  SAYS("Input and output sizes should be greater than 0, but got input", torch::upsample_bilinear2d(x, {-1, 4}, false));
  SAYS("It is expected input_size equals to 4, but got size 3",
       torch::upsample_bilinear2d(c.randn({2, 6, 6}), {4, 4}, false));
  SAYS("It is expected input_size equals to 3, but got size 4", torch::upsample_linear1d(x, {4}, false));
  SAYS("Input and output sizes should be greater than 0, but got input",
       torch::upsample_bicubic2d(c.randn({1, 1, 0, 4}), {4, 4}, false));
  SAYS("expected grid and input to have same batch size, but got input with sizes [2, 4, 6, 6]",
       torch::grid_sampler(x, c.rand({1, 3, 3, 2}), 0, 0, false));
  SAYS("expected grid to have size 2 in last dimension, but got grid with sizes [2, 3, 3, 3]",
       torch::grid_sampler(x, c.rand({2, 3, 3, 3}), 0, 0, false));
  BAD(torch::grid_sampler(x, grid.to(torch::kDouble), 0, 0, false));
  SAYS("expected 4D input and grid with same number of dimensions, but got input with sizes [2,",
       torch::grid_sampler(x, c.rand({2, 3, 2}), 0, 0, false));
  SAYS("expected input to have non-empty spatial dimensions, but input has sizes [2, 4, 0, 6]",
       torch::grid_sampler(c.randn({2, 4, 0, 6}), grid, 0, 0, false));
  BAD(torch::affine_grid_generator(c.randn({2, 3, 3}), {2, 4, 6, 6}, false));
  BAD(torch::affine_grid_generator(c.randn({2, 2, 3}), {3, 4, 6, 6}, false));
  BAD(torch::affine_grid_generator(c.randn({2, 2, 3}), {2, 4, 6}, false));
}

PARITY_CASE(bad_layers, losses) {
  const Tensor x = c.randn({4, 5}), y = c.randint(0, 5, {4}), p = c.rand({4, 5});
  SAYS("The size of tensor a (5) must match the size of tensor b (4) at non-singleton dimension 1",
       torch::mse_loss(x, c.randn({4, 4})));
  SAYS("The size of tensor a (4) must match the size of tensor b (3) at non-singleton dimension 0",
       torch::l1_loss(x, c.randn({3, 5})));
  SAYS("smooth_l1_loss does not support negative values for beta",
       torch::smooth_l1_loss(x, x, at::Reduction::Mean, -1));
  SAYS("huber_loss does not support non-positive values for delta", torch::huber_loss(x, x, at::Reduction::Mean, 0));
  SAYS("size mismatch", torch::nll_loss(x, c.randint(0, 5, {5})));
  SAYS("Target 5 is out of bounds", torch::nll_loss(x, torch::full({4}, 5)));
  SAYS("Target -1 is out of bounds", torch::nll_loss(x, torch::full({4}, -1)));
  SAYS("expected scalar type Long but found Float", torch::nll_loss(x, y.to(torch::kFloat)));
  SAYS("weight tensor should be defined either for all 5 classes or no classes", torch::nll_loss(x, y, c.rand({4})));
  BAD(torch::nll_loss(c.randn({2, 3, 4}), y));
  SAYS("size mismatch (got input: [2, 3, 4, 4]",
       torch::nll_loss2d(c.randn({2, 3, 4, 4}), torch::zeros({2, 4, 3}, torch::kLong)));
  SAYS("Target 3 is out of bounds", torch::nll_loss2d(c.randn({2, 3, 4, 4}), torch::full({2, 4, 4}, 3)));
  SAYS("only batches of spatial targets supported (3D tensors) but got targets of dimension: 1",
       torch::nll_loss2d(x, y));
  SAYS("Target 9 is out of bounds", torch::cross_entropy_loss(x, torch::full({4}, 9)));
  SAYS("0D or 1D target tensor expected, multi-target not supported", torch::cross_entropy_loss(x, c.randn({4, 4})));
  SAYS("weight tensor should be defined either for all 5 classes or no classes",
       torch::cross_entropy_loss(x, y, c.rand({3})));
  SAYS("label_smoothing must be between 0.0 and 1.0. Got: 1.5",
       torch::cross_entropy_loss(x, y, {}, at::Reduction::Mean, -100, 1.5));
  SAYS("ignore_index is not supported for floating point target",
       torch::cross_entropy_loss(x, p, {}, at::Reduction::Mean, 2));
}

PARITY_CASE(bad_layers, values_of_losses) {
  const Tensor x = c.randn({4, 5}), p = c.rand({4, 5});
  SAYS("all elements of input should be between 0 and 1", torch::binary_cross_entropy(p + 10, p));
  SAYS("all elements of input should be between 0 and 1", torch::binary_cross_entropy(p - 1, p));
  SAYS("all elements of input should be between 0 and 1", torch::binary_cross_entropy(p * NAN, p));
  SAYS("all elements of target should be between 0 and 1", torch::binary_cross_entropy(p, p + 1));
  SAYS("target out of range", torch::multi_margin_loss(x, torch::full({4}, 5)));
  SAYS("target out of range", torch::multi_margin_loss(x, torch::full({4}, -1)));
  SAYS("argument #2 'target' is out of range", torch::multilabel_margin_loss(x, torch::full({4, 5}, 7)));
  SAYS("argument #2 'target' is out of range", torch::multilabel_margin_loss(x, torch::full({4, 5}, -2)));
}

PARITY_CASE(bad_layers, pair_losses) {
  const Tensor x = c.randn({4, 5}), y = c.randint(0, 5, {4}), p = c.rand({4, 5});
  SAYS("The size of tensor a (5) must match the size of tensor b (4) at non-singleton dimension 1",
       torch::binary_cross_entropy(p, c.rand({4})));
  SAYS(") must match the size of tensor b", torch::binary_cross_entropy_with_logits(x, c.rand({5, 4})));
  SAYS("The size of tensor a (4) must match the size of tensor b (5) at non-singleton dimension 1",
       torch::kl_div(x, c.rand({4, 4})));
  SAYS(") must match the size of tensor b", torch::soft_margin_loss(x, c.randn({4, 4})));
  SAYS("0D or 1D target tensor expected, multi-target not supported",
       torch::cosine_embedding_loss(x, x, c.randn({4, 5})));
  SAYS("1D target tensor expects 2D input tensors, but found inputs with sizes [2, 2, 2] and [2,",
       torch::cosine_embedding_loss(c.randn({2, 2, 2}), c.randn({2, 2, 2}), c.randn({2})));
  SAYS("The size of tensor a (4) must match the size of tensor b (5) at non-singleton dimension 0",
       torch::margin_ranking_loss(c.randn({4}), c.randn({5}), c.randn({4})));
  SAYS("The size of tensor a (5) must match the size of tensor b (4) at non-singleton dimension 1",
       torch::triplet_margin_loss(x, x, c.randn({4, 4})));
  SAYS("hidden1 has inconsistent hidden_size: got 5, expected 4",
       torch::nn::LSTMCell(3, 4)->forward(torch::ones({2, 3}),
                                          std::make_tuple(torch::ones({2, 4}), torch::ones({2, 5}))));
  SAYS("expected scalar type Long but found Float", torch::multi_margin_loss(x, torch::ones({4})));
  SAYS("only p == 1 and p == 2 supported", torch::multi_margin_loss(x, y, 3));
  SAYS("inconsistent target size, expected 4 but got [3]", torch::multi_margin_loss(x, c.randint(0, 5, {3})));
  SAYS("inconsistent target size: [4, 4] for input of size: [4, 5]",
       torch::multilabel_margin_loss(x, torch::zeros({4, 4}, torch::kLong)));
  const Tensor logits = c.randn({6, 2, 5}).log_softmax(-1), lengths = torch::tensor({6, 6});
  SAYS("input_lengths must be of size batch_size",
       torch::ctc_loss(logits, torch::ones({2, 3}, torch::kLong), torch::tensor({6}), torch::tensor({3, 3})));
  SAYS("Expected input_lengths to have value at most 6",
       torch::ctc_loss(logits, torch::ones({2, 3}, torch::kLong), torch::tensor({7, 6}), torch::tensor({3, 3})));
  SAYS("Expected tensor to have size at least 4 at dimension 1",
       torch::ctc_loss(logits, torch::ones({2, 3}, torch::kLong), lengths, torch::tensor({4, 3})));
  SAYS("blank must be in label range",
       torch::ctc_loss(logits, torch::ones({2, 3}, torch::kLong), lengths, torch::tensor({3, 3}), 9));
  SAYS("Expected tensor to have size",
       torch::ctc_loss(logits, torch::ones({5}, torch::kLong), lengths, torch::tensor({3, 3})));
  SAYS("Expected tensor to have size",
       torch::ctc_loss(logits, torch::ones({1, 3}, torch::kLong), lengths, torch::tensor({3, 3})));
  SAYS("index out of range in self", torch::embedding(x, torch::tensor({4})));
  SAYS("index out of range in self", torch::embedding(x, torch::tensor({-1})));
  SAYS("Expected tensor for argument #1 'indices' to have one of the following scalar types:",
       torch::embedding(x, torch::tensor({0.0f})));
  SAYS("'weight' must be 2-D", torch::embedding(c.randn({4}), torch::tensor({0})));
  Tensor weight = x.clone();
  SAYS("out of range", torch::embedding_renorm_(weight, torch::tensor({9}), 1.0, 2.0));
}
