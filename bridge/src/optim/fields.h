#pragma once
// Options and states as lists of named fields, from which they are written, read, compared and found by name.

#include <deque>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

#include <halfbridge/bridge/optim/serialize.h>

#include "values.h"

namespace hb::bridge::optim {

struct FieldWriter {
  serialize::OutputArchive& archive;
  template <class T>
  void operator()(const char* name, const T& value) const {
    archive.write(name, to_value(value));
  }
  /// Undefined tensors are left out.
  void operator()(const char* name, const Tensor& value) const {
    if (value.defined()) archive.write(name, IValue(value));
  }
};

struct FieldReader {
  serialize::InputArchive& archive;
  bool optional = false;  // fields that LibTorch's files lack
  template <class T>
  void operator()(const char* name, T& value) const {
    IValue read;
    if (!archive.try_read(name, read)) {
      HB_CHECK(optional, "[Optimizer::load] No such serialized value: the archive has no '", name, "'");
      return;
    }
    from_value(read, value, name);
  }
  void operator()(const char* name, Tensor& value) const {
    IValue read;
    if (archive.try_read(name, read)) value = read.toTensor();
  }
};

/// Defines serialize() and operator== of a class; `FIELDS(_)` stands for its list of fields, EXTRA for those that
/// LibTorch's files lack:
///   #define SGD_OPTIONS(_) _(lr) _(momentum)
///   HB_SERIALIZE_FIELDS(SGDOptions, SGD_OPTIONS, HB_NO_FIELDS)
#define HB_NO_FIELDS(_)
#define HB_WRITE_FIELD(name) write(#name, this->name());
#define HB_READ_FIELD(name) read(#name, this->name());
#define HB_SAME_FIELD(name) &&same_value(a.name(), b.name())
#define HB_NAME_FIELD(name) #name,
#define HB_GET_FIELD(field) \
  if (name == #field) return to_value(this->field());
#define HB_SET_FIELD(field) \
  if (name == #field) return from_value(value, this->field(), #field);
#define HB_DICT_FIELD(name) dict.insert(#name, to_python_state(this->name##_));
#define HB_UNDICT_FIELD(name) from_python_state(dict, #name, this->name());

#define HB_SERIALIZE_FIELDS(Class, FIELDS, EXTRA)                  \
  void Class::serialize(serialize::OutputArchive& archive) const { \
    const FieldWriter write{archive};                              \
    FIELDS(HB_WRITE_FIELD)                                         \
    EXTRA(HB_WRITE_FIELD)                                          \
  }                                                                \
  void Class::serialize(serialize::InputArchive& archive) {        \
    FieldReader read{archive};                                     \
    FIELDS(HB_READ_FIELD)                                          \
    read.optional = true;                                          \
    EXTRA(HB_READ_FIELD)                                           \
  }                                                                \
  bool operator==(const Class& a, const Class& b) { return true FIELDS(HB_SAME_FIELD) EXTRA(HB_SAME_FIELD); }

#define HB_OPTIONS_BOILERPLATE(Class, FIELDS, EXTRA)                                                     \
  template class OptimizerCloneableOptions<Class>;                                                       \
  HB_SERIALIZE_FIELDS(Class, FIELDS, EXTRA)                                                              \
  double Class::get_lr() const { return lr(); }                                                          \
  void Class::set_lr(const double lr) { this->lr(lr); }                                                  \
  std::vector<std::string> Class::names() const { return {FIELDS(HB_NAME_FIELD) EXTRA(HB_NAME_FIELD)}; } \
  IValue Class::get(const std::string& name) const {                                                     \
    FIELDS(HB_GET_FIELD)                                                                                 \
    EXTRA(HB_GET_FIELD)                                                                                  \
    return OptimizerOptions::get(name);                                                                  \
  }                                                                                                      \
  void Class::set(const std::string& name, const IValue& value) {                                        \
    FIELDS(HB_SET_FIELD)                                                                                 \
    EXTRA(HB_SET_FIELD)                                                                                  \
    OptimizerOptions::set(name, value);                                                                  \
  }

#define HB_STATE_BOILERPLATE(Class, FIELDS)                 \
  template class OptimizerCloneableParamState<Class>;       \
  HB_SERIALIZE_FIELDS(Class, FIELDS, HB_NO_FIELDS)          \
  IValue Class::state_dict() const {                        \
    Dict<std::string, IValue> dict = new_value_dict();      \
    FIELDS(HB_DICT_FIELD)                                   \
    add_master_weight(dict, *this);                         \
    return dict;                                            \
  }                                                         \
  void Class::load_state_dict(const IValue& from) {         \
    const Dict<IValue, IValue> dict = from.toGenericDict(); \
    FIELDS(HB_UNDICT_FIELD)                                 \
    read_master_weight(dict, *this);                        \
  }

/// The constructor from parameters, save(), load() and new_state() of an optimizer.
#define HB_OPTIMIZER_FILES(Name, State)                                                                                \
  Name::Name(std::vector<Tensor> params, Name##Options defaults)                                                       \
      : Name(std::vector<OptimizerParamGroup>{OptimizerParamGroup(std::move(params))}, std::move(defaults)) {}         \
  void Name::save(serialize::OutputArchive& archive) const { optim::serialize<State, Name##Options>(archive, *this); } \
  void Name::load(serialize::InputArchive& archive) { optim::serialize<State, Name##Options>(archive, *this); }        \
  std::unique_ptr<OptimizerParamState> Name::new_state() const { return std::make_unique<State>(); }

/// All of an optimizer that follows from the names of its fields. OPTIONS are the options that LibTorch has as well.
#define HB_OPTIMIZER_BOILERPLATE(Name, OPTIONS, EXTRA, STATE) \
  HB_OPTIONS_BOILERPLATE(Name##Options, OPTIONS, EXTRA)       \
  HB_STATE_BOILERPLATE(Name##ParamState, STATE)               \
  HB_OPTIMIZER_FILES(Name, Name##ParamState)

}  // namespace hb::bridge::optim
