// GradScaler beside what Python PyTorch 2.11's did: recorded_amp/record.py, whose cases these are.

#include <torch/torch.h>

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <limits>

namespace {

using torch::Tensor;
using torch::amp::GradScaler;

torch::Dict<torch::IValue, torch::IValue> recorded(const std::string& part) {
  std::ifstream file(std::string(HALFBRIDGE_RECORDED_FILES) + "/scaler.pt", std::ios::binary);
  const std::vector<char> bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  return torch::pickle_load(bytes).toGenericDict().at(part).toGenericDict();
}

double factor(int step, int which) {
  const int value = (step * 7 + which * 5) % 13;
  if (value == 3) return std::numeric_limits<double>::infinity();
  if (value == 11 && which) return std::numeric_limits<double>::quiet_NaN();
  return 0.5 + value;
}

std::vector<double> trajectory(GradScaler scaler, int64_t steps) {
  Tensor first = torch::tensor({1.0f, -2.0f}).requires_grad_(), second = torch::tensor({3.0f}).requires_grad_();
  torch::optim::SGD sgd({first}, torch::optim::SGDOptions(0.01).momentum(0.9));
  torch::optim::Adam adam({second}, torch::optim::AdamOptions(0.02));
  std::vector<double> rows;
  for (int step = 0; step < steps; ++step) {
    sgd.zero_grad();
    adam.zero_grad();
    scaler.scale((first * first).sum() * factor(step, 0)).backward();
    scaler.scale((second * 3).sum() * factor(step, 1)).backward();
    if (step % 3 == 0) scaler.unscale_(sgd);
    scaler.step(sgd);
    scaler.step(adam);
    if (step % 17 == 16)
      scaler.update(static_cast<double>(step));
    else if (step % 23 == 22)
      scaler.update(torch::tensor(24.0f));
    else
      scaler.update();
    rows.insert(rows.end(), {scaler.get_scale(), static_cast<double>(scaler._get_growth_tracker())});
    for (const Tensor& w : {first[0], first[1], second[0]}) rows.push_back(w.item<double>());
  }
  return rows;
}

TEST(AmpRecorded, Trajectories) {
  const auto cases = recorded("trajectories");
  EXPECT_EQ(cases.size(), 4u);
  const auto check = [&](const char* name, GradScaler scaler) {
    const Tensor want = cases.at(name).toTensor();
    const auto rows = trajectory(std::move(scaler), want.size(0));
    const Tensor got = torch::tensor(rows).view({-1, 5}).to(torch::kDouble);
    EXPECT_TRUE(torch::equal(got.slice(1, 0, 2), want.slice(1, 0, 2))) << name;  // scale and tracker
    EXPECT_TRUE(torch::allclose(got.slice(1, 2), want.slice(1, 2), 1e-6, 1e-9)) << name;
  };
  check("defaults", GradScaler("cpu"));
  check("short", GradScaler("cpu", 8.0, 2.0, 0.5, 3));
  check("odd", GradScaler("cpu", 100.0, 1.5, 0.3, 4));
  check("every", GradScaler("cpu", 1e36, 10.0, 0.25, 1));
}

TEST(AmpRecorded, Errors) {
  const auto errors = recorded("errors");
  size_t checked = 0;
  const auto check = [&](const char* name, const std::function<void()>& call) {
    ++checked;
    std::string message = "no error";
    try {
      call();
    } catch (const torch::Error& e) {
      message = e.what_without_backtrace();
    }
    EXPECT_EQ(message, errors.at(name).toStringRef()) << name;
  };
  Tensor weight = torch::ones({2}).requires_grad_();
  torch::optim::SGD sgd({weight}, 0.1);
  GradScaler fresh("cpu");
  check("growth", [] { GradScaler("cpu", 1.0, 1.0); });
  check("backoff", [] { GradScaler("cpu", 1.0, 2.0, 1.0); });
  check("unscale_ before scale", [&] { fresh.unscale_(sgd); });
  check("step before scale", [&] { fresh.step(sgd); });
  check("update before scale", [&] { fresh.update(); });
  check("empty state", [&] { fresh.load_state_dict({}); });
  GradScaler scaler("cpu");
  scaler.scale(weight.sum());
  check("step without gradients", [&] { scaler.step(sgd); });
  check("update without checks", [&] { scaler.update(); });
  check("new scale", [&] { scaler.update(torch::ones({2})); });
  scaler.update(4.0);
  scaler.scale(weight.sum()).backward();
  scaler.unscale_(sgd);
  check("unscale_ twice", [&] { scaler.unscale_(sgd); });
  check("pickled within", [&] {
    std::ostringstream out;
    torch::save(scaler, out);
  });
  scaler.step(sgd);
  check("unscale_ after step", [&] { scaler.unscale_(sgd); });
  check("step twice", [&] { scaler.step(sgd); });
  scaler.update();
  check("closure", [&] { scaler.step(sgd, [&] { return weight.sum(); }); });
  Tensor half = torch::ones({2}, torch::kHalf).requires_grad_();
  scaler.scale(half.sum()).backward();
  torch::optim::SGD half_sgd({half}, 0.1);
  check("half", [&] { scaler.unscale_(half_sgd); });
  EXPECT_EQ(checked, errors.size());
}

}  // namespace
