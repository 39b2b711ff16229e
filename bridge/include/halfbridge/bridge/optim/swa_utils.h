#pragma once
// Python's torch.optim.swa_utils: averages of a model's weights. SWALR stands in cyclic_schedulers.h.

#include <functional>
#include <memory>
#include <optional>
#include <type_traits>
#include <vector>

#include <halfbridge/bridge/nn/module.h>
#include <halfbridge/bridge/optim/cyclic_schedulers.h>
#include <halfbridge/grad_mode.h>

namespace hb::bridge::optim::swa_utils {

/// The new average of one tensor; `num_averaged` is how many went into the old one.
using AverageFunction =
    std::function<Tensor(const Tensor& averaged, const Tensor& current, const Tensor& num_averaged)>;
/// Updates all averages of one device and dtype in place.
using MultiAverageFunction = std::function<void(const std::vector<Tensor>& averaged, const std::vector<Tensor>& current,
                                                const Tensor& num_averaged)>;

/// The mean of all; the moving average decay * averaged + (1 - decay) * current. Throw for a decay outside [0, 1].
HB_API AverageFunction get_swa_avg_fn();
HB_API AverageFunction get_ema_avg_fn(double decay = 0.999);
HB_API MultiAverageFunction get_swa_multi_avg_fn();
HB_API MultiAverageFunction get_ema_multi_avg_fn(double decay = 0.999);

/// A copy of a model whose parameters are averages over the calls of update_parameters(): by default their mean. Its
/// state holds "n_averaged" and "module.…".
class HB_API AveragedModel : public nn::Module {
 public:
  /// The model is cloned; its class must derive from nn::Cloneable. With use_buffers, buffers are averaged too, else
  /// copied. Throws if both functions are given.
  explicit AveragedModel(const nn::Module& model, std::optional<Device> device = std::nullopt,
                         AverageFunction avg_fn = nullptr, MultiAverageFunction multi_avg_fn = nullptr,
                         bool use_buffers = false);
  /// For other classes: `own` is another instance, to hold the averages. Its values are overwritten.
  explicit AveragedModel(std::shared_ptr<nn::Module> own, std::optional<Device> device = std::nullopt,
                         AverageFunction avg_fn = nullptr, MultiAverageFunction multi_avg_fn = nullptr,
                         bool use_buffers = false);

  void update_parameters(const nn::Module& model);
  /// The averaged model: `averaged.module<Net>()->forward(x)`.
  template <class Net>
  auto module() const {
    auto* net = module_->as<Net>();
    HB_CHECK(net, "[AveragedModel] expected a module of the class asked for, got a ", module_->name());
    return net;
  }
  const std::shared_ptr<nn::Module>& module() const { return module_; }
  Tensor n_averaged;

 private:
  void average(const std::vector<Tensor>& averaged, const std::vector<Tensor>& current) const;

  std::shared_ptr<nn::Module> module_;
  AverageFunction avg_fn_;
  MultiAverageFunction multi_avg_fn_;
  bool use_buffers_;
};

namespace detail {
/// Lets the batch norms of a model take the plain mean of what they see, and gives them their momenta back.
class HB_API BatchNormMeans {
 public:
  explicit BatchNormMeans(nn::Module& model);
  BatchNormMeans(const BatchNormMeans&) = delete;
  BatchNormMeans& operator=(const BatchNormMeans&) = delete;
  ~BatchNormMeans();
  bool any() const { return !momenta_.empty(); }

 private:
  nn::Module& model_;
  bool training_;
  std::vector<std::pair<std::optional<double>*, std::optional<double>>> momenta_;
};
template <class Batch, class = void>
struct HasData : std::false_type {};
template <class Batch>
struct HasData<Batch, std::void_t<decltype(std::declval<Batch&>().data)>> : std::true_type {};
}  // namespace detail

/// Runs the model over the data once, so that its batch norms have the statistics of its present weights. `loader`
/// gives batches that are tensors or have them as `.data`; `model` is a holder or pointer with a `forward`.
template <class Loader, class Model>
void update_bn(Loader&& loader, Model&& model, std::optional<Device> device = std::nullopt) {
  NoGradGuard no_grad;
  detail::BatchNormMeans means(*model);
  if (!means.any()) return;
  for (auto& batch : loader) {
    Tensor input;
    if constexpr (detail::HasData<std::decay_t<decltype(batch)>>::value)
      input = batch.data;
    else
      input = batch;
    model->forward(device ? input.to(*device) : input);
  }
}

}  // namespace hb::bridge::optim::swa_utils
