#include <halfbridge/train/model.h>

#include <algorithm>
#include <utility>

#include <halfbridge/bridge/distributed/checkpoint.h>
#include <halfbridge/bridge/distributed/zero_optimizer.h>
#include <halfbridge/bridge/serialize/archive.h>
#include <halfbridge/generator.h>
#include <halfbridge/grad_mode.h>
#include <halfbridge/ops.h>
#include <halfbridge/sent_ahead.h>

#include "../amp/module_hooks.h"
#include "core/own_generator.h"
#include "distributed/shared_parameters.h"
#include "modes.h"

namespace hb::train {

using bridge::serialize::InputArchive;
using bridge::serialize::OutputArchive;

namespace {

Tensor random_state() { return default_generator().get_state(); }
void set_random_state(const Tensor& state) { Generator(default_generator()).set_state(state); }
/// In an archive: of a device's generator, masks of dropout there for one.
std::string random_of(const Generator& g) {
  return hb::detail::str("random_", DeviceTypeName(g.device().type(), true), "_", static_cast<int>(g.device().index()));
}

void write_int(OutputArchive& archive, const char* key, int64_t value) { archive.write(key, IValue(value)); }
bool is_sharded(const bridge::optim::Optimizer& optimizer) {
  return dynamic_cast<const bridge::optim::ShardedOptimizer*>(&optimizer) != nullptr;
}
int64_t read_int(InputArchive& archive, const char* key) {
  IValue value;
  archive.read(key, value);
  return value.toInt();
}

/// Batches where the network is.
class OnDevice {
 public:
  OnDevice(Batches::Next next, const bridge::nn::Module& network)
      : next_(std::move(next)), sender_(amp::device_of(network)) {}
  std::optional<Batch> operator()() {
    auto batch = next_();
    if (!batch) return batch;
    for (Tensor& t : batch->inputs) move(t);
    move(batch->target);
    return batch;
  }

