// Levels: which module computes in which dtype, and the ways to ask for them.
#include <gtest/gtest.h>
#include <halfbridge/halfbridge.h>
#include <torch/torch.h>

#include "amp/amp_net.h"

using namespace amp_net;

namespace {

// Half values go in and come out; what is between is float32, parameters and statistics too.
void expect_norm_in_float(Net net, torch::ScalarType dtype) {
  Tensor in, out;
  const auto before = net->norm->register_forward_pre_hook([&](nn::Module&, const std::vector<Tensor>& inputs) {
    in = inputs[0];
    return inputs;
  });
  const auto after = net->norm->register_forward_hook(
      [&](nn::Module&, const std::vector<Tensor>&, const std::vector<Tensor>& outputs) {
        out = outputs[0];
        return outputs;
      });
  net(Data().x);
  net->norm->remove_hook(before);
  net->norm->remove_hook(after);
  EXPECT_EQ(net->norm->weight.scalar_type(), torch::kFloat);
  EXPECT_EQ(net->norm->running_mean.scalar_type(), torch::kFloat);
  EXPECT_EQ(out.scalar_type(), dtype);
  const Tensor exact =
      torch::batch_norm(in.to(torch::kFloat), net->norm->weight, net->norm->bias, {}, {}, true, 0.1, 1e-5, false);
  EXPECT_TRUE(torch::equal(out, exact.to(dtype)));
}

}  // namespace

TEST(AmpLevels, O1CastsTheWhiteList) {
  for (auto dtype : {torch::kHalf, torch::kBFloat16}) {
    auto net = hb::amp::auto_mixed_precision(Net(), "O1", dtype);
    auto out = net(Data().x);
    EXPECT_EQ(net->conv->weight.scalar_type(), kFloat);
    EXPECT_EQ(net->conv_out->seen, kFloat);  // cast back
    EXPECT_EQ(net->norm_out->seen, kFloat);
    EXPECT_EQ(out.scalar_type(), kFloat);
    // Yet it was computed in half.
    auto plain = Net()(Data().x);
    EXPECT_FALSE(torch::equal(out, plain));
    EXPECT_TRUE(torch::allclose(out, plain, 0.05, 0.05));
    out.sum().backward();
    EXPECT_EQ(net->conv->weight.grad().scalar_type(), kFloat);
  }
}

TEST(AmpLevels, O2KeepsTheBlackList) {
  auto net = hb::amp::auto_mixed_precision(Net(), "O2", torch::kBFloat16);
  auto out = net(Data().x);
  for (const auto& p : net->parameters()) EXPECT_EQ(p.scalar_type(), kFloat);
  EXPECT_EQ(net->norm->running_mean.scalar_type(), kFloat);
  expect_norm_in_float(net, kBf16);
  EXPECT_EQ(net->conv_out->seen, kBf16);
  EXPECT_EQ(net->norm_out->seen, kBf16);
  EXPECT_EQ(net->probed, kBf16);
  EXPECT_EQ(out.scalar_type(), kFloat);
  EXPECT_EQ(net->forward(Data().x).scalar_type(), kBf16);  // a member call: its modules follow all the same
  auto without = hb::amp::auto_mixed_precision(
      Net(), "O2", hb::amp::LevelOptions().dtype(torch::kBFloat16).keep_batchnorm_fp32(false));
  expect_norm_in_float(without, kBf16);
}

TEST(AmpLevels, O3IsAllHalf) {
  auto net = hb::amp::auto_mixed_precision(Net(), "O3", torch::kBFloat16);
  for (const auto& p : net->parameters()) EXPECT_EQ(p.scalar_type(), kFloat);
  EXPECT_EQ(net(Data().x).scalar_type(), kFloat);
  EXPECT_EQ(net->norm_out->seen, kBf16);
  expect_norm_in_float(net, kBf16);
  auto kept = hb::amp::auto_mixed_precision(Net(), "O3",
                                            hb::amp::LevelOptions().dtype(torch::kBFloat16).keep_batchnorm_fp32(true));
  expect_norm_in_float(kept, kBf16);
}

