#pragma once
// Hyper-parameters of a parameter group, and their access by name.

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <halfbridge/bridge/arg.h>
#include <halfbridge/ivalue.h>

namespace hb::bridge::serialize {
class OutputArchive;
class InputArchive;
}  // namespace hb::bridge::serialize

namespace hb::bridge::optim {

/// Hyper-parameters of a parameter group.
class HB_API OptimizerOptions {
 public:
  OptimizerOptions() = default;
  OptimizerOptions(const OptimizerOptions&) = default;
  OptimizerOptions& operator=(const OptimizerOptions&) = default;
  OptimizerOptions(OptimizerOptions&&) noexcept = default;
  OptimizerOptions& operator=(OptimizerOptions&&) noexcept = default;
  virtual ~OptimizerOptions();
  /// These throw unless a subclass overrides them.
  virtual std::unique_ptr<OptimizerOptions> clone() const;
  virtual void serialize(serialize::InputArchive& archive);
  virtual void serialize(serialize::OutputArchive& archive) const;
  virtual double get_lr() const;
  virtual void set_lr(const double lr);

  /// Access by name, as Python's groups have it. A subclass that does not override these has "lr" alone; "initial_lr"
  /// is everybody's.
  virtual std::vector<std::string> names() const;
  /// Throws for an unknown name.
  virtual IValue get(const std::string& name) const;
  /// Throws for an unknown name or a value of another type; an integer does for a float.
  virtual void set(const std::string& name, const IValue& value);
  bool has(const std::string& name) const;

  /// The learning rate from before any scheduler changed it; set by the first one.
  HB_ARG(std::optional<double>, initial_lr);
};

template <class Derived>
class HB_API OptimizerCloneableOptions : public OptimizerOptions {
 public:
  /// Python's switches between implementations: taken, and without effect. Every step is fused, and none waits for the
  /// device.
  Derived& foreach (std::optional<bool>) { return static_cast<Derived&>(*this); }
  Derived& fused(std::optional<bool>) { return static_cast<Derived&>(*this); }
  Derived& capturable(bool) { return static_cast<Derived&>(*this); }
  /// Throws if on: steps record no graph.
  Derived& differentiable(bool on) {
    if (on) HB_NOT_SUPPORTED("[Optimizer] differentiable=true is not supported");
    return static_cast<Derived&>(*this);
  }

 private:
  std::unique_ptr<OptimizerOptions> clone() const override;
};
// Outside the class, so that the library's instantiations serve every program.
template <class Derived>
std::unique_ptr<OptimizerOptions> OptimizerCloneableOptions<Derived>::clone() const {
  return std::make_unique<Derived>(static_cast<const Derived&>(*this));
}

/// One option of a group: `group["lr"] = 0.1; double lr = group["lr"]; group["lr"] *= 0.5`.
class HB_API OptionRef {
 public:
  OptionRef(OptimizerOptions& options, std::string name) : options_(options), name_(std::move(name)) {}
  OptionRef(const OptionRef&) = default;
  OptionRef& operator=(const IValue& value) {
    options_.set(name_, value);
    return *this;
  }
  OptionRef& operator=(const OptionRef& other) { return *this = other.value(); }  // NOLINT: assigns the option

  IValue value() const { return options_.get(name_); }
  double toDouble() const;
  int64_t toInt() const { return value().toInt(); }
  bool toBool() const { return value().toBool(); }
  template <class T, std::enable_if_t<std::is_arithmetic_v<T>, int> = 0>
  operator T() const {  // NOLINT: reads like the number it is
    if constexpr (std::is_same_v<T, bool>)
      return toBool();
    else if constexpr (std::is_integral_v<T>)
      return static_cast<T>(toInt());
    else
      return static_cast<T>(toDouble());
  }
  OptionRef& operator*=(double by) { return *this = IValue(toDouble() * by); }
  OptionRef& operator/=(double by) { return *this = IValue(toDouble() / by); }
  OptionRef& operator+=(double by) { return *this = IValue(toDouble() + by); }
  OptionRef& operator-=(double by) { return *this = IValue(toDouble() - by); }
  friend double operator*(const OptionRef& a, double b) { return a.toDouble() * b; }
  friend double operator*(double a, const OptionRef& b) { return a * b.toDouble(); }
  friend double operator/(const OptionRef& a, double b) { return a.toDouble() / b; }
  friend bool operator==(const OptionRef& a, double b) { return a.toDouble() == b; }

 private:
  OptimizerOptions& options_;
  std::string name_;
};

}  // namespace hb::bridge::optim
