// Activations, products, normalisations and lookups of torch::nn used wrongly.
#include "parity/bad.h"

using torch::Tensor;
namespace nn = torch::nn;
namespace F = torch::nn::functional;

PARITY_CASE(bad_functionals, activations) {
  const Tensor x = c.randn({2, 3, 4}), image = c.randn({2, 3, 6, 6}), volume = c.randn({1, 2, 4, 4, 4}),
               whole = c.randint(0, 3, {2, 3});
  SAYS("Dimension out of range (expected to be in range of [-3, 2], but got 3)",
       F::softmax(x, F::SoftmaxFuncOptions(3)));
  SAYS("Dimension out of range (expected to be in range of [-3, 2], but got -4)",
       F::log_softmax(x, F::LogSoftmaxFuncOptions(-4)));
  SAYS("Dimension out of range (expected to be in range of [-3, 2], but got 7)",
       F::softmin(x, F::SoftminFuncOptions(7)));
  SAYS("Dimension out of range (expected to be in range of [-3, 2], but got 5)",
       F::gumbel_softmax(x, F::GumbelSoftmaxFuncOptions().dim(5)));
  SAYS("Exponential distribution is a continuous probability distribution. dtype must be a", F::gumbel_softmax(whole));
  SAYS("not implemented for 'Long'", F::elu(whole));
  SAYS("not implemented for 'Long'", F::selu(whole));
  SAYS("ZeroDivisionError: alpha cannot be 0 for CELU", F::celu(x, F::CELUFuncOptions().alpha(0)));
  SAYS("not implemented for 'Long'", F::celu(whole));
  SAYS("not implemented for 'Long'", F::leaky_relu(whole));
  SAYS("not implemented for 'Bool'", F::hardshrink(c.bools({3})));
  SAYS("not implemented for 'Long'", F::softplus(whole));
  SAYS("lambda must be in range [0, 3.40282e+38] for input dtype Float, but found -1",
       F::softshrink(x, F::SoftshrinkFuncOptions(-1)));
  SAYS("not implemented for 'Bool'", F::softsign(c.bools({2})));
  SAYS("Subtraction, the `-` operator, with a bool tensor is not supported. If you are trying",
       F::tanhshrink(c.bools({2})));
  SAYS("Boolean inputs not supported for relu", F::relu(c.bools({2})));
  SAYS("Bool inputs not supported for hardtanh", F::relu6(c.bools({2})));
  SAYS("not implemented for 'Long'", F::logsigmoid(whole));
  SAYS("not implemented for 'Long'", F::gelu(whole));
  SAYS("not implemented for 'Long'", F::silu(whole));
  SAYS("not implemented for 'Long'", F::mish(whole));
  SAYS("not implemented for 'Bool'", F::threshold(c.bools({2}), F::ThresholdFuncOptions(1, 2)));
  SAYS("Lower bound should be less than or equal to the upper bound",
       F::rrelu(x, F::RReLUFuncOptions().lower(0.5).upper(0.1)));
  SAYS("Mismatch of parameter numbers and input channel size. Found parameter numbers = 4 and",
       F::prelu(x, c.randn({4})));
  SAYS("Not allow zero-dim input tensor.", F::prelu(c.randn({}), c.randn({2})));
  SAYS("glu does not support scalars because halving size must be even", F::glu(c.randn({}), F::GLUFuncOptions(0)));
  SAYS("Halving dimension must be even, but dimension 1 is size 3", F::glu(x, F::GLUFuncOptions(1)));
  SAYS("dropout probability has to be between 0 and 1, but got 1.5", F::dropout(x, F::DropoutFuncOptions().p(1.5)));
  SAYS("dropout probability has to be between 0 and 1, but got -0.5",
       F::dropout2d(image, F::Dropout2dFuncOptions().p(-0.5)));
  SAYS("dropout probability has to be between 0 and 1, but got 2",
       F::dropout3d(volume, F::Dropout3dFuncOptions().p(2)));
  SAYS("dropout probability has to be between 0 and 1, but got 1.5",
       F::alpha_dropout(x, F::AlphaDropoutFuncOptions().p(1.5)));
  SAYS("dropout probability has to be between 0 and 1, but got -1",
       F::feature_alpha_dropout(x, F::FeatureAlphaDropoutFuncOptions().p(-1)));
  SAYS("dropout probability has to be between 0 and 1, but got 1.5", nn::Dropout3d(1.5));
  SAYS("dropout probability has to be between 0 and 1, but got -0.5", nn::FeatureAlphaDropout(-0.5));
  SAYS("not implemented for 'Bool'", nn::Hardshrink(nn::HardshrinkOptions(1))->forward(c.bools({2})));
  SAYS("lambda must be in range [0, 3.40282e+38] for input dtype Float, but found -1",
       nn::Softshrink(nn::SoftshrinkOptions(-1))->forward(x));
  SAYS("max_val must be greater than min_val", nn::Hardtanh(nn::HardtanhOptions().min_val(1).max_val(0)));
  SAYS("Lower bound should be less than or equal to the upper bound",
       nn::RReLU(nn::RReLUOptions().lower(1).upper(0))->forward(x));
  SAYS("Halving dimension must be even, but dimension 2 is size 3", nn::GLU(2)->forward(c.randn({2, 2, 3})));
  SAYS("Mismatch of parameter numbers and input channel size. Found parameter numbers = 0 and",
       nn::PReLU(nn::PReLUOptions().num_parameters(0))->forward(x));
  SAYS("not implemented for 'Bool'", nn::Threshold(1, 2)->forward(c.bools({2})));
  SAYS("ZeroDivisionError: alpha cannot be 0 for CELU", nn::CELU(nn::CELUOptions().alpha(0))->forward(x));
}

