#include "distributed/reducer.h"

#include "autograd/backward_pass.h"

#include <halfbridge/distributed/objects.h>

#include <algorithm>
#include <numeric>
#include <unordered_set>

#include <halfbridge/grad_mode.h>
#include <halfbridge/ops.h>

namespace hb::distributed {

namespace {

bool same_memory(const Tensor& a, const Tensor& b) {
  return a.scalar_type() == b.scalar_type() && a.sizes() == b.sizes() && a.data_ptr() == b.data_ptr() &&
         a.is_contiguous();
}

}  // namespace

Reducer::Reducer(std::vector<Tensor> parameters, std::vector<std::string> names, std::vector<bool> sparse,
                 intrusive_ptr<ProcessGroup> group, const DataParallelOptions& options)
    : parameters_(std::move(parameters)),
      names_(std::move(names)),
      sparse_(std::move(sparse)),
      group_(std::move(group)),
      options_(options),
      hook_(allreduce_hook),
      divisor_(group_->getSize()),
      times_(parameters_.size()) {
  std::vector<size_t> order(parameters_.size());
  std::iota(order.rbegin(), order.rend(), size_t{0});  // gradients of the last layers come first
  rebuild(order);
}

Reducer::~Reducer() {
  withdraw_places();
  for (size_t i = 0; i < hooks_.size(); ++i) accumulators_[i]->del_post_hook(hooks_[i]);
}

void Reducer::watch() {
  for (size_t i = 0; i < parameters_.size(); ++i) {
    accumulators_.push_back(
        std::dynamic_pointer_cast<autodiff::AccumulateGrad>(gradient_edge(parameters_[i]).function));
    HB_CHECK(accumulators_[i], "[DistributedDataParallel] expected the parameters to be leaves, got ", names_[i],
             " with a history");
    number_[accumulators_[i].get()] = i;
    hooks_.push_back(
        accumulators_[i]->add_post_hook([self = weak_from_this(), i](const variable_list& out, const variable_list&) {
          if (const auto reducer = self.lock()) reducer->ready(i);
          return out;
        }));
  }
  offer_places();
}

void Reducer::set_hook(CommHook hook) {
  HB_CHECK(passes_ == 0 && !begun_, "[register_comm_hook] expected to be called before the first backward pass");
  hook_ = std::move(hook);
}

std::string Reducer::unfinished() const {
  std::string names;
  for (size_t i = 0; i < parameters_.size(); ++i)
    if (!arrived_[i]) names += (names.empty() ? "" : ", ") + names_[i];
  return names;
}

void Reducer::begin_pass() {
  rebuild_if_due();
  expecting_ = true, begun_ = within_ = false, next_ = 0;
  arrived_.assign(parameters_.size(), false);
  used_.assign(parameters_.size(), true);
  times_left_ = times_;
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
  if (options_.find_unused_parameters() && !options_.static_graph()) find_unused(outputs);
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
  if (!expecting_) {
    if (within_) changed(parameter);  // after its last gradient
    return;
  }
  NoGradGuard no_grad;
  HB_CHECK(!arrived_[parameter] || options_.static_graph(),
           "[DistributedDataParallel] Expected to mark a variable ready only once, got a second gradient for ",
           names_[parameter],
           " in one pass: it is used in several checkpoints that run backward by themselves (say static_graph(true) "
           "where each pass uses it as often), or forward was called twice before backward");
  const bool first = !std::exchange(begun_, true);
  if (first)
    for (const size_t i : unused_) fill(i, false);
  if (!rebuilt_ && passes_ == 0) {
    order_.erase(std::remove(order_.begin(), order_.end(), parameter), order_.end());
    order_.push_back(parameter);
  }
  if (options_.static_graph() && first) {
    within_ = true;
    autodiff::when_pass_ends([self = weak_from_this()] {
      if (const auto reducer = self.lock()) reducer->end_pass();
    });
  }
  if (options_.static_graph() && passes_ == 0) {
    ++times_[parameter];
    return;
  }
  if (options_.static_graph() && !counted(parameter)) return;
  fill(parameter, true);
  launch_full();
}

// Whether a static graph's parameter has got all of its gradients.
bool Reducer::counted(size_t parameter) {
  if (times_left_[parameter] == 0) changed(parameter);
  return --times_left_[parameter] == 0;
}

void Reducer::changed(size_t parameter) const {
  detail::fail<Error>(
      "[DistributedDataParallel] Your training graph has changed in this iteration, which is not compatible with "
      "static_graph set to True: ",
      names_[parameter], " got more gradients than in the first pass");
}

// Of a static graph. The end of the first pass tells how often each parameter gets a gradient.
void Reducer::end_pass() {
  within_ = false;
  if (passes_ > 0) return;
  NoGradGuard no_grad;
  for (size_t i = 0; i < parameters_.size(); ++i) {
    fill(i, times_[i] > 0);
    if (times_[i] == 0) unused_.push_back(i);
  }
  launch_full();
}

void Reducer::launch_full() {
  while (next_ < buckets_.size() && buckets_[next_].pending == 0) launch(next_++);
  if (next_ == buckets_.size()) finish();
}

void Reducer::fill(size_t parameter, bool used) {
  if (arrived_[parameter]) return;
  const auto [bucket, member] = place_[parameter];
  Flat& b = buckets_[bucket];
  const Tensor& grad = parameters_[parameter].grad();
  arrived_[parameter] = true, used_[parameter] = used || grad.defined();
  --b.pending;
  if (b.sparse) return fill_sparse(b, grad, parameter);
  const Tensor& view = b.views[member];
  HB_CHECK(!grad.defined() || !grad.is_sparse(), "[DistributedDataParallel] expected a dense gradient for ",
           names_[parameter], ", got a sparse one (of no Embedding with sparse(true))");
  if (!grad.defined())
    view.zero_();
  else if (!same_memory(grad, view))
    view.copy_(grad);
}

void Reducer::fill_sparse(Flat& bucket, const Tensor& grad, size_t parameter) {
  HB_CHECK(!grad.defined() || grad.is_sparse(),
           "[DistributedDataParallel] Expected variable to have sparse gradient: ", names_[parameter],
           " got a dense one");
  const Tensor& p = parameters_[parameter];
  const double scale = 1.0 / static_cast<double>(divisor_);
  if (grad.defined()) {
    const Tensor own = grad.detach().coalesce();
    bucket.data = sparse_coo_tensor(own._indices(), own._values() * scale, own.sizes());
  } else {
    std::vector<int64_t> none = p.sizes().vec();
    none[0] = 0;  // of the rows that an embedding's gradient has
    bucket.data = sparse_coo_tensor(zeros({1, 0}, TensorOptions(kLong).device(p.device())),
                                    zeros(none, p.options().requires_grad(false)), p.sizes());
  }
}

void Reducer::launch(size_t index) {
  Flat& b = buckets_[index];
  if (b.sparse) {
    std::vector<Tensor> list{b.data};
    b.finish = [work = group_->allreduce(list), data = b.data] {
      work->wait();
      return data;
    };
    return;
  }
  if (divisor_ != group_->getSize())
    b.data.mul_(static_cast<double>(group_->getSize()) / static_cast<double>(divisor_));
  GradBucket bucket;
  bucket.index = index, bucket.is_last = index + 1 == buckets_.size();
  bucket.buffer = b.data, bucket.gradients = b.views, bucket.group = group_;
  for (const size_t i : b.bucket.members) bucket.parameters.push_back(parameters_[i]);
  b.finish = hook_(bucket);
}

std::vector<bool> Reducer::used_anywhere() {
  if (options_.static_graph() && !static_used_.empty()) return static_used_;
  if (!options_.find_unused_parameters() && !options_.static_graph())
    return std::vector<bool>(parameters_.size(), true);
  const Tensor flags = zeros({static_cast<int64_t>(parameters_.size())}, kInt);
  auto* const values = flags.data_ptr<int32_t>();
  for (size_t i = 0; i < parameters_.size(); ++i) values[i] = used_[i];
  all_reduce(*group_, flags, ReduceOp::MAX);
  static_used_.assign(values, values + parameters_.size());
  return static_used_;
}

void Reducer::finish() {
  const std::vector<bool> used = used_anywhere();
  for (Flat& b : buckets_) {
    const Tensor result = std::exchange(b.finish, nullptr)();
    if (b.sparse) {
      if (used[b.bucket.members[0]]) parameters_[b.bucket.members[0]].mutable_grad() = result;
      continue;
    }
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
  for (Flat& b : buckets_)
    if (b.sparse)
      fill_sparse(b, Tensor(), b.bucket.members[0]);
    else
      b.data.zero_();
  used_.assign(parameters_.size(), false);
  while (next_ < buckets_.size()) launch(next_++);
  used_anywhere();
  for (Flat& b : buckets_) std::exchange(b.finish, nullptr)();
  ++passes_;
  expecting_ = begun_ = false;
}

}  // namespace hb::distributed
