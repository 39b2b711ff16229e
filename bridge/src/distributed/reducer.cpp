#include "distributed/reducer.h"

#include <halfbridge/distributed/objects.h>

#include <algorithm>
#include <numeric>
#include <unordered_set>

#include <halfbridge/grad_mode.h>
#include <halfbridge/ops.h>

namespace hb::distributed {

namespace {

constexpr int64_t kFirstBucketBytes = 1 << 20;

bool same_memory(const Tensor& a, const Tensor& b) {
  return a.scalar_type() == b.scalar_type() && a.sizes() == b.sizes() && a.data_ptr() == b.data_ptr() &&
         a.is_contiguous();
}

/// Zeros, in memory that the ranks share where they can, so that sums copy nothing.
Tensor bucket_memory(ProcessGroup& group, int64_t numel, const Tensor& like) {
  const TensorOptions options = like.options().requires_grad(false);
  if (like.device() == Device(kCPU) && group.getSize() > 1) {
    const auto backend = group.getBackend(kCPU);
    if (backend->supportsTensorAlloc(-1)) return backend->allocateTensor(numel, options).zero_();
  }
  return zeros({numel}, options);
}

}  // namespace

Reducer::Reducer(std::vector<Tensor> parameters, std::vector<std::string> names, intrusive_ptr<ProcessGroup> group,
                 const DataParallelOptions& options)
    : parameters_(std::move(parameters)),
      names_(std::move(names)),
      group_(std::move(group)),
      options_(options),
      hook_(allreduce_hook),
      divisor_(group_->getSize()) {
  std::vector<size_t> order(parameters_.size());
  std::iota(order.rbegin(), order.rend(), size_t{0});  // gradients of the last layers come first
  rebuild(order);
}

Reducer::~Reducer() {
  for (size_t i = 0; i < hooks_.size(); ++i) accumulators_[i]->del_post_hook(hooks_[i]);
}

void Reducer::watch() {
  for (size_t i = 0; i < parameters_.size(); ++i) {
    accumulators_.push_back(gradient_edge(parameters_[i]).function);
    number_[accumulators_[i].get()] = i;
    hooks_.push_back(
        accumulators_[i]->add_post_hook([self = weak_from_this(), i](const variable_list& out, const variable_list&) {
          if (const auto reducer = self.lock()) reducer->ready(i);
          return out;
        }));
  }
}

void Reducer::rebuild(const std::vector<size_t>& order) {
  const auto cap = std::max<int64_t>(static_cast<int64_t>(options_.bucket_cap_mb() * (1 << 20)), 1);
  buckets_.clear();
  place_.assign(parameters_.size(), {});
  for (Bucket& b : make_buckets(parameters_, order, std::min(kFirstBucketBytes, cap), cap)) {
    Flat flat;
    flat.data = bucket_memory(*group_, b.numel, parameters_[b.members[0]]);
    for (size_t m = 0; m < b.members.size(); ++m) {
      flat.views.push_back(view_in(flat.data, b, m, parameters_[b.members[m]]));
      place_[b.members[m]] = {buckets_.size(), m};
    }
    flat.bucket = std::move(b);
    buckets_.push_back(std::move(flat));
  }
}

// After the first pass, in the order in which rank 0's gradients came. Whether it is due depends on what all ranks know
// alone: a rank without data may have seen no gradient.
void Reducer::rebuild_if_due() {
  if (rebuilt_ || passes_ == 0 || options_.find_unused_parameters()) return;
  rebuilt_ = true;
  for (size_t i = 0; i < parameters_.size(); ++i)
    if (std::find(order_.begin(), order_.end(), i) == order_.end()) order_.push_back(i);
  const std::string own(reinterpret_cast<const char*>(order_.data()), order_.size() * sizeof(size_t));
  const std::string bytes = broadcast_bytes(*group_, own);
  const auto* numbers = reinterpret_cast<const size_t*>(bytes.data());
  rebuild({numbers, numbers + parameters_.size()});
}

void Reducer::set_hook(CommHook hook) {
  HB_CHECK(passes_ == 0 && !begun_, "[register_comm_hook] expected to be called before the first backward pass");
  hook_ = std::move(hook);
}

std::vector<int64_t> Reducer::bucket_sizes() const {
  std::vector<int64_t> sizes;
  for (const Flat& b : buckets_) sizes.push_back(b.bucket.numel * static_cast<int64_t>(b.data.element_size()));
  return sizes;
}

std::string Reducer::unfinished() const {
  std::string names;
  for (size_t i = 0; i < parameters_.size(); ++i)
    if (!arrived_[i]) names += (names.empty() ? "" : ", ") + names_[i];
  return names;
}

void Reducer::begin_pass() {
  rebuild_if_due();
  expecting_ = true, begun_ = false, next_ = 0;
  arrived_.assign(parameters_.size(), false);
  used_.assign(parameters_.size(), true);
  for (Flat& b : buckets_) b.pending = b.bucket.members.size(), b.finish = nullptr;
}

void Reducer::prepare(const variable_list& outputs) {
  HB_CHECK(!begun_,
           "[DistributedDataParallel] Expected to have finished reduction in the prior iteration before starting a new "
           "one. These parameters got no gradient from it: ",
           unfinished(),
           ". Where the loss does not depend on all parameters, say find_unused_parameters(true); all outputs of "
           "forward have to take part in the loss");
  begin_pass();
  const bool look = options_.find_unused_parameters() || (options_.static_graph() && !unused_known_);
  if (look) find_unused(outputs);
  unused_known_ = options_.static_graph();
}

// The parameters whose accumulators no path from the outputs reaches.
void Reducer::find_unused(const variable_list& outputs) {
  std::vector<const autodiff::Node*> todo;
  std::unordered_set<const autodiff::Node*> seen;
  const auto visit = [&](const autodiff::Node* node) {
    if (node && seen.insert(node).second) todo.push_back(node);
  };
  for (const Tensor& t : outputs)
    if (t.defined() && t.requires_grad()) visit(gradient_edge(t).function.get());
  while (!todo.empty()) {
    const autodiff::Node* node = todo.back();
    todo.pop_back();
    for (const autodiff::Edge& edge : node->next_edges()) visit(edge.function.get());
  }
  unused_.clear();
  for (size_t i = 0; i < parameters_.size(); ++i)
    if (!seen.count(accumulators_[i].get())) unused_.push_back(i);
}

// After the gradient of a parameter was summed into its .grad().
void Reducer::ready(size_t parameter) {
  if (!expecting_) return;
  NoGradGuard no_grad;
  HB_CHECK(!arrived_[parameter],
           "[DistributedDataParallel] Expected to mark a variable ready only once, got a second gradient for ",
           names_[parameter],
           " in one pass: a part of the network runs backward twice (reentrant checkpoints), or "
           "forward was called twice before backward");
  if (!begun_) {
    begun_ = true;
    for (const size_t i : unused_) fill(i, false);
  }
  if (!rebuilt_ && passes_ == 0) order_.push_back(parameter);
  fill(parameter, true);
  while (next_ < buckets_.size() && buckets_[next_].pending == 0) launch(next_++);
  if (next_ == buckets_.size()) finish();
}

void Reducer::fill(size_t parameter, bool used) {
  if (arrived_[parameter]) return;
  const auto [bucket, member] = place_[parameter];
  Flat& b = buckets_[bucket];
  const Tensor& view = b.views[member];
  const Tensor& grad = parameters_[parameter].grad();
  HB_CHECK(!grad.defined() || !grad.is_sparse(), "[DistributedDataParallel] expected a dense gradient for ",
           names_[parameter], ", got a sparse one");
  if (!grad.defined())
    view.zero_();
  else if (!same_memory(grad, view))
    view.copy_(grad);
  arrived_[parameter] = true, used_[parameter] = used || grad.defined();
  --b.pending;
}

void Reducer::launch(size_t index) {
  Flat& b = buckets_[index];
  if (divisor_ != group_->getSize())
    b.data.mul_(static_cast<double>(group_->getSize()) / static_cast<double>(divisor_));
  GradBucket bucket;
  bucket.index = index, bucket.is_last = index + 1 == buckets_.size();
  bucket.buffer = b.data, bucket.gradients = b.views, bucket.group = group_;
  for (const size_t i : b.bucket.members) bucket.parameters.push_back(parameters_[i]);
  b.finish = hook_(bucket);
}

std::vector<bool> Reducer::used_anywhere() {
  if (!options_.find_unused_parameters()) return std::vector<bool>(parameters_.size(), true);
  const Tensor flags = zeros({static_cast<int64_t>(parameters_.size())}, kInt);
  auto* const values = flags.data_ptr<int32_t>();
  for (size_t i = 0; i < parameters_.size(); ++i) values[i] = used_[i];
  all_reduce(*group_, flags, ReduceOp::MAX);
  return std::vector<bool>(values, values + parameters_.size());
}

void Reducer::finish() {
  const std::vector<bool> used = used_anywhere();
  for (Flat& b : buckets_) {
    const Tensor result = std::exchange(b.finish, nullptr)();
    HB_CHECK(result.defined() && result.numel() == b.data.numel(),
             "[DistributedDataParallel] expected the hook to give ", b.data.numel(), " values, got ",
             result.defined() ? result.numel() : 0);
    if (!same_memory(result, b.data)) b.data.copy_(result.view({-1}));
    for (size_t m = 0; m < b.views.size(); ++m)
      if (used[b.bucket.members[m]]) give_back(b.bucket.members[m], b.views[m]);
  }
  ++passes_;
  expecting_ = begun_ = false;
}

void Reducer::give_back(size_t parameter, const Tensor& view) {
  Tensor& grad = parameters_[parameter].mutable_grad();
  if (options_.gradient_as_bucket_view()) {
    if (!grad.defined() || !same_memory(grad, view)) grad = view;
  } else if (grad.defined()) {
    grad.copy_(view);
  } else {
    grad = view.clone();
  }
}

void Reducer::shadow() {
  NoGradGuard no_grad;
  begin_pass();
  for (Flat& b : buckets_) b.data.zero_();
  used_.assign(parameters_.size(), false);
  while (next_ < buckets_.size()) launch(next_++);
  used_anywhere();
  for (Flat& b : buckets_) std::exchange(b.finish, nullptr)();
  ++passes_;
  expecting_ = begun_ = false;
}

}  // namespace hb::distributed