PARITY_CASE(bad_functionals, convolutions) {
  const Tensor x = c.randn({2, 3, 4}), image = c.randn({2, 3, 6, 6}), flat = c.randn({4, 5}),
               volume = c.randn({1, 2, 4, 4, 4});
  SAYS("mat1 and mat2 shapes cannot be multiplied (6x4 and 3x2)", F::linear(x, c.randn({2, 3})));
  SAYS("The size of tensor a (2) must match the size of tensor b (3) at non-singleton dimension",
       F::linear(c.randn({4}), c.randn({2, 4}), c.randn({3})));
  SAYS("size mismatch, got", F::linear(x, c.randn({2})));
  SAYS("Expected a proper Tensor but got None (or an undefined Tensor in C++)", F::linear(x, Tensor()));
  SAYS("bilinear(): input2 size does not match weight size: got 5 but expected 4",
       F::bilinear(flat, flat, c.randn({2, 5, 4})));
  SAYS("bilinear(): input batch dimensions do not match at dim 0: got 2 and 4",
       F::bilinear(c.randn({2, 5}), flat, c.randn({2, 5, 5})));
  SAYS("bilinear(): bias size does not match weight size: got 3 but expected 2",
       F::bilinear(flat, flat, c.randn({2, 5, 5}), c.randn({3})));
  SAYS("Given groups=1, weight of size [2, 2, 2], expected input[2, 3, 4] to have 2 channels,",
       F::conv1d(x, c.randn({2, 2, 2})));
  SAYS("Calculated padded input size per channel: (4). Kernel size: (5). Kernel size can't be",
       F::conv1d(x, c.randn({2, 3, 5})));
  SAYS("non-positive stride is not supported", F::conv1d(x, c.randn({2, 3, 2}), F::Conv1dFuncOptions().stride(0)));
  SAYS("negative padding is not supported",
       F::conv2d(image, c.randn({2, 3, 3, 3}), F::Conv2dFuncOptions().padding(-1)));
  SAYS("Given weight of size [2, 3, 3, 3], expected bias to be 1-dimensional with 2 elements,",
       F::conv2d(image, c.randn({2, 3, 3, 3}), F::Conv2dFuncOptions().bias(c.randn({5}))));
  SAYS("padding='same' is not supported for strided convolutions",
       F::conv2d(image, c.randn({2, 3, 3, 3}), F::Conv2dFuncOptions().padding(torch::kSame).stride(2)));
  SAYS("Given groups=3, expected weight to be at least 3 at dimension 0, but got weight of size",
       F::conv2d(image, c.randn({2, 3, 3, 3}), F::Conv2dFuncOptions().groups(3)));
  SAYS("Given groups=1, weight of size [2, 3, 2, 2, 2], expected input[1, 2, 4, 4, 4] to have 3",
       F::conv3d(volume, c.randn({2, 3, 2, 2, 2})));
  SAYS("Given groups=1, weight of size [2, 3, 2, 2, 2], expected input[1, 2, 3, 6, 6] to have 3",
       F::conv3d(image, c.randn({2, 3, 2, 2, 2})));
  SAYS("Given transposed=1, weight of size [2, 3, 2], expected input[2, 3, 4] to have 2",
       F::conv_transpose1d(x, c.randn({2, 3, 2})));
  SAYS("output padding must be smaller than either stride or dilation, but got",
       F::conv_transpose2d(image, c.randn({3, 2, 2, 2}), F::ConvTranspose2dFuncOptions().output_padding(2)));
  SAYS("non-positive stride is not supported",
       F::conv_transpose3d(volume, c.randn({2, 2, 2, 2, 2}), F::ConvTranspose3dFuncOptions().stride(0)));
  SAYS("padding='same' is not supported for strided convolutions",
       nn::Conv2d(nn::Conv2dOptions(3, 4, 3).padding(torch::kSame).stride(2)));
  SAYS("Expected 2D (unbatched) or 3D (batched) input to conv1d, but got input of size: [1, 1,",
       nn::Conv1d(3, 4, 3)->forward(c.randn({1, 1, 3, 5})));
  SAYS("Expected 4D (unbatched) or 5D (batched) input to conv3d, but got input of size: [2, 4,",
       nn::Conv3d(2, 3, 2)->forward(c.randn({2, 4, 4})));
  SAYS("Padding size should be less than the corresponding input dimension, but got: padding",
       nn::Conv2d(nn::Conv2dOptions(3, 4, 2).padding_mode(torch::kReflect).padding(7))->forward(image));
  SAYS("Padding value causes wrapping around more than once",
       nn::Conv2d(nn::Conv2dOptions(3, 4, 2).padding_mode(torch::kCircular).padding(7))->forward(image));
  SAYS("Only `zeros` padding mode is supported for ConvTranspose2d",
       nn::ConvTranspose2d(nn::ConvTranspose2dOptions(3, 4, 3).padding_mode(torch::kCircular))->forward(image));
  SAYS("output_size must have 2 or 4 elements (got 3)",
       nn::ConvTranspose2d(3, 2, 3)->forward(image, std::vector<int64_t>{1, 2, 3}));
  SAYS("in_channels must be divisible by groups", nn::ConvTranspose1d(nn::ConvTranspose1dOptions(3, 4, 3).groups(2)));
  SAYS("Trying to create tensor with negative dimension -1: [2, -1]", nn::Linear(-1, 2));
  SAYS("Trying to create tensor with negative dimension -1: [2, 2, -1]", nn::Bilinear(2, -1, 2));
}

