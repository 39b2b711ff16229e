#include "parameters.h"

#include <halfbridge/autograd.h>
#include <halfbridge/ivalue.h>

#include "backend/captured.h"

namespace hb::trace {

void Parameters::write(Kind kind, int64_t step, const Module& module, const std::string& name, const Tensor& t,
                       const Recorder::Remake& again) {
  const Place& place = tree_.place_of(module);
  if (!recorder_.wants(kind, step, place.path)) return;
  Record r;
  r.kind = kind, r.step = step, r.path = place.path, r.root = place.root, r.type = tree_.traits_of(module).type,
  r.name = name;
  r.training = module.is_training();
  recorder_.write(std::move(r), t, again);
}

void Parameters::write_value(int64_t step, const Module& module, const std::string& name, const Tensor& p) {
  Value& value = values_.try_emplace({&module, name}, Value{-1, 0}).first->second;
  const uint32_t version = p.impl().version();
  if (value.step == step && value.version == version) return;
  value = {step, version};
  write(Kind::parameter, step, module, name, p);
}

void Parameters::module_called(const Module& module, int64_t step) {
  if (!called_.insert(&module).second) return;
  for (const auto& p : module.named_parameters(/*recurse=*/false)) write_value(step, module, p.key(), p.value());
  if (tree_.traits_of(module).layer)  // attention uses the parameters of a child that it never calls
    for (const auto& child : module.named_children())
      if (child.value()) module_called(*child.value(), step);
  for (const auto& b : module.named_buffers(/*recurse=*/false)) {
    Value& value = values_.try_emplace({&module, b.key()}, Value{-1, 0}).first->second;
    const uint32_t version = b.value().impl().version();
    // Where nothing changed it since the step before, that step's record holds it.
    const bool known = value.step == step && value.version == version;
    value = {step, version};
    if (!known) write(Kind::buffer, step, module, b.key(), b.value());
  }
}

void Parameters::module_gone(const Module& module, int64_t step) {
  write_gradients(step, module);
  called_.erase(&module);
  const std::lock_guard lock(touched_mutex_);
  for (const auto& p : module.named_parameters(false)) {
    values_.erase({&module, p.key()});
    if (p.value().use_count() <= 2) touched_.erase(&p.value().impl());  // nobody else holds it
  }
  for (const auto& b : module.named_buffers(false)) values_.erase({&module, b.key()});
}

void Parameters::write_gradient(int64_t step, const Tensor& parameter, const Tensor& grad) {
  if (!grad.defined() || !gradients_.insert(&parameter.impl()).second) return;
  for (const auto& holder : tree_.holders_of(parameter))
    write(Kind::parameter_grad, step, *holder.module, holder.name, grad);
}

void Parameters::write_gradients(int64_t step, const Module& module) {
  for (const auto& p : module.named_parameters(false)) {
    const Tensor& grad = p.value().grad();
    const std::lock_guard lock(touched_mutex_);
    if (grad.defined() && touched_.count(&p.value().impl()) && !gradients_.count(&p.value().impl()))
      write(Kind::parameter_grad, step, module, p.key(), grad);
  }
}

void Parameters::step_begins(const bridge::optim::Optimizer& optimizer, const std::vector<Tensor>* grads,
                             int64_t step) {
  size_t at = 0;
  for (const auto& group : optimizer.param_groups()) {
    for (const Tensor& p : group.params()) {
      const Tensor grad = grads ? (at < grads->size() ? (*grads)[at] : Tensor()) : p.grad();
      ++at;
      // A parameter of a module whose calls cannot be seen.
      if (grad.defined())
        for (const auto& holder : tree_.holders_of(p)) write_value(step, *holder.module, holder.name, p);
      write_gradient(step, p, grad);
    }
  }
}

void Parameters::step_ended(const bridge::optim::Optimizer& optimizer, int64_t step) {
  std::unordered_set<const TensorImpl*> updated;  // a tied weight may stand twice in the list
  for (const auto& group : optimizer.param_groups()) {
    for (const Tensor& p : group.params()) {
      if (!gradients_.count(&p.impl()) || !updated.insert(&p.impl()).second) continue;
      for (const auto& holder : tree_.holders_of(p)) {
        write(Kind::updated_parameter, step, *holder.module, holder.name, p);
        // The step that follows begins with it.
        if (recorder_.wants(Kind::updated_parameter, step, tree_.place_of(*holder.module).path))
          values_[{holder.module, holder.name}] = {step + 1, p.impl().version()};
      }
      write_state(step, optimizer, p);
    }
  }
  write_changed_buffers(step);
  const std::lock_guard lock(touched_mutex_);
  for (const TensorImpl* p : gradients_) touched_.erase(p);
  called_.clear();
  gradients_.clear();
}

void Parameters::write_state(int64_t step, const bridge::optim::Optimizer& optimizer, const Tensor& parameter) {
  const auto found = optimizer.state().find(parameter.unsafeGetTensorImpl());
  if (found == optimizer.state().end() || !found->second) return;
  const auto holders = tree_.holders_of(parameter);
  if (holders.empty() || !recorder_.wants(Kind::optimizer_state, step, tree_.place_of(*holders.front().module).path))
    return;
  const auto states = [state = found->second.get()] {
    const capture::Inside inside;  // the counters that it reads are no part of a step that is recorded
    return state->state_dict().toGenericDict();
  };
  const auto now = states(), twice = states();
  for (const auto& item : now) {
    const IValue& value = item.value();
    if (!value.isTensor() || !value.toTensor().defined()) continue;
    const std::string& name = item.key().toStringRef();
    Recorder::Remake again;  // a tensor that is made of a counter whenever it is asked for
    if (!twice.at(item.key()).toTensor().is_same(value.toTensor()))
      again = [states, key = item.key()] { return states().at(key).toTensor(); };
    for (const auto& holder : holders)
      write(Kind::optimizer_state, step, *holder.module, holder.name + "/" + name, value.toTensor(), again);
  }
}

void Parameters::write_changed_buffers(int64_t step) {
  for (const Module* m : tree_.modules()) {
    if (!called_.count(m)) continue;
    for (const auto& b : m->named_buffers(false)) {
      Value& value = values_.try_emplace({m, b.key()}, Value{-1, 0}).first->second;
      const uint32_t version = b.value().impl().version();
      if (value.version == version && value.step == step) {
        value.step = step + 1;
        continue;
      }
      write(Kind::updated_buffer, step, *m, b.key(), b.value());
      value = {step + 1, version};
    }
  }
}

void Parameters::trace_ends(int64_t step) {
  for (const Module* m : tree_.modules()) write_gradients(step, *m);
}

}  // namespace hb::trace