TEST(AmpLevels, AutoIsAutocast) {
  auto net = hb::amp::auto_mixed_precision(Net(), "auto", torch::kBFloat16);
  net(Data().x);
  EXPECT_EQ(net->conv->weight.scalar_type(), kFloat);
  EXPECT_EQ(net->conv_out->seen, kBf16);
  EXPECT_FALSE(torch::autocast::is_autocast_enabled(torch::kCPU));
}

TEST(AmpLevels, O0ChangesNothing) {
  auto net = hb::amp::auto_mixed_precision(Net(), "O0");
  EXPECT_TRUE(torch::equal(net(Data().x), Net()(Data().x)));
}

TEST(AmpLevels, WrongWordsAndDtypes) {
  EXPECT_THROW(hb::amp::auto_mixed_precision(Net(), "O4"), hb::ValueError);
  EXPECT_THROW(hb::amp::auto_mixed_precision(Net(), "o1"), hb::ValueError);
  EXPECT_THROW(hb::amp::auto_mixed_precision(Net(), "O1", torch::kDouble), hb::Error);
  EXPECT_THROW(hb::amp::custom_mixed_precision(Net(), std::nullopt, std::nullopt), hb::Error);
  EXPECT_THROW(hb::amp::custom_mixed_precision(Net(), hb::amp::get_white_list(), hb::amp::get_black_list()), hb::Error);
}

TEST(AmpLevels, ListsOfOnesOwn) {
  // Only the norm in half, and by class of the program's own.
  auto white = hb::amp::CastList().add<ProbeImpl>();
  auto net = hb::amp::custom_mixed_precision(Net(), white, std::nullopt, torch::kBFloat16);
  net(Data().x);
  EXPECT_EQ(net->conv_out->seen, kBf16);
  auto black = hb::amp::get_black_list().add<nn::Linear>().remove<nn::BatchNorm2d>();
  net = hb::amp::custom_mixed_precision(Net(), std::nullopt, black, torch::kBFloat16);
  expect_norm_in_float(net, kBf16);
  EXPECT_TRUE(torch::equal(net->forward(Data().x), net(Data().x)));  // the last layer's result is float32 by itself
  EXPECT_TRUE(hb::amp::get_white_list().contains(*nn::Linear(1, 1)));
  EXPECT_FALSE(hb::amp::get_white_list().remove<nn::Linear>().contains(*nn::Linear(1, 1)));
}

TEST(AmpLevels, ListsOfFunctions) {
  struct NetImpl : nn::Module {
    Tensor forward(const Tensor& x) {
      product = torch::matmul(x, x.t());
      soft = torch::softmax(product, -1);
      curve = torch::sigmoid(product);
      return soft;
    }
    Tensor product, soft, curve;
  };
  using Holder = nn::ModuleHolder<NetImpl>;
  const auto run = [](const std::optional<hb::amp::CastList>& white, const std::optional<hb::amp::CastList>& black) {
    auto net = hb::amp::custom_mixed_precision(Holder(std::make_shared<NetImpl>()), white, black, kBf16);
    torch::manual_seed(1);
    net(torch::randn({4, 4}));
    return net;
  };
  const auto plain = run(hb::amp::CastList(), std::nullopt);
  const auto rounded = [](const Tensor& t) { return t.to(kBf16).to(kFloat); };
  // White: computed in half, given in float32.
  auto net = run(hb::amp::get_white_list().remove("matmul").add("sigmoid"), std::nullopt);
  EXPECT_TRUE(torch::equal(net->product, plain->product));
  EXPECT_TRUE(torch::equal(net->curve, rounded(torch::sigmoid(rounded(plain->product)))));
  // Black: computed in float32, given in half.
  net = run(std::nullopt, hb::amp::get_black_list().add("softmax"));
  EXPECT_EQ(net->product.scalar_type(), kBf16);
  EXPECT_TRUE(torch::equal(net->soft, torch::softmax(net->product.to(kFloat), -1).to(kBf16)));
  net = run(std::nullopt, hb::amp::get_black_list().add("matmul"));
  torch::manual_seed(1);
  const Tensor x = rounded(torch::randn({4, 4}));
  EXPECT_TRUE(torch::equal(net->product, torch::matmul(x, x.t()).to(kBf16)));
  EXPECT_TRUE(hb::amp::get_white_list().contains("conv2d"));
  EXPECT_TRUE(hb::amp::get_black_list().contains("layer_norm"));
  EXPECT_THROW(hb::amp::get_white_list().add("no_such_function"), hb::ValueError);
  EXPECT_THROW(hb::amp::get_black_list().remove("no_such_function"), hb::ValueError);
}

