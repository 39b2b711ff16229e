// State and options of an optimizer in Python's layout.

#include <unordered_map>

#include <halfbridge/bridge/optim/optimizer.h>
#include <halfbridge/grad_mode.h>

#include "values.h"

namespace hb::bridge::optim {

namespace {
IValue group_dict(const OptimizerParamGroup& group, int64_t first) {
  Dict<std::string, IValue> dict = new_value_dict();
  const auto& options = group.options();
  for (const auto& name : options.names()) dict.insert(name, options.get(name));
  if (options.initial_lr()) dict.insert("initial_lr", *options.initial_lr());
  std::vector<int64_t> numbers;
  for (size_t i = 0; i < group.params().size(); ++i) numbers.push_back(first + static_cast<int64_t>(i));
  dict.insert("params", IValue(numbers));
  return dict;
}

struct Group {
  Dict<IValue, IValue> dict;
  std::vector<int64_t> params;
};

std::vector<Group> read_groups(const IValue& list, const std::vector<OptimizerParamGroup>& groups) {
  std::vector<Group> read;
  for (const auto& item : list.toListRef()) {
    const auto dict = item.toGenericDict();
    HB_CHECK(dict.contains("params"), "[Optimizer::load_state_dict] expected 'params' in each group, got none");
    read.push_back({dict, {}});
    for (const auto& number : dict.at("params").toListRef()) read.back().params.push_back(number.toInt());
  }
  HB_CHECK(read.size() == groups.size(), "loaded state dict has a different number of parameter groups");
  for (size_t i = 0; i < read.size(); ++i)
    HB_CHECK(read[i].params.size() == groups[i].params().size(),
             "loaded state dict contains a parameter group that doesn't match the size of optimizer's group");
  return read;
}

/// Tensors of the parameter's shape take its layout and device, and its dtype if `cast`; all are copied.
IValue own_copy(const IValue& value, const Tensor& param, bool cast) {
  if (!value.isTensor() || !value.toTensor().defined()) return value;
  const Tensor& t = value.toTensor();
  if (t.dim() == 0 && param.dim() != 0) return t.clone();
  return t.to(param.device(), cast && t.is_floating_point() ? param.scalar_type() : t.scalar_type()).clone();
}
}  // namespace

IValue Optimizer::state_dict() const {
  Dict<int64_t, IValue> state;
  std::vector<IValue> groups;
  int64_t number = 0;
  for (const auto& group : param_groups_) {
    groups.push_back(group_dict(group, number));
    for (const auto& p : group.params()) {
      const auto found = state_.find(p.unsafeGetTensorImpl());
      if (found != state_.end()) state.insert_or_assign(number, found->second->state_dict());
      ++number;
    }
  }
  Dict<std::string, IValue> dict = new_value_dict();
  dict.insert("state", state);
  dict.insert("param_groups", IValue(groups));
  return dict;
}

void Optimizer::load_state_dict(const IValue& from) {
  NoGradGuard no_grad;
  const auto dict = from.toGenericDict();
  HB_CHECK(dict.contains("state") && dict.contains("param_groups"),
           "[Optimizer::load_state_dict] expected a dict with 'state' and 'param_groups', got ", dict.size(),
           " other entries");
  const auto groups = read_groups(dict.at("param_groups"), param_groups_);
  const auto states = dict.at("state").toGenericDict();

  // Nothing is changed before everything was read.
  StateMap new_states;
  bool master = false;
  std::vector<std::unique_ptr<OptimizerOptions>> new_options;
  for (size_t i = 0; i < groups.size(); ++i) {
    new_options.push_back(param_groups_[i].options().clone());
    for (const auto& entry : groups[i].dict) {
      const std::string name = entry.key().toStringRef();
      if (name == "initial_lr" || new_options[i]->has(name)) new_options[i]->set(name, entry.value());
    }
    for (size_t k = 0; k < groups[i].params.size(); ++k) {
      const IValue number(groups[i].params[k]);
      if (!states.contains(number)) continue;
      const Tensor& param = param_groups_[i].params()[k];
      const auto entries = states.at(number).toGenericDict();
      // With master weights, states are f32.
      const bool cast = !(entries.contains("master_weight") && entries.at("master_weight").isTensor());
      Dict<IValue, IValue> own;
      for (const auto& entry : entries) own.insert(entry.key(), own_copy(entry.value(), param, cast));
      auto state = new_state();
      state->load_state_dict(own);
      master = master || state->master_weight().defined();
      new_states[param.unsafeGetTensorImpl()] = std::move(state);
    }
  }
  if (master) use_master_weights();
  state_ = std::move(new_states);
  for (size_t i = 0; i < groups.size(); ++i) param_groups_[i].set_options(std::move(new_options[i]));
}

}  // namespace hb::bridge::optim
