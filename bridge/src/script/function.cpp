// Calls of compiled functions.
#include <algorithm>
#include <sstream>

#include <halfbridge/error.h>
#include <halfbridge/tensor_type.h>

#include "core/stack.h"
#include "dispatch/schema_types.h"
#include "script/compiler.h"
#include "script/raised.h"
#include "script/unit.h"

namespace hb::bridge::script {
namespace {

constexpr int kMaxCalls = 300;
constexpr size_t kMaxContext = 16;
thread_local int calls_now = 0;

struct CallDepth {
  CallDepth() {
    if (++calls_now <= kMaxCalls) return;
    --calls_now;
    throw Error("[TorchScript] expected at most 300 calls within each other, got more: a function may not call itself");
  }
  ~CallDepth() { --calls_now; }
};

}  // namespace

ScriptFunction::ScriptFunction(Unit& unit, std::string owner, std::string qualified_name, std::string label,
                               std::shared_ptr<const FunctionSyntax> syntax)
    : unit_(unit),
      owner_(std::move(owner)),
      qualified_name_(std::move(qualified_name)),
      label_(std::move(label)),
      syntax_(std::move(syntax)) {}
ScriptFunction::ScriptFunction(const ScriptFunction& other, std::shared_ptr<const NormFolds> folds)
    : unit_(other.unit_),
      owner_(other.owner_),
      qualified_name_(other.qualified_name_),
      label_(other.label_),
      syntax_(other.syntax_),
      folds_(std::move(folds)) {}
ScriptFunction::~ScriptFunction() = default;

void ScriptFunction::compile() const {
  const std::lock_guard lock(unit_.mutex());
  if (compiled_.load(std::memory_order_relaxed)) return;
  Compiler(*this).run();
  parameter_types_.clear();
  for (const Parameter& parameter : syntax_->parameters)
    parameter_types_.push_back(parameter.type.empty() ? TensorType::get() : make_type(parameter.type));
  compiled_.store(true, std::memory_order_release);
}

Binding ScriptFunction::bind(size_t arguments, const Names& names) const {
  const auto& parameters = syntax_->parameters;
  const auto declaration = [&] { return hb::detail::str(". Declaration: ", schema()); };
  Binding made;
  std::vector<bool> given(parameters.size());
  const size_t by_place = arguments - names.size();
  const auto named_alone = std::find_if(parameters.begin(), parameters.end(), [](auto& p) { return p.by_name; });
  const size_t most = static_cast<size_t>(named_alone - parameters.begin());
  HB_CHECK(by_place <= most, name(), "() expected at most ", most, " argument(s) but received ", by_place,
           " argument(s)", declaration());
  for (size_t i = 0; i < by_place; ++i) made.parameter_of.push_back(i), given[i] = true;
  for (const std::string& wanted : names) {
    size_t at = 0;
    while (at < parameters.size() && parameters[at].name != wanted) ++at;
    HB_CHECK(at < parameters.size(), "Unknown keyword argument '", wanted, "' for operator '", name(), "'",
             declaration());
    HB_CHECK(!given[at], name(), "() got argument '", wanted, "' twice", declaration());
    made.parameter_of.push_back(at);
    given[at] = true;
  }
  for (size_t i = 0; i < parameters.size(); ++i) {
    if (given[i]) continue;
    HB_CHECK(parameters[i].value, name(), "() is missing value for argument '", parameters[i].name, "'", declaration());
    made.defaults.push_back(i);
  }
  return made;
}

Frame ScriptFunction::frame() const {
  ensure_compiled();
  return Frame(places_);
}

void ScriptFunction::set_defaults(Frame& frame, const Binding& binding) const {
  for (size_t i : binding.defaults) frame.slots[i] = defaults_[i]->eval(frame);
}

IValue ScriptFunction::run_body(Frame& frame) const {
  try {
    body_.run(frame);
    return std::move(frame.result);
  } catch (Error& error) {
    if (error.context().size() < kMaxContext)
      error.add_context(hb::detail::str("in ", qualified_name_, ", ", label_, ":", frame.line));
    throw;
  }
}

IValue ScriptFunction::run(Frame frame) const {
  const CallDepth depth;
  return hb::detail::with_stack([&] { return run_body(frame); });
}

Frame ScriptFunction::frame_of(std::vector<IValue> arguments, const Names& names) const {
  const Binding binding = bind(arguments.size(), names);
  Frame made = frame();
  for (size_t i = 0; i < arguments.size(); ++i) made.slots[binding.parameter_of[i]] = std::move(arguments[i]);
  set_defaults(made, binding);
  return made;
}

IValue ScriptFunction::run(std::vector<IValue> arguments) const { return run(frame_of(std::move(arguments), {})); }

void ScriptFunction::check_types(Frame& frame) const {
  const auto& parameters = syntax_->parameters;
  for (size_t i = owner_.empty() ? 0 : 1; i < parameters.size(); ++i) {
    const Type& wanted = *parameter_types_[i];
    IValue& value = frame.slots[i];
    if (value_fits(value, wanted)) continue;
    if (wanted.kind() == TypeKind::FloatType && value.isInt()) {
      value = static_cast<double>(value.toInt());
      continue;
    }
    hb::detail::fail<Error>(name(), "() Expected a value of type '", wanted.annotation_str(), "' for argument '",
                            parameters[i].name, "' but instead found type '", value.type()->annotation_str(),
                            "'.\nPosition: ", i, "\nDeclaration: ", schema());
  }
}

IValue ScriptFunction::call(std::vector<IValue> arguments, const Names& names) const {
  Frame made = frame_of(std::move(arguments), names);
  check_types(made);
  try {
    return run(std::move(made));
  } catch (...) {
    rethrow_outside(std::current_exception());
  }
}

}  // namespace hb::bridge::script
