#include "module_tree.h"

#include <algorithm>
#include <sstream>
#include <typeinfo>
#include <unordered_set>

#include <halfbridge/bridge/utility.h>

namespace hb::trace {

namespace {
constexpr size_t kMostConfig = 1000;  // of a record; a module may print what it likes

bool starts_with(const std::string& text, const std::string& front) { return text.rfind(front, 0) == 0; }
}  // namespace

std::string class_name(const Module& module) {
  std::string name = bridge::demangle(typeid(module).name());
  // Namespaces of the class, not of its template arguments.
  const size_t colon = name.rfind("::", name.find('<'));
  if (colon != std::string::npos) name = name.substr(colon + 2);
  const std::string back = "Impl";
  if (name.size() > back.size() && name.compare(name.size() - back.size(), back.size(), back) == 0)
    name.resize(name.size() - back.size());
  return name;
}

std::string config_of(const Module& module) {
  std::ostringstream out;
  module.pretty_print(out);
  const std::string text = out.str();
  const size_t open = text.find('('), close = text.rfind(')');
  if (open == std::string::npos || close == std::string::npos || close < open) return {};
  return text.substr(open + 1, std::min(close - open - 1, kMostConfig));
}

bool is_layer(const Module& module) {
  if (!starts_with(bridge::demangle(typeid(module).name()), "torch::nn::")) return false;
  // Attention holds a Linear and uses its weights alone.
  return module.named_children().is_empty() || class_name(module) == "MultiheadAttention";
}

void ModuleTree::add(Module& module) {
  if (!places_.try_emplace(&module).second) return;
  modules_.push_back(&module);
  stale_ = true;
}

void ModuleTree::remove(Module& module) {
  if (!contains(module)) return;
  refresh();
  // What it holds goes with it as a rule, and is called what it was until then.
  const Entry& gone = places_.at(&module);
  const std::string front = gone.path.empty() ? "" : gone.path + ".";
  for (auto& [other, entry] : places_) {
    if (other == &module || !gone.root || entry.root != gone.root || entry.path.compare(0, front.size(), front) != 0)
      continue;
    entry.place = {root_name(*entry.root), entry.path};
    entry.orphan = true;
  }
  places_.erase(&module);
  modules_.erase(std::find(modules_.begin(), modules_.end(), &module));
  stale_ = true;
}

const Place& ModuleTree::place_of(const Module& module) {
  refresh();
  Entry& entry = places_.at(&module);
  if (entry.orphan) return entry.place;
  entry.place = {root_name(entry.root ? *entry.root : module), entry.path};
  return entry.place;
}

const ModuleTree::Traits& ModuleTree::traits_of(const Module& module) {
  std::optional<Traits>& traits = places_.at(&module).traits;
  if (!traits) traits = Traits{class_name(module), is_layer(module)};
  return *traits;
}

std::vector<ModuleTree::Holder> ModuleTree::holders_of(const Tensor& parameter) {
  refresh();
  auto found = holders_.find(&parameter.impl());
  if (found == holders_.end()) {  // registered since
    stale_ = true;
    refresh();
    found = holders_.find(&parameter.impl());
  }
  return found == holders_.end() ? std::vector<Holder>() : found->second;
}

void ModuleTree::refresh() {
  if (!stale_) return;
  stale_ = false;
  holders_.clear();
  std::unordered_set<const Module*> children;
  for (Module* m : modules_) {
    for (const auto& child : m->named_children()) children.insert(child.value().get());
    for (const auto& p : m->named_parameters(/*recurse=*/false)) holders_[&p.value().impl()].push_back({m, p.key()});
  }
  for (auto& [module, entry] : places_) entry.root = nullptr, entry.path.clear();
  for (Module* m : modules_)
    if (!children.count(m) && !places_.at(m).orphan) walk(*m, *m, "");
}

// A module that stands at two places has the first path.
void ModuleTree::walk(const Module& root, const Module& module, const std::string& path) {
  const auto found = places_.find(&module);
  if (found == places_.end() || found->second.root) return;
  found->second.orphan = false;
  found->second.root = &root;
  found->second.path = path;
  for (const auto& child : module.named_children())
    if (child.value()) walk(root, *child.value(), path.empty() ? child.key() : path + "." + child.key());
}

const std::string& ModuleTree::root_name(const Module& root) {
  std::string& name = places_.at(&root).root_name;
  if (name.empty()) {
    name = class_name(root);
    const int number = ++roots_of_class_[name];
    if (number > 1) name += "#" + std::to_string(number);
  }
  return name;
}

}  // namespace hb::trace
