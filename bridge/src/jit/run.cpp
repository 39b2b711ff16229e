// Calls of a module's methods and of a unit's functions.
#include <algorithm>
#include <ostream>
#include <utility>

#include <halfbridge/bridge/jit.h>
#include <halfbridge/class_type.h>
#include <halfbridge/future.h>
#include <halfbridge/grad_mode.h>

#include "io/io_error.h"
#include "io/torch_archive.h"
#include "script/archive.h"
#include "script/norm_folds.h"
#include "script/unit.h"

namespace hb::bridge::jit {
namespace {

using script::ScriptFunction;

const ScriptFunction& function_of(const ObjectPtr& owner, const std::string& name) {
  const ScriptFunction* function = script::find_method(*owner, name);
  if (!function) {
    io::io_fail("jit.Module", "the code of ", owner->class_name, " has no method '", name,
                "' that can be run: it was read without its code");
  }
  return *function;
}

}  // namespace

IValue Method::operator()(Stack inputs, const Kwargs& kwargs) const {
  std::vector<IValue> arguments;
  arguments.reserve(inputs.size() + kwargs.size() + 1);
  arguments.emplace_back(owner_);
  std::move(inputs.begin(), inputs.end(), std::back_inserter(arguments));
  script::Names names;
  for (const auto& [name, value] : kwargs) {
    names.push_back(name);
    arguments.push_back(value);
  }
  return function_of(owner_, name_).call(std::move(arguments), names);
}
void Method::run(Stack& stack) const {
  IValue result = (*this)(std::exchange(stack, {}));
  stack.push_back(std::move(result));
}
intrusive_ptr<ivalue::Future> Method::run_async(Stack stack, const Kwargs& kwargs,
                                                std::function<void(std::function<void()>)> launcher) const {
  const auto& results = function().getSchema().returns();
  auto future = make_intrusive<ivalue::Future>(results.size() == 1 ? results[0].type() : AnyType::get());
  const auto task = [method = *this, stack = std::move(stack), kwargs, future] {
    try {
      future->markCompleted(method(stack, kwargs));
    } catch (...) {
      future->setError(std::current_exception());
    }
  };
  if (launcher) {
    launcher(task);
  } else {
    task();
  }
  return future;
}
Function& Method::function() const { return owner_->type()->getMethod(name_); }
size_t Method::num_inputs() const { return function_of(owner_, name_).syntax().parameters.size(); }

IValue Module::forward(Stack inputs, const Kwargs& kwargs) const {
  return get_method("forward")(std::move(inputs), kwargs);
}
IValue Module::operator()(Stack inputs) const { return forward(std::move(inputs)); }

// Other objects of the class keep what they have.
void Object::add_methods(const std::string& source) const {
  const ObjectPtr object = _ivalue();
  auto declared =
      object->declared ? std::make_shared<ivalue::ClassData>(*object->declared) : std::make_shared<ivalue::ClassData>();
  const script::ClassCode* old = script::class_code(*declared);
  auto unit = std::make_shared<script::Unit>(old ? old->unit : nullptr);
  auto code =
      old ? std::make_shared<script::ClassCode>(*old) : std::make_shared<script::ClassCode>(unit, object->class_name);
  for (ScriptFunction* function : unit->add_source(source, object->class_name)) {
    const std::string& name = function->name();
    HB_CHECK(!function->syntax().parameters.empty(), "[jit.Module.define] the method '", name,
             "' expected self as its first parameter");
    auto& methods = declared->methods;
    if (std::find(methods.begin(), methods.end(), name) == methods.end()) methods.push_back(name);
    code->folded.erase(name);
    code->added[name] = function;
  }
  code->sources.push_back(unit);
  declared->code = std::move(code);
  object->declared = std::move(declared);
}

IValue Module::make_object(const std::string& class_name, Stack arguments) const {
  const auto& declared = _ivalue()->declared;
  script::ClassCode* code = declared ? script::class_code(*declared) : nullptr;
  script::ScriptClass* of = code ? code->unit->find_class(class_name) : nullptr;
  if (!of) io::io_fail("jit.Module.create_class", "expected a class of the module's archive, got '", class_name, "'");
  auto object = std::make_shared<ivalue::Object>();
  object->class_name = class_name;
  object->declared = code->unit->declared(*of);
  const auto start = of->methods.find("__init__");
  if (start == of->methods.end()) return IValue(std::move(object));
  arguments.insert(arguments.begin(), IValue(object));
  start->second->call(std::move(arguments));
  return IValue(std::move(object));
}

void Module::save(const std::string& filename, const ExtraFilesMap& extra_files) const {
  const ObjectPtr module = _ivalue();
  io::save_archive(filename, [&](io::ZipWriter& zip) { script::write_archive(module, extra_files, zip); });
}
void Module::save(std::ostream& out, const ExtraFilesMap& extra_files) const {
  const ObjectPtr module = _ivalue();
  io::save_archive(out, [&](io::ZipWriter& zip) { script::write_archive(module, extra_files, zip); });
}

// --- units

CompilationUnit::CompilationUnit() = default;

void CompilationUnit::add(const std::string& source) {
  if (!unit_) unit_ = std::make_shared<script::Unit>();
  unit_->add_source(source, "");
}
Function* CompilationUnit::find_function(const std::string& name) const {
  return unit_ ? unit_->callable(name) : nullptr;
}
Function& CompilationUnit::get_function(const std::string& name) const {
  Function* found = find_function(name);
  if (!found) io::io_fail("jit.CompilationUnit", "attempted to get undefined function ", name);
  return *found;
}
std::vector<Function*> CompilationUnit::get_functions() const {
  std::vector<Function*> all;
  if (!unit_) return all;
  for (const ScriptFunction* function : unit_->plain_functions()) all.push_back(unit_->callable(function->name()));
  return all;
}
IValue CompilationUnit::run(const std::string& name, std::vector<IValue> arguments) const {
  const ScriptFunction* function = unit_ ? unit_->function(name) : nullptr;
  if (!function) io::io_fail("jit.CompilationUnit", "attempted to get undefined function ", name);
  return function->call(std::move(arguments));
}

std::shared_ptr<CompilationUnit> compile(const std::string& source) {
  return std::make_shared<CompilationUnit>(source);
}

// --- copies that compute the same

Module freeze(const Module& module, const std::optional<std::vector<std::string>>& /*preserved_attrs*/,
              bool optimize_numerics) {
  if (module.hasattr("training") && module.is_training()) {
    io::io_fail("jit.freeze",
                "Freezing is currently only implemented for modules in eval mode. Please call .eval() on "
                "your module before freezing.");
  }
  Module frozen = module.clone();
  for (const Tensor& parameter : frozen.parameters()) parameter.set_requires_grad(false);
  if (optimize_numerics) script::fold_batch_norms(frozen._ivalue());
  return frozen;
}
Module optimize_for_inference(Module& module, const std::vector<std::string>& /*other_methods*/) {
  const bool training = module.hasattr("training") && module.is_training();
  return training ? module.clone() : freeze(module);
}

}  // namespace hb::bridge::jit
