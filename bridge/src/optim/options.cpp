#include <halfbridge/bridge/optim/options.h>

#include <algorithm>

#include "values.h"

namespace hb::bridge::optim {

namespace {
[[noreturn]] void not_overridden(const char* function) {
  HB_NOT_SUPPORTED(function, " has not been implemented for torch::optim::OptimizerOptions",
                   ": override it in your subclass of torch::optim::OptimizerCloneableOptions<YourClass>");
}
}  // namespace

OptimizerOptions::~OptimizerOptions() = default;
std::unique_ptr<OptimizerOptions> OptimizerOptions::clone() const { not_overridden("clone()"); }
void OptimizerOptions::serialize(serialize::InputArchive&) { not_overridden("serialize(InputArchive&)"); }
void OptimizerOptions::serialize(serialize::OutputArchive&) const { not_overridden("serialize(OutputArchive&)"); }
double OptimizerOptions::get_lr() const { not_overridden("get_lr()"); }
void OptimizerOptions::set_lr(const double) { not_overridden("set_lr()"); }

std::vector<std::string> OptimizerOptions::names() const { return {"lr"}; }

bool OptimizerOptions::has(const std::string& name) const {
  const auto all = names();
  return std::find(all.begin(), all.end(), name) != all.end() || (name == "initial_lr" && initial_lr());
}

IValue OptimizerOptions::get(const std::string& name) const {
  if (name == "initial_lr" && initial_lr()) return *initial_lr();
  if (name == "lr") return get_lr();
  std::string all;
  for (const auto& known : names()) all += (all.empty() ? "'" : ", '") + known + "'";
  HB_CHECK(false, "[OptimizerParamGroup] expected the name of an option (", all, "), got '", name, "'");
  return {};
}

void OptimizerOptions::set(const std::string& name, const IValue& value) {
  if (name == "initial_lr") return from_value(value, initial_lr(), "initial_lr");
  get(name);  // throws for an unknown name
  double lr = 0;
  from_value(value, lr, "lr");
  set_lr(lr);
}

double OptionRef::toDouble() const {
  double number = 0;
  from_value(value(), number, name_.c_str());
  return number;
}

}  // namespace hb::bridge::optim
