// What a gradient scaler sets, and master weights.
#include <cmath>
#include <limits>

#include "optim/every_optimizer.h"

using namespace every_optimizer;

TEST(AmpScaling, ASkippedStepLeavesNoTrace) {
  for (auto dtype : {torch::kFloat, torch::kHalf, torch::kDouble}) {
    for (const auto& [name, make] : optimizers()) {
      auto params = leaves(dtype), undisturbed = leaves(dtype);
      auto a = make(params), b = make(undisturbed);
      a->use_master_weights(), b->use_master_weights();
      const Tensor clear = torch::zeros({1}), set = torch::ones({1});
      for (uint64_t step = 0; step < 6; ++step) {
        // The first step and one in the middle overflow.
        if (step == 0 || step == 3) {
          const auto before = saved(*a);
          const Tensor weights = params[0].detach().clone();
          a->set_amp_scaling(Tensor(), set);
          Tensors bad{torch::full({20, 40}, std::numeric_limits<float>::infinity()), torch::full({7}, NAN)};
          a->step(bad);
          EXPECT_TRUE(params[0].equal(weights)) << name;
          if (step == 3) {
            EXPECT_EQ(saved(*a), before) << name;
          }
          continue;
        }
        a->set_amp_scaling(Tensor(), clear);
        a->step(draw(params, step));
        b->step(draw(params, step));
      }
      expect_equal(params, undisturbed, name);
      EXPECT_EQ(saved(*a), saved(*b)) << name;
    }
  }
}

TEST(AmpScaling, GradientsAreDividedByTheScale) {
  for (const auto& [name, make] : optimizers()) {
    auto params = leaves(), unscaled = leaves();
    auto a = make(params), b = make(unscaled);
    a->set_amp_scaling(torch::full({}, 1024.0f), Tensor());
    for (uint64_t step = 0; step < 4; ++step) {
      auto grads = draw(params, step);
      b->step(grads);
      for (auto& g : grads) g = g * 1024;
      a->step(grads);
    }
    expect_equal(params, unscaled, name);
  }
  optim::SGD sgd(leaves(), 0.1);
  EXPECT_THROW(sgd.set_amp_scaling(torch::ones({2}), Tensor()), c10::Error);
  EXPECT_THROW(sgd.set_amp_scaling(Tensor(), torch::ones({1}, torch::kDouble)), c10::Error);
}

TEST(AmpScaling, TheSavedStepCountsOnlyWhatWasDone) {
  Tensor x = torch::ones({2}).requires_grad_();
  optim::Adam optimizer({x}, 0.1);
  for (float flag : {0.0f, 1.0f, 0.0f, 1.0f}) {
    optimizer.set_amp_scaling(Tensor(), torch::full({1}, flag));
    optimizer.step({torch::ones({2})});
  }
  auto& state = static_cast<optim::AdamParamState&>(*optimizer.state().at(x.unsafeGetTensorImpl()));
  EXPECT_EQ(state.step(), 2);
  std::stringstream file;
  torch::save(optimizer, file);
  optim::Adam other({x}, 0.1);
  torch::load(other, file);
  EXPECT_EQ(static_cast<optim::AdamParamState&>(*other.state().at(x.unsafeGetTensorImpl())).step(), 2);
}

TEST(MasterWeights, EqualTrainingInFloat) {
  for (auto dtype : {torch::kHalf, torch::kBFloat16}) {
    for (const auto& [name, make] : optimizers()) {
      auto half = leaves(dtype);
      Tensors full;
      for (const auto& p : half) full.push_back(p.detach().to(torch::kFloat).requires_grad_());
      auto a = make(half), b = make(full);
      a->use_master_weights();
      for (uint64_t step = 0; step < 20; ++step) {
        const auto grads = draw(half, step);
        step % 2 == 0 ? a->step(grads) : (set_grads(half, grads), a->step());
        Tensors same;
        for (size_t i = 0; i < grads.size(); ++i)
          same.push_back(step % 2 == 0 ? grads[i] : half[i].grad().to(torch::kFloat));
        b->step(same);
      }
      for (size_t i = 0; i < half.size(); ++i) {
        // Adagrad makes its sums before anyone asks for master weights; all are f32 from the first step on.
        EXPECT_TRUE(a->master_weight(half[i]).equal(full[i])) << name << " " << dtype;
        EXPECT_TRUE(half[i].equal(full[i].to(dtype))) << name << " " << dtype;
      }
    }
  }
}

