// torch::amp::GradScaler: what PyTorch's does, call by call.

#include <torch/torch.h>

#include <gtest/gtest.h>

#include <functional>
#include <limits>

namespace {

using torch::Tensor;
using torch::amp::GradScaler;
using torch::amp::GradScalerOptions;

constexpr float kInf = std::numeric_limits<float>::infinity();

Tensor weight(std::initializer_list<float> values) {
  return torch::tensor(torch::TensorData(std::vector<float>(values))).requires_grad_();
}

std::string error_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const torch::Error& e) {
    return e.what_without_backtrace();
  }
  return "";
}
#define EXPECT_ERROR(text, call) \
  EXPECT_NE(error_of([&] { call; }).find(text), std::string::npos) << error_of([&] { call; })

GradScalerOptions small() { return GradScalerOptions().init_scale(4.0).growth_interval(2); }

TEST(GradScaler, ScalesAndUnscales) {
  Tensor w = weight({1, 2});
  torch::optim::SGD sgd({w}, 0.5);
  GradScaler scaler("cpu", small());
  EXPECT_EQ(scaler.get_scale(), 4.0);
  EXPECT_FALSE(scaler._get_scale_async().defined());
  const Tensor loss = scaler.scale((w * w).sum());
  EXPECT_EQ(loss.item<float>(), 20.f);
  loss.backward();
  EXPECT_TRUE(torch::equal(w.grad(), torch::tensor({8.f, 16.f})));
  scaler.unscale_(sgd);
  EXPECT_TRUE(torch::equal(w.grad(), torch::tensor({2.f, 4.f})));
  scaler.step(sgd);
  EXPECT_TRUE(torch::equal(w, torch::tensor({0.f, 0.f})));
  scaler.update();
  EXPECT_EQ(scaler.get_scale(), 4.0);
  EXPECT_EQ(scaler._get_growth_tracker(), 1);
}

template <class Optimizer>
void expect_sparse_steps(const std::function<Optimizer(const Tensor&)>& make) {
  const auto train = [&](bool scaled, bool unscale) {
    const Tensor w = torch::ones({4, 2}).requires_grad_(), index = torch::tensor({0, 3, 3});
    Optimizer optimizer = make(w);
    GradScaler scaler("cpu", small().enabled(scaled));
    const auto step = [&](float factor) {
      optimizer.zero_grad();
      scaler.scale((torch::embedding(w, index, -1, false, true) * factor).sum()).backward();
      if (unscale) scaler.unscale_(optimizer);
      scaler.step(optimizer);
      scaler.update();
    };
    step(1);
    if (scaled) step(kInf);
    step(2);
    return w.detach();
  };
  const Tensor want = train(false, false);
  EXPECT_TRUE(torch::allclose(train(true, true), want));
  EXPECT_TRUE(torch::allclose(train(true, false), want));
}
TEST(GradScaler, SparseGradients) {
  expect_sparse_steps<torch::optim::SGD>([](const Tensor& w) { return torch::optim::SGD({w}, 0.5); });
  expect_sparse_steps<torch::optim::SGD>(
      [](const Tensor& w) { return torch::optim::SGD({w}, torch::optim::SGDOptions(0.5).momentum(0.9)); });
  expect_sparse_steps<torch::optim::Adagrad>([](const Tensor& w) { return torch::optim::Adagrad({w}, 0.5); });
}

TEST(GradScaler, ScalesLists) {
  GradScaler scaler("cpu", small());
  const auto scaled = scaler.scale(std::vector<Tensor>{torch::ones({}), torch::ones({2})});
  EXPECT_EQ(scaled.size(), 2u);
  EXPECT_TRUE(torch::equal(scaled[1], torch::full({2}, 4.0)));
  const auto [a, b] = scaler.scale(std::make_tuple(torch::ones({}), torch::ones({})));
  EXPECT_EQ(a.item<float>() + b.item<float>(), 8.f);
  EXPECT_EQ(scaler.scale(torch::ones({}, torch::kHalf)).scalar_type(), torch::kFloat);
}

TEST(GradScaler, AdaptsTheScale) {
  Tensor w = weight({1});
  torch::optim::SGD sgd({w}, 0.5);
  GradScaler scaler("cpu", small());
  const auto iterate = [&](float factor) {
    sgd.zero_grad();
    scaler.scale((w * factor).sum()).backward();
    scaler.step(sgd);
    scaler.update();
    return scaler.get_scale();
  };
  EXPECT_EQ(iterate(1), 4.0);
  EXPECT_EQ(iterate(1), 8.0);  // after two good steps
  EXPECT_EQ(iterate(1), 8.0);
  const Tensor before = w.detach().clone();
  EXPECT_EQ(iterate(kInf), 4.0);
  EXPECT_TRUE(torch::equal(w, before));
  EXPECT_EQ(scaler._get_growth_tracker(), 0);
  EXPECT_EQ(iterate(1), 4.0);  // counts from the overflow
  EXPECT_EQ(iterate(1), 8.0);
  EXPECT_EQ(iterate(std::numeric_limits<float>::quiet_NaN()), 4.0);
}

