// Pairs of parameters, gradients, updates, optimizer states and loss scales.
#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include <fmt/format.h>

#include "pairing.h"

namespace hb::layer_diff {
namespace {

using Module = std::pair<std::string, std::string>;                     // root, path
using State = std::tuple<std::string, std::string, std::string, Kind>;  // root, path, name

std::map<State, const Record*> states_of(const Trace& trace, int64_t step) {
  std::map<State, const Record*> states;
  for (const Record& record : trace.records()) {
    if (record.step == step && is_state(record.kind)) {
      states.emplace(State{record.root, record.path, record.name, record.kind}, &record);
    }
  }
  return states;
}

class Pairs {
 public:
  Pairs(const Trace& ref, const Trace& test, int64_t step, const Naming& naming,
        const std::vector<const LayerDiff*>& layers)
      : ref_(ref), test_(test), step_(step), naming_(naming), layers_(layers) {
    for (const LayerDiff* layer : layers) {
      const auto module = [](const Call* call) { return Module{call->root, call->path}; };
      if (layer->ref && layer->ref->has_path && layer->test && layer->test->has_path) {
        to_test_.emplace(module(layer->ref), module(layer->test));
        to_ref_.emplace(module(layer->test), module(layer->ref));
      } else if (layer->ref && layer->ref->has_path) {
        alone_ref_.insert(module(layer->ref));
      } else if (layer->test && layer->test->has_path) {
        alone_test_.insert(module(layer->test));
      }
    }
  }

  std::vector<StateDiff> run(const CompareOptions& options, std::vector<std::string>& notes) {
    const std::map<State, const Record*> ref = states_of(ref_, step_), test = states_of(test_, step_);
    std::set<const Record*> used;
    for (const LayerDiff* layer : layers_) add_operands(*layer, used, options);
    for (const auto& [state, record] : ref) {
      if (used.count(record)) continue;
      const auto& [root, path, name, kind] = state;
      const Module module = in_test({root, path});
      const auto found = test.find({module.first, module.second, name, kind});
      const Record* other = found != test.end() ? found->second : earlier(test_, module, name, kind);
      if (other) used.insert(other);
      add(record, other, alone_ref_.count({root, path}) > 0, records_kind(test_, kind), options);
    }
    for (const auto& [state, record] : test) {
      const auto& [root, path, name, kind] = state;
      if (used.count(record)) continue;
      const auto module = to_ref_.find({root, path});
      const Record* other = earlier(ref_, module == to_ref_.end() ? Module{root, path} : module->second, name, kind);
      add(other, record, alone_test_.count({root, path}) > 0, records_kind(ref_, kind), options);
    }
    if (skipped_ > 0) {
      notes.push_back(
          fmt::format("step {}: {} parameters, gradients or states are recorded by one side alone and were "
                      "not compared",
                      step_, skipped_));
    }
    const auto order = [](const StateDiff& s) { return (s.tensor.ref ? s.tensor.ref : s.tensor.test)->order; };
    std::stable_sort(states_.begin(), states_.end(),
                     [&](const StateDiff& a, const StateDiff& b) { return order(a) < order(b); });
    return std::move(states_);
  }

 private:
  Module in_test(const Module& module) const {
    const auto found = to_test_.find(module);
    return found != to_test_.end() ? found->second : naming_.in_test(module.first, module.second);
  }

  // A value that a trace does not repeat because it did not change.
  const Record* earlier(const Trace& trace, const Module& module, const std::string& name, Kind kind) const {
    if (kind != Kind::parameter && kind != Kind::buffer && kind != Kind::updated_buffer) return nullptr;
    const auto states = trace.state_of(module.first, module.second, step_);
    const auto found = states.find(name);
    return found == states.end() ? nullptr : found->second;
  }

  // Only what they are, not their gradients: a program may clip or add up those that the step finds.
  void add_operands(const LayerDiff& layer, std::set<const Record*>& used, const CompareOptions& options) {
    for (const Operand& operand : layer.operands) {
      if (!used.insert(operand.state).second) continue;  // the module is called again
      const bool of_test = layer.test->has_path;
      add_pair(of_test ? operand.given : operand.state, of_test ? operand.state : operand.given, *operand.state,
               options);
    }
  }

  static bool records_kind(const Trace& trace, Kind kind) {
    return std::any_of(trace.records().begin(), trace.records().end(), [&](const Record& r) { return r.kind == kind; });
  }

  // `alone`: its module has no counterpart. A state of the one side is a failure only where the other could have it.
  void add(const Record* ref, const Record* test, bool alone, bool other_records, const CompareOptions& options) {
    if ((!ref || !test) && (alone || !other_records)) {
      ++skipped_;
      return;
    }
    add_pair(ref, test, ref ? *ref : *test, options);
  }
  void add_pair(const Record* ref, const Record* test, const Record& named, const CompareOptions& options) {
    StateDiff state;
    state.step = step_;
    state.root = named.root;
    state.path = named.path;
    state.name = named.name;
    state.kind = named.kind;
    state.tensor = pair_tensors(ref, test, tolerance_of(options, named.path, named.type));
    states_.push_back(std::move(state));
  }

  const Trace& ref_;
  const Trace& test_;
  int64_t step_;
  const Naming& naming_;
  const std::vector<const LayerDiff*>& layers_;
  std::map<Module, Module> to_test_, to_ref_;
  std::set<Module> alone_ref_, alone_test_;
  std::vector<StateDiff> states_;
  int64_t skipped_ = 0;
};

}  // namespace

std::vector<StateDiff> pair_states(const Trace& ref, const Trace& test, int64_t step, const Naming& naming,
                                   const std::vector<const LayerDiff*>& layers, const CompareOptions& options,
                                   std::vector<std::string>& notes) {
  return Pairs(ref, test, step, naming, layers).run(options, notes);
}

}  // namespace hb::layer_diff