PARITY_CASE(bad_functionals, normalisations) {
  const Tensor x = c.randn({2, 3, 4}), image = c.randn({2, 3, 6, 6}), volume = c.randn({1, 2, 4, 4, 4}),
               whole = c.randint(0, 3, {2, 3});
  SAYS("running_mean should contain 3 elements not 4",
       F::batch_norm(x, c.randn({4}), c.rand({4}), F::BatchNormFuncOptions()));
  SAYS("running_mean must be defined in evaluation mode",
       F::batch_norm(x, Tensor(), Tensor(), F::BatchNormFuncOptions().training(false)));
  SAYS("Expected more than 1 value per channel when training, got input size [1, 3]",
       F::batch_norm(c.randn({1, 3}), Tensor(), Tensor(), F::BatchNormFuncOptions().training(true)));
  SAYS("not implemented for 'Long'",
       F::batch_norm(whole, Tensor(), Tensor(), F::BatchNormFuncOptions().training(true)));
  SAYS("Expected running_mean and running_var to be defined when use_input_stats is false",
       F::instance_norm(x, F::InstanceNormFuncOptions().use_input_stats(false)));
  SAYS("Given normalized_shape=[3], expected input with shape [*, 3], but got input of size[2,",
       F::layer_norm(x, F::LayerNormFuncOptions({3})));
  SAYS("Expected weight to be of same shape as normalized_shape, but got weight of shape [3]",
       F::layer_norm(x, F::LayerNormFuncOptions({4}).weight(c.randn({3}))));
  SAYS("Expected number of channels in input to be divisible by num_groups, but got input of",
       F::group_norm(x, F::GroupNormFuncOptions(2)));
  SAYS("Expected weight to be a vector of size equal to the number of channels in input, but",
       F::group_norm(x, F::GroupNormFuncOptions(3).weight(c.randn({3, 1}))));
  SAYS("Expected 3D or higher dimensionality input (got 2 dimensions)",
       F::local_response_norm(c.randn({4, 5}), F::LocalResponseNormFuncOptions(2)));
  BAD(F::local_response_norm(x, F::LocalResponseNormFuncOptions(0)));
  SAYS("norm(): input dtype should be either floating point or complex. Got Long instead.", F::normalize(whole));
  SAYS("Dimension out of range (expected to be in range of [-3, 2], but got -4)",
       F::normalize(x, F::NormalizeFuncOptions().dim(-4)));
  SAYS("expected 2D or 3D input (got 1D input)", nn::BatchNorm1d(3)->forward(c.randn({3})));
  SAYS("expected 4D input (got 5D input)", nn::BatchNorm2d(3)->forward(volume));
  SAYS("running_mean should contain 3 elements not 4", nn::BatchNorm2d(4)->forward(image));
  SAYS("weight should contain 6 elements not 8",
       nn::InstanceNorm2d(nn::InstanceNorm2dOptions(4).affine(true))->forward(image));
  SAYS("Expected number of channels in input to be divisible by num_groups, but got input of",
       nn::GroupNorm(nn::GroupNormOptions(2, 3))->forward(x));
  SAYS("Expected 3D or higher dimensionality input (got 2 dimensions)",
       nn::LocalResponseNorm(2)->forward(c.randn({4, 5})));
}

