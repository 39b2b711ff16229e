#pragma once
// torch::nn::parallel::DistributedDataParallel: one model, trained by several processes.

#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <halfbridge/bridge/distributed/data_parallel_options.h>
#include <halfbridge/bridge/nn/module.h>

namespace hb::bridge::nn::parallel {

using hb::distributed::DataParallelOptions;
using hb::distributed::JoinOptions;

/// What does not depend on the wrapped module's class.
class HB_API DistributedDataParallelBase : public Module {
 public:
  ~DistributedDataParallelBase() override;

  /// Backward passes of forward passes within the guard's life stay on this rank: their gradients are summed, and the
  /// first pass after it averages the sum.
  class HB_API NoSync {
   public:
    explicit NoSync(DistributedDataParallelBase& model);
    ~NoSync();
    NoSync(const NoSync&) = delete;
    NoSync& operator=(const NoSync&) = delete;

   private:
    DistributedDataParallelBase& model_;
    bool before_;
  };
  [[nodiscard]] NoSync no_sync() { return NoSync(*this); }

  /// Runs a loop in which ranks may have different numbers of batches. A rank whose loop has ended takes part in the
  /// others' collectives until all have; then all have the weights of the last one that had data. Not with
  /// SyncBatchNorm, whose own collectives nobody would answer, unless options.throw_on_early_termination().
  void join(const std::function<void()>& loop, const JoinOptions& options = {});

  /// How buckets of gradients travel. Once, before the first backward pass.
  void register_comm_hook(distributed::CommHook hook);
  const intrusive_ptr<distributed::ProcessGroup>& process_group() const;
  /// Bytes of the buckets, in their order.
  std::vector<int64_t> bucket_sizes() const;

 protected:
  DistributedDataParallelBase(std::shared_ptr<Module> module, const DataParallelOptions& options);
  void before_forward();
  void after_forward(const TensorPointers& outputs);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// A module whose gradients become the mean of all ranks' in the backward pass, while that still runs. Ranks begin with
/// rank 0's weights, and keep equal ones as long as their optimizers do the same.
template <class M>
class DistributedDataParallelImpl : public DistributedDataParallelBase {
 public:
  explicit DistributedDataParallelImpl(std::shared_ptr<M> module, const DataParallelOptions& options = {})
      : DistributedDataParallelBase(module, options), module(std::move(module)) {}

  template <class... Args>
  auto forward(Args&&... args) {
    before_forward();
    auto outputs = module->call_hooked([&](auto&&... a) { return module->forward(std::forward<decltype(a)>(a)...); },
                                       std::forward<Args>(args)...);
    TensorPointers found;
    detail::collect_tensors(outputs, found);
    after_forward(found);
    return outputs;
  }

  std::shared_ptr<M> module;
};

/// A handle, as all modules have:
///
///   hb::distributed::init();
///   torch::nn::parallel::DistributedDataParallel model(net);
///   torch::optim::Adam optimizer(model->parameters(), 1e-3);
///   loss_of(model(x), y).backward();
///   optimizer.step();
///
/// `net` is a module's holder or a shared_ptr. Names of parameters begin with "module.", as in Python.
template <class M>
class DistributedDataParallel : public ModuleHolder<DistributedDataParallelImpl<M>> {
 public:
  using Impl = DistributedDataParallelImpl<M>;
  explicit DistributedDataParallel(std::shared_ptr<M> module, const DataParallelOptions& options = {})
      : ModuleHolder<Impl>(std::make_shared<Impl>(std::move(module), options)) {}
  explicit DistributedDataParallel(const ModuleHolder<M>& module, const DataParallelOptions& options = {})
      : DistributedDataParallel(module.ptr(), options) {}
};
template <class M>
DistributedDataParallel(std::shared_ptr<M>, DataParallelOptions = {}) -> DistributedDataParallel<M>;
template <class H, class M = typename H::ContainedType>
DistributedDataParallel(const H&, DataParallelOptions = {}) -> DistributedDataParallel<M>;

}  // namespace hb::bridge::nn::parallel
