#include <halfbridge/bridge/distributed/data_parallel.h>
#include <halfbridge/bridge/distributed/sync_batch_norm.h>
#include <halfbridge/bridge/nn/embedding.h>
#include <halfbridge/distributed/init.h>
#include <halfbridge/distributed/objects.h>

#include <halfbridge/grad_mode.h>
#include <halfbridge/ops.h>

#include "distributed/reducer.h"
#include "distributed/shared_parameters.h"

namespace hb::bridge::nn::parallel {

using distributed::ProcessGroup;
using distributed::Reducer;

namespace {

// What a rank tells the others before each forward pass of a join: a bit each.
enum Status : int64_t { kActive = 1, kAverages = 2, kSendsBuffers = 4 };

struct Round {
  int64_t active = 0, averages = 0, sends_buffers = 0;  // how many ranks
  int last = -1;                                        // the last active rank
};

Round exchange(ProcessGroup& group, int64_t own) {
  const Tensor all = zeros({group.getSize()}, kLong);
  auto* const values = all.data_ptr<int64_t>();
  values[group.getRank()] = own;
  distributed::all_reduce(group, all);
  Round round;
  for (int r = 0; r < group.getSize(); ++r) {
    round.active += (values[r] & kActive) != 0;
    round.averages += (values[r] & kAverages) != 0;
    round.sends_buffers += (values[r] & kSendsBuffers) != 0;
    if (values[r] & kActive) round.last = r;
  }
  return round;
}

/// The parameters whose gradients are sparse tensors: those of embeddings that say so.
std::vector<bool> sparse_ones(const Module& module, const std::vector<Tensor>& parameters) {
  std::vector<bool> sparse(parameters.size());
  for (const auto& m : module.modules()) {
    Tensor weight;
    if (const auto* e = m->as<EmbeddingImpl>(); e && e->options.sparse()) weight = e->weight;
    if (const auto* e = m->as<EmbeddingBagImpl>(); e && e->options.sparse()) weight = e->weight;
    for (size_t i = 0; weight.defined() && i < parameters.size(); ++i)
      if (parameters[i].is_same(weight)) sparse[i] = true;
  }
  return sparse;
}

/// Whether a layer needs all ranks in each forward pass.
bool normalises_over_ranks(const Module& module) {
  for (const auto& m : module.modules()) {
    const auto* one = m->as<BatchNorm1dImpl>();
    const auto* two = m->as<BatchNorm2dImpl>();
    const auto* three = m->as<BatchNorm3dImpl>();
    const auto* sync = m->as<SyncBatchNormImpl>();
    if ((one && one->all_ranks) || (two && two->all_ranks) || (three && three->all_ranks) || (sync && sync->all_ranks))
      return true;
  }
  return false;
}

// Ranks that have built different models would wait for each other for ever.
void check_alike(ProcessGroup& group, const OrderedDict<std::string, Tensor>& parameters) {
  std::string own;
  for (const auto& item : parameters)
    own += hb::detail::str(item.key(), " ", item.value().scalar_type(), " ", item.value().sizes(), "\n");
  const auto all = distributed::all_gather_bytes(group, own);
  for (size_t r = 1; r < all.size(); ++r)
    HB_CHECK(all[r] == all[0], "[DistributedDataParallel] expected the same parameters on all ranks, got on rank 0\n",
             all[0], "and on rank ", r, "\n", all[r]);
}

}  // namespace

struct DistributedDataParallelBase::State {
  DataParallelOptions options;
  intrusive_ptr<ProcessGroup> group;
  std::vector<Tensor> parameters, buffers;  // parameters: all, those without a gradient too
  std::vector<std::string> names;
  std::shared_ptr<Reducer> reducer;
  bool sync = true, buffers_due = true;
  bool joins = false, needs_all_ranks = false;
  JoinOptions join;
  Round round;

