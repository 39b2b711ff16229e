#include <gtest/gtest.h>
#include <halfbridge/halfbridge.h>
#include <torch/torch.h>

namespace nn = torch::nn;
using torch::Tensor;

namespace {

struct SmallNetImpl : nn::Module {
  SmallNetImpl() {
    features = register_module("features", nn::Sequential(nn::Conv2d(nn::Conv2dOptions(1, 4, 3).padding(1)),
                                                          nn::BatchNorm2d(4), nn::ReLU(), nn::MaxPool2d(2)));
    drop = register_module("drop", nn::Dropout(0.5));
    fc = register_module("fc", nn::Linear(4 * 7 * 7, 10));
    for (auto& p : features->parameters()) p.set_requires_grad(false);
  }
  Tensor forward(const Tensor& x) { return fc(drop(features->forward(x).flatten(1) + torch::rand({1}) * 0)); }
  nn::Sequential features{nullptr};
  nn::Dropout drop{nullptr};
  nn::Linear fc{nullptr};
};
TORCH_MODULE(SmallNet);

struct TwoInputsImpl : nn::Module {
  TwoInputsImpl() { shared = register_module("shared", nn::Linear(3, 3)), again = register_module("again", shared); }
  std::tuple<Tensor, Tensor> forward(const Tensor& a, const Tensor& b) { return {shared(a), again(b)}; }
  nn::Linear shared{nullptr}, again{nullptr};
};
TORCH_MODULE(TwoInputs);

const hb::train::SummaryRow& row(const hb::train::Summary& s, const std::string& name) {
  for (const auto& r : s.rows)
    if (r.name == name) return r;
  throw std::runtime_error("no row " + name);
}
using Shapes = std::vector<std::vector<int64_t>>;

}  // namespace

TEST(TrainSummary, ShapesAndParameters) {
  SmallNet net;
  const auto s = hb::summary(net, {2, 1, 14, 14});
  EXPECT_EQ(s.rows.size(), 8u);
  EXPECT_EQ(s.rows[0].type, "SmallNet");
  EXPECT_EQ(s.rows[0].outputs, (Shapes{{2, 10}}));
  EXPECT_EQ(row(s, "0").outputs, (Shapes{{2, 4, 14, 14}}));
  EXPECT_EQ(row(s, "0").type, "Conv2d");
  EXPECT_EQ(row(s, "0").depth, 2);
  EXPECT_EQ(row(s, "3").outputs, (Shapes{{2, 4, 7, 7}}));
  EXPECT_EQ(row(s, "0").parameters, 4 * 9 + 4);
  EXPECT_FALSE(row(s, "0").trainable);
  EXPECT_EQ(row(s, "fc").parameters, 196 * 10 + 10);
  EXPECT_EQ(s.total_parameters, 40 + 8 + 1970);
  EXPECT_EQ(s.trainable_parameters, 1970);
  EXPECT_EQ(s.input_bytes, 2 * 14 * 14 * 4);
  EXPECT_EQ(s.parameter_bytes, 2018 * 4);
  EXPECT_EQ(s.buffer_bytes, 8 * 4 + 8);
  std::ostringstream table;
  table << s;
  EXPECT_NE(table.str().find("Conv2d (0)"), std::string::npos) << table.str();
  EXPECT_NE(table.str().find("[2, 4, 14, 14]"), std::string::npos);
  EXPECT_NE(table.str().find("1,970"), std::string::npos);
}

TEST(TrainSummary, LeavesTheNetworkAsItWas) {
  SmallNet net;
  net->features->eval();  // a frozen part of a network in training
  net->features->ptr(1)->train();
  torch::manual_seed(4);
  const auto expected = torch::rand({4});
  torch::manual_seed(4);
  const auto running = net->features->ptr(1)->buffers()[0].clone();
  hb::summary(net, {2, 1, 14, 14});
  EXPECT_TRUE(net->is_training());
  EXPECT_FALSE(net->features->is_training());
  EXPECT_FALSE(net->features->ptr(0)->is_training());
  EXPECT_TRUE(net->features->ptr(1)->is_training());
  EXPECT_TRUE(net->drop->is_training());
  EXPECT_TRUE(torch::equal(net->features->ptr(1)->buffers()[0], running));
  EXPECT_TRUE(torch::equal(torch::rand({4}), expected));
  EXPECT_TRUE(torch::GradMode::is_enabled());
}

TEST(TrainSummary, SeveralInputsSharedModulesGivenTensors) {
  TwoInputs net;
  const auto s = hb::summary(net, Shapes{{2, 3}, {4, 3}});
  EXPECT_EQ(s.rows[0].outputs, (Shapes{{2, 3}, {4, 3}}));
  EXPECT_TRUE(row(s, "again").seen_before);
  EXPECT_EQ(s.total_parameters, 12);
  nn::Embedding table(10, 4);
  EXPECT_EQ(hb::summary(table, {2, 5}, torch::kLong).rows[0].outputs, (Shapes{{2, 5, 4}}));
  EXPECT_EQ(hb::summary(table, std::vector<Tensor>{torch::ones({3}, torch::kLong)}).rows[0].outputs, (Shapes{{3, 4}}));
  EXPECT_THROW(hb::summary(table, Shapes{{1}, {2}}), hb::Error);
}
