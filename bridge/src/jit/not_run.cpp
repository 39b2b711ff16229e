// What needs the code of a module: all of it throws.
#include <ostream>

#include <halfbridge/bridge/jit.h>

#include "io/io_error.h"
#include "jit/not_run.h"

namespace hb::bridge::jit {

void code_is_not_run(const char* what, const std::string& of) {
  io::io_fail(
      what, "expected code of C++, got that of ", of,
      ": Halfbridge reads the weights of TorchScript's modules and does not run their code. Write the network as a "
      "torch::nn::Module with the same names and read the file into it: torch::load(net, file) "
      "(docs/porting.md)");
}

IValue Module::forward(Stack /*inputs*/, const Kwargs& /*kwargs*/) const {
  code_is_not_run("jit.Module.forward", _ivalue()->class_name);
}
IValue Module::operator()(Stack /*inputs*/) const { code_is_not_run("jit.Module.forward", _ivalue()->class_name); }

void Module::save(const std::string& filename, const ExtraFilesMap& /*extra_files*/) const {
  io::io_fail("jit.Module.save", "cannot write '", filename, "': the code of ", _ivalue()->class_name,
              " is not kept. Save the weights: torch::save of a native module, or hb::io::save_state_dict_file");
}
void Module::save(std::ostream& /*out*/, const ExtraFilesMap& extra_files) const { save("a stream", extra_files); }

Module freeze(const Module& module, const std::optional<std::vector<std::string>>& /*preserved_attrs*/,
              bool /*optimize_numerics*/) {
  code_is_not_run("jit.freeze", module._ivalue()->class_name);
}
Module optimize_for_inference(Module& module, const std::vector<std::string>& /*other_methods*/) {
  code_is_not_run("jit.optimize_for_inference", module._ivalue()->class_name);
}
std::shared_ptr<CompilationUnit> compile(const std::string& /*source*/) {
  code_is_not_run("jit.compile", "a source text");
}
CompilationUnit::CompilationUnit() = default;
void CompilationUnit::add(const std::string& /*source*/) { code_is_not_run("jit.CompilationUnit", "a source text"); }
IValue CompilationUnit::run(const std::string& name, std::vector<IValue> /*arguments*/) const {
  code_is_not_run("jit.CompilationUnit", name);
}
Function* CompilationUnit::find_function(const std::string& /*name*/) const { return nullptr; }
Function& CompilationUnit::get_function(const std::string& name) const { code_is_not_run("jit.CompilationUnit", name); }
std::vector<Function*> CompilationUnit::get_functions() const { return {}; }
IValue Module::make_object(const std::string& class_name, Stack /*arguments*/) const {
  code_is_not_run("jit.Module.create_class", class_name);
}
void Object::add_methods(const std::string& /*source*/) const {
  code_is_not_run("jit.Module.define", _ivalue()->class_name);
}

namespace {

FusionStrategy& fusion_strategy() {
  static FusionStrategy strategy{{FusionBehavior::STATIC, 2}, {FusionBehavior::DYNAMIC, 10}};
  return strategy;
}
bool optimize = true;

}  // namespace

FusionStrategy getFusionStrategy() { return fusion_strategy(); }
FusionStrategy setFusionStrategy(FusionStrategy& strategy) { return std::exchange(fusion_strategy(), strategy); }
void setGraphExecutorOptimize(bool on) { optimize = on; }
bool getGraphExecutorOptimize() { return optimize; }
namespace {
bool tensor_expressions = true;
}
void setTensorExprFuserEnabled(bool on) { tensor_expressions = on; }
bool tensorExprFuserEnabled() { return tensor_expressions; }
bool& getProfilingMode() {
  static bool on = true;
  return on;
}
bool& getExecutorMode() {
  static bool on = true;
  return on;
}
bool& getInlineEverythingMode() {
  static bool on = false;
  return on;
}

}  // namespace hb::bridge::jit
