#pragma once
// Where a program's modules stand: their paths below their roots, and who holds a parameter.

#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include <halfbridge/bridge/nn/module.h>

namespace hb::trace {

using bridge::nn::Module;

/// "Conv2d" for torch::nn::Conv2dImpl: the class without namespace and Impl.
std::string class_name(const Module& module);
/// What a module prints of itself between the parentheses.
std::string config_of(const Module& module);
/// Whether the functions inside are the module's own business: the library's layers.
bool is_layer(const Module& module);

struct Place {
  std::string root, path;
};

/// All modules that a trace knows. Guarded by its owner's lock.
class ModuleTree {
 public:
  void add(Module& module);
  void remove(Module& module);
  bool contains(const Module& module) const { return places_.count(&module) != 0; }
  /// Children changed: the next question for a path finds all paths again.
  void changed() { stale_ = true; }

  const Place& place_of(const Module& module);
  /// Class and whether it is a layer; as they are when they are first asked for, of a complete module.
  struct Traits {
    std::string type;
    bool layer = false;
  };
  const Traits& traits_of(const Module& module);
  /// A parameter or buffer of a module.
  struct Holder {
    Module* module;
    std::string name;
  };
  /// Who holds a parameter; more than one where weights are tied.
  std::vector<Holder> holders_of(const Tensor& parameter);
  const std::vector<Module*>& modules() const { return modules_; }

 private:
  struct Entry {
    Place place;
    std::string root_name;  // given when it is first asked for
    const Module* root = nullptr;
    bool orphan = false;  // the module that held it is gone: `place` stays
    std::string path;
    std::optional<Traits> traits;
  };
  void refresh();
  void walk(const Module& root, const Module& module, const std::string& path);
  const std::string& root_name(const Module& root);

  std::vector<Module*> modules_;  // in the order in which they were made
  std::unordered_map<const Module*, Entry> places_;
  std::unordered_map<const TensorImpl*, std::vector<Holder>> holders_;
  std::map<std::string, int> roots_of_class_;
  bool stale_ = true;
};

}  // namespace hb::trace
