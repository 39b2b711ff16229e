#include <halfbridge/bridge/distributed/zero_optimizer.h>
#include <halfbridge/bridge/serialize.h>
#include <halfbridge/distributed/init.h>
#include <halfbridge/distributed/objects.h>

#include <algorithm>
#include <numeric>

#include <halfbridge/grad_mode.h>
#include <halfbridge/ops.h>

#include "distributed/buckets.h"
#include "distributed/present.h"
#include "distributed/shared_parameters.h"
#include "optim/step.h"

namespace hb::bridge::optim {

using distributed::ProcessGroup;

namespace {

// The largest first, each to the rank that has least.
std::vector<int> share_out(const std::vector<Tensor>& parameters, int ranks) {
  std::vector<size_t> order(parameters.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return parameters[a].numel() > parameters[b].numel(); });
  std::vector<int64_t> load(static_cast<size_t>(ranks), 0);
  std::vector<int> owners(parameters.size());
  for (const size_t i : order) {
    const auto least = std::min_element(load.begin(), load.end());
    owners[i] = static_cast<int>(least - load.begin());
    *least += parameters[i].numel();
  }
  return owners;
}

// `entries` of the state of one group's share, under the numbers that the parameters have among all.
void add_entries(Dict<int64_t, IValue>& into, const IValue& shard, const std::vector<int64_t>& numbers) {
  for (const auto& entry : shard.toGenericDict().at("state").toGenericDict())
    into.insert_or_assign(numbers.at(static_cast<size_t>(entry.key().toInt())), entry.value());
}

}  // namespace

ShardedOptimizer::ShardedOptimizer(const std::vector<OptimizerParamGroup>& groups,
                                   std::unique_ptr<OptimizerOptions> defaults, const Make& make,
                                   const ZeroOptions& options)
    : Optimizer(groups, std::move(defaults)),
      group_(options.process_group() ? options.process_group() : distributed::default_group()),
      reduce_(options.reduce_gradients()) {
  const auto parameters = all_parameters();
  owners_ = share_out(parameters, group_->getSize());
  std::vector<OptimizerParamGroup> own;
  size_t at = 0;
  for (const auto& group : param_groups_) {
    std::vector<Tensor> share;
    for (const Tensor& p : group.params())
      if (owners_[at++] == group_->getRank()) share.push_back(p);
    own.emplace_back(std::move(share), group.options().clone());
  }
  local_ = make(std::move(own));
  if (reduce_) distributed::broadcast_all(*group_, parameters);
  distributed::share_parameters(parameters, group_);
}

ShardedOptimizer::~ShardedOptimizer() = default;

std::vector<Tensor> ShardedOptimizer::all_parameters() const {
  std::vector<Tensor> all;
  for (const auto& group : param_groups_) all.insert(all.end(), group.params().begin(), group.params().end());
  return all;
}

void ShardedOptimizer::follow_options() {
  HB_CHECK(size() == owners_.size(), "[ZeroRedundancyOptimizer] expected the ", owners_.size(),
           " parameters that it was made with, got ", size());
  for (size_t g = 0; g < param_groups_.size(); ++g)
    local_->param_groups()[g].set_options(param_groups_[g].options().clone());
  if (uses_master_weights() != local_->uses_master_weights()) local_->use_master_weights(uses_master_weights());
}

// A message to each rank, with the gradients of its share.
std::vector<Tensor> ShardedOptimizer::mean_of_own(const std::vector<Tensor>& grads) const {
  const auto parameters = all_parameters();
  auto all = distributed::present_grads(*group_, grads, parameters, "ZeroRedundancyOptimizer");
  std::vector<intrusive_ptr<distributed::Work>> works;
  for (int rank = 0; rank < group_->getSize(); ++rank) {
    std::vector<size_t> order;
    for (size_t i = 0; i < all.size(); ++i)
      if (owners_[i] == rank && all[i].defined()) order.push_back(i);
    for (const auto& bucket : distributed::make_buckets(all, order, 25 << 20, 25 << 20)) {
      const Tensor flat = zeros({bucket.numel}, all[bucket.members[0]].options());
      for (size_t m = 0; m < bucket.members.size(); ++m) {
        const Tensor view = distributed::view_in(flat, bucket, m, all[bucket.members[m]]);
        view.copy_(all[bucket.members[m]]);
        all[bucket.members[m]] = view;
      }
      std::vector<Tensor> list{flat};
      distributed::ReduceOptions options;
      options.reduceOp = distributed::as_mean(*group_, flat);
      options.rootRank = rank;
      works.push_back(group_->reduce(list, options));
    }
  }
  for (const auto& work : works) work->wait();
  return all;
}