TEST(MasterWeights, SmallChangesAddUp) {
  const auto train = [](bool master) {
    Tensor x = torch::ones({10}, torch::kHalf).requires_grad_();
    optim::SGD optimizer({x}, 1e-4);
    optimizer.use_master_weights(master);
    for (int i = 0; i < 1000; ++i) optimizer.step({torch::ones({10})});
    return x[0].item<float>();
  };
  EXPECT_NEAR(train(true), 0.9f, 1e-3f);
  EXPECT_EQ(train(false), 1.0f);
}

TEST(MasterWeights, FollowTheirParameter) {
  Tensor x = torch::ones({600}, torch::kBFloat16).requires_grad_();
  optim::SGD optimizer({x}, 1e-3);
  optimizer.use_master_weights();
  optimizer.step({torch::ones({600})});
  EXPECT_FLOAT_EQ(optimizer.master_weight(x)[5].item<float>(), 0.999f);
  {
    torch::NoGradGuard no_grad;
    x.slice(0, 500).fill_(3);
  }
  optimizer.step({torch::ones({600})});
  EXPECT_FLOAT_EQ(optimizer.master_weight(x)[499].item<float>(), 0.998f);
  EXPECT_FLOAT_EQ(optimizer.master_weight(x)[500].item<float>(), 2.999f);
  // What they begin with can be finer than the parameter.
  Tensor y = torch::full({3}, 1.001f).to(torch::kBFloat16).requires_grad_();
  optim::SGD fine({y}, 1e-3);
  fine.use_master_weights().set_master_weight(y, torch::full({3}, 1.001f));
  fine.step({torch::ones({3})});
  EXPECT_FLOAT_EQ(fine.master_weight(y)[0].item<float>(), 1.0f);
}

TEST(MasterWeights, AreSavedAndRestored) {
  for (const auto& [name, make] : optimizers()) {
    for (bool python : {false, true}) {
      auto params = leaves(torch::kHalf);
      auto a = make(params);
      a->use_master_weights();
      for (uint64_t step = 0; step < 3; ++step) a->step(draw(params, step));
      Tensors copies;
      for (const auto& p : params) copies.push_back(p.detach().clone().requires_grad_());
      auto b = make(copies);
      std::stringstream file;
      if (python) {
        b->load_state_dict(a->state_dict());
      } else {
        torch::save(*a, file);
        torch::load(*b, file);
      }
      EXPECT_TRUE(b->uses_master_weights());  // the file says so
      a->step(draw(params, 9));
      b->step(draw(params, 9));
      expect_equal(params, copies, name);
      EXPECT_TRUE(a->master_weight(params[0]).equal(b->master_weight(copies[0]))) << name;
    }
  }
}

TEST(MasterWeights, CanBeSwitchedOnAndOff) {
  for (const auto& [name, make] : optimizers()) {
    auto params = leaves(torch::kHalf);
    auto optimizer = make(params);
    for (uint64_t step = 0; step < 6; ++step) {
      optimizer->use_master_weights(step == 2 || step == 3);
      optimizer->step(draw(params, step));
      EXPECT_EQ(optimizer->master_weight(params[0]).defined(), step == 2 || step == 3) << name;
      EXPECT_TRUE(torch::isfinite(params[0]).all().item<bool>()) << name;
    }
  }
}

// The smallest positive number of binary16 is larger than Adam's eps, and squares of small gradients vanish.
TEST(HalfParameters, SmallGradientsMakeNoNan) {
  for (const auto& [name, make] : optimizers()) {
    for (float size : {0.0f, 1e-7f, 1e-5f, 1e-3f}) {
      auto params = leaves(torch::kHalf);
      auto optimizer = make(params);
      for (uint64_t step = 0; step < 10; ++step) {
        auto grads = draw(params, step);
        for (auto& g : grads) g = (g * size).to(torch::kHalf);
        optimizer->step(grads);
      }
      EXPECT_FALSE(torch::isnan(params[0]).any().item<bool>()) << name << " " << size;
    }
  }
}
