#pragma once
// Options and states as lists of named fields, from which they are written, read and compared.

#include <deque>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

#include <halfbridge/bridge/optim/serialize.h>

namespace hb::bridge::optim {

struct FieldWriter {
  serialize::OutputArchive& archive;
  template <class T>
  void operator()(const char* name, const T& value) const {
    archive.write(name, IValue(value));
  }
  /// Undefined tensors are left out.
  void operator()(const char* name, const Tensor& value) const {
    if (value.defined()) archive.write(name, IValue(value));
  }
  void operator()(const char* name, const std::deque<Tensor>& values) const {
    archive.write(name, IValue(std::vector<Tensor>(values.begin(), values.end())));
  }
};

struct FieldReader {
  serialize::InputArchive& archive;
  template <class T>
  void operator()(const char* name, T& value) const {
    IValue read;
    archive.read(name, read);
    get(read, value);
  }
  void operator()(const char* name, Tensor& value) const {
    IValue read;
    if (archive.try_read(name, read)) value = read.toTensor();
  }

 private:
  static void get(const IValue& read, double& value) { value = read.toDouble(); }
  static void get(const IValue& read, int64_t& value) { value = read.toInt(); }
  static void get(const IValue& read, bool& value) { value = read.toBool(); }
  static void get(const IValue& read, std::string& value) { value = read.toStringRef(); }
  static void get(const IValue& read, std::tuple<double, double>& value) {
    const auto& pair = read.toTupleRef().elements();
    HB_CHECK(pair.size() == 2, "[Optimizer::load] expected a pair of numbers, got ", read);
    value = {pair[0].toDouble(), pair[1].toDouble()};
  }
  static void get(const IValue& read, std::vector<Tensor>& value) { value = read.toTensorVector(); }
  static void get(const IValue& read, std::deque<Tensor>& value) {
    const auto list = read.toTensorVector();
    value.assign(list.begin(), list.end());
  }
  template <class T>
  static void get(const IValue& read, std::optional<T>& value) {
    if (read.isNone()) {
      value.reset();
    } else {
      get(read, value.emplace());
    }
  }
};

inline bool same_field(const Tensor& a, const Tensor& b) {
  if (!a.defined() || !b.defined()) return a.defined() == b.defined();
  return a.equal(b);
}
template <class List>
bool same_list(const List& a, const List& b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i)
    if (!same_field(a[i], b[i])) return false;
  return true;
}
inline bool same_field(const std::deque<Tensor>& a, const std::deque<Tensor>& b) { return same_list(a, b); }
inline bool same_field(const std::optional<std::vector<Tensor>>& a, const std::optional<std::vector<Tensor>>& b) {
  return a && b ? same_list(*a, *b) : a.has_value() == b.has_value();
}
template <class T>
bool same_field(const T& a, const T& b) {
  return a == b;
}

/// Defines serialize() and operator== of a class; `HB_FIELDS(name)` stands for its list of fields:
///   #define FIELDS(_) _(lr) _(momentum)
///   HB_SERIALIZE_FIELDS(SGDOptions, FIELDS)
#define HB_WRITE_FIELD(name) write(#name, this->name());
#define HB_READ_FIELD(name) read(#name, this->name());
#define HB_SAME_FIELD(name) &&same_field(a.name(), b.name())
#define HB_SERIALIZE_FIELDS(Class, FIELDS)                         \
  void Class::serialize(serialize::OutputArchive& archive) const { \
    const FieldWriter write{archive};                              \
    FIELDS(HB_WRITE_FIELD)                                         \
  }                                                                \
  void Class::serialize(serialize::InputArchive& archive) {        \
    const FieldReader read{archive};                               \
    FIELDS(HB_READ_FIELD)                                          \
  }                                                                \
  bool operator==(const Class& a, const Class& b) { return true FIELDS(HB_SAME_FIELD); }

/// All of an optimizer that follows from the names of its fields.
#define HB_OPTIMIZER_BOILERPLATE(Name, OPTIONS, STATE)                 \
  HB_SERIALIZE_FIELDS(Name##Options, OPTIONS)                          \
  HB_SERIALIZE_FIELDS(Name##ParamState, STATE)                         \
  double Name##Options::get_lr() const { return lr(); }                \
  void Name##Options::set_lr(const double lr) { this->lr(lr); }        \
  void Name::save(serialize::OutputArchive& archive) const {           \
    optim::serialize<Name##ParamState, Name##Options>(archive, *this); \
  }                                                                    \
  void Name::load(serialize::InputArchive& archive) {                  \
    optim::serialize<Name##ParamState, Name##Options>(archive, *this); \
  }

}  // namespace hb::bridge::optim
