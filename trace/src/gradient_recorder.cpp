#include "gradient_recorder.h"

#include <cmath>
#include <cstdlib>
#include <iostream>
#include <sstream>

#include "autograd/accumulate_grad.h"
#include "own_work.h"

namespace hb::trace {

namespace {
using Clock = std::chrono::steady_clock;
// A program that is killed leaves what it had counted by then.
constexpr std::chrono::seconds kBetweenSaves{10};

GradientRecorder* at_exit = nullptr;
}  // namespace

GradientRecorder::GradientRecorder(std::string file) : file_(std::move(file)), saved_(Clock::now()) {
  GradientRecord().save(file_);
}

void GradientRecorder::open() {
  bridge::nn::ModuleWatchers::attach(*this);
  Watchers<bridge::optim::StepObserver>::attach(*this);
  GraphWatchers::attach(*this);
  at_exit = this;
  std::atexit([] { at_exit->save(/*complete=*/true); });
}

// --- modules

void GradientRecorder::made(Module& module, bool copy) {
  const std::lock_guard lock(mutex_);
  if (tree_.contains(module)) return;
  tree_.add(module);
  if (copy) return;  // it has its original's hooks
  module.register_forward_hook(
      [this](Module& m, const variable_list&, const variable_list& outputs) { forward_ended(m, outputs); });
}

void GradientRecorder::gone(Module& module) {
  const std::lock_guard lock(mutex_);
  tree_.remove(module);
}

void GradientRecorder::children_changed() {
  const std::lock_guard lock(mutex_);
  tree_.changed();
}

// What a module that holds others returns, one of these returned as a rule.
void GradientRecorder::forward_ended(Module& module, const variable_list& outputs) {
  const std::lock_guard lock(mutex_);
  if (!tree_.contains(module)) return;
  const auto& traits = tree_.traits_of(module);
  if (!traits.layer && !module.named_children().is_empty()) return;
  const Place place = tree_.place_of(module);
  for (size_t i = 0; i < outputs.size(); ++i) {
    const Tensor& t = outputs[i];
    if (!t.defined() || !t.requires_grad() || t.is_leaf()) continue;
    GradientRow& row = row_of(place, traits.type, "output", std::to_string(i));
    t.register_hook([this, &row](const Tensor& gradient) {
      const std::lock_guard counting(mutex_);
      count(row, gradient);
    });
  }
}

// --- gradients

void GradientRecorder::arrived(const Node& node, const variable_list& grads) {
  const auto* leaf = dynamic_cast<const AccumulateGrad*>(&node);
  if (!leaf || grads.empty() || !grads[0].defined()) return;
  const std::lock_guard lock(mutex_);
  count_leaf(leaf->variable, grads[0]);
}

void GradientRecorder::count_leaf(const Tensor& leaf, const Tensor& gradient) {
  const auto holders = tree_.holders_of(leaf);
  if (holders.empty()) {  // no module's: a tensor of the program's own
    std::ostringstream name;
    name << "leaf of shape " << leaf.sizes();
    return count(row_of({}, "", "parameter", name.str()), gradient);
  }
  // A weight that several modules share has one gradient: it is the first one's.
  const Module& module = *holders.front().module;
  count(row_of(tree_.place_of(module), tree_.traits_of(module).type, "parameter", holders.front().name), gradient);
}

GradientRow& GradientRecorder::row_of(const Place& place, const std::string& type, const std::string& kind,
                                      const std::string& name) {
  GradientRow*& row = found_[{place.root, place.path, kind, name}];
  if (!row) {
    rows_.push_back({place.root, place.path, type, kind, name, {}});
    row = &rows_.back();
  }
  return *row;
}

void GradientRecorder::count(GradientRow& row, const Tensor& gradient) {
  if (gradient.defined()) row.counts.add(gradient, scale_);
}

void GradientRecorder::loss_scaled(const Tensor& scale) noexcept {
  const OwnWork own;
  const double value = scale.defined() ? scale.item<double>() : 1;
  const std::lock_guard lock(mutex_);
  scale_ = value > 0 && std::isfinite(value) ? value : 1;
}

// --- the file

void GradientRecorder::step_ended(bridge::optim::Optimizer&) noexcept {
  {
    const std::lock_guard lock(mutex_);
    ++steps_;
    if (Clock::now() - saved_ < kBetweenSaves) return;
    saved_ = Clock::now();
  }
  save(/*complete=*/false);
}

// An error here must not stop the program: it is printed, once.
void GradientRecorder::save(bool complete) noexcept {
  const std::lock_guard lock(mutex_);
  try {
    GradientRecord record;
    record.steps = steps_, record.complete = complete;
    record.rows.assign(rows_.begin(), rows_.end());
    record.save(file_);
  } catch (const std::exception& e) {
    if (!std::exchange(failed_, true)) std::cerr << "[HALFBRIDGE_AMP_REPORT] " << e.what() << std::endl;
  }
}

}  // namespace hb::trace