TEST(GradScaler, DoesNotGrowToInfinity) {
  Tensor w = weight({1e-30f});
  torch::optim::SGD sgd({w}, 0.0);
  GradScaler scaler("cpu", GradScalerOptions().init_scale(3e38).growth_interval(1));
  scaler.scale((w * 1e-30).sum()).backward();
  scaler.step(sgd);
  scaler.update();
  EXPECT_EQ(scaler.get_scale(), static_cast<double>(3e38f));
  EXPECT_EQ(scaler._get_growth_tracker(), 0);
}

TEST(GradScaler, NewScale) {
  Tensor w = weight({1});
  torch::optim::SGD sgd({w}, 0.5);
  GradScaler scaler("cpu", small());
  EXPECT_ERROR("Attempted update but _scale is None.", scaler.update(2.0));
  scaler.scale(w.sum()).backward();
  scaler.update(16.0);
  EXPECT_EQ(scaler.get_scale(), 16.0);
  Tensor mine = torch::full({1}, 32.0);
  scaler.update(mine);
  mine.fill_(1);
  EXPECT_EQ(scaler.get_scale(), 32.0);
  EXPECT_ERROR("new_scale should be a float or a 1-element", scaler.update(torch::ones({2})));
  EXPECT_ERROR("new_scale should be a float or a 1-element", scaler.update(torch::ones({1}).requires_grad_()));
}

TEST(GradScaler, WrongOrder) {
  Tensor w = weight({1});
  torch::optim::SGD sgd({w}, 0.5);
  GradScaler scaler("cpu", small());
  EXPECT_ERROR("Attempted unscale_ but _scale is None.", scaler.unscale_(sgd));
  EXPECT_ERROR("Attempted step but _scale is None.", scaler.step(sgd));
  EXPECT_ERROR("Attempted update but _scale is None.", scaler.update());
  scaler.scale(w.sum());
  EXPECT_ERROR("No inf checks were recorded for this optimizer.", scaler.step(sgd));  // no gradients
  EXPECT_ERROR("No inf checks were recorded prior to update.", scaler.update());
  scaler.update(4.0);
  scaler.scale(w.sum()).backward();
  scaler.unscale_(sgd);
  EXPECT_ERROR("unscale_() has already been called on this optimizer since the last update().", scaler.unscale_(sgd));
  scaler.step(sgd);
  EXPECT_ERROR("unscale_() is being called after step().", scaler.unscale_(sgd));
  EXPECT_ERROR("step() has already been called since the last update().", scaler.step(sgd));
  scaler.update();
  EXPECT_ERROR("Closure use is not currently supported if GradScaler is enabled.",
               scaler.step(sgd, [&] { return w.sum(); }));
  EXPECT_ERROR("The growth factor must be > 1.0.", GradScaler("cpu", 1.0, 1.0));
  EXPECT_ERROR("The backoff factor must be < 1.0.", GradScaler("cpu", 1.0, 2.0, 1.0));
}

TEST(GradScaler, RefusesToUnscaleHalfGradients) {
  Tensor w = torch::ones({3}, torch::TensorOptions(torch::kHalf)).requires_grad_();
  torch::optim::SGD sgd({w}, 0.5);
  GradScaler scaler("cpu", small());
  scaler.scale(w.sum()).backward();
  EXPECT_THROW(scaler.unscale_(sgd), c10::ValueError);
  EXPECT_ERROR("Attempting to unscale FP16 gradients.", scaler.unscale_(sgd));
}

TEST(GradScaler, Disabled) {
  Tensor w = weight({1});
  torch::optim::SGD sgd({w}, 0.5);
  GradScaler scaler("cpu", GradScalerOptions().enabled(false));
  EXPECT_FALSE(scaler.is_enabled());
  const Tensor loss = w.sum();
  EXPECT_TRUE(scaler.scale(loss).is_same(loss));
  loss.backward();
  scaler.unscale_(sgd);
  scaler.step(sgd);
  scaler.update();
  EXPECT_EQ(w.item<float>(), 0.5f);
  EXPECT_EQ(scaler.get_scale(), 1.0);
  EXPECT_TRUE(scaler.state_dict().empty());
  scaler.load_state_dict({});
  EXPECT_EQ(scaler.step(sgd, [&] { return w.sum(); }).item<float>(), 0.5f);  // a closure is fine now
  GradScaler for_cuda;                                                       // there is no CUDA here: warns and is off
  EXPECT_EQ(for_cuda.is_enabled(), torch::cuda::is_available());
}