PARITY_CASE(bad_functionals, lookups_and_others) {
  const Tensor x = c.randn({2, 3, 4}), flat = c.randn({4, 5});
  SAYS("index out of range in self", F::embedding(torch::tensor({5}), flat));
  SAYS("Padding_idx must be within num_embeddings",
       F::embedding(torch::tensor({1}), flat, F::EmbeddingFuncOptions().padding_idx(4)));
  SAYS("Padding_idx must be within num_embedding",
       F::embedding(torch::tensor({1}), flat, F::EmbeddingFuncOptions().padding_idx(-5)));
  SAYS("Expected tensor for argument #1 'indices' to have one of the following scalar types:",
       F::embedding(c.randn({2}), flat));
  SAYS("offsets has to be a 1D Tensor but got null", F::embedding_bag(torch::tensor({1, 2}), flat));
  SAYS("offsets has to be a 1D Tensor",
       F::embedding_bag(torch::tensor({1, 2}), flat, F::EmbeddingBagFuncOptions().offsets(torch::tensor({{0, 1}}))));
  SAYS("input has to be 1D or 2D Tensor, but got Tensor of dimension 3",
       F::embedding_bag(torch::tensor({{{1}}}), flat));
  SAYS("embedding_bag: If per_sample_weights ([2]) is not null, then it must have the same",
       F::embedding_bag(torch::tensor({{1, 2}}), flat, F::EmbeddingBagFuncOptions().per_sample_weights(c.randn({2}))));
  SAYS(
      "embedding_bag: per_sample_weights was not null. per_sample_weights is only supported",
      F::embedding_bag(
          torch::tensor({1, 2}), flat,
          F::EmbeddingBagFuncOptions().offsets(torch::tensor({0})).mode(torch::kMax).per_sample_weights(c.randn({2}))));
  SAYS("max mode does not support scaling the gradient by the frequency",
       F::embedding_bag(
           torch::tensor({1, 2}), flat,
           F::EmbeddingBagFuncOptions().offsets(torch::tensor({0})).mode(torch::kMax).scale_grad_by_freq(true)));
  SAYS("Class values must be non-negative.", F::one_hot(torch::tensor({-1}), 3));
  SAYS("Class values must be smaller than num_classes.", F::one_hot(torch::tensor({3}), 3));
  SAYS("Can not infer total number of classes from empty tensor.", F::one_hot(torch::empty({0}, torch::kLong)));
  SAYS("Class values must be smaller than num_classes.", F::one_hot(torch::tensor({1}), 0));
  SAYS("Trying to create tensor with negative dimension -1: [-1, 3]", nn::Embedding(nn::EmbeddingOptions(-1, 3)));
  SAYS("Padding_idx must be within num_embeddings",
       nn::Embedding::from_pretrained(flat, nn::EmbeddingFromPretrainedOptions().padding_idx(9)));
  SAYS("Shape of weight does not match num_embeddings and embedding_dim",
       nn::EmbeddingBag(nn::EmbeddingBagOptions(3, 2)._weight(c.randn({2, 2}))));
  SAYS("Softmax2d requires a 3D or 4D tensor as input", nn::Softmax2d()->forward(flat));
  SAYS("unflatten: Provided sizes [3, 2] don't multiply up to the size of dim 1 (4) in the",
       nn::Unflatten(nn::UnflattenOptions(1, {3, 2}))->forward(c.randn({2, 4})));
  SAYS("Dimension out of range (expected to be in range of [-2, 1], but got 5)",
       nn::Unflatten(nn::UnflattenOptions(5, {3, 2}))->forward(c.randn({2, 4})));
  SAYS("flatten() has invalid args: start_dim cannot come after end_dim",
       nn::Flatten(nn::FlattenOptions().start_dim(2).end_dim(1))->forward(x));
  SAYS("Dimension out of range (expected to be in range of [-3, 2], but got 7)",
       nn::CosineSimilarity(nn::CosineSimilarityOptions().dim(7))->forward(x, x));
  SAYS("The size of tensor a (5) must match the size of tensor b (4) at non-singleton dimension",
       nn::PairwiseDistance()->forward(flat, c.randn({4, 4})));
}

PARITY_CASE(bad_functionals, allowed) {
  const Tensor x = c.randn({4, 5});
  c.out("limits the other way round", torch::hardtanh(x, 1, -1));
  c.shape_only("instances of one number", torch::instance_norm(x, {}, {}, {}, {}, true, 0.1, 1e-5, false));
}

PARITY_CASE(bad_functionals, rows_of_bags) {
  const Tensor flat = c.randn({4, 5});
  SAYS("Index 1 of input takes value 9 which is not in the valid range [0, 4)",
       F::embedding_bag(torch::tensor({1, 9}), flat, F::EmbeddingBagFuncOptions().offsets(torch::tensor({0}))));
}
