#pragma once
// What the tests of HALFBRIDGE_AMP share; they are skipped where CTest did not set it.

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <cstdlib>
#include <string>

class AmpEnvironment : public testing::Test {
 protected:
  void SetUp() override {
    const char* value = std::getenv("HALFBRIDGE_AMP");
    if (!value || std::string(value) != "O1:fp16") GTEST_SKIP() << "needs HALFBRIDGE_AMP=O1:fp16";
    torch::manual_seed(5);
    x = torch::randn({16, 32});
    fc = torch::nn::Linear(32, 8);
  }
  // A backward pass whose gradients do not fit into fp16 at the scale of the beginning.
  void overflow() { (fc(x) * 1e5).to(torch::kFloat).mean().mul(1e3).backward(); }

  torch::Tensor x;
  torch::nn::Linear fc{nullptr};
};
