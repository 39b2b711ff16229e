#include <halfbridge/bridge/optim/combined_schedulers.h>

#include <algorithm>

#include <halfbridge/bridge/optim/cyclic_schedulers.h>

namespace hb::bridge::optim {

namespace {
using List = std::vector<std::shared_ptr<LRScheduler>>;

Optimizer& checked(const char* name, Optimizer* optimizer, const List& schedulers, const char* to_be = "") {
  HB_CHECK(!schedulers.empty(), name, " expects at least one scheduler", to_be, ", but got no scheduler.");
  for (size_t i = 0; i < schedulers.size(); ++i) {
    const auto* scheduler = schedulers[i].get();
    HB_CHECK(scheduler, "[", name, "] expected schedulers, got a null one");
    HB_CHECK(!dynamic_cast<const ReduceLROnPlateau*>(scheduler), name,
             " does not support `ReduceLROnPlateau` scheduler as it requires additional kwargs to be specified when "
             "calling `step`, but got one at index ",
             i, " in the given schedulers sequence.");
    if (!optimizer) optimizer = &scheduler->optimizer();
    HB_CHECK(&scheduler->optimizer() == optimizer, name,
             " expects all schedulers to belong to the same optimizer, but that at index ", i, " belongs to another");
  }
  return *optimizer;
}

/// The states of the schedulers inside, as a list of dicts.
template <class T>
void inner_states(SchedulerState& state, const std::vector<std::shared_ptr<T>>& schedulers) {
  std::vector<IValue> dicts;
  if (!state.reading())
    for (const auto& scheduler : schedulers) dicts.push_back(scheduler->state_dict());
  IValue list(dicts);
  state("_schedulers", list);
  if (!state.reading()) return;
  const auto& read = list.toListRef();
  HB_CHECK(read.size() == schedulers.size(), "[LRScheduler::load_state_dict] expected the states of ",
           schedulers.size(), " schedulers, got ", read.size());
  for (size_t i = 0; i < read.size(); ++i) schedulers[i]->load_state_dict(read[i]);
}
}  // namespace

ChainedScheduler::ChainedScheduler(List schedulers, Optimizer* optimizer)
    : EpochScheduler(checked("ChainedScheduler", optimizer, schedulers, " to be chained")),
      schedulers_(std::move(schedulers)) {
  last_lrs_ = get_current_lrs();
}
double ChainedScheduler::get_lr(double, double, size_t) const {
  HB_NOT_SUPPORTED("[ChainedScheduler] is not supported as a later part of a SequentialLR: it cannot go to an epoch");
}
void ChainedScheduler::step() {
  for (const auto& scheduler : schedulers_) scheduler->step();
  last_lrs_ = get_current_lrs();
}
void ChainedScheduler::undo() {
  for (const auto& scheduler : schedulers_)
    if (auto* inner = dynamic_cast<EpochScheduler*>(scheduler.get())) inner->undo();
}
void ChainedScheduler::state(SchedulerState& state) {
  state("_last_lr", last_lrs_);
  inner_states(state, schedulers_);
}

SequentialLR::SequentialLR(Optimizer& optimizer, List schedulers, std::vector<int64_t> milestones, int64_t last_epoch)
    : EpochScheduler(checked("SequentialLR", &optimizer, schedulers)), milestones_(std::move(milestones)) {
  HB_CHECK(milestones_.size() + 1 == schedulers.size(),
           "Sequential Schedulers expects number of schedulers provided to be one more than the number of milestone "
           "points, but got number of schedulers ",
           schedulers.size(), " and the number of milestones to be equal to ", milestones_.size());
  for (const auto& scheduler : schedulers) {
    schedulers_.push_back(std::dynamic_pointer_cast<EpochScheduler>(scheduler));
    HB_CHECK(schedulers_.back(),
             "[SequentialLR] expected schedulers that count epochs, got one of LibTorch's: take those of lr_scheduler");
  }
  last_epoch_ = last_epoch + 1;
  // The schedulers have all made their first step; only that of the first one counts.
  for (auto& group : optimizer.param_groups()) group.options().set_lr(*group.options().initial_lr());
  undo();
  schedulers_[0]->initial_step();
  last_lrs_ = schedulers_[0]->get_last_lr();
}
double SequentialLR::get_lr(double, double, size_t) const {
  HB_NOT_SUPPORTED("[SequentialLR] is not supported as a later part of a SequentialLR: it cannot go to an epoch");
}
void SequentialLR::step() {
  ++last_epoch_;
  const auto next = std::upper_bound(milestones_.begin(), milestones_.end(), last_epoch_);
  EpochScheduler& scheduler = *schedulers_[static_cast<size_t>(next - milestones_.begin())];
  if (next != milestones_.begin() && *(next - 1) == last_epoch_)
    scheduler.update(0);
  else
    scheduler.step();
  last_lrs_ = scheduler.get_last_lr();
}
void SequentialLR::undo() {
  for (const auto& scheduler : schedulers_) scheduler->undo();
}
void SequentialLR::state(SchedulerState& state) {
  state("_milestones", milestones_);
  state("last_epoch", last_epoch_);
  state("_last_lr", last_lrs_);
  inner_states(state, schedulers_);
}

}  // namespace hb::bridge::optim
