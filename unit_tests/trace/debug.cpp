// debug_layer_info().

#include <torch/torch.h>

#include <sstream>

#include <halfbridge/trace/debug.h>

#include <gtest/gtest.h>

#include "trace/trace_training.h"

namespace {

using namespace trace_training;

TEST(DebugLayerInfo, PrintsLayersInTheNamesOfPyTorch) {
  Training t;
  std::ostringstream out;
  {
    const auto info = hb::debug_layer_info(t.net, "pytorch", out);
    t.step();
  }
  const std::string text = out.str();
  EXPECT_NE(text.find("last: Linear(in_features=8, out_features=3, bias=true)\n"), std::string::npos) << text;
  EXPECT_NE(text.find("  last.weight              [3, 8] float32  min "), std::string::npos) << text;
  EXPECT_NE(text.find("blocks.0.norm.running_mean"), std::string::npos);
  EXPECT_NE(text.find("num_batches_tracked [] int64"), std::string::npos) << text;
  t.step();
  EXPECT_EQ(out.str(), text);  // its hooks are gone
  std::ostringstream ours;
  auto info = hb::debug_layer_info(*t.net, "halfbridge", ours);
  t.step();
  EXPECT_NE(ours.str().find("torch::nn::LinearImpl("), std::string::npos) << ours.str();
  EXPECT_NE(ours.str().find("Float"), std::string::npos);
  info.remove();
  EXPECT_THROW((void)hb::debug_layer_info(t.net, "keras"), hb::ValueError);
}

TEST(DebugLayerInfo, SparseTensorsArePrintedAsStridedOnes) {
  struct First : torch::nn::Module {
    Tensor forward(const Tensor& x) { return x.to_dense(); }
  };
  torch::nn::Sequential net{First()};
  std::ostringstream out;
  const auto info = hb::debug_layer_info(*net, "pytorch", out);
  net->forward(torch::eye(2).to_sparse());
  EXPECT_NE(out.str().find("[2, 2] float32  min 0 max 1 mean 0.5"), std::string::npos) << out.str();
}

}  // namespace
