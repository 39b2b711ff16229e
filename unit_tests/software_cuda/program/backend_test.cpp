// The CUDA back end's kernels on the software device, beside the CPU's.
#include <torch/torch.h>

#include <gtest/gtest.h>

#include <functional>
#include <vector>

#include "software_cuda/program/control.h"

namespace {

using torch::Tensor;

using Function = std::function<Tensor(const std::vector<Tensor>&)>;

std::string outcome(const Function& f, const std::vector<Tensor>& in, Tensor& out) {
  try {
    out = f(in).cpu();
    return "";
  } catch (const c10::Error& error) {
    return error.what();
  }
}

/// The same on both devices: equal errors, or equal values within `rtol`.
void expect_same(const std::string& name, const Function& f, const std::vector<Tensor>& in, double rtol = 1e-5) {
  std::vector<Tensor> there;
  for (const Tensor& t : in) there.push_back(t.to(torch::kCUDA));
  Tensor expected, got;
  const std::string error = outcome(f, in, expected), cuda_error = outcome(f, there, got);
  if (!error.empty()) {
    const bool of_cpu_alone = error.find("ZeroDivisionError") != std::string::npos;  // the host would have to wait
    EXPECT_EQ(cuda_error.empty(), of_cpu_alone) << name << " throws on the CPU alone: " << error;
    return;
  }
  ASSERT_EQ(cuda_error, "") << name << " of " << in[0].scalar_type();
  ASSERT_EQ(got.scalar_type(), expected.scalar_type()) << name;
  ASSERT_EQ(got.sizes(), expected.sizes()) << name;
  const torch::Dtype t = expected.scalar_type();
  const double step = t == torch::kHalf ? 2e-3 : t == torch::kBFloat16 ? 2e-2 : rtol;
  const auto wide = [](const Tensor& x) { return x.is_complex() ? x.to(torch::kComplexDouble) : x.to(torch::kDouble); };
  const Tensor same = torch::isclose(wide(got), wide(expected), step, step, /*equal_nan=*/true);
  EXPECT_TRUE(same.all().item<bool>()) << name << " of " << in[0].scalar_type() << "\n" << got << "\n" << expected;
}

const std::vector<torch::Dtype> kDtypes{torch::kFloat, torch::kDouble, torch::kHalf, torch::kBFloat16,    torch::kLong,
                                        torch::kInt,   torch::kByte,   torch::kBool, torch::kComplexFloat};

Tensor values(torch::IntArrayRef size, torch::Dtype dtype, double shift = 0) {
  Tensor x = torch::arange(torch::zeros(size).numel(), torch::kDouble).mul(0.37).sub(3.1 - shift).view(size);
  if (dtype == torch::kComplexFloat) return torch::complex(x, x.flip({0}).mul(0.5)).to(dtype);
  return (dtype == torch::kByte || dtype == torch::kBool ? x.abs() : x).to(dtype);
}

TEST(SoftwareBackend, Describes) {
  ASSERT_TRUE(torch::cuda::is_available());
  if (counted()) {
    EXPECT_EQ(torch::cuda::device_count(), 2);
  }
  EXPECT_EQ(torch::ones({2}, torch::kCUDA).device(), torch::Device(torch::kCUDA, 0));
}

TEST(SoftwareBackend, CopiesBetweenDtypesLayoutsAndDevices) {
  for (const torch::Dtype from : kDtypes) {
    const Tensor x = values({5, 7}, from), there = x.to(torch::kCUDA);
    EXPECT_TRUE(torch::equal(there.cpu(), x));
    EXPECT_TRUE(torch::equal(there.t().contiguous().cpu(), x.t().contiguous()));
    if (torch::cuda::device_count() > 1) {
      EXPECT_TRUE(torch::equal(there.to(torch::Device(torch::kCUDA, 1)).cpu(), x));
    }
    for (const torch::Dtype to : kDtypes)
      expect_same("to", [&](const std::vector<Tensor>& in) { return in[0].to(to); }, {x});
  }
}

TEST(SoftwareBackend, UnaryFunctionsOfEveryDtypeAndLayout) {
  const std::vector<std::pair<const char*, Tensor (*)(const Tensor&)>> table{
#define HB_UNARY(name) {#name, [](const Tensor& x) { return hb::name(x); }},
#include <halfbridge/ops/unary.def>
  };
  for (const auto& [name, fn] : table) {
    const auto f = [fn = fn](const std::vector<Tensor>& in) { return fn(in[0]); };
    for (const torch::Dtype dtype : kDtypes) expect_same(name, f, {values({19}, dtype)}, 1e-4);
    const Tensor x = values({6, 10}, torch::kFloat);
    for (const Tensor& part : {x.t(), x.slice(1, 1, 9), x.select(0, 2).slice(0, 1), x.select(1, 3).expand({3, 6})})
      expect_same(name, f, {part}, 1e-4);
  }
}

TEST(SoftwareBackend, BinaryFunctionsOfEveryDtypeAndLayout) {
  const std::vector<std::pair<const char*, Tensor (*)(const Tensor&, const Tensor&)>> table{
#define HB_BINARY(name) {#name, [](const Tensor& a, const Tensor& b) { return hb::name(a, b); }},
#include <halfbridge/ops/binary.def>
      {"add", [](const Tensor& a, const Tensor& b) { return torch::add(a, b, 2); }},
      {"sub", [](const Tensor& a, const Tensor& b) { return torch::sub(a, b); }}};
  for (const auto& [name, fn] : table) {
    const auto f = [fn = fn](const std::vector<Tensor>& in) { return fn(in[0], in[1]); };
    for (const torch::Dtype dtype : kDtypes)
      expect_same(name, f, {values({19}, dtype), values({19}, dtype, 2.7)}, 1e-4);
    const Tensor x = values({4, 10}, torch::kFloat), y = values({10}, torch::kFloat, 3.3);
    expect_same(name, f, {x, y}, 1e-4);
    expect_same(name, f, {x.t(), x.t().contiguous()}, 1e-4);
    expect_same(name, f, {x.to(torch::kHalf), x}, 1e-4);
  }
}

TEST(SoftwareBackend, NumbersOfTheHostStandBesideTensors) {
  const auto same = [](const Function& f) { expect_same("numbers", f, {values({33}, torch::kFloat)}); };
  same([](auto& in) { return in[0] * 3; });
  same([](auto& in) { return 3 - in[0]; });
  same([](auto& in) { return torch::where(in[0] > 0, in[0], torch::tensor(2.5f)); });
  same([](auto& in) { return torch::tensor(3.0f) / in[0]; });
  same([](auto& in) { return in[0].clamp(-1, 2).lerp(in[0], 0.25); });
  same([](auto& in) { return torch::addcmul(in[0], in[0], in[0], 0.5); });
}

TEST(SoftwareBackend, ReductionsOfEveryDtypeAndLayout) {
  const std::vector<std::pair<const char*, Function>> table{
      {"sum", [](auto& in) { return in[0].sum(); }},
      {"sum0", [](auto& in) { return in[0].sum(0); }},
      {"sum1", [](auto& in) { return in[0].sum(-1, true); }},
      {"mean", [](auto& in) { return in[0].mean(0); }},
      {"prod", [](auto& in) { return in[0].prod(-1); }},
      {"amax",
       [](auto& in) {
         return in[0].amax({0, 1});
       }},
      {"amin", [](auto& in) { return in[0].amin(0); }},
      {"any", [](auto& in) { return in[0].any(); }},
      {"all", [](auto& in) { return in[0].all(0); }},
      {"count", [](auto& in) { return in[0].count_nonzero(); }},
      {"norm", [](auto& in) { return in[0].norm(); }},
      {"norm3", [](auto& in) { return in[0].norm(3, 0); }},
      {"var", [](auto& in) { return in[0].var(0); }},
      {"std", [](auto& in) { return in[0].std(); }},
      {"argmax", [](auto& in) { return in[0].argmax(); }},
      {"argmin1", [](auto& in) { return in[0].argmin(1); }},
      {"max", [](auto& in) { return std::get<1>(in[0].max(0)); }}};
  for (const auto& [name, f] : table) {
    for (const torch::Dtype dtype : kDtypes) expect_same(name, f, {values({7, 11}, dtype)}, 1e-4);
    const Tensor x = torch::randn({40, 9, 12});
    expect_same(name, f, {x.permute({2, 0, 1})[3]}, 1e-4);
    expect_same(name, f, {x.view({40, 108})}, 1e-4);
    expect_same(name, f, {x.view({2, 2160})}, 1e-4);
    expect_same(name, f, {x.select(0, 3)}, 1e-4);
  }
  expect_same(
      "large sum", [](auto& in) { return in[0].sum(); }, {torch::randn({300000})}, 1e-4);
}

TEST(SoftwareBackend, FactoriesMakeWhatTheCpuMakes) {
  for (const torch::Dtype dtype : {torch::kFloat, torch::kDouble, torch::kHalf, torch::kLong, torch::kByte}) {
    const auto o = torch::TensorOptions(dtype), there = o.device(torch::kCUDA);
    EXPECT_TRUE(torch::equal(torch::arange(2, 40, 3, there).cpu(), torch::arange(2, 40, 3, o)));
    EXPECT_TRUE(torch::equal(torch::linspace(1, 9, 17, there).cpu(), torch::linspace(1, 9, 17, o)));
    EXPECT_TRUE(torch::equal(torch::full({37}, 3, there).cpu(), torch::full({37}, 3, o)));
    EXPECT_TRUE(torch::equal(torch::zeros({5, 3}, there).cpu(), torch::zeros({5, 3}, o)));
  }
  Tensor x = torch::zeros({6, 5}, torch::kCUDA);
  x.select(1, 2).fill_(7);
  EXPECT_EQ(x.sum().item<float>(), 42);
  EXPECT_TRUE(torch::equal(x, x.clone()));
  EXPECT_FALSE(torch::equal(x, x + 1));
}

// A thread's first number is the first of its subsequence, so small tensors do not depend on the GPU: these are what
// PyTorch gives for the seed 0.
TEST(SoftwareBackend, ASeedGivesTheNumbersOfPhilox) {
  torch::manual_seed(0);
  const Tensor u = torch::rand({4}, torch::kCUDA).cpu();
  const float uniform[] = {0.3990f, 0.5167f, 0.0249f, 0.9401f};
  for (int i = 0; i < 4; ++i) EXPECT_NEAR(u[i].item<float>(), uniform[i], 5e-5);
  torch::manual_seed(0);
  const Tensor n = torch::randn({4}, torch::kCUDA).cpu();
  const float normal[] = {-0.9247f, -0.4253f, -2.6438f, 0.1452f};
  for (int i = 0; i < 4; ++i) EXPECT_NEAR(n[i].item<float>(), normal[i], 5e-5);
}

TEST(SoftwareBackend, DistributionsHaveTheirMoments) {
  const auto o = torch::TensorOptions(torch::kFloat).device(torch::kCUDA);
  const int64_t n = 20000;
  const auto expect = [](const Tensor& x, double mean, double std) {
    EXPECT_NEAR(x.to(torch::kDouble).mean().item<double>(), mean, 4 * std / std::sqrt(double(n)) + 1e-6);
    EXPECT_NEAR(x.to(torch::kDouble).std().item<double>(), std, 0.1 * std);
  };
  expect(torch::rand({n}, o), 0.5, std::sqrt(1 / 12.0));
  expect(torch::randn({n}, o.dtype(torch::kDouble)), 0, 1);
  expect(torch::empty({n}, o).normal_(3, 2), 3, 2);
  expect(torch::empty({n}, o).bernoulli_(0.25), 0.25, std::sqrt(0.1875));
  expect(torch::empty({n}, o).exponential_(2), 0.5, 0.5);
  expect(torch::randint(10, {n}, o.dtype(torch::kLong)), 4.5, std::sqrt(99 / 12.0));
  const Tensor before = torch::rand({8}, o);
  EXPECT_FALSE(torch::equal(before, torch::rand({8}, o)));
}

// Adam with loss scaling on float16 gradients: nothing waits, nothing is copied, few launches.
TEST(SoftwareBackend, AStepWithLossScalingWaitsForNothing) {
  std::vector<Tensor> ends;
  for (const torch::Device device : {torch::Device(torch::kCPU), torch::Device(torch::kCUDA)}) {
    std::vector<Tensor> params;
    for (int i = 0; i < 4; ++i) params.push_back(values({30 + i}, torch::kFloat).mul(0.1).to(device).requires_grad_());
    torch::optim::Adam adam(params, torch::optim::AdamOptions(0.01).weight_decay(0.1));
    torch::amp::GradScaler scaler(device, torch::amp::GradScalerOptions().init_scale(1024));
    const auto step = [&] {
      adam.zero_grad();
      Tensor loss = torch::zeros({}, device);
      for (const Tensor& p : params) loss = loss + (p * 2 - 1).square().mean();
      scaler.scale(loss).backward();
      scaler.step(adam);
      scaler.update();
    };
    step();
    if (device.is_cuda()) control().reset_counts();
    for (int i = 0; i < 5; ++i) step();
    if (device.is_cuda() && counted()) {
      const auto counts = control().counts();
      EXPECT_EQ(counts.synchronisations, 0u);
      EXPECT_EQ(counts.copies_to_host + counts.copies_from_host, 0u);
      EXPECT_LE(counts.launches, 5u * 80) << control().kernels();
    }
    for (const Tensor& p : params) ends.push_back(p.detach().cpu());
  }
  for (size_t i = 0; i < 4; ++i)
    EXPECT_TRUE(torch::allclose(ends[i], ends[i + 4], 1e-5, 1e-6)) << ends[i] << ends[i + 4];
}

TEST(SoftwareBackend, WhatNoLibraryComputesSaysSo) {
  try {
    torch::linalg_ldl_factor(torch::eye(2, torch::device(torch::kCUDA).dtype(torch::kComplexFloat)), true);
    FAIL() << "hermitian matrices are factored now";
  } catch (const c10::NotImplementedError& error) {
    EXPECT_NE(std::string(error.what()).find("not supported on CUDA"), std::string::npos) << error.what();
  }
}

TEST(SoftwareBackend, MemoryIsCountedAndRunsOut) {
  const size_t before = hb::memory_in_use(torch::kCUDA);
  {
    const Tensor x = torch::empty({1 << 20}, torch::kCUDA);
    EXPECT_EQ(hb::memory_in_use(torch::kCUDA) - before, size_t{4} << 20);
  }
  EXPECT_EQ(hb::memory_in_use(torch::kCUDA), before);
  try {
    torch::empty({int64_t{1} << 40}, torch::kCUDA);
    FAIL();
  } catch (const c10::Error& error) {
    const std::string text = error.what();
    const std::string expected = "CUDA out of memory. Tried to allocate 4096.00 GiB. GPU 0 has a total capacity of ";
    EXPECT_NE(text.find(expected + (counted() ? "8.00 GiB" : "")), std::string::npos) << text;
  }
}

}  // namespace
