// Proximal policy optimization (Schulman et al., 2017) of a small policy, as programs for control train it: frames are
// collected one by one, so most of the time goes into functions of few elements.
#include <cmath>
#include <memory>
#include <utility>

#include "workload.h"

namespace bench {
namespace {

namespace nn = torch::nn;

constexpr int64_t kFrames = 256, kEpochs = 4, kBatch = 64;  // of one update
constexpr double kDiscount = 0.99, kTrace = 0.95, kClip = 0.2;

/// A point on a plane that is pushed towards another: position and speed, and where to go.
class Plane {
 public:
  torch::Tensor observe() const { return torch::cat({place_, speed_, goal_}); }  // (6)
  /// The reward of an action (2).
  double act(const torch::Tensor& action) {
    speed_ = 0.9 * speed_ + 0.1 * action.clamp(-1, 1);
    place_ = place_ + speed_;
    const double far = (place_ - goal_).norm().item<double>();
    if (++steps_ % 64 == 0) *this = Plane();
    return far < 0.1 ? 1 : -0.1 * far;
  }
  bool ends() const { return steps_ == 0; }

 private:
  torch::Tensor place_ = torch::zeros({2}), speed_ = torch::zeros({2}), goal_ = 2 * torch::rand({2}) - 1;
  int64_t steps_ = 0;
};

struct ActorCriticImpl : nn::Module {
  ActorCriticImpl()
      : actor(nn::Linear(6, 64), nn::Tanh(), nn::Linear(64, 64), nn::Tanh(), nn::Linear(64, 2)),
        critic(nn::Linear(6, 64), nn::Tanh(), nn::Linear(64, 64), nn::Tanh(), nn::Linear(64, 1)) {
    register_module("actor", actor);
    register_module("critic", critic);
    log_deviation = register_parameter("log_deviation", torch::zeros({2}));
  }
  torch::Tensor log_probability(const torch::Tensor& mean, const torch::Tensor& action) {
    const auto z = (action - mean) / log_deviation.exp();
    return (-0.5 * z * z - log_deviation - 0.5 * std::log(2 * M_PI)).sum(-1);
  }
  nn::Sequential actor, critic;
  torch::Tensor log_deviation;
};
TORCH_MODULE(ActorCritic);

struct Rollout {
  std::vector<torch::Tensor> states, actions, log_probabilities, values;
  std::vector<double> rewards;
  std::vector<bool> ends;
};

class Trainer {
 public:
  Trainer() : optimizer_(net_->parameters(), torch::optim::AdamOptions(3e-4)) {}

  void update() {
    const Rollout rollout = collect();
    const auto [advantages, returns] = judge(rollout);
    const auto states = torch::stack(rollout.states), actions = torch::stack(rollout.actions);
    const auto before = torch::stack(rollout.log_probabilities);
    for (int64_t epoch = 0; epoch < kEpochs; ++epoch) {
      const auto order = torch::randperm(kFrames, torch::kLong);
      for (int64_t at = 0; at < kFrames; at += kBatch) {
        const auto batch = order.slice(0, at, at + kBatch);
        learn(states.index_select(0, batch), actions.index_select(0, batch), before.index_select(0, batch),
              advantages.index_select(0, batch), returns.index_select(0, batch));
      }
    }
  }

  void learn(const torch::Tensor& states, const torch::Tensor& actions, const torch::Tensor& before,
             torch::Tensor advantages, const torch::Tensor& returns) {
    advantages = (advantages - advantages.mean()) / (advantages.std() + 1e-8);
    const auto ratio = (net_->log_probability(net_->actor->forward(states), actions) - before).exp();
    const auto gain = torch::min(ratio * advantages, ratio.clamp(1 - kClip, 1 + kClip) * advantages).mean();
    const auto error = (net_->critic->forward(states).squeeze(-1) - returns).pow(2).mean();
    optimizer_.zero_grad();
    (0.5 * error - gain - 0.01 * net_->log_deviation.sum()).backward();
    torch::nn::utils::clip_grad_norm_(net_->parameters(), 0.5);
    optimizer_.step();
  }

 private:
  Rollout collect() {
    torch::NoGradGuard no_grad;
    Rollout r;
    for (int64_t i = 0; i < kFrames; ++i) {
      const auto state = plane_.observe();
      const auto mean = net_->actor->forward(state);
      const auto action = mean + torch::randn({2}) * net_->log_deviation.exp();
      r.states.push_back(state);
      r.actions.push_back(action);
      r.log_probabilities.push_back(net_->log_probability(mean, action));
      r.values.push_back(net_->critic->forward(state));
      r.rewards.push_back(plane_.act(action));
      r.ends.push_back(plane_.ends());
    }
    r.values.push_back(net_->critic->forward(plane_.observe()));
    return r;
  }
  /// Advantages (frames) and returns (frames).
  static std::pair<torch::Tensor, torch::Tensor> judge(const Rollout& r) {
    std::vector<float> advantages(kFrames), returns(kFrames);
    double advantage = 0;
    for (size_t i = kFrames; i-- > 0;) {
      const double alive = r.ends[i] ? 0 : 1, value = r.values[i].item<double>();
      advantage = r.rewards[i] + kDiscount * alive * r.values[i + 1].item<double>() - value +
                  kDiscount * kTrace * alive * advantage;
      advantages[i] = static_cast<float>(advantage);
      returns[i] = static_cast<float>(advantage + value);
    }
    return {torch::tensor(advantages), torch::tensor(returns)};
  }

  ActorCritic net_;
  torch::optim::Adam optimizer_;
  Plane plane_;
};

}  // namespace

Prepared ppo() {
  auto trainer = std::make_shared<Trainer>();
  Prepared prepared;
  prepared.repeats = kFrames;
  prepared.items = 1;
  prepared.unit = "frames";
  prepared.iteration = [trainer] { trainer->update(); };
  return prepared;
}

Learner ppo_learner() {
  auto trainer = std::make_shared<Trainer>();
  return [trainer](const Batch& b) { trainer->learn(b[0], b[1], b[2], b[3], b[4]); };
}

}  // namespace bench
