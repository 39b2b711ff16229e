#pragma once
// What every optimizer's classes declare alike; src/optim/fields.h defines it from lists of field names.

#include <halfbridge/bridge/optim/optimizer.h>

/// In the options of an optimizer, after the HB_ARGs.
#define HB_OPTIONS_METHODS(Class)                                   \
 public:                                                            \
  void serialize(serialize::InputArchive& archive) override;        \
  void serialize(serialize::OutputArchive& archive) const override; \
  HB_API friend bool operator==(const Class& a, const Class& b);    \
  double get_lr() const override;                                   \
  void set_lr(const double lr) override;                            \
  std::vector<std::string> names() const override;                  \
  IValue get(const std::string& name) const override;               \
  void set(const std::string& name, const IValue& value) override

/// In the state of an optimizer, after the HB_ARGs.
#define HB_STATE_METHODS(Class)                                     \
 public:                                                            \
  void serialize(serialize::InputArchive& archive) override;        \
  void serialize(serialize::OutputArchive& archive) const override; \
  IValue state_dict() const override;                               \
  void load_state_dict(const IValue& dict) override;                \
  HB_API friend bool operator==(const Class& a, const Class& b)

/// In an optimizer: constructors from groups and from parameters, saving and loading.
#define HB_OPTIMIZER_METHODS(Name, ...)                                                                    \
 public:                                                                                                   \
  explicit Name(const std::vector<OptimizerParamGroup>& param_groups, Name##Options defaults __VA_ARGS__); \
  explicit Name(std::vector<Tensor> params, Name##Options defaults __VA_ARGS__);                           \
  void save(serialize::OutputArchive& archive) const override;                                             \
  void load(serialize::InputArchive& archive) override;                                                    \
                                                                                                           \
 protected:                                                                                                \
  std::unique_ptr<OptimizerParamState> new_state() const override;                                         \
                                                                                                           \
 public:

/// The same, and a step that the update kernels make.
#define HB_FUSED_OPTIMIZER_METHODS(Name, ...)                                            \
  HB_OPTIMIZER_METHODS(Name, __VA_ARGS__)                                                \
  using Optimizer::step;                                                                 \
  Tensor step(const std::vector<Tensor>& grads, LossClosure closure = nullptr) override; \
  bool supports_amp_scaling() const override { return true; }
