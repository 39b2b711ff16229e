// The values of HALFBRIDGE_AMP: this program runs itself again with each.
#include <gtest/gtest.h>
#include <halfbridge/halfbridge.h>
#include <torch/torch.h>

#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <string>

namespace nn = torch::nn;

namespace {
// Runs this program again with another value: its status.
int run_with(const std::string& value, const std::string& filter) {
  char self[4096] = {};
  if (readlink("/proc/self/exe", self, sizeof self - 1) <= 0) return -1;
  return std::system(("HALFBRIDGE_AMP='" + value + "' AMP_ENVIRONMENT_CHILD=1 '" + self +
                      "' --gtest_brief=1 --gtest_filter=" + filter + " > /dev/null 2>&1")
                         .c_str());
}
class AmpEnvironmentChild : public testing::Test {
 protected:
  void SetUp() override {
    if (!std::getenv("AMP_ENVIRONMENT_CHILD")) GTEST_SKIP() << "run by AmpEnvironmentScale";
  }
};
}  // namespace

TEST_F(AmpEnvironmentChild, TheScaleIs8) {
  nn::Linear fc(4, 2);
  torch::optim::SGD sgd(fc->parameters(), 0.1);
  for (int i = 0; i < 3; ++i) {
    const auto y = fc(torch::ones({1, 4}));
    y.retain_grad();
    y.to(torch::kFloat).sum().backward();
    EXPECT_EQ(y.grad()[0][0].item<float>(), 8);
    EXPECT_EQ(fc->bias.grad()[0].item<float>(), 1);
    const auto before = fc->weight.detach().clone();
    // An overflow skips the step and leaves the scale.
    (fc(torch::ones({1, 4})).to(torch::kFloat) * INFINITY).sum().backward();
    sgd.step();
    EXPECT_TRUE(torch::equal(fc->weight, before));
    sgd.zero_grad();
  }
}

TEST_F(AmpEnvironmentChild, TheScaleIsDynamic) {
  nn::Linear fc(4, 2);
  const auto y = fc(torch::ones({1, 4}));
  y.retain_grad();
  y.to(torch::kFloat).sum().backward();
  EXPECT_EQ(y.grad()[0][0].item<float>(), 1024);
}

TEST_F(AmpEnvironmentChild, TheValueIsWrong) {
  nn::Linear fc(4, 2);
  EXPECT_THROW(torch::optim::SGD(fc->parameters(), 0.1), hb::ValueError);
  EXPECT_THROW(fc(torch::ones({1, 4})).sum().backward(), hb::ValueError);
}

TEST(AmpEnvironmentScale, IsANumberOrDynamic) {
  for (const char* value : {"O1:fp16:scale=8", "O1:scale=8", "O1:scale=8.0", "O1:bf16:scale=8"})
    EXPECT_EQ(run_with(value, "AmpEnvironmentChild.TheScaleIs8"), 0) << value;
  EXPECT_NE(run_with("O1:fp16:scale=16", "AmpEnvironmentChild.TheScaleIs8"), 0);
  for (const char* value : {"O1", "O1:fp16:scale=dynamic", "O1:scale=dynamic"})
    EXPECT_EQ(run_with(value, "AmpEnvironmentChild.TheScaleIsDynamic"), 0) << value;
  for (const char* value :
       {"O4", "O1:fp32", "O1:fp16:", "O1:", "O1:scale=8:fp16", "O1:fp16:scale=", "O1:fp16:scale=0", "O1:fp16:scale=-8",
        "O1:fp16:scale=8x", "O1:fp16:scale=inf", "O1:fp16:scale=static", "O1:fp16:size=8", "O1:fp16:scale=8:8"})
    EXPECT_EQ(run_with(value, "AmpEnvironmentChild.TheValueIsWrong"), 0) << value;
}
