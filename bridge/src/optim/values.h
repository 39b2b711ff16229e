#pragma once
// Fields of options and states as IValues, and back.

#include <deque>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include <halfbridge/bridge/optim/optimizer.h>

namespace hb::bridge::optim {

template <class T>
IValue to_value(const T& value) {
  return IValue(value);
}
template <class T>
IValue to_value(const DeviceNumber<T>& value) {
  return IValue(value.get());
}
inline IValue to_value(const Tensor& value) { return value.defined() ? IValue(value) : IValue(); }
inline IValue to_value(const std::deque<Tensor>& values) {
  return IValue(std::vector<Tensor>(values.begin(), values.end()));
}

/// Throw where the value is of another type; an integer does for a float, and a tensor of one element for a number.
void from_value(const IValue& read, double& value, const char* name);
void from_value(const IValue& read, int64_t& value, const char* name);
void from_value(const IValue& read, bool& value, const char* name);
void from_value(const IValue& read, std::string& value, const char* name);
void from_value(const IValue& read, Tensor& value, const char* name);
void from_value(const IValue& read, std::vector<Tensor>& value, const char* name);
void from_value(const IValue& read, std::deque<Tensor>& value, const char* name);
/// The elements of a pair, which may be a tuple or a list.
const std::vector<IValue>& pair_of(const IValue& read, const char* name);

template <class T>
void from_value(const IValue& read, DeviceNumber<T>& value, const char* name) {
  T number;
  from_value(read, number, name);
  value = number;
}
template <class T>
void from_value(const IValue& read, std::optional<T>& value, const char* name) {
  if (read.isNone()) return value.reset();
  from_value(read, value.emplace(), name);
}
template <class A, class B>
void from_value(const IValue& read, std::tuple<A, B>& value, const char* name) {
  const auto& pair = pair_of(read, name);
  std::tuple<A, B> both;
  from_value(pair[0], std::get<0>(both), name);
  from_value(pair[1], std::get<1>(both), name);
  value = both;
}

inline bool same_value(const Tensor& a, const Tensor& b) {
  if (!a.defined() || !b.defined()) return a.defined() == b.defined();
  return a.equal(b);
}
template <class List>
bool same_list(const List& a, const List& b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i)
    if (!same_value(a[i], b[i])) return false;
  return true;
}
inline bool same_value(const std::deque<Tensor>& a, const std::deque<Tensor>& b) { return same_list(a, b); }
inline bool same_value(const std::optional<std::vector<Tensor>>& a, const std::optional<std::vector<Tensor>>& b) {
  return a && b ? same_list(*a, *b) : a.has_value() == b.has_value();
}
template <class T>
bool same_value(const T& a, const T& b) {
  return a == b;
}

/// An empty dict from names to any values.
Dict<std::string, IValue> new_value_dict();

/// A field as Python's state dicts have it: numbers of steps are f32 tensors of no dimension.
template <class T>
IValue to_python_state(const T& value) {
  return to_value(value);
}
IValue to_python_state(const StepCounter& value);
IValue to_python_state(const DeviceNumber<double>& value);

/// Leaves a field whose name the dict lacks as it is.
template <class T>
void from_python_state(const Dict<IValue, IValue>& dict, const char* name, T& value) {
  const IValue key(name);
  if (dict.contains(key)) from_value(dict.at(key), value, name);
}
void add_master_weight(const Dict<std::string, IValue>& dict, const OptimizerParamState& state);
void read_master_weight(const Dict<IValue, IValue>& dict, OptimizerParamState& state);

}  // namespace hb::bridge::optim