  bool alone() const { return group->getSize() == 1; }
  bool sends_buffers() const { return options.broadcast_buffers() && buffers_due && !buffers.empty(); }
  void tell(int64_t status) {
    round = exchange(*group, status);
    const bool uneven = round.active > 0 && round.active < group->getSize();
    HB_CHECK(!uneven || !join.throw_on_early_termination(),
             "[join] Detected at least one rank that exhausted inputs. Throwing across all ranks.");
    HB_CHECK(!uneven || !needs_all_ranks,
             "[join] expected inputs on all ranks, as SyncBatchNorm needs each of them in every forward pass; got "
             "some on ",
             round.active, " of ", group->getSize(), " ranks");
    if (!join.divide_by_initial_world_size() && round.active > 0) reducer->set_divisor(round.active);
  }
};

DistributedDataParallelBase::DistributedDataParallelBase(std::shared_ptr<Module> module,
                                                         const DataParallelOptions& options)
    : Module("DistributedDataParallel"), state_(new State) {
  HB_CHECK(module, "[DistributedDataParallel] expected a module, got an empty one");
  register_module("module", module);
  State& s = *state_;
  s.options = options;
  s.group = options.process_group() ? options.process_group() : distributed::default_group();
  std::vector<Tensor> trained;
  const auto named = module->named_parameters();
  for (const auto& item : named) {
    s.parameters.push_back(item.value());
    if (!item.value().requires_grad()) continue;
    trained.push_back(item.value());
    s.names.push_back(item.key());
  }
  HB_CHECK(!trained.empty(),
           "DistributedDataParallel is not needed when a module doesn't have any parameters that require a gradient.");
  s.buffers = module->buffers();
  if (!s.alone()) check_alike(*s.group, named);
  if (options.init_sync()) {
    distributed::broadcast_all(*s.group, s.parameters);
    distributed::broadcast_all(*s.group, s.buffers);
  }
  distributed::share_parameters(trained, s.group);
  s.reducer = std::make_shared<Reducer>(trained, s.names, sparse_ones(*module, trained), s.group, options);
  if (!s.alone()) s.reducer->watch();
}

DistributedDataParallelBase::~DistributedDataParallelBase() = default;

void DistributedDataParallelBase::before_forward() {
  State& s = *state_;
  if (s.alone()) return;
  const bool averages = s.sync && GradMode::is_enabled();
  if (s.joins) {
    int64_t status = kActive;
    if (averages) status |= kAverages;
    if (s.sends_buffers()) status |= kSendsBuffers;
    s.tell(status);
  } else if (distributed::debug_level() == distributed::DebugLevel::Detail) {
    distributed::check_equal_on_all_ranks(*s.group, s.parameters);
  }
  if (s.sends_buffers()) distributed::broadcast_all(*s.group, s.buffers, s.joins ? s.round.last : 0);
}

void DistributedDataParallelBase::after_forward(const TensorPointers& outputs) {
  State& s = *state_;
  if (s.alone()) return;
  s.buffers_due = s.sync;
  if (!s.sync || !GradMode::is_enabled()) {
    s.reducer->skip();
    return;
  }
  variable_list list;
  for (const Tensor* t : outputs) list.push_back(*t);
  s.reducer->prepare(list);
}

DistributedDataParallelBase::NoSync::NoSync(DistributedDataParallelBase& model)
    : model_(model), before_(std::exchange(model.state_->sync, false)) {}
DistributedDataParallelBase::NoSync::~NoSync() { model_.state_->sync = before_; }

void DistributedDataParallelBase::join(const std::function<void()>& loop, const JoinOptions& options) {
  State& s = *state_;
  if (s.alone() || !options.enable()) return loop();
  struct Joins {
    State& state;
    ~Joins() {
      state.joins = false, state.join = {};
      state.reducer->set_divisor(state.group->getSize());
    }
  } joins{s};
  s.joins = true, s.join = options, s.round = {};
  s.needs_all_ranks = normalises_over_ranks(*this);
  loop();
  int last = s.round.last;
  for (s.tell(0); s.round.active > 0; s.tell(0)) {
    last = s.round.last;
    if (s.round.sends_buffers) distributed::broadcast_all(*s.group, s.buffers, last);
    if (s.round.averages) s.reducer->shadow();
  }
  if (last < 0) return;
  distributed::broadcast_all(*s.group, s.parameters, last);
  distributed::broadcast_all(*s.group, s.buffers, last);
}

void DistributedDataParallelBase::register_comm_hook(distributed::CommHook hook) {
  state_->reducer->set_hook(std::move(hook));
}
const intrusive_ptr<ProcessGroup>& DistributedDataParallelBase::process_group() const { return state_->group; }
std::vector<int64_t> DistributedDataParallelBase::bucket_sizes() const { return state_->reducer->bucket_sizes(); }

}  // namespace hb::bridge::nn::parallel
