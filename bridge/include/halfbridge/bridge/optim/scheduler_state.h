#pragma once

#include <optional>
#include <string>
#include <vector>

#include <halfbridge/bridge/optim/options.h>

namespace hb::bridge::optim {

/// Reads or writes the fields of a scheduler by name:
///   void state(SchedulerState& state) override { EpochScheduler::state(state); state("gamma", gamma_); }
/// What a dict lacks stays as it is.
class HB_API SchedulerState {
 public:
  /// Collects fields.
  SchedulerState() = default;
  /// Sets fields from a dict.
  explicit SchedulerState(const IValue& from) : dict_(from.toGenericDict()), reading_(true) {}
  bool reading() const { return reading_; }
  IValue dict() const { return dict_; }

  void operator()(const char* name, double& value);
  void operator()(const char* name, int64_t& value);
  void operator()(const char* name, bool& value);
  void operator()(const char* name, std::string& value);
  void operator()(const char* name, std::vector<double>& value);
  void operator()(const char* name, std::vector<int64_t>& value);
  void operator()(const char* name, IValue& value);

 private:
  template <class T>
  void list(const char* name, std::vector<T>& value);
  template <class T>
  void field(const char* name, T& value);

  Dict<IValue, IValue> dict_;
  bool reading_ = false;
};

/// A number for all parameter groups, or one for each.
class GroupValues {
 public:
  GroupValues(double value) : values_{value}, single_(true) {}             // NOLINT: implicit, as in Python
  GroupValues(std::vector<double> values) : values_(std::move(values)) {}  // NOLINT
  GroupValues(std::initializer_list<double> values) : values_(values) {}   // NOLINT
  /// The number for all groups, if it is one.
  std::optional<double> single() const { return single_ ? std::optional<double>(values_[0]) : std::nullopt; }
  size_t size() const { return values_.size(); }
  /// Throws if there is another number of them.
  std::vector<double> for_groups(const char* name, size_t groups) const {
    if (single_) return std::vector<double>(groups, values_[0]);
    HB_CHECK(values_.size() == groups, name, " must have the same length as optimizer.param_groups. ", name, " has ",
             values_.size(), " values, param_groups has ", groups, ".");
    return values_;
  }

 private:
  std::vector<double> values_;
  bool single_ = false;
};

}  // namespace hb::bridge::optim
