// Options read from text, and layers made again from what they print: the same outputs as the module's.
#include <gtest/gtest.h>

#include <halfbridge/diff/explain.h>

#include "hints/optimizer.h"
#include "hints/relations.h"
#include "record.h"
#include "replay/layer.h"

namespace replay = hb::layer_diff::replay;
namespace hints = hb::layer_diff::hints;
namespace nn = torch::nn;

namespace {

TEST(Config, ReadsBothLanguagesAlike) {
  const auto cpp = replay::parse_config("3, 64, kernel_size=[3, 3], stride=[2, 1], bias=false, padding_mode=kReflect");
  const auto python =
      replay::parse_config("3, 64, kernel_size=(3, 3), stride=(2, 1), bias=False, padding_mode='reflect'");
  ASSERT_EQ(cpp.positional.size(), 2u);
  EXPECT_TRUE(replay::same(cpp.positional[1], replay::Value::of(64.0)));
  ASSERT_EQ(cpp.named.size(), python.named.size());
  for (const auto& [name, value] : cpp.named) EXPECT_TRUE(replay::same(value, python.named.at(name))) << name;
  EXPECT_EQ(cpp.named.at("padding_mode").word, "reflect");
  EXPECT_TRUE(replay::parse_config("eps=1e-05, momentum=None").named.at("momentum").is_none());
  EXPECT_DOUBLE_EQ(replay::parse_config("eps=1e-05").named.at("eps").number, 1e-5);
  EXPECT_TRUE(replay::same(replay::parse_value("[2, 2]"), replay::parse_value("2")));
  EXPECT_FALSE(replay::same(replay::parse_value("[2, 3]"), replay::parse_value("2")));
}

TEST(Config, TakesAnyText) {
  for (const char* text :
       {"", ",", "(((", ")))", "a=", "=1", "[1, 2", "'", "x=[[[[[[[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]]]]]]]"})
    EXPECT_NO_THROW(replay::parse_config(text)) << text;
}

template <class Module, class Forward>
void expect_replay(Module module, const std::vector<torch::Tensor>& inputs, const Forward& forward) {
  torch::NoGradGuard no_grad;
  for (auto& p : module->parameters()) p.add_(torch::randn_like(p) * 0.1);
  for (auto& b : module->buffers())
    if (b.is_floating_point()) b.add_(torch::rand_like(b));
  const auto [type, config] = type_and_config(*module);
  replay::Layer layer;
  layer.declaration = replay::find_declaration(type);
  ASSERT_NE(layer.declaration, nullptr) << type;
  layer.args = replay::arguments_of(*layer.declaration, config);
  layer.training = module->is_training();
  for (const auto& item : module->named_parameters()) layer.state[item.key()] = item.value().clone();
  for (const auto& item : module->named_buffers()) layer.state[item.key()] = item.value().clone();
  const torch::Tensor expected = forward(module);
  for (auto dtype : {torch::kFloat32, torch::kFloat64}) {
    const auto outputs = replay::forward(layer, inputs, dtype);
    ASSERT_FALSE(outputs.empty()) << type;
    EXPECT_EQ(outputs[0].sizes(), expected.sizes()) << type << "(" << config << ")";
    EXPECT_TRUE(outputs[0].to(torch::kFloat32).allclose(expected, 1e-4, 1e-5)) << type << "(" << config << ")";
  }
}
template <class Module>
void expect_replay(Module module, const torch::Tensor& input) {
  expect_replay(module, {input}, [&](Module& m) { return m->forward(input); });
}
template <class Module>
void expect_recurrent(Module module, const torch::Tensor& input) {
  expect_replay(module, {input}, [&](Module& m) { return std::get<0>(m->forward(input)); });
}
template <class Module>
void expect_loss(Module module, const torch::Tensor& a, const torch::Tensor& b) {
  expect_replay(module, {a, b}, [&](Module& m) { return m->forward(a, b); });
}

TEST(Replay, Convolutions) {
  torch::manual_seed(1);
  expect_replay(nn::Conv1d(nn::Conv1dOptions(4, 6, 3).stride(2).padding(1)), torch::randn({2, 4, 11}));
  expect_replay(
      nn::Conv2d(nn::Conv2dOptions(4, 6, {3, 2}).stride({2, 1}).padding({1, 2}).dilation(2).groups(2).bias(false)),
      torch::randn({2, 4, 11, 9}));
  expect_replay(nn::Conv2d(nn::Conv2dOptions(4, 6, 3).padding({1, 2}).padding_mode(torch::kReflect)),
                torch::randn({2, 4, 8, 9}));
  expect_replay(nn::Conv2d(nn::Conv2dOptions(4, 6, {3, 2}).padding(torch::kSame)), torch::randn({2, 4, 8, 9}));
  expect_replay(nn::Conv3d(nn::Conv3dOptions(2, 3, 2)), torch::randn({1, 2, 4, 5, 6}));
  expect_replay(nn::ConvTranspose1d(nn::ConvTranspose1dOptions(4, 2, 3).stride(2).output_padding(1)),
                torch::randn({1, 4, 5}));
  expect_replay(nn::ConvTranspose2d(nn::ConvTranspose2dOptions(4, 2, 3).stride(2).padding(1).groups(2)),
                torch::randn({1, 4, 5, 6}));
}

TEST(Replay, Normalizations) {
  torch::manual_seed(2);
  for (bool training : {true, false}) {
    nn::BatchNorm2d norm(nn::BatchNorm2dOptions(4).eps(1e-2).momentum(0.3));
    norm->train(training);
    expect_replay(norm, torch::randn({3, 4, 5, 5}));
  }
  expect_replay(nn::BatchNorm1d(nn::BatchNorm1dOptions(4).affine(false)), torch::randn({8, 4}));
  expect_replay(nn::InstanceNorm2d(nn::InstanceNorm2dOptions(4).affine(true)), torch::randn({3, 4, 5, 5}));
  expect_replay(nn::LayerNorm(nn::LayerNormOptions({4, 5}).eps(1e-3)), torch::randn({3, 4, 5}));
  expect_replay(nn::GroupNorm(nn::GroupNormOptions(2, 4)), torch::randn({3, 4, 5}));
  expect_replay(nn::LocalResponseNorm(nn::LocalResponseNormOptions(3)), torch::randn({3, 4, 5, 5}));
}

TEST(Replay, Poolings) {
  torch::manual_seed(3);
  const auto image = torch::randn({2, 3, 9, 11});
  expect_replay(nn::MaxPool2d(nn::MaxPool2dOptions({3, 2}).stride({2, 1}).padding({1, 0}).ceil_mode(true)), image);
  expect_replay(nn::MaxPool1d(nn::MaxPool1dOptions(3)), torch::randn({2, 3, 9}));
  expect_replay(nn::AvgPool2d(nn::AvgPool2dOptions(3).stride(2).padding(1)), image);
  expect_replay(nn::AvgPool3d(nn::AvgPool3dOptions(2)), torch::randn({2, 3, 4, 5, 6}));
  expect_replay(nn::AdaptiveAvgPool2d(nn::AdaptiveAvgPool2dOptions({3, 4})), image);
  expect_replay(nn::AdaptiveMaxPool2d(nn::AdaptiveMaxPool2dOptions({3, std::nullopt})), image);
  expect_replay(nn::LPPool2d(nn::LPPool2dOptions(2, 2)), image.abs());
}

TEST(Replay, Activations) {
  torch::manual_seed(4);
  const auto x = torch::randn({4, 6});
  expect_replay(nn::ReLU(), x);
  expect_replay(nn::ReLU6(), x * 9);
  expect_replay(nn::LeakyReLU(nn::LeakyReLUOptions().negative_slope(0.2)), x);
  expect_replay(nn::ELU(nn::ELUOptions().alpha(0.7)), x);
  expect_replay(nn::SELU(), x);
  expect_replay(nn::CELU(nn::CELUOptions().alpha(1.5)), x);
  expect_replay(nn::GELU(), x);
  expect_replay(nn::SiLU(), x);
  expect_replay(nn::Mish(), x);
  expect_replay(nn::Sigmoid(), x);
  expect_replay(nn::Tanh(), x);
  expect_replay(nn::Softplus(nn::SoftplusOptions().beta(2)), x);
  expect_replay(nn::Softshrink(nn::SoftshrinkOptions(0.3)), x);
  expect_replay(nn::Hardshrink(nn::HardshrinkOptions(0.3)), x);
  expect_replay(nn::Hardtanh(nn::HardtanhOptions().min_val(-0.5).max_val(0.2)), x);
  expect_replay(nn::Softsign(), x);
  expect_replay(nn::Tanhshrink(), x);
  expect_replay(nn::LogSigmoid(), x);
  expect_replay(nn::Threshold(0.1, 3), x);
  expect_replay(nn::GLU(nn::GLUOptions(1)), x);
  expect_replay(nn::PReLU(), x);
  expect_replay(nn::Softmax(1), x);
  expect_replay(nn::LogSoftmax(0), x);
}

TEST(Replay, OtherLayers) {
  torch::manual_seed(5);
  const auto image = torch::randn({2, 4, 6, 6});
  expect_replay(nn::Linear(nn::LinearOptions(6, 3).bias(false)), image);
  expect_replay(nn::Embedding(nn::EmbeddingOptions(10, 3).padding_idx(2)), torch::randint(0, 10, {4, 5}, torch::kLong));
  expect_replay(nn::Flatten(nn::FlattenOptions().start_dim(2)), image);
  expect_replay(nn::Unflatten(nn::UnflattenOptions(1, {2, 2})), image);
  expect_replay(nn::Upsample(nn::UpsampleOptions().scale_factor(std::vector<double>{2, 2}).mode(torch::kNearest)),
                image);
  expect_replay(
      nn::Upsample(nn::UpsampleOptions().size(std::vector<int64_t>{7, 9}).mode(torch::kBilinear).align_corners(false)),
      image);
  expect_replay(nn::PixelShuffle(2), image);
  expect_replay(nn::ReflectionPad2d(nn::ReflectionPad2dOptions({1, 2, 0, 1})), image);
  expect_replay(nn::ReplicationPad2d(2), image);
  expect_replay(nn::ZeroPad2d(nn::ZeroPad2dOptions({1, 2, 0, 1})), image);
  expect_replay(nn::ConstantPad2d(nn::ConstantPad2dOptions({1, 2, 0, 1}, 2.5)), image);
  expect_recurrent(nn::LSTM(nn::LSTMOptions(5, 4).num_layers(2).bidirectional(true)), torch::randn({6, 2, 5}));
  expect_recurrent(nn::LSTM(nn::LSTMOptions(5, 4).proj_size(3).batch_first(true)), torch::randn({2, 6, 5}));
  expect_recurrent(nn::GRU(nn::GRUOptions(5, 4).bias(false)), torch::randn({6, 2, 5}));
  expect_recurrent(nn::RNN(nn::RNNOptions(5, 4)), torch::randn({6, 2, 5}));
  expect_replay(nn::GRUCell(5, 4), torch::randn({2, 5}));
}

TEST(Replay, Losses) {
  torch::manual_seed(6);
  const auto a = torch::rand({4, 5}), b = torch::rand({4, 5});
  const auto classes = torch::randint(0, 5, {4}, torch::kLong);
  expect_loss(nn::MSELoss(), a, b);
  expect_loss(nn::L1Loss(), a, b);
  expect_loss(nn::CrossEntropyLoss(), a, classes);
  expect_loss(nn::NLLLoss(), a, classes);
  expect_loss(nn::BCELoss(), a, b);
  expect_loss(nn::BCEWithLogitsLoss(), a, b);
  expect_loss(nn::KLDivLoss(), a, b);
  expect_loss(nn::SmoothL1Loss(), a, b);
  expect_loss(nn::HuberLoss(), a, b);
  expect_loss(nn::CosineSimilarity(), a, b);
}

TEST(Replay, DropoutUsesTheMask) {
  replay::Layer layer;
  layer.declaration = replay::find_declaration("Dropout");
  layer.args = replay::arguments_of(*layer.declaration, "p=0.25, inplace=false");
  layer.training = true;
  const auto x = torch::ones({4});
  EXPECT_THROW(replay::forward(layer, {x}, torch::kFloat32), hb::Error);
  layer.masks = {torch::tensor({1, 0, 1, 1}).to(torch::kBool)};
  const auto y = replay::forward(layer, {x}, torch::kFloat64)[0];
  EXPECT_NEAR(y[0].item<double>(), 4.0 / 3, 1e-12);
  EXPECT_EQ(y[1].item<double>(), 0);
}

TEST(Replay, BackwardGivesGradients) {
  torch::manual_seed(8);
  nn::Linear linear(5, 3);
  auto x = torch::randn({2, 5}).requires_grad_(true);
  const auto g = torch::randn({2, 3});
  linear(x).backward(g);
  replay::Layer layer;
  layer.declaration = replay::find_declaration("Linear");
  layer.args = replay::arguments_of(*layer.declaration, "in_features=5, out_features=3, bias=true");
  layer.state = {{"weight", linear->weight.detach()}, {"bias", linear->bias.detach()}};
  const auto gradients = replay::backward(layer, {x.detach()}, {g}, torch::kFloat32);
  EXPECT_TRUE(gradients.inputs.at(0).allclose(x.grad()));
  EXPECT_TRUE(gradients.state.at("weight").allclose(linear->weight.grad()));
  EXPECT_TRUE(gradients.state.at("bias").allclose(linear->bias.grad()));
}

TEST(Relations, SayOnlyWhatHolds) {
  torch::manual_seed(9);
  const auto a = torch::randn({6, 6}), image = torch::randn({2, 3, 8, 8});
  EXPECT_FALSE(hints::relate(a, a, "x").has_value());
  EXPECT_FALSE(hints::relate(a, torch::randn({6, 6}), "x").has_value());
  EXPECT_EQ(hints::relate(a, a.t().contiguous(), "x")->cause, "transposed");
  EXPECT_EQ(hints::relate(a, -a, "x")->cause, "sign");
  EXPECT_EQ(hints::relate(a, a * 3, "x")->cause, "input_scale");
  EXPECT_EQ(hints::relate(a, torch::zeros_like(a), "x")->cause, "zero");
  EXPECT_EQ(hints::relate(a, torch::relu(a), "x")->cause, "doubled_activation");
  EXPECT_EQ(hints::relate(torch::tanh(a), a, "x")->cause, "missing_activation");
  EXPECT_EQ(hints::relate(image, image.flip({1}), "x")->cause, "reversed");
  EXPECT_EQ(hints::relate(image, image.permute({0, 2, 3, 1}).contiguous().view({2, 3, 8, 8}), "x")->cause,
            "memory_order");
  EXPECT_EQ(hints::relate(a, a.index_select(0, torch::tensor({3, 1, 0, 2, 5, 4})), "x")->cause, "permuted_weight");
  // Equal means and equal sums of squares are not equality, and no relation either.
  auto swapped = a.clone();
  swapped[0][1] = a[3][2];
  swapped[3][2] = a[0][1];
  EXPECT_FALSE(hints::relate(a, swapped, "x").has_value());
}

TEST(Optimizer, RulesAreFittedToTheStep) {
  torch::manual_seed(10);
  const auto p = torch::randn({40, 20}), g = torch::randn({40, 20}) * 0.1;
  const auto fit = [&](const torch::Tensor& updated) { return hints::fit_update({p, g, updated, {}, {}, 1}); };
  const auto sgd = fit(p - 0.05 * (g + 0.01 * p));
  ASSERT_TRUE(sgd.has_value());
  EXPECT_EQ(sgd->kind, "SGD");
  EXPECT_NEAR(sgd->values.at("lr"), 0.05, 1e-6);
  EXPECT_NEAR(sgd->values.at("weight_decay"), 0.01, 1e-4);
  const auto adam = fit(p - 0.01 * g / (g.abs() + 1e-2));
  ASSERT_TRUE(adam.has_value());
  EXPECT_EQ(adam->kind, "Adam");
  EXPECT_NEAR(adam->values.at("lr"), 0.01, 1e-4);
  EXPECT_NEAR(adam->values.at("eps"), 1e-2, 1e-3);
  EXPECT_FALSE(fit(p + torch::randn_like(p)).has_value());
}

}  // namespace
