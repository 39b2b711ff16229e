#include <halfbridge/bridge/optim/scheduler_state.h>

#include "values.h"

namespace hb::bridge::optim {

template <class T>
void SchedulerState::field(const char* name, T& value) {
  const IValue key(name);
  if (!reading_)
    dict_.insert_or_assign(key, to_value(value));
  else if (dict_.contains(key))
    from_value(dict_.at(key), value, name);
}

template <class T>
void SchedulerState::list(const char* name, std::vector<T>& value) {
  const IValue key(name);
  if (!reading_) {
    dict_.insert_or_assign(key, IValue(value));
  } else if (dict_.contains(key)) {
    const IValue read = dict_.at(key);
    HB_CHECK(read.isList() || read.isTuple(), "[LRScheduler::load_state_dict] expected a list for '", name, "', got ",
             read.tagKind());
    std::vector<T> all;
    for (const auto& item : read.isList() ? read.toListRef() : read.toTupleRef().elements()) {
      T one;
      from_value(item, one, name);
      all.push_back(one);
    }
    value = std::move(all);
  }
}

void SchedulerState::operator()(const char* name, double& value) { field(name, value); }
void SchedulerState::operator()(const char* name, int64_t& value) { field(name, value); }
void SchedulerState::operator()(const char* name, bool& value) { field(name, value); }
void SchedulerState::operator()(const char* name, std::string& value) { field(name, value); }
void SchedulerState::operator()(const char* name, std::vector<double>& value) { list(name, value); }
void SchedulerState::operator()(const char* name, std::vector<int64_t>& value) { list(name, value); }
void SchedulerState::operator()(const char* name, IValue& value) {
  const IValue key(name);
  if (!reading_)
    dict_.insert_or_assign(key, value);
  else if (dict_.contains(key))
    value = dict_.at(key);
}

}  // namespace hb::bridge::optim