Tensor ShardedOptimizer::step(LossClosure closure) {
  NoGradGuard no_grad;
  const Tensor loss = evaluate(closure);
  std::vector<Tensor> grads;
  for (const Tensor& p : all_parameters()) grads.push_back(p.grad());
  step(grads);
  return loss;
}

Tensor ShardedOptimizer::step(const std::vector<Tensor>& grads, LossClosure closure) {
  NoGradGuard no_grad;
  const Tensor loss = evaluate(closure);
  check_gradient_count("ZeroRedundancyOptimizer", *this, grads);
  follow_options();
  const auto all = reduce_ && group_->getSize() > 1 ? mean_of_own(grads) : grads;
  std::vector<Tensor> own;
  std::vector<std::vector<Tensor>> shares(static_cast<size_t>(group_->getSize()));
  const auto parameters = all_parameters();
  for (size_t i = 0; i < all.size(); ++i) {
    shares[static_cast<size_t>(owners_[i])].push_back(parameters[i]);
    if (owners_[i] == group_->getRank()) own.push_back(all[i]);
  }
  if (local_->supports_amp_scaling()) local_->set_amp_scaling(grad_scale(), found_inf());
  local_->step(own);
  if (local_->supports_amp_scaling()) local_->set_amp_scaling({}, {});
  for (int rank = 0; rank < group_->getSize(); ++rank)
    distributed::broadcast_all(*group_, shares[static_cast<size_t>(rank)], rank);
  return loss;
}

IValue ShardedOptimizer::state_dict(int to) const {
  const auto bytes = pickle_save(local_->state_dict());
  const auto shards = distributed::gather_bytes(*group_, std::string(bytes.begin(), bytes.end()), to);
  if (group_->getRank() != to) return Dict<std::string, IValue>();
  Dict<int64_t, IValue> state;
  for (int rank = 0; rank < group_->getSize(); ++rank) {
    std::vector<int64_t> numbers;
    for (size_t i = 0; i < owners_.size(); ++i)
      if (owners_[i] == rank) numbers.push_back(static_cast<int64_t>(i));
    const std::string& text = shards[static_cast<size_t>(rank)];
    add_entries(state, pickle_load({text.begin(), text.end()}), numbers);
  }
  auto dict = Optimizer::state_dict().toGenericDict();  // of groups and options; without state
  dict.insert_or_assign("state", state);
  return dict;
}

void ShardedOptimizer::load_state_dict(const IValue& from) {
  const auto dict = from.toGenericDict();
  HB_CHECK(
      dict.contains("state") && dict.contains("param_groups"),
      "[ZeroRedundancyOptimizer] expected a dict with 'state' and 'param_groups', as rank `to` of state_dict(to) has "
      "it, got ",
      dict.size(), " other entries");
  // Options through the base, which has no state; state through the local optimizer, under its own numbers.
  Dict<std::string, IValue> options;
  options.insert("state", Dict<int64_t, IValue>());
  options.insert("param_groups", dict.at("param_groups"));
  Optimizer::load_state_dict(options);
  follow_options();
  const auto states = dict.at("state").toGenericDict();
  Dict<int64_t, IValue> own;
  int64_t number = 0;
  for (size_t i = 0; i < owners_.size(); ++i) {
    if (owners_[i] != group_->getRank()) continue;
    const IValue key(static_cast<int64_t>(i));
    if (states.contains(key)) own.insert_or_assign(number, states.at(key));
    ++number;
  }
  auto shard = local_->state_dict().toGenericDict();
  shard.insert_or_assign("state", own);
  local_->load_state_dict(shard);
}

void ShardedOptimizer::save(serialize::OutputArchive& archive) const { local_->save(archive); }
void ShardedOptimizer::load(serialize::InputArchive& archive) { local_->load(archive); }

}  // namespace hb::bridge::optim
