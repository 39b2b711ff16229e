#pragma once
// A sharded optimizer (ZeRO-1): each rank keeps the state of its share of the parameters alone.

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <halfbridge/bridge/optim/optimizer.h>
#include <halfbridge/distributed/process_group.h>

namespace hb::bridge::optim {

struct HB_API ZeroOptions {
  /// Null: that of hb::distributed::init().
  HB_ARG(intrusive_ptr<distributed::ProcessGroup>, process_group);
  /// The gradients are this rank's own: their mean goes to the rank that updates the parameter. False: they are equal
  /// on all ranks already, as DistributedDataParallel and DistributedGradReducer leave them.
  HB_ARG(bool, reduce_gradients) = false;
};

/// What does not depend on the optimizer's class.
class HB_API ShardedOptimizer : public Optimizer {
 public:
  using Make = std::function<std::unique_ptr<Optimizer>(std::vector<OptimizerParamGroup>)>;
  ShardedOptimizer(const std::vector<OptimizerParamGroup>& groups, std::unique_ptr<OptimizerOptions> defaults,
                   const Make& make, const ZeroOptions& options);
  ~ShardedOptimizer() override;

  /// All ranks call these: this rank's share is updated, and all ranks get all parameters. Options are those of
  /// param_groups(), which schedulers may change.
  Tensor step(LossClosure closure = nullptr) override;
  Tensor step(const std::vector<Tensor>& grads, LossClosure closure = nullptr) override;
  bool supports_amp_scaling() const override { return local_->supports_amp_scaling(); }

  /// The optimizer of this rank's share.
  Optimizer& local() { return *local_; }
  const Optimizer& local() const { return *local_; }
  /// Which rank updates each parameter, in the order of all groups.
  const std::vector<int>& owners() const { return owners_; }

  /// The state of all ranks, as one optimizer of all parameters has it, on rank `to`; on others an empty dict. All
  /// ranks call it.
  IValue state_dict(int to = 0) const;
  /// Takes this rank's share of such a dict, which all ranks are given.
  void load_state_dict(const IValue& dict);
  /// This rank's share alone: for checkpoints that are read by as many ranks.
  IValue shard_state_dict() const { return local_->state_dict(); }
  void load_shard_state_dict(const IValue& dict) { local_->load_state_dict(dict); }
  /// This rank's share.
  void save(serialize::OutputArchive& archive) const override;
  void load(serialize::InputArchive& archive) override;

 private:
  std::vector<Tensor> all_parameters() const;
  std::vector<Tensor> mean_of_own(const std::vector<Tensor>& grads) const;
  void follow_options();

  intrusive_ptr<distributed::ProcessGroup> group_;
  bool reduce_;
  std::vector<int> owners_;
  std::unique_ptr<Optimizer> local_;
};

/// Python's ZeroRedundancyOptimizer:
///
///   torch::nn::parallel::DistributedDataParallel model(net);
///   torch::optim::ZeroRedundancyOptimizer<torch::optim::Adam> optimizer(model->parameters(),
///   torch::optim::AdamOptions(1e-3));
///
/// Weights are those that the optimizer alone gives, bit for bit; of its state each rank has about one part in
/// `group_size`. Whole parameters are shared out, the largest first.
template <class O>
class ZeroRedundancyOptimizer : public ShardedOptimizer {
 public:
  template <class Options>
  ZeroRedundancyOptimizer(std::vector<Tensor> parameters, const Options& defaults, const ZeroOptions& options = {})
      : ZeroRedundancyOptimizer(std::vector<OptimizerParamGroup>{OptimizerParamGroup(std::move(parameters))}, defaults,
                                options) {}
  template <class Options>
  ZeroRedundancyOptimizer(const std::vector<OptimizerParamGroup>& groups, const Options& defaults,
                          const ZeroOptions& options = {})
      : ShardedOptimizer(
            groups, std::make_unique<Options>(defaults),
            [&](std::vector<OptimizerParamGroup> own) { return std::make_unique<O>(std::move(own), defaults); },
            options) {}
};

}  // namespace hb::bridge::optim
