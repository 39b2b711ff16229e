#include <memory>
#include <vector>

#include "interop/check.h"
#include "interop/exchange.h"

namespace interop {
namespace {

using torch::optim::AdagradOptions;
using torch::optim::AdamOptions;
using torch::optim::AdamWOptions;
using torch::optim::RMSpropOptions;
using torch::optim::SGDOptions;

constexpr double kTolerance = 1e-5;

struct Model {
  std::vector<torch::Tensor> parameters;
  Model() {
    parameters.push_back(torch::arange(6).to(torch::kFloat).mul(0.3).view({2, 3}).requires_grad_());
    parameters.push_back(torch::arange(4).to(torch::kFloat).sub(1.5).requires_grad_());
  }
  template <typename Optimizer>
  void steps(Optimizer& optimizer, int count) {
    for (int i = 0; i < count; ++i) {
      optimizer.zero_grad();
      ((parameters[0] * parameters[0]).sum() + (parameters[1] * parameters[1] * parameters[1]).sum()).backward();
      optimizer.step();
    }
  }
};

// Saves an optimizer in the middle of its work, the weights of that moment, and the weights two steps later.
template <typename Optimizer, typename Options>
void write_one(const std::string& path, const Options& options) {
  Model model;
  Optimizer optimizer(model.parameters, options);
  model.steps(optimizer, 3);
  torch::save(optimizer, path + ".optimizer.pt");
  torch::save(model.parameters, path + ".before.pt");
  model.steps(optimizer, 2);
  torch::save(model.parameters, path + ".after.pt");
}

template <typename Optimizer, typename Options>
void read_one(const std::string& path, const Options& options, const std::string& name) {
  Model model;
  std::vector<torch::Tensor> before, after;
  torch::load(before, path + ".before.pt");
  torch::load(after, path + ".after.pt");
  {
    torch::NoGradGuard no_grad;
    for (size_t i = 0; i < before.size(); ++i) model.parameters[i].copy_(before[i]);
  }
  Optimizer optimizer(model.parameters, Options(0.5));  // the file's options replace it
  torch::load(optimizer, path + ".optimizer.pt");
  check(static_cast<const Options&>(optimizer.param_groups()[0].options()).lr() == options.lr(), name + ": lr");
  model.steps(optimizer, 2);
  for (size_t i = 0; i < after.size(); ++i) {
    check(torch::allclose(model.parameters[i], after[i], kTolerance, kTolerance),
          name + ": two steps after loading give the weights that the writer reached");
  }
}

// Two groups with options of their own, and a parameter that has no state yet.
std::vector<torch::optim::OptimizerParamGroup> groups(Model& model, double first, double second) {
  std::vector<torch::optim::OptimizerParamGroup> all;
  all.emplace_back(std::vector<torch::Tensor>{model.parameters[0]}, std::make_unique<AdamOptions>(first));
  all.emplace_back(std::vector<torch::Tensor>{model.parameters[1], torch::zeros({3}).requires_grad_()},
                   std::make_unique<AdamOptions>(second));
  return all;
}

void write_groups(const std::string& path) {
  Model model;
  torch::optim::Adam optimizer(groups(model, 0.02, 0.05), AdamOptions(0.1));
  model.steps(optimizer, 3);
  torch::save(optimizer, path + ".optimizer.pt");
  torch::save(model.parameters, path + ".before.pt");
  model.steps(optimizer, 2);
  torch::save(model.parameters, path + ".after.pt");
}

void read_groups(const std::string& path) {
  Model model;
  std::vector<torch::Tensor> before, after;
  torch::load(before, path + ".before.pt");
  torch::load(after, path + ".after.pt");
  {
    torch::NoGradGuard no_grad;
    for (size_t i = 0; i < before.size(); ++i) model.parameters[i].copy_(before[i]);
  }
  torch::optim::Adam optimizer(groups(model, 0.7, 0.7), AdamOptions(0.7));
  torch::load(optimizer, path + ".optimizer.pt");
  check(static_cast<const AdamOptions&>(optimizer.param_groups()[1].options()).lr() == 0.05,
        "groups: lr of the second");
  model.steps(optimizer, 2);
  for (size_t i = 0; i < after.size(); ++i) {
    check(torch::allclose(model.parameters[i], after[i], kTolerance, kTolerance), "groups: two steps after loading");
  }
}

}  // namespace

void write_optimizers(const std::string& folder) {
  write_one<torch::optim::SGD>(folder + "sgd", SGDOptions(0.01).momentum(0.9).nesterov(true).weight_decay(0.1));
  write_one<torch::optim::Adam>(folder + "adam", AdamOptions(0.02).betas({0.8, 0.95}).amsgrad(true));
  write_one<torch::optim::AdamW>(folder + "adamw", AdamWOptions(0.02).weight_decay(0.2));
  write_one<torch::optim::RMSprop>(folder + "rmsprop", RMSpropOptions(0.01).momentum(0.5).centered(true));
  write_groups(folder + "groups");
  write_one<torch::optim::Adagrad>(folder + "adagrad", AdagradOptions(0.05).lr_decay(0.1));
}

void read_optimizers(const std::string& folder) {
  read_one<torch::optim::SGD>(folder + "sgd", SGDOptions(0.01), "sgd");
  read_one<torch::optim::Adam>(folder + "adam", AdamOptions(0.02), "adam");
  read_one<torch::optim::AdamW>(folder + "adamw", AdamWOptions(0.02), "adamw");
  read_one<torch::optim::RMSprop>(folder + "rmsprop", RMSpropOptions(0.01), "rmsprop");
  read_groups(folder + "groups");
  read_one<torch::optim::Adagrad>(folder + "adagrad", AdagradOptions(0.05), "adagrad");
}

}  // namespace interop
