#include <halfbridge/bridge/distributed/sync_batch_norm.h>
#include <halfbridge/distributed/init.h>

#include <ostream>

#include "distributed/batch_statistics.h"

namespace hb::bridge::nn {
inline namespace modules {

namespace {

std::shared_ptr<distributed::BatchStatistics> statistics(intrusive_ptr<distributed::ProcessGroup> group) {
  if (!group) group = distributed::default_group();
  if (group->getSize() == 1) return nullptr;
  return std::make_shared<distributed::BatchStatistics>(std::move(group));
}

}  // namespace

void sync_batch_norms(Module& module, intrusive_ptr<distributed::ProcessGroup> group) {
  const auto shared = statistics(std::move(group));
  module.apply([&](Module& m) {
    if (auto* one = m.as<BatchNorm1dImpl>()) one->all_ranks = shared;
    if (auto* two = m.as<BatchNorm2dImpl>()) two->all_ranks = shared;
    if (auto* three = m.as<BatchNorm3dImpl>()) three->all_ranks = shared;
  });
}

SyncBatchNormImpl::SyncBatchNormImpl(const BatchNormOptions& options, intrusive_ptr<distributed::ProcessGroup> group)
    : BatchNormImplBase(options) {
  all_ranks = statistics(std::move(group));
}

void SyncBatchNormImpl::_check_input_dim(const Tensor& input) {
  HB_CHECK(input.dim() >= 2, "expected at least 2D input (got ", input.dim(), "D input)");
}

void SyncBatchNormImpl::pretty_print(std::ostream& stream) const {
  stream << std::boolalpha << "torch::nn::SyncBatchNorm(" << options.num_features() << ", eps=" << options.eps()
         << ", momentum=";
  if (options.momentum())
    stream << *options.momentum();
  else
    stream << "None";
  stream << ", affine=" << options.affine() << ", track_running_stats=" << options.track_running_stats() << ")";
}

}  // namespace modules
}  // namespace hb::bridge::nn
