// Tensors on a device whose memory the host cannot read: copies, numbers beside them, operands on two devices,
// training.
#include <torch/torch.h>

#include <gtest/gtest.h>
#include <halfbridge/dlpack.h>

#include <sstream>

#include "fake_device/fake_device.h"

namespace {

const torch::Device kFake(torch::kPrivateUse1, 0), kOther(torch::kPrivateUse1, 1);

class DeviceSeams : public testing::Test {
 protected:
  static void SetUpTestSuite() { fake_device::install(); }
};

template <class F>
std::string message_of(F f) {
  try {
    f();
  } catch (const c10::Error& error) {
    return error.what();
  }
  return "nothing was thrown";
}

TEST_F(DeviceSeams, TheHostCannotReadItsMemory) {
  const torch::Tensor t = torch::ones({4}, kFake);
  const auto read = [&] { return *static_cast<volatile float*>(t.data_ptr()); };
  EXPECT_TRUE(fake_device::owns(t.data_ptr()));
  EXPECT_DEATH(read(), "");
}

TEST_F(DeviceSeams, ADeviceWithoutNumberIsTheCurrentOne) {
  EXPECT_EQ(torch::empty({2}, torch::Device("privateuseone")).device(), kFake);
  EXPECT_EQ(torch::empty({2}, kOther).device(), kOther);
  const torch::Tensor t = torch::ones({2}, kFake);
  EXPECT_TRUE(t.to(torch::kPrivateUse1).is_same(t));
  EXPECT_NE(
      message_of([] { torch::empty({2}, torch::Device(torch::kPrivateUse1, 5)); }).find("expected a device of 0 to 1"),
      std::string::npos);
  EXPECT_NE(message_of([] { torch::empty({2}, torch::kCUDA); }).find("is not available: "), std::string::npos);
}

TEST_F(DeviceSeams, CopiesBetweenDevicesTypesAndLayouts) {
  const torch::Tensor host = torch::arange(24, torch::kFloat).view({2, 3, 4});
  const torch::Tensor there = host.to(kFake);
  EXPECT_EQ(there.device(), kFake);
  EXPECT_TRUE(torch::equal(there.cpu(), host));
  EXPECT_TRUE(torch::equal(there.to(kOther).cpu(), host));
  EXPECT_TRUE(torch::equal(host.transpose(0, 2).to(kFake).cpu(), host.transpose(0, 2)));
  EXPECT_TRUE(
      torch::equal(there.transpose(0, 2).to(torch::kCPU, torch::kDouble), host.transpose(0, 2).to(torch::kDouble)));
  torch::Tensor part = torch::zeros({2, 4}, kFake);
  part.copy_(host.select(1, 1), /*non_blocking=*/true);
  EXPECT_TRUE(torch::equal(part.cpu(), host.select(1, 1)));
  part.t().copy_(torch::ones({1, 2}));  // broadcast
  EXPECT_EQ(part.sum().item<float>(), 8);
}

TEST_F(DeviceSeams, NumbersOfTheCpuStandOnEitherSide) {
  const torch::Tensor x = torch::arange(6, torch::kFloat).view({2, 3}), there = x.to(kFake),
                      number = torch::tensor(3.0f);
  EXPECT_TRUE(torch::equal((number - there).cpu(), number - x));
  EXPECT_TRUE(torch::equal((there - number).cpu(), x - number));
  EXPECT_TRUE(torch::equal((number - there.t()).cpu(), number - x.t()));
  EXPECT_TRUE(torch::equal(torch::where(there > 2, there, number).cpu(), torch::where(x > 2, x, number)));
  EXPECT_EQ((number * there[0][1]).device(), kFake);
  torch::Tensor scale = torch::tensor(2.0f, torch::requires_grad());
  (scale * there).sum().backward();
  EXPECT_EQ(scale.grad().item<float>(), 15);
  EXPECT_TRUE(scale.grad().is_cpu());
}

TEST_F(DeviceSeams, OperandsOnTwoDevicesAreAnError) {
  const torch::Tensor host = torch::ones({2, 2}), there = host.to(kFake);
  const std::string phrase =
      "Expected all tensors to be on the same device, but found at least two devices, privateuseone:0 and cpu!";
  EXPECT_NE(message_of([&] { there + host; }).find(phrase), std::string::npos);
  EXPECT_NE(message_of([&] { host + there; }).find(phrase), std::string::npos);
  EXPECT_NE(message_of([&] { host.matmul(there); }).find(phrase), std::string::npos);
  EXPECT_NE(message_of([&] { torch::cat({host, there}); }).find(phrase), std::string::npos);
  EXPECT_NE(message_of([&] { torch::tensor(1.0f).add_(there[0][0]); }).find(phrase), std::string::npos);
  EXPECT_NE(message_of([&] { there + host.to(kOther); }).find("privateuseone:0 and privateuseone:1!"),
            std::string::npos);
}

TEST_F(DeviceSeams, WhatHasNoKernelSaysSo) {
  EXPECT_NE(message_of(fake_device::call_missing_kernel).find("[nobodys] is not supported on device privateuseone:0"),
            std::string::npos);
}

TEST_F(DeviceSeams, PrintsAndKeepsTrackOfItsMemory) {
  hb::reset_peak_memory(kFake);
  const size_t before = hb::memory_in_use(kFake);
  {
    const torch::Tensor t = torch::arange(3, kFake);
    std::ostringstream out;
    out << t;
    EXPECT_NE(out.str().find(" 0\n 1\n 2\n"), std::string::npos) << out.str();
    EXPECT_GT(hb::memory_in_use(kFake), before);
  }
  EXPECT_EQ(hb::memory_in_use(kFake), before);
  EXPECT_GT(hb::peak_memory(kFake), before);
}

TEST_F(DeviceSeams, FilesAndOtherLibrariesGetItsTensors) {
  const torch::Tensor there = torch::arange(6, torch::kFloat).view({2, 3}).to(kFake);
  std::stringstream file;
  torch::save(there, file);
  torch::Tensor back, mapped;
  torch::load(back, file);
  EXPECT_EQ(back.device(), kFake);
  EXPECT_TRUE(torch::equal(back.cpu(), there.cpu()));
  file.clear();
  file.seekg(0);
  torch::load(mapped, file, torch::kCPU);
  EXPECT_TRUE(mapped.is_cpu());
  EXPECT_TRUE(torch::equal(mapped, there.cpu()));
  const torch::Tensor row = there[1];
  std::stringstream parts;
  torch::save(std::vector<torch::Tensor>{there, row}, parts);
  std::vector<torch::Tensor> both;
  torch::load(both, parts);
  EXPECT_TRUE(both[1].is_alias_of(both[0]));
  const torch::Tensor lent = hb::from_dlpack(hb::to_dlpack(there));
  EXPECT_EQ(lent.device(), kFake);
  EXPECT_EQ(lent.data_ptr(), there.data_ptr());
  const torch::Tensor blob = torch::from_blob(there.data_ptr(), {3}, kFake);
  EXPECT_EQ((blob * 2).sum().item<float>(), 6);
}

// What is counted is how often the host had to wait: for a value or for the device.
TEST_F(DeviceSeams, ATrainingStepWaitsForNothing) {
  torch::manual_seed(1);
  torch::nn::Sequential net(torch::nn::Linear(8, 16), torch::nn::ReLU(), torch::nn::Dropout(0.1),
                            torch::nn::LayerNorm(torch::nn::LayerNormOptions({16})), torch::nn::Linear(16, 4));
  net->to(kFake);
  torch::optim::Adam adam(net->parameters(), torch::optim::AdamOptions(1e-3));
  torch::amp::GradScaler scaler(kFake);
  const torch::Tensor x = torch::randn({5, 8}).to(kFake), target = torch::tensor({0, 1, 2, 3, 0}).to(kFake);
  const auto step = [&](bool clips) {
    adam.zero_grad();
    scaler.scale(torch::cross_entropy_loss(net->forward(x), target)).backward();
    scaler.unscale_(adam);
    if (clips) torch::nn::utils::clip_grad_norm_(net->parameters(), 1.0);
    scaler.step(adam);
    scaler.update();
  };
  step(false);  // makes states
  fake_device::reset_counts();
  step(false);
  EXPECT_EQ(fake_device::counts().stalls(), 0u);
  EXPECT_EQ(fake_device::counts().copies_from_host, 0u);
  EXPECT_GT(fake_device::counts().kernels, 10u);
  step(true);
  EXPECT_EQ(fake_device::counts().stalls(), 1u);  // the norm that clip_grad_norm_ returns as a double
}

}  // namespace
