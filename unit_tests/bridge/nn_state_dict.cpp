#include <gtest/gtest.h>
#include <torch/torch.h>

namespace nn = torch::nn;
using torch::Tensor;
using State = torch::OrderedDict<std::string, Tensor>;

namespace {
nn::Sequential make() { return nn::Sequential(nn::Linear(3, 2), nn::BatchNorm1d(2)); }
}  // namespace

TEST(NnStateDict, HasParametersThenBuffersOfEachModule) {
  const std::vector<std::string> expected{
      "0.weight", "0.bias", "1.weight", "1.bias", "1.running_mean", "1.running_var", "1.num_batches_tracked"};
  EXPECT_EQ(make()->state_dict().keys(), expected);
}

TEST(NnStateDict, LoadsWhatItGave) {
  auto a = make(), b = make();
  auto mismatch = b->load_state_dict(a->state_dict());
  EXPECT_TRUE(mismatch.missing_keys.empty());
  EXPECT_TRUE(mismatch.unexpected_keys.empty());
  auto x = torch::ones({4, 3});
  a->eval();
  b->eval();
  EXPECT_TRUE(torch::equal(a->forward(x), b->forward(x)));
  // The values were copied: the two share no memory.
  torch::NoGradGuard no_grad;
  a->state_dict()["0.weight"].zero_();
  EXPECT_FALSE(torch::equal(a->forward(x), b->forward(x)));
}

TEST(NnStateDict, OneErrorNamesEveryKeyThatDoesNotFit) {
  auto net = make();
  auto state = make()->state_dict();
  state.erase("0.bias");
  state.insert("extra", torch::ones({1}));
  state["1.weight"] = torch::ones({5});
  auto before = net->state_dict()["0.weight"].clone();
  try {
    net->load_state_dict(state);
    FAIL() << "expected an error";
  } catch (const c10::Error& e) {
    const std::string text = e.what();
    for (const char* part : {"0.bias", "extra", "1.weight", "[2]", "[5]"})
      EXPECT_NE(text.find(part), std::string::npos) << part;
  }
  EXPECT_TRUE(torch::equal(before, net->state_dict()["0.weight"]));
}

TEST(NnStateDict, NotStrictLoadsWhatFits) {
  auto net = make();
  State state;
  state.insert("0.weight", torch::full({2, 3}, 2.f));
  state.insert("extra", torch::ones({1}));
  auto mismatch = net->load_state_dict(state, /*strict=*/false);
  EXPECT_EQ(mismatch.unexpected_keys, std::vector<std::string>{"extra"});
  EXPECT_EQ(mismatch.missing_keys.size(), 6u);
  EXPECT_EQ(net->state_dict()["0.weight"][0][0].item<float>(), 2);
  state["0.weight"] = torch::ones({1});
  EXPECT_THROW(net->load_state_dict(state, false), c10::Error);
}

TEST(NnStateDict, ModulesAreSavedAndLoaded) {
  auto a = make(), b = make();
  std::stringstream stream;
  torch::save(a, stream);
  torch::load(b, stream);
  for (const auto& item : a->state_dict())
    EXPECT_TRUE(torch::equal(item.value(), b->state_dict()[item.key()])) << item.key();
}

TEST(NnClone, IsDeep) {
  nn::Embedding given = nn::Embedding::from_pretrained(torch::ones({3, 2}));
  auto copy = std::dynamic_pointer_cast<nn::EmbeddingImpl>(given->clone());
  torch::NoGradGuard no_grad;
  copy->weight.zero_();
  EXPECT_EQ(given->weight.sum().item<float>(), 6);
  nn::TransformerEncoder encoder(
      nn::TransformerEncoderLayer(nn::TransformerEncoderLayerOptions(4, 2).dim_feedforward(8)), 2);
  auto twin = std::dynamic_pointer_cast<nn::TransformerEncoderImpl>(encoder->clone());
  EXPECT_TRUE(torch::equal(encoder->parameters()[0], twin->parameters()[0]));
  twin->parameters()[0].zero_();
  EXPECT_FALSE(torch::equal(encoder->parameters()[0], twin->parameters()[0]));
}
