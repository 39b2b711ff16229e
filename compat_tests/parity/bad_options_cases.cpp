// Wrong calls of layers, modules, optimizers, loaders and archives: what programs search messages for.
#include "parity/bad.h"

#include <sstream>
#include <vector>

using torch::Tensor;
namespace nn = torch::nn;
namespace F = torch::nn::functional;

namespace {

struct M : nn::Module {};

struct WithBadItem : torch::data::datasets::Dataset<WithBadItem> {
  torch::data::Example<> get(size_t i) override {
    if (i == 3) throw std::runtime_error("bad item");
    return {torch::ones({1}), torch::ones({1})};
  }
  std::optional<size_t> size() const override { return 5; }
};
void read_all() {
  const auto loader = torch::data::make_data_loader(WithBadItem(), torch::data::DataLoaderOptions(2).workers(2));
  for (const auto& batch : *loader) (void)batch;
}

}  // namespace

PARITY_CASE(bad_options, layers_and_modules) {
  const Tensor a = c.randn({2, 3}), b = c.randn({4, 5}), v = c.randn({3}), t = c.randn({2, 3, 4}), z = c.randn({});
  const Tensor i = torch::tensor({0, 1}), img = c.randn({2, 3, 8, 8}), w = c.randn({4, 3, 3, 3});
  SAYS("Given groups=1, weight of size [4, 2, 3, 3], expected input[2, 3, 8, 8] to",
       torch::conv2d(img, torch::randn({4, 2, 3, 3})));
  SAYS("Calculated padded input size per channel: (8 x 8). Kernel size: (9 x 9).",
       torch::conv2d(img, torch::randn({4, 3, 9, 9})));
  SAYS("Given weight of size [4, 3, 3, 3], expected bias to be 1-dimensional with 4",
       torch::conv2d(img, w, torch::randn({5})));
  SAYS("expected stride to be a single integer value or a list of 2 values to match",
       torch::conv2d(img, w, {}, {1, 1, 1}));
  SAYS("Invalid padding string: 'valid2'", torch::conv2d(img, w, {}, 1, "valid2"));
  SAYS("Expected a proper Tensor but got None (or an undefined Tensor in C++) for", torch::conv2d(img, Tensor()));
  SAYS("from is out of bounds for float", nn::Conv2d(nn::Conv2dOptions(3, 4, 0))(img));
  SAYS("pixel_shuffle expects its input's 'channel' dimension to be divisible by the", torch::pixel_shuffle(img, 2));
  SAYS("pixel_unshuffle expects height to be divisible by downscale_factor, but", torch::pixel_unshuffle(img, 3));
  SAYS("Expected size of input's dimension 1 to be divisible by the product of",
       F::fold(t, F::FoldFuncOptions({4, 4}, {2, 2})));
  SAYS(
      "align_corners option can only be set with the interpolating modes: linear |",
      F::interpolate(
          img, F::InterpolateFuncOptions().size(std::vector<int64_t>{4, 4}).mode(torch::kNearest).align_corners(true)));
  SAYS("affine_grid only supports 4D and 5D sizes, for 2D and 3D affine transforms,",
       F::affine_grid(torch::randn({2, 2, 3}), {2, 3}));
  SAYS("Padding length should be less than or equal to two times the input dimension",
       F::pad(a, F::PadFuncOptions({1, 1, 1, 1, 1, 1})));
  SAYS("Expected normalized_shape to be at least 1-dimensional, i.e., containing at", torch::layer_norm(a, {}));
  SAYS("Expected number of channels in input to be divisible by num_groups, but got", torch::group_norm(img, 2));
  SAYS("Expected weight to be a vector of size equal to the number of channels in",
       torch::group_norm(img, 3, torch::ones({2})));
  SAYS("Expected 2 or more dimensions (got 1)", F::nll_loss(v, i));
  SAYS("Using a target size ([4, 5]) that is different to the input size ([2, 3]) is",
       F::binary_cross_entropy(a.sigmoid(), b.sigmoid()));
  SAYS("Target size ([4, 5]) must be the same as input size ([2, 3])", F::binary_cross_entropy_with_logits(a, b));
  SAYS("margin_ranking_loss : All input tensors should have same dimension but got", F::margin_ranking_loss(a, v, z));
  SAYS("proj_size has to be a positive integer, smaller than hidden_size or zero to",
       nn::LSTM(nn::LSTMOptions(3, 4).proj_size(4)));
  SAYS("dropout should be a number in range [0, 1] representing the probability of an",
       nn::LSTM(nn::LSTMOptions(3, 4).dropout(2)));
  SAYS("src and tgt should have equal batch size (at dim 1), but got 3 and 4",
       nn::Transformer(nn::TransformerOptions(4, 2))(t, torch::randn({2, 4, 4})));
  SAYS("Key 'x' is not defined", nn::ModuleDict()["x"]);
  SAYS("Parameter 'w' already defined", {
    M m;
    m.register_parameter("w", torch::ones({1}));
    m.register_parameter("w", torch::ones({1}));
  });
  SAYS("Submodule 'l' already defined", {
    M m;
    m.register_module("l", nn::Linear(1, 1));
    m.register_module("l", nn::Linear(1, 1));
  });
  SAYS("Buffer name must not contain a dot (got 'w.q')", {
    M m;
    m.register_buffer("w.q", torch::ones({1}));
  });
  SAYS("Submodule 'l' is not defined", {
    M m;
    m.replace_module("l", nn::Linear(1, 1));
  });
  SAYS("No Module with name `l` is registered", {
    M m;
    m.unregister_module("l");
  });
  SAYS("clone() has not been implemented for", M().clone());
  SAYS("Key 'wait' is not defined", nn::Linear(2, 2)->named_parameters()["wait"]);
}

PARITY_CASE(bad_options, optimizers_data_and_archives) {
  const Tensor a = c.randn({2, 3});
  const std::vector<Tensor> ps{c.leaf({2})};
  Tensor q;
  SAYS("The total norm of order 2 for gradients from `parameters` is non-finite, so", {
    ps[0].mutable_grad() = torch::full({2}, INFINITY);
    torch::nn::utils::clip_grad_norm_(ps, 1, 2, true);
  });
  SAYS("Caught exception in DataLoader worker thread. Original message: bad item", read_all());
  SAYS("Error opening images file at /nonexistent/train-images-idx3-ubyte",
       torch::data::datasets::MNIST("/nonexistent"));
  SAYS("open file failed because of errno 2 on fopen: No such file or directory, file",
       torch::load(q, "/nonexistent.pt"));
  SAYS("/nonexistent/dir", torch::save(a, "/nonexistent/dir/x.pt"));
  SAYS("loaded state dict contains a parameter group that has a different size than", {
    std::stringstream s;
    torch::optim::SGD x(ps, 0.1);
    torch::save(x, s);
    torch::optim::SGD y(std::vector<Tensor>{ps[0], torch::ones({3}, torch::requires_grad())}, 0.1);
    torch::load(y, s);
  });
}
