// One network in both libraries in one process: the weights of LibTorch's, compared layer by layer, forward and
// backward.
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <halfbridge/beside_torch.h>
#include <halfbridge/bridge/nn.h>
#include <halfbridge/engine.h>

#include <cmath>

namespace {

namespace ours_nn = hb::bridge::nn;

// LibTorch's and ours are spelt alike, so one template builds both.
struct Theirs {
  using Tensor = at::Tensor;
  using Module = torch::nn::Module;
  using Conv2d = torch::nn::Conv2d;
  using Conv2dOptions = torch::nn::Conv2dOptions;
  using BatchNorm2d = torch::nn::BatchNorm2d;
  using Linear = torch::nn::Linear;
  using LayerNorm = torch::nn::LayerNorm;
  using LayerNormOptions = torch::nn::LayerNormOptions;
  static Tensor pool(const Tensor& x) { return at::max_pool2d(x, 2); }
  static Tensor relu(const Tensor& x) { return at::relu(x); }
  static Tensor gelu(const Tensor& x) { return at::gelu(x); }
};
struct Ours {
  using Tensor = hb::Tensor;
  using Module = ours_nn::Module;
  using Conv2d = ours_nn::Conv2d;
  using Conv2dOptions = ours_nn::Conv2dOptions;
  using BatchNorm2d = ours_nn::BatchNorm2d;
  using Linear = ours_nn::Linear;
  using LayerNorm = ours_nn::LayerNorm;
  using LayerNormOptions = ours_nn::LayerNormOptions;
  static Tensor pool(const Tensor& x) { return hb::max_pool2d(x, 2); }
  static Tensor relu(const Tensor& x) { return hb::relu(x); }
  static Tensor gelu(const Tensor& x) { return hb::gelu(x); }
};

template <class Library>
struct Net : Library::Module {
  using Tensor = typename Library::Tensor;
  Net()
      : conv1(this->register_module("conv1",
                                    typename Library::Conv2d(typename Library::Conv2dOptions(3, 8, 3).padding(1)))),
        norm1(this->register_module("norm1", typename Library::BatchNorm2d(8))),
        conv2(this->register_module("conv2",
                                    typename Library::Conv2d(typename Library::Conv2dOptions(8, 16, 3).stride(2)))),
        norm2(this->register_module("norm2", typename Library::LayerNorm(typename Library::LayerNormOptions({64})))),
        head(this->register_module("head", typename Library::Linear(64, 10))) {}

  // Every layer's output, by name.
  std::vector<std::pair<std::string, Tensor>> run(Tensor x) {
    std::vector<std::pair<std::string, Tensor>> outputs;
    const auto keep = [&](const char* name, Tensor value) {
      value.retain_grad();
      outputs.emplace_back(name, value);
      return value;
    };
    x = keep("conv1", conv1->forward(x));
    x = keep("norm1", norm1->forward(x));
    x = keep("relu", Library::relu(x));
    x = keep("conv2", conv2->forward(x));
    x = keep("pool", Library::pool(x));
    x = keep("norm2", norm2->forward(x.flatten(1)));
    x = keep("gelu", Library::gelu(x));
    keep("head", head->forward(x));
    return outputs;
  }

  typename Library::Conv2d conv1;
  typename Library::BatchNorm2d norm1;
  typename Library::Conv2d conv2;
  typename Library::LayerNorm norm2;
  typename Library::Linear head;
};

constexpr double kTolerance = 1e-5;  // of the largest element: both compute in float32

// Element by element, in LibTorch's arithmetic.
void expect_close(const std::string& layer, const hb::Tensor& ours, const at::Tensor& theirs) {
  const at::Tensor got = hb::to_torch(ours.detach());
  ASSERT_EQ(got.sizes(), theirs.sizes()) << layer;
  const double scale =
      std::max(theirs.abs().max().item<double>(), 1.0);  // a bias before a normalisation has gradient 0
  EXPECT_LE((got - theirs).abs().max().item<double>(), kTolerance * scale) << layer;
}

struct Pair {
  Net<Theirs> theirs;
  Net<Ours> ours;
  at::Tensor x = at::randn({4, 3, 12, 12});
  Pair() { torch::manual_seed(0); }

  void compare() {
    const auto reference = theirs.run(x);
    const auto outputs = ours.run(hb::from_torch(x));
    ASSERT_EQ(outputs.size(), reference.size());
    for (size_t i = 0; i < outputs.size(); ++i) expect_close(outputs[i].first, outputs[i].second, reference[i].second);
    reference.back().second.pow(2).sum().backward();
    outputs.back().second.pow(2).sum().backward();
    for (size_t i = outputs.size(); i-- > 0;) {
      expect_close(outputs[i].first + " gradient", outputs[i].second.grad(), reference[i].second.grad());
    }
    const auto gradients = theirs.named_parameters();
    for (const auto& item : ours.named_parameters()) {
      expect_close(item.key() + " gradient", item.value().grad(), gradients[item.key()].grad());
    }
  }
};

TEST(BesideTorch, CopiedWeightsAgreeLayerByLayer) {
  Pair pair;
  const auto mismatch = hb::load_from_torch(pair.ours, pair.theirs);
  EXPECT_TRUE(mismatch.missing_keys.empty() && mismatch.unexpected_keys.empty());
  pair.compare();
}

TEST(BesideTorch, SharedWeightsAgreeAndTrainTogether) {
  Pair pair;
  ours_nn::LoadStateOptions options;
  options.copy = false;
  hb::load_from_torch(pair.ours, pair.theirs, options);
  EXPECT_EQ(pair.ours.head->weight.data_ptr(), pair.theirs.head->weight.data_ptr());
  // Both normalisations would update the one running mean: the second would see the first's.
  pair.theirs.eval();
  pair.ours.eval();
  pair.compare();
  const at::Tensor before = pair.theirs.head->weight.detach().clone();
  {
    hb::NoGradGuard no_grad;
    pair.ours.head->weight.add_(pair.ours.head->weight.grad(), -0.1);
  }
  EXPECT_FALSE(at::equal(before, pair.theirs.head->weight));
  pair.theirs.zero_grad();
  pair.ours.zero_grad();
  pair.compare();
}

TEST(BesideTorch, AWrongWeightIsSeen) {
  Pair pair;
  hb::load_from_torch(pair.ours, pair.theirs);
  {
    hb::NoGradGuard no_grad;
    pair.ours.conv2->bias.add_(0.01);
  }
  const auto reference = pair.theirs.run(pair.x);
  const auto outputs = pair.ours.run(hb::from_torch(pair.x));
  std::string first;
  for (size_t i = 0; i < outputs.size() && first.empty(); ++i) {
    const double distance = (hb::to_torch(outputs[i].second.detach()) - reference[i].second).abs().max().item<double>();
    if (distance > 1e-3) first = outputs[i].first;
  }
  EXPECT_EQ(first, "conv2");
}

TEST(BesideTorch, NamesThatDoNotFitAreListed) {
  torch::nn::Linear theirs(3, 2);
  ours_nn::Linear ours(2, 3);
  try {
    hb::load_from_torch(*ours, *theirs);
    FAIL();
  } catch (const hb::Error& error) {
    EXPECT_NE(std::string(error.what()).find("(transposed)"), std::string::npos) << error.what();
  }
}

}  // namespace
