#include <halfbridge/bridge/distributed/grad_reducer.h>
#include <halfbridge/distributed/init.h>
#include <halfbridge/distributed/objects.h>

#include <halfbridge/grad_mode.h>
#include <halfbridge/ops.h>

#include "distributed/buckets.h"
#include "distributed/present.h"
#include "distributed/shared_parameters.h"

namespace hb::distributed {

DistributedGradReducer::DistributedGradReducer(std::vector<Tensor> parameters, bool mean,
                                               intrusive_ptr<ProcessGroup> group, int64_t bucket_bytes)
    : parameters_(std::move(parameters)),
      mean_(mean),
      group_(group ? std::move(group) : default_group()),
      bucket_bytes_(bucket_bytes) {
  HB_CHECK(bucket_bytes > 0, "[DistributedGradReducer] expected buckets of 1 byte or more, got ", bucket_bytes);
  for (const Tensor& p : parameters_)
    HB_CHECK(p.defined(), "[DistributedGradReducer] expected parameters that are defined, got one that is not");
  broadcast_all(*group_, parameters_);
  share_parameters(parameters_, group_);
}

std::vector<Tensor> DistributedGradReducer::operator()(const std::vector<Tensor>& grads) const {
  HB_CHECK(grads.size() == parameters_.size(), "[DistributedGradReducer] expected ", parameters_.size(),
           " gradients, one per parameter, got ", grads.size());
  if (group_->getSize() == 1 || grads.empty()) return grads;
  if (debug_level() == DebugLevel::Detail) check_equal_on_all_ranks(*group_, parameters_);
  NoGradGuard no_grad;
  std::vector<Tensor> all = present_grads(*group_, grads, parameters_, "DistributedGradReducer");
  std::vector<size_t> order;
  for (size_t i = all.size(); i-- > 0;)  // the order of the backward pass
    if (all[i].defined()) order.push_back(i);
  const auto buckets = make_buckets(all, order, bucket_bytes_, bucket_bytes_);
  std::vector<intrusive_ptr<Work>> works;
  for (const Bucket& b : buckets) {
    Tensor flat = zeros({b.numel}, all[b.members[0]].options());
    for (size_t m = 0; m < b.members.size(); ++m) {
      Tensor& grad = all[b.members[m]];
      const Tensor view = view_in(flat, b, m, grad);
      view.copy_(grad);
      grad = view;
    }
    AllreduceOptions options;
    if (mean_) options.reduceOp = as_mean(*group_, flat);
    std::vector<Tensor> list{flat};
    works.push_back(group_->allreduce(list, options));
  }
  for (const auto& work : works) work->wait();
  return all;
}

}  // namespace hb::distributed