TEST(GradScaler, EachOptimizerHasItsOwnOverflow) {
  Tensor a = weight({1}), b = weight({1}), c = weight({1});
  torch::optim::SGD first({a}, 0.5), second({b}, 0.5), third({c}, 0.5);
  GradScaler scaler("cpu", small());
  // Two losses; the second overflows in b only.
  scaler.scale((a * 2).sum() + (c * 3).sum()).backward();
  scaler.scale((b * kInf).sum() + c.sum()).backward();
  scaler.step(first);
  scaler.step(second);
  scaler.unscale_(third);
  EXPECT_EQ(c.grad().item<float>(), 4.f);
  scaler.step(third);
  EXPECT_EQ(scaler._found_inf_per_device(first).at(0).item<float>(), 0.f);
  EXPECT_EQ(scaler._found_inf_per_device(second).at(0).item<float>(), 1.f);
  EXPECT_EQ(a.item<float>(), 0.f);
  EXPECT_EQ(b.item<float>(), 1.f);
  EXPECT_EQ(c.item<float>(), -1.f);
  scaler.update();
  EXPECT_EQ(scaler.get_scale(), 2.0);
  EXPECT_TRUE(scaler._found_inf_per_device(second).empty());
}

TEST(GradScaler, GettersAndSetters) {
  GradScaler scaler("cpu", 8.0, 3.0, 0.25, 7);
  EXPECT_EQ(scaler.get_growth_factor(), 3.0);
  EXPECT_EQ(scaler.get_backoff_factor(), 0.25);
  EXPECT_EQ(scaler.get_growth_interval(), 7);
  scaler.set_growth_factor(4.0);
  scaler.set_backoff_factor(0.125);
  scaler.set_growth_interval(9);
  const auto state = scaler.state_dict();
  EXPECT_EQ(state.size(), 5u);
  EXPECT_EQ(state.at("scale").toDouble(), 8.0);
  EXPECT_EQ(state.at("growth_factor").toDouble(), 4.0);
  EXPECT_EQ(state.at("backoff_factor").toDouble(), 0.125);
  EXPECT_EQ(state.at("growth_interval").toInt(), 9);
  EXPECT_EQ(state.at("_growth_tracker").toInt(), 0);
}

TEST(GradScaler, SavesAndLoads) {
  Tensor w = weight({1});
  torch::optim::SGD sgd({w}, 0.5);
  GradScaler scaler("cpu", GradScalerOptions().init_scale(4.0).growth_interval(5));
  scaler.scale(w.sum()).backward();
  scaler.step(sgd);
  std::ostringstream out;
  EXPECT_ERROR("A GradScaler instance may only be pickled at the beginning of an iteration", torch::save(scaler, out));
  scaler.update();
  out.str("");
  torch::save(scaler, out);

  GradScaler fresh("cpu");
  std::istringstream in(out.str());
  torch::load(fresh, in);
  EXPECT_EQ(fresh.get_scale(), 4.0);
  EXPECT_EQ(fresh.get_growth_interval(), 5);
  EXPECT_EQ(fresh._get_growth_tracker(), 1);

  GradScaler running("cpu");
  running.scale(w.sum());
  running.load_state_dict(scaler.state_dict());
  EXPECT_EQ(running.get_scale(), 4.0);
  EXPECT_EQ(running._get_growth_tracker(), 1);
  EXPECT_ERROR("The source state dict is empty", running.load_state_dict({}));
}

class Halving : public torch::optim::Optimizer {
 public:
  explicit Halving(std::vector<Tensor> params)
      : Optimizer({torch::optim::OptimizerParamGroup(std::move(params))},
                  std::make_unique<torch::optim::SGDOptions>(0.1)) {}
  using Optimizer::step;
  Tensor step(LossClosure closure = nullptr) override {
    ++steps;
    torch::NoGradGuard no_grad;
    for (auto& group : param_groups())
      for (auto& p : group.params()) p.sub_(p.grad(), 0.5);
    return closure ? closure() : Tensor();
  }
  int steps = 0;
};

TEST(GradScaler, CustomOptimizerIsNotCalledAfterAnOverflow) {
  Tensor w = weight({1});
  Halving optimizer({w});
  GradScaler scaler("cpu", small());
  for (const float factor : {1.f, kInf, 1.f}) {
    optimizer.zero_grad();
    scaler.scale((w * factor).sum()).backward();
    scaler.step(optimizer);
    scaler.update();
  }
  EXPECT_EQ(optimizer.steps, 2);
  EXPECT_EQ(w.item<float>(), 0.f);
}

}  // namespace
