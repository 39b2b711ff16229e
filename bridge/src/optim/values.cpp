#include "values.h"

#include <halfbridge/ops/factories.h>

namespace hb::bridge::optim {

namespace {
[[noreturn]] void wrong_type(const char* name, const char* expected, const IValue& got) {
  HB_CHECK(false, "[Optimizer] expected ", expected, " for '", name, "', got ", got.tagKind());
  std::abort();
}
bool is_number(const IValue& v) { return v.isTensor() && v.toTensor().defined() && v.toTensor().numel() == 1; }
}  // namespace

void from_value(const IValue& read, double& value, const char* name) {
  if (read.isDouble())
    value = read.toDouble();
  else if (read.isInt())
    value = static_cast<double>(read.toInt());
  else if (is_number(read))
    value = read.toTensor().item<double>();
  else
    wrong_type(name, "a number", read);
}

void from_value(const IValue& read, int64_t& value, const char* name) {
  if (read.isInt())
    value = read.toInt();
  else if (read.isDouble() && read.toDouble() == static_cast<double>(static_cast<int64_t>(read.toDouble())))
    value = static_cast<int64_t>(read.toDouble());
  else if (is_number(read))
    value = read.toTensor().item<int64_t>();
  else
    wrong_type(name, "a whole number", read);
}

void from_value(const IValue& read, bool& value, const char* name) {
  if (!read.isBool()) wrong_type(name, "a bool", read);
  value = read.toBool();
}

void from_value(const IValue& read, std::string& value, const char* name) {
  if (!read.isString()) wrong_type(name, "a string", read);
  value = read.toStringRef();
}

void from_value(const IValue& read, Tensor& value, const char* name) {
  if (read.isNone())
    value = Tensor();
  else if (read.isTensor())
    value = read.toTensor();
  else
    wrong_type(name, "a tensor", read);
}

void from_value(const IValue& read, std::vector<Tensor>& value, const char* name) {
  if (!read.isList()) wrong_type(name, "a list of tensors", read);
  std::vector<Tensor> list;
  for (const auto& item : read.toListRef()) from_value(item, list.emplace_back(), name);
  value = std::move(list);
}

void from_value(const IValue& read, std::deque<Tensor>& value, const char* name) {
  std::vector<Tensor> list;
  from_value(read, list, name);
  value.assign(list.begin(), list.end());
}

const std::vector<IValue>& pair_of(const IValue& read, const char* name) {
  if (!read.isTuple() && !read.isList()) wrong_type(name, "a pair", read);
  const auto& items = read.isTuple() ? read.toTupleRef().elements() : read.toListRef();
  HB_CHECK(items.size() == 2, "[Optimizer] expected a pair for '", name, "', got ", items.size(), " values");
  return items;
}

Dict<std::string, IValue> new_value_dict() { return {}; }

IValue to_python_state(const StepCounter& value) { return scalar_tensor(static_cast<double>(value.get()), kFloat); }
IValue to_python_state(const DeviceNumber<double>& value) { return scalar_tensor(value.get(), kDouble); }

void add_master_weight(const Dict<std::string, IValue>& dict, const OptimizerParamState& state) {
  if (state.master_weight().defined()) dict.insert("master_weight", state.master_weight());
}
void read_master_weight(const Dict<IValue, IValue>& dict, OptimizerParamState& state) {
  from_python_state(dict, "master_weight", state.master_weight());
}

}  // namespace hb::bridge::optim
