#include <halfbridge/bridge/optim/serialize.h>

#include <cctype>
#include <string>
#include <unordered_map>
#include <vector>

#include <halfbridge/ops/factories.h>

#include "legacy.h"

namespace hb::bridge::optim::detail {
namespace {

// The layout: "state" holds one archive per parameter, named by a number that "param_groups" names again. LibTorch uses
// addresses as these numbers.
using Key = std::string;

Key key_of(const void* tensor_impl) { return std::to_string(reinterpret_cast<size_t>(tensor_impl)); }

Tensor number(size_t n) { return scalar_tensor(static_cast<int64_t>(n), kLong); }

void save_state(serialize::OutputArchive& archive, const Optimizer& optimizer) {
  for (const auto& group : optimizer.param_groups()) {
    for (const auto& p : group.params()) {
      const auto found = optimizer.state().find(p.unsafeGetTensorImpl());
      if (found == optimizer.state().end()) continue;
      serialize::OutputArchive one(archive.compilation_unit());
      found->second->serialize(one);
      if (found->second->master_weight().defined()) one.write("master_weight", IValue(found->second->master_weight()));
      archive.write(key_of(found->first), one);
    }
  }
}

void save_groups(serialize::OutputArchive& archive, const std::vector<OptimizerParamGroup>& groups) {
  archive.write("param_groups/size", number(groups.size()));
  for (size_t i = 0; i < groups.size(); ++i) {
    serialize::OutputArchive group(archive.compilation_unit());
    const auto& params = groups[i].params();
    group.write("params/size", number(params.size()));
    for (size_t k = 0; k < params.size(); ++k)
      group.write("params/" + std::to_string(k), IValue(key_of(params[k].unsafeGetTensorImpl())));
    serialize::OutputArchive options(archive.compilation_unit());
    groups[i].options().serialize(options);
    group.write("options", options);
    archive.write("param_groups/" + std::to_string(i), group);
  }
}

size_t read_size(serialize::InputArchive& archive, const std::string& key) {
  Tensor size;
  archive.read(key, size);
  const int64_t n = size.item<int64_t>();
  HB_CHECK(n >= 0, "[Optimizer::load] expected a count under '", key, "', got ", n);
  return static_cast<size_t>(n);
}

struct SavedGroup {
  std::vector<Key> params;
  std::unique_ptr<OptimizerOptions> options;
};

SavedGroup load_group(serialize::InputArchive& archive, const std::string& name, OptionsFactory new_options) {
  serialize::InputArchive group, options;
  archive.read(name, group);
  SavedGroup saved;
  const size_t size = read_size(group, "params/size");
  for (size_t k = 0; k < size; ++k) {
    IValue key;
    group.read("params/" + std::to_string(k), key);
    saved.params.push_back(key.toStringRef());
  }
  group.read("options", options);
  saved.options = new_options();
  saved.options->serialize(options);
  return saved;
}

using SavedStates = std::unordered_map<Key, std::unique_ptr<OptimizerParamState>>;

SavedStates load_states(serialize::InputArchive& archive, StateFactory new_state) {
  SavedStates states;
  for (const auto& key : archive.keys()) {
    serialize::InputArchive one;
    archive.read(key, one);
    auto state = new_state();
    state->serialize(one);
    IValue master;
    if (one.try_read("master_weight", master)) state->master_weight(master.toTensor());
    states.emplace(key, std::move(state));
  }
  return states;
}

}  // namespace

void save(serialize::OutputArchive& archive, const Optimizer& optimizer) {
  archive.write("pytorch_version", IValue("1.5.0"));
  serialize::OutputArchive state(archive.compilation_unit()), groups(archive.compilation_unit());
  save_state(state, optimizer);
  archive.write("state", state);
  save_groups(groups, optimizer.param_groups());
  archive.write("param_groups", groups);
}

void load(serialize::InputArchive& archive, Optimizer& optimizer, StateFactory new_state, OptionsFactory new_options) {
  IValue version;
  if (!archive.try_read("pytorch_version", version)) return load_legacy(archive, optimizer, new_state);
  HB_CHECK(version.isString() && version.toStringRef() == "1.5.0",
           "[Optimizer::load] expected pytorch_version 1.5.0, got ", version);
  serialize::InputArchive state_archive, groups_archive;
  archive.read("state", state_archive);
  archive.read("param_groups", groups_archive);
  auto states = load_states(state_archive, new_state);

  auto& groups = optimizer.param_groups();
  HB_CHECK(read_size(groups_archive, "param_groups/size") == groups.size(),
           "loaded state dict has a different number of parameter groups");
  std::vector<SavedGroup> saved;
  for (size_t i = 0; i < groups.size(); ++i) {
    saved.push_back(load_group(groups_archive, "param_groups/" + std::to_string(i), new_options));
    HB_CHECK(
        saved[i].params.size() == groups[i].params().size(),
        "loaded state dict contains a parameter group that has a different size than the optimizer's parameter group");
  }
  for (size_t i = 0; i < groups.size(); ++i) {
    for (size_t k = 0; k < saved[i].params.size(); ++k) {
      const auto found = states.find(saved[i].params[k]);
      if (found == states.end() || !found->second) continue;
      if (found->second->master_weight().defined()) optimizer.use_master_weights();
      optimizer.state()[groups[i].params()[k].unsafeGetTensorImpl()] = std::move(found->second);
    }
    saved[i].options->initial_lr(groups[i].options().initial_lr());
    groups[i].set_options(std::move(saved[i].options));
  }
}

}  // namespace hb::bridge::optim::detail