TEST(AmpLevels, DevicesAndTheRecommendedLevel) {
  using hb::amp::Level;
  using hb::amp::level_for;
  EXPECT_EQ(level_for(Level::automatic, torch::kCUDA), Level::O2);
  EXPECT_EQ(level_for(Level::automatic, torch::kCPU), Level::automatic);
  EXPECT_EQ(level_for(Level::O3, torch::kCPU), Level::O3);
  EXPECT_EQ(level_for(Level::O0, torch::kMeta), Level::O0);
  for (auto level : {Level::O1, Level::O2, Level::O3, Level::automatic})
    EXPECT_THROW(level_for(level, torch::kMeta), hb::ValueError);
}

TEST(AmpLevels, ToFloat) {
  Net net;
  nn::Sequential block(net->conv, net->conv_out);
  hb::amp::to_float(block, torch::kHalf);
  auto x = Data().x;
  auto half = block(x);
  EXPECT_EQ(net->conv_out->seen, torch::kHalf);
  EXPECT_EQ(half.scalar_type(), kFloat);  // as the input
  EXPECT_EQ(net->conv->weight.scalar_type(), kFloat);
  hb::amp::to_float(block, torch::kFloat);  // replaces the first
  auto plain = block(x);
  EXPECT_EQ(net->conv_out->seen, kFloat);
  EXPECT_FALSE(torch::equal(half, plain));
  {
    torch::autocast guard(torch::kCPU, torch::kBFloat16);
    auto out = block(x.to(kBf16));
    EXPECT_EQ(net->conv_out->seen, kFloat);  // also under autocast
    EXPECT_EQ(out.scalar_type(), kBf16);
  }
  EXPECT_THROW(hb::amp::to_float(net->conv, torch::kInt), hb::Error);
}

// A Sequential follows however it is called, and so do modules inside it that were told otherwise.
TEST(AmpLevels, ToFloatOfASequentialThatForwardIsCalledOn) {
  nn::Linear first(4, 8), second(8, 2);
  nn::Sequential net(first, nn::LayerNorm(nn::LayerNormOptions({8})), second);
  hb::amp::to_float(net, torch::kHalf);
  hb::amp::to_float(second, kFloat);
  std::vector<torch::ScalarType> seen;
  for (auto layer : {first, second})
    layer->register_forward_pre_hook([&](nn::Module&, const std::vector<Tensor>& inputs) {
      seen.push_back(inputs[0].scalar_type());
      return inputs;
    });
  const auto x = torch::randn({3, 4});
  EXPECT_EQ(net->forward(x).scalar_type(), kFloat);
  EXPECT_EQ(net->forward(x.to(torch::kHalf)).scalar_type(), torch::kHalf);
  EXPECT_EQ(seen, (std::vector<torch::ScalarType>{torch::kHalf, kFloat, torch::kHalf, kFloat}));
}

TEST(AmpLevels, AScopeEndsWhenForwardThrows) {
  auto net = hb::amp::auto_mixed_precision(Net(), "auto");
  EXPECT_ANY_THROW(net(torch::ones({1, 5, 8, 8})));
  EXPECT_FALSE(torch::autocast::is_autocast_enabled(torch::kCPU));
  EXPECT_EQ(hb::autocast::get_op_list(torch::kCPU), torch::kCPU);
}
