#pragma once
// Batch normalisation with the statistics of all ranks' batches.

#include <memory>

#include <halfbridge/bridge/nn/normalization.h>
#include <halfbridge/distributed/process_group.h>

namespace hb::bridge::nn {
inline namespace modules {

/// Turns all BatchNorm1d, BatchNorm2d and BatchNorm3d in a module (itself, too) into layers whose statistics in
/// training are those of the batches of all ranks, which must all run them. Unlike Python's function it changes the
/// layers themselves: a member `BatchNorm2d bn` keeps its type. `group`: null for that of hb::distributed::init(). A
/// rank may have a batch of size 0. Returns the module.
HB_API void sync_batch_norms(Module& module, intrusive_ptr<distributed::ProcessGroup> group = {});

template <class M>
ModuleHolder<M> convert_sync_batchnorm(ModuleHolder<M> module, intrusive_ptr<distributed::ProcessGroup> group = {}) {
  sync_batch_norms(*module, std::move(group));
  return module;
}
template <class M>
std::shared_ptr<M> convert_sync_batchnorm(std::shared_ptr<M> module,
                                          intrusive_ptr<distributed::ProcessGroup> group = {}) {
  sync_batch_norms(*module, std::move(group));
  return module;
}

/// A layer that is made so, for inputs (N, C) to (N, C, D, H, W). Options as BatchNorm's.
class HB_API SyncBatchNormImpl : public BatchNormImplBase<0, SyncBatchNormImpl> {
 public:
  SyncBatchNormImpl(int64_t num_features) : SyncBatchNormImpl(BatchNormOptions(num_features)) {}  // NOLINT: implicit
  explicit SyncBatchNormImpl(const BatchNormOptions& options, intrusive_ptr<distributed::ProcessGroup> group = {});
  void pretty_print(std::ostream& stream) const override;

 protected:
  void _check_input_dim(const Tensor& input) override;
};
HB_LIBRARY_MODULE(SyncBatchNorm);

}  // namespace modules
}  // namespace hb::bridge::nn
