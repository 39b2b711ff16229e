#include <halfbridge/bridge/optim/swa_utils.h>

#include <algorithm>

#include <halfbridge/bridge/nn/normalization.h>
#include <halfbridge/ops.h>

namespace hb::bridge::optim::swa_utils {

namespace {
void check_decay(double decay) {
  HB_CHECK(0 <= decay && decay <= 1, "Invalid decay value ", decay,
           " provided. Please provide a value in [0,1] range.");
}
MultiAverageFunction one_by_one(AverageFunction fn) {
  return [fn = std::move(fn)](const std::vector<Tensor>& averaged, const std::vector<Tensor>& current,
                              const Tensor& num_averaged) {
    for (size_t i = 0; i < averaged.size(); ++i) Tensor(averaged[i]).copy_(fn(averaged[i], current[i], num_averaged));
  };
}
}  // namespace

AverageFunction get_swa_avg_fn() {
  return [](const Tensor& averaged, const Tensor& current, const Tensor& num_averaged) {
    return averaged + (current - averaged) / (num_averaged + 1).to(averaged.scalar_type());
  };
}
AverageFunction get_ema_avg_fn(double decay) {
  check_decay(decay);
  return [decay](const Tensor& averaged, const Tensor& current, const Tensor&) {
    return averaged * decay + current * (1 - decay);
  };
}
MultiAverageFunction get_swa_multi_avg_fn() { return one_by_one(get_swa_avg_fn()); }
MultiAverageFunction get_ema_multi_avg_fn(double decay) { return one_by_one(get_ema_avg_fn(decay)); }

AveragedModel::AveragedModel(const nn::Module& model, std::optional<Device> device, AverageFunction avg_fn,
                             MultiAverageFunction multi_avg_fn, bool use_buffers)
    : AveragedModel(model.clone(device), device, std::move(avg_fn), std::move(multi_avg_fn), use_buffers) {}

AveragedModel::AveragedModel(std::shared_ptr<nn::Module> own, std::optional<Device> device, AverageFunction avg_fn,
                             MultiAverageFunction multi_avg_fn, bool use_buffers)
    : nn::Module("AveragedModel"),
      module_(std::move(own)),
      avg_fn_(std::move(avg_fn)),
      multi_avg_fn_(std::move(multi_avg_fn)),
      use_buffers_(use_buffers) {
  HB_CHECK(module_, "[AveragedModel] expected a module, got none");
  HB_CHECK(!avg_fn_ || !multi_avg_fn_, "Only one of avg_fn and multi_avg_fn should be provided");
  if (device) module_->to(*device);
  register_module("module", module_);
  n_averaged = register_buffer("n_averaged", zeros({}, TensorOptions(kLong).device(device.value_or(kCPU))));
}

void AveragedModel::average(const std::vector<Tensor>& averaged, const std::vector<Tensor>& current) const {
  if (!multi_avg_fn_) return one_by_one(avg_fn_ ? avg_fn_ : get_swa_avg_fn())(averaged, current, n_averaged);
  std::vector<bool> done(averaged.size());
  for (size_t first = 0; first < averaged.size(); ++first) {
    if (done[first]) continue;
    std::vector<Tensor> some, with;
    for (size_t i = first; i < averaged.size(); ++i) {
      if (averaged[i].device() != averaged[first].device() ||
          averaged[i].scalar_type() != averaged[first].scalar_type())
        continue;
      done[i] = true;
      some.push_back(averaged[i]), with.push_back(current[i]);
    }
    multi_avg_fn_(some, with, n_averaged.to(averaged[first].device()));
  }
}

void AveragedModel::update_parameters(const nn::Module& model) {
  NoGradGuard no_grad;
  auto own = module_->parameters(), of_model = model.parameters();
  auto own_buffers = module_->buffers(), model_buffers = model.buffers();
  HB_CHECK(own.size() == of_model.size() && own_buffers.size() == model_buffers.size(),
           "[AveragedModel] expected a model with ", own.size(), " parameters and ", own_buffers.size(),
           " buffers, got one with ", of_model.size(), " and ", model_buffers.size());
  if (use_buffers_) {
    own.insert(own.end(), own_buffers.begin(), own_buffers.end());
    of_model.insert(of_model.end(), model_buffers.begin(), model_buffers.end());
  }
  std::vector<Tensor> averaged, current;
  for (size_t i = 0; i < own.size(); ++i) {
    averaged.push_back(own[i].detach());
    current.push_back(of_model[i].detach().to(own[i].device()));
  }
  if (n_averaged.item<int64_t>() == 0)
    for (size_t i = 0; i < averaged.size(); ++i) averaged[i].copy_(current[i]);
  else
    average(averaged, current);
  if (!use_buffers_)
    for (size_t i = 0; i < own_buffers.size(); ++i) own_buffers[i].copy_(model_buffers[i]);
  n_averaged.add_(1);
}

namespace detail {
namespace {
template <class Norm>
std::optional<double>* reset(nn::Module& module) {
  auto* norm = module.as<Norm>();
  if (!norm) return nullptr;
  norm->reset_running_stats();
  return &norm->options.momentum();
}
}  // namespace

BatchNormMeans::BatchNormMeans(nn::Module& model) : model_(model), training_(model.is_training()) {
  for (const auto& module : model.modules(false)) {
    auto* momentum = reset<nn::BatchNorm1dImpl>(*module);
    if (!momentum) momentum = reset<nn::BatchNorm2dImpl>(*module);
    if (!momentum) momentum = reset<nn::BatchNorm3dImpl>(*module);
    if (!momentum) continue;
    momenta_.emplace_back(momentum, *momentum);
    momentum->reset();
  }
  if (any()) model.train();
}
BatchNormMeans::~BatchNormMeans() {
  for (auto& [place, momentum] : momenta_) *place = momentum;
  if (any()) model_.train(training_);
}
}  // namespace detail

}  // namespace hb::bridge::optim::swa_utils
