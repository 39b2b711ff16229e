#pragma once
// The functions and classes of an archive or of a source text. Files are parsed when something of them is first asked
// for, functions are compiled when they are first called.

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <halfbridge/bridge/dispatch/custom_class.h>
#include <halfbridge/class_type.h>

#include "script/node.h"
#include "script/syntax.h"

namespace hb::bridge::script {

class Unit;
struct ClassCode;
struct NormFolds;
using Names = std::vector<std::string>;

/// Which parameter each argument of a call is for, and which parameters take their defaults.
struct Binding {
  std::vector<size_t> parameter_of;
  std::vector<size_t> defaults;
};

class ScriptFunction {
 public:
  /// `owner`: "__torch__.Net" for a method, whose first parameter is the object; "" for a function.
  ScriptFunction(Unit& unit, std::string owner, std::string qualified_name, std::string label,
                 std::shared_ptr<const FunctionSyntax> syntax);
  /// The same function, compiled with folds.
  ScriptFunction(const ScriptFunction& other, std::shared_ptr<const NormFolds> folds);
  ~ScriptFunction();

  const std::string& name() const { return syntax_->name; }
  const std::string& qualified_name() const { return qualified_name_; }
  const std::string& label() const { return label_; }
  const FunctionSyntax& syntax() const { return *syntax_; }
  /// Its text, from `def` on.
  std::string source() const;
  Unit& unit() const { return unit_; }
  /// Null where there are none.
  const NormFolds* folds() const { return folds_.get(); }
  /// As schemas write it. Types that schemas do not know are Any.
  FunctionSchema schema() const;

  /// Throws hb::Error where the arguments, the last of which have these names, do not fit.
  Binding bind(size_t arguments, const Names& names) const;
  Frame frame() const;
  void set_defaults(Frame& frame, const Binding& binding) const;
  /// Runs with the arguments in the frame.
  IValue run(Frame frame) const;
  /// The same with all arguments, by their places.
  IValue run(std::vector<IValue> arguments) const;
  /// A call from outside: arguments are checked against the types that are declared, errors are those that LibTorch
  /// throws (bridge/jit_exception.h).
  IValue call(std::vector<IValue> arguments, const Names& names = {}) const;

 private:
  friend class Compiler;
  void compile() const;
  void ensure_compiled() const {
    if (!compiled_.load(std::memory_order_acquire)) compile();
  }
  Frame frame_of(std::vector<IValue> arguments, const Names& names) const;
  IValue run_body(Frame& frame) const;
  void check_types(Frame& frame) const;

  Unit& unit_;
  std::string owner_, qualified_name_, label_;
  std::shared_ptr<const FunctionSyntax> syntax_;
  std::shared_ptr<const NormFolds> folds_;
  // What compile() makes, once:
  mutable std::atomic<bool> compiled_{false};
  mutable size_t places_ = 0;
  mutable std::vector<TypePtr> parameter_types_;
  mutable Nodes defaults_;  // null where a parameter has none
  mutable Actions body_;
  mutable std::vector<std::unique_ptr<ScriptFunction>> inner_;
};

struct ScriptClass {
  std::string name;
  std::shared_ptr<const ClassSyntax> syntax;
  std::map<std::string, std::unique_ptr<ScriptFunction>> methods;
  std::weak_ptr<const ivalue::ClassData> declared;
};

class Unit : public std::enable_shared_from_this<Unit> {
 public:
  /// What is not found is looked for in `parent`.
  explicit Unit(std::shared_ptr<Unit> parent = nullptr) : parent_(std::move(parent)) {}

  /// A file of an archive, "__torch__.torch.nn.functional".
  void add_file(const std::string& module, std::string label, std::string text);
  /// Functions of a program, whose names are plain. Gives the new ones.
  std::vector<ScriptFunction*> add_source(std::string text, const std::string& owner);
  void set_constants(std::vector<IValue> constants);
  const std::vector<IValue>& constants() const { return constants_; }
  /// Of the archive's format; 0 for a source text.
  void set_version(long version) { version_ = version; }
  long version() const { return version_; }
  /// The files of the archive and their texts.
  std::vector<std::pair<std::string, std::string>> files() const;
  /// Of the file of a module; throws where there is none.
  const std::string& file_text(const std::string& module) const { return files_.at(module).text; }
  /// "c0"; null where there is none.
  const IValue* constant(const std::string& name) const;

  /// Null where there is none.
  ScriptFunction* function(const std::string& qualified_name);
  ScriptClass* find_class(const std::string& qualified_name);
  std::vector<ScriptFunction*> plain_functions() const;
  /// The same function for callers of C++.
  jit::Function* callable(const std::string& name);

  std::shared_ptr<ClassCode> code_of(const std::string& class_name);
  std::shared_ptr<const ivalue::ClassData> declared(ScriptClass& of);
  std::recursive_mutex& mutex() { return mutex_; }

 private:
  struct File {
    std::string module, label, text;
    bool parsed = false;
  };
  void parse(const std::string& module);
  void add_class(const std::string& name, const std::string& label, std::shared_ptr<const ClassSyntax> syntax);

  std::shared_ptr<Unit> parent_;
  std::recursive_mutex mutex_;
  std::map<std::string, File> files_;  // by module
  std::map<std::string, std::unique_ptr<ScriptFunction>> functions_;
  std::vector<std::unique_ptr<ScriptFunction>> replaced_;
  std::map<std::string, std::unique_ptr<jit::Function>> callables_;
  std::map<std::string, ScriptClass> classes_;
  std::vector<IValue> constants_;
  long version_ = 0;
};

/// What the methods of a class do: those of the archive, and those that the program added.
struct ClassCode final : ivalue::ClassMethods {
  ClassCode(std::shared_ptr<Unit> unit, std::string class_name);
  ClassCode(const ClassCode& other);
  ScriptFunction* method(const std::string& name) const;
  jit::Function* find(const std::string& name) override;
  std::vector<jit::Function*> all() override;

  std::shared_ptr<Unit> unit;
  std::string class_name;
  std::map<std::string, ScriptFunction*> added;
  std::vector<std::shared_ptr<Unit>> sources;                     // of these
  std::map<std::string, std::shared_ptr<ScriptFunction>> folded;  // stand before both
  const uint64_t id;                                              // no other code has had it

 private:
  std::mutex mutex_;
  std::map<std::string, std::unique_ptr<jit::Function>> callables_;
};
/// Null where the code of the class was not kept.
inline ClassCode* class_code(const ivalue::ClassData& data) { return static_cast<ClassCode*>(data.code.get()); }

/// A method of an object; null where its class has none of this name or no code.
ScriptFunction* find_method(const ivalue::ObjectData& object, const std::string& name);

}  // namespace hb::bridge::script
