#include "io/optimizer_layout.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>
#include <unordered_map>

#include <halfbridge/ops/factories.h>

#include "io/io_error.h"

namespace hb::io {
namespace {

using Object = ivalue::ObjectData;
using Role = Object::Role;

constexpr const char* kStep = "step";
constexpr const char* kGroups = "param_groups";
constexpr int64_t kMostParameters = 1 << 24;

const IValue& attribute(const Object& object, const std::string& key, const std::string& name) {
  const auto* found = object.find(key);
  if (!found) io_fail("load", "the optimizer '", name, "': expected an entry '", key, "', got none");
  return found->value;
}

int64_t count(const Object& object, const std::string& key, const std::string& name) {
  const IValue& value = attribute(object, key, name);
  const int64_t n = value.isTensor() && value.toTensor().numel() == 1 ? value.toTensor().item<int64_t>() : -1;
  if (n < 0 || n > kMostParameters) io_fail("load", "the optimizer '", name, "': expected a count as '", key, "'");
  return n;
}

Dict<std::string, IValue> plain_dict() { return Dict<std::string, IValue>(StringType::get(), AnyType::get()); }

// The lists that LBFGS keeps stand in archives element by element.
IValue python_state(const Object& archive) {
  auto dict = plain_dict();
  for (const auto& [key, value, role] : archive.attributes) {
    const bool step = key == kStep && value.isInt();
    dict.insert(key, step ? IValue(scalar_tensor(static_cast<double>(value.toInt()), kFloat)) : value);
  }
  return dict;
}

// LibTorch's readers want a float where Python has an integer, but for these.
bool is_whole_option(std::string_view name) {
  constexpr std::string_view kWhole[] = {"max_iter", "max_eval", "history_size"};
  return std::find(std::begin(kWhole), std::end(kWhole), name) != std::end(kWhole);
}

IValue libtorch_option(const std::string& name, const IValue& value) {
  if (value.isInt() && !is_whole_option(name)) return IValue(static_cast<double>(value.toInt()));
  if (!value.isTuple() && !value.isList()) return value;
  std::vector<IValue> items = value.isTuple() ? value.toTupleRef().elements() : value.toListRef();
  for (IValue& item : items) item = libtorch_option(name, item);
  return IValue(ivalue::TupleData::create(std::move(items)));
}

IValue libtorch_state(const std::string& name, const IValue& value) {
  if (name == kStep && value.isTensor() && value.toTensor().numel() == 1) return value.toTensor().item<int64_t>();
  if (name == kStep && value.isDouble()) return static_cast<int64_t>(value.toDouble());
  return value;
}

Tensor number(size_t n) { return scalar_tensor(static_cast<int64_t>(n), kLong); }

std::shared_ptr<Object> states_archive(const Dict<IValue, IValue>& states, const std::string& name) {
  auto archive = std::make_shared<Object>();
  for (const auto& entry : states) {
    if (!entry.key().isInt() || !entry.value().isGenericDict()) {
      io_fail("save", "the optimizer '", name, "': expected dicts by number in 'state', got key ", entry.key());
    }
    auto one = std::make_shared<Object>();
    for (const auto& [key, value] : entry.value().toGenericDict().data()->entries) {
      if (!value.isNone()) one->set(key.toStringRef(), libtorch_state(key.toStringRef(), value), Role::Attribute);
    }
    archive->set(std::to_string(entry.key().toInt()), IValue(std::move(one)), Role::Attribute);
  }
  return archive;
}

std::shared_ptr<Object> group_archive(const IValue& group, const std::string& name) {
  auto archive = std::make_shared<Object>(), options = std::make_shared<Object>();
  const auto dict = group.toGenericDict();
  if (!dict.contains("params")) io_fail("save", "the optimizer '", name, "': expected 'params' in each group");
  const auto params = dict.at("params").toListRef();
  archive->set("params/size", number(params.size()), Role::Parameter);
  for (size_t i = 0; i < params.size(); ++i) {
    archive->set("params/" + std::to_string(i), IValue(std::to_string(params[i].toInt())), Role::Attribute);
  }
  for (const auto& [key, value] : dict.data()->entries) {
    const std::string& option = key.toStringRef();
    if (option == "params" || value.isNone()) continue;
    options->set(option, libtorch_option(option, value), Role::Attribute);
  }
  archive->set("options", IValue(std::move(options)), Role::Attribute);
  return archive;
}

}  // namespace

bool is_optimizer_archive(const Object& object) {
  const auto* groups = object.find(kGroups);
  const auto* state = object.find("state");
  return object.find("pytorch_version") && groups && groups->value.isObject() && state && state->value.isObject();
}

bool is_optimizer_dict(const IValue& value) {
  if (!value.isGenericDict()) return false;
  const auto dict = value.toGenericDict();
  return dict.size() == 2 && dict.contains("state") && dict.contains(kGroups) && dict.at("state").isGenericDict() &&
         dict.at(kGroups).isList();
}

IValue optimizer_dict_of(const Object& archive, const std::string& name) {
  const auto states = attribute(archive, "state", name).toObject();
  const auto groups = attribute(archive, kGroups, name).toObject();
  Dict<int64_t, IValue> state(IntType::get(), AnyType::get());
  std::vector<IValue> python_groups;
  int64_t next = 0;
  const int64_t group_count = count(*groups, std::string(kGroups) + "/size", name);
  for (int64_t i = 0; i < group_count; ++i) {
    const auto group = attribute(*groups, std::string(kGroups) + "/" + std::to_string(i), name).toObject();
    auto dict = plain_dict();
    for (const auto& option : attribute(*group, "options", name).toObject()->attributes) {
      dict.insert(option.name, option.value);
    }
    std::vector<int64_t> numbers;
    const int64_t param_count = count(*group, "params/size", name);
    for (int64_t k = 0; k < param_count; ++k, ++next) {
      const std::string key = attribute(*group, "params/" + std::to_string(k), name).toStringRef();
      numbers.push_back(next);
      if (const auto* found = states->find(key)) state.insert(next, python_state(*found->value.toObject()));
    }
    dict.insert("params", IValue(numbers));
    python_groups.emplace_back(dict);
  }
  auto result = plain_dict();
  result.insert("state", state);
  auto list = std::make_shared<ivalue::ListData>();
  list->element_type = AnyType::get();
  list->items = std::move(python_groups);
  result.insert(kGroups, IValue(std::move(list)));
  return result;
}

std::shared_ptr<Object> optimizer_archive_of(const IValue& dict, const std::string& name) {
  auto archive = std::make_shared<Object>(), groups = std::make_shared<Object>();
  const auto entries = dict.toGenericDict();
  const auto list = entries.at(kGroups).toListRef();
  archive->set("pytorch_version", IValue("1.5.0"), Role::Attribute);
  archive->set("state", IValue(states_archive(entries.at("state").toGenericDict(), name)), Role::Attribute);
  groups->set(std::string(kGroups) + "/size", number(list.size()), Role::Parameter);
  for (size_t i = 0; i < list.size(); ++i) {
    groups->set(std::string(kGroups) + "/" + std::to_string(i), IValue(group_archive(list[i], name)), Role::Attribute);
  }
  archive->set(kGroups, IValue(std::move(groups)), Role::Attribute);
  return archive;
}

}  // namespace hb::io