 private:
  void move(Tensor& t) {
    t = sender_.send(t);
    sender_.receive(t);
  }
  Batches::Next next_;
  cuda::Sender sender_;
};

}  // namespace

Callback::~Callback() = default;

Model::Model(const Network& network, Loss loss, bridge::optim::Optimizer& optimizer, Metrics metrics,
             const std::string& amp_level, amp::LossScale loss_scale, const amp::LevelOptions& options)
    : Model(amp::build_train_network(network, optimizer, std::move(loss), amp_level, std::move(loss_scale), options),
            std::move(metrics)) {}
Model::Model(amp::TrainNetwork step, Metrics metrics)
    : network_(step.network()), step_(std::move(step)), has_loss_(step_.has_loss()), metrics_(std::move(metrics)) {}

void Model::train(int64_t epochs, const Batches& batches, const Callbacks& callbacks) {
  run(epochs, batches, nullptr, callbacks);
}
void Model::fit(int64_t epochs, const Batches& train_batches, const Batches& validation_batches,
                const Callbacks& callbacks) {
  run(epochs, train_batches, &validation_batches, callbacks);
}

void Model::run(int64_t epochs, const Batches& batches, const Batches* validation, const Callbacks& given) {
  HB_CHECK(has_loss_, "[Model::train] expected a model with a loss");
  Callbacks callbacks = given;
  std::stable_partition(callbacks.begin(), callbacks.end(), [](const auto& c) { return !c->comes_last(); });
  struct Current {
    const Callbacks*& slot;
    ~Current() { slot = nullptr; }
  } current{callbacks_};
  callbacks_ = &callbacks;
  if (const auto state = std::exchange(loaded_callbacks_, nullptr)) {
    InputArchive one;
    for (const auto& c : callbacks)
      if (!c->state_name().empty() && state->try_read(c->state_name(), one)) c->load(one);
  }
  RunContext run(*this);
  run.epochs = epochs, run.steps_per_epoch = batches.size(), run.epoch = epoch_, run.global_step = global_step_;
  for (const auto& c : callbacks) c->on_train_begin(run);
  while (epoch_ < epochs && !run.stop_requested) {
    network_.module().train();
    run_epoch(run, batches, callbacks);
    if (steps_in_epoch_ != 0) break;  // stopped in the middle
    if (validation)
      for (const auto& [name, value] : eval(*validation)) run.results["eval_" + name] = value;
    for (const auto& c : callbacks) c->on_train_epoch_end(run);
  }
  for (const auto& c : callbacks) c->on_train_end(run);
}

// The epoch's batches from where training stands.
Batches::Next Model::position(const Batches& batches) {
  if (steps_in_epoch_ == 0 || !epoch_random_.defined()) {
    // A loader that was made since the checkpoint was loaded may have drawn numbers.
    if (resume_random_.defined()) set_random_state(resume_random_);
    epoch_random_ = random_state();
    loss_sum_ = Tensor(), examples_ = 0;
    return batches.begin();
  }
  set_random_state(epoch_random_);
  auto next = batches.begin();
  for (int64_t i = 0; i < steps_in_epoch_; ++i)
    HB_CHECK(next(), "[Model::train] expected the data that the checkpoint was made with: the epoch ends after ", i,
             " batches, the checkpoint is at batch ", steps_in_epoch_);
  if (resume_random_.defined()) set_random_state(resume_random_);
  return next;
}

void Model::run_epoch(RunContext& run, const Batches& batches, const Callbacks& callbacks) {
  OnDevice next(position(batches), network_.module());
  resume_random_ = Tensor();
  run.epoch = epoch_ + 1, run.step = steps_in_epoch_;
  for (const auto& c : callbacks) c->on_train_epoch_begin(run);
  while (!run.stop_requested) {
    const auto batch = next();
    if (!batch) break;
    auto step = step_.step(batch->inputs, batch->target);
    run.loss = step.loss, run.overflow = step.overflow;
    run.batch_size = batch->target.dim() > 0 ? batch->target.size(0) : 1;
    const Tensor weighted = step.loss.to(kDouble) * run.batch_size;
    loss_sum_ = loss_sum_.defined() ? loss_sum_ + weighted : weighted;
    examples_ += run.batch_size;
    run.step = ++steps_in_epoch_, run.global_step = ++global_step_;
    for (const auto& c : callbacks) c->on_train_step_end(run);
  }
  if (run.stop_requested) {
    resume_random_ = random_state();
    return;
  }
  HB_CHECK(steps_in_epoch_ > 0, "[Model::train] expected data, got no batch");
  ++epoch_, steps_in_epoch_ = 0;
  run.results = {{"loss", loss_sum_.item<double>() / static_cast<double>(examples_)}};
}

std::map<std::string, double> Model::eval(const Batches& batches) {
  EvalMode mode(network_.module());
  for (const auto& m : metrics_) m->clear();
  Mean loss;
  OnDevice next(batches.begin(), network_.module());
  while (const auto batch = next()) {
    const auto result = step_.evaluate(batch->inputs, has_loss_ ? batch->target : Tensor());
    const double n = batch->target.dim() > 0 ? static_cast<double>(batch->target.size(0)) : 1;
    if (has_loss_) loss.update(result.loss.item<double>(), n);
    for (const auto& m : metrics_) m->update(result.outputs.at(0), batch->target);
  }
  std::map<std::string, double> results;
  if (!loss.empty()) results["loss"] = loss.compute();
  for (const auto& m : metrics_)
    if (const Tensor value = m->compute(); value.numel() == 1) results[m->name()] = value.item<double>();
  return results;
}

variable_list Model::predict(const variable_list& inputs) {
  EvalMode mode(network_.module());
  return step_.evaluate(inputs).outputs;
}

void Model::add_state(const std::string& name, Save save, Load load) {
  extras_.push_back({name, std::move(save), std::move(load)});
}

// Every rank has the weights; a sharded optimizer's state, and where a rank is in its data, are the rank's own.
void Model::save_shared(OutputArchive& archive) const {
  OutputArchive network, optimizer;
  network_.module().save(network);
  archive.write("network", network);
  if (is_sharded(step_.optimizer())) return;
  step_.optimizer().save(optimizer);
  archive.write("optimizer", optimizer);
}

void Model::save_own(OutputArchive& archive) const {
  OutputArchive optimizer, step, extras, callbacks;
  if (is_sharded(step_.optimizer())) {
    step_.optimizer().save(optimizer);
    archive.write("optimizer", optimizer);
  }
  step_.save(step);
  archive.write("step", step);
  for (const Extra& e : extras_) {
    OutputArchive one;
    e.save(one);
    extras.write(e.name, one);
  }
  archive.write("extras", extras);
  if (callbacks_) {
    for (const auto& c : *callbacks_) {
      if (c->state_name().empty()) continue;
      OutputArchive one;
      c->save(one);
      callbacks.write(c->state_name(), one);
    }
  }
  archive.write("callbacks", callbacks);
  write_int(archive, "epoch", epoch_);
  write_int(archive, "steps_in_epoch", steps_in_epoch_);
  write_int(archive, "global_step", global_step_);
  write_int(archive, "examples", examples_);
  archive.write("random", random_state(), /*is_buffer=*/true);
  for (const Generator& g : hb::detail::generators_of_devices())
    archive.write(random_of(g), g.get_state(), /*is_buffer=*/true);
  if (epoch_random_.defined()) archive.write("epoch_random", epoch_random_, /*is_buffer=*/true);
  if (loss_sum_.defined()) archive.write("loss_sum", loss_sum_, /*is_buffer=*/true);
}

void Model::save_checkpoint(const std::string& path) const {
  const auto group = distributed::group_of(step_.optimizer());
  if (group) {
    distributed::save_checkpoint(
        path, [&](OutputArchive& a) { save_shared(a); }, [&](OutputArchive& a) { save_own(a); }, group);
    return;
  }
  OutputArchive archive;
  save_shared(archive);
  save_own(archive);
  archive.save_to(path);
}

void Model::load_shared(InputArchive& archive) {
  InputArchive network, optimizer;
  archive.read("network", network);
  network_.module().load(network);
  if (is_sharded(step_.optimizer())) return;
  archive.read("optimizer", optimizer);
  step_.optimizer().load(optimizer);
}

void Model::load_own(InputArchive& archive) {
  InputArchive optimizer, step, extras, one;
  if (is_sharded(step_.optimizer())) {
    archive.read("optimizer", optimizer);
    step_.optimizer().load(optimizer);
  }
  archive.read("step", step);
  step_.load(step);
  archive.read("extras", extras);
  for (const Extra& e : extras_) {
    extras.read(e.name, one);
    e.load(one);
  }
  epoch_ = read_int(archive, "epoch");
  steps_in_epoch_ = read_int(archive, "steps_in_epoch");
  global_step_ = read_int(archive, "global_step");
  examples_ = read_int(archive, "examples");
  resume_random_ = epoch_random_ = loss_sum_ = Tensor();
  archive.read("random", resume_random_, /*is_buffer=*/true);
  archive.try_read("epoch_random", epoch_random_, /*is_buffer=*/true);
  archive.try_read("loss_sum", loss_sum_, /*is_buffer=*/true);
  set_random_state(resume_random_);
  for (Generator& g : hb::detail::generators_of_devices())
    if (Tensor state; archive.try_read(random_of(g), state, /*is_buffer=*/true)) g.set_state(state);
  loaded_callbacks_ = std::make_shared<InputArchive>();
  archive.read("callbacks", *loaded_callbacks_);
}

void Model::load_checkpoint(const std::string& path) {
  if (const auto group = distributed::group_of(step_.optimizer())) {
    distributed::load_checkpoint(
        path, [&](InputArchive& a) { load_shared(a); }, [&](InputArchive& a) { load_own(a); }, group);
    return;
  }
  InputArchive archive;
  archive.load_from(path);
  load_shared(archive);
  load_own(archive);
}

}  // namespace hb::train
