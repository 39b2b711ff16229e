#pragma once
// The modules below the traced roots, and which of them a tensor belongs to.

#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <halfbridge/trace/libtorch/op.h>

namespace hb::trace::libtorch {

struct ModuleNode {
  enum class Sort { leaf, sequential, list, custom };  // `list` holds modules but has no forward

  const torch::nn::Module* module = nullptr;
  std::shared_ptr<torch::nn::Module> owner;  // null for a root
  std::string path, type, config;
  int root = 0, parent = -1;
  std::vector<int> children;
  std::vector<int> tensors;  // its own parameters and buffers
  Sort sort = Sort::leaf;
  bool has_tensors = false;  // it or a module below it
};

struct OwnedTensor {
  torch::Tensor value;
  int module = 0;
  std::string name;
  bool parameter = true;
  bool registered = true;  // false: a weight that was assigned to a module which registered another one
};

/// `torch::nn::Conv2dImpl` is `Conv2d`.
inline std::string short_type(const std::string& demangled) {
  size_t begin = 0;
  int depth = 0;
  for (size_t i = 0; i + 1 < demangled.size(); ++i) {
    depth += demangled[i] == '<' || demangled[i] == '(';
    depth -= demangled[i] == '>' || demangled[i] == ')';
    if (depth == 0 && demangled[i] == ':' && demangled[i + 1] == ':') begin = i + 2;
  }
  std::string name = demangled.substr(begin);
  const size_t arguments = name.find('<');
  const std::string front = name.substr(0, arguments);
  const std::string impl = "Impl";
  if (front.size() > impl.size() && front.compare(front.size() - impl.size(), impl.size(), impl) == 0)
    name.erase(front.size() - impl.size(), impl.size());
  return name;
}

/// What the module prints between the parentheses.
inline std::string printed_config(const torch::nn::Module& module) {
  std::ostringstream printed;
  module.pretty_print(printed);
  const std::string text = printed.str();
  const size_t open = text.find('('), close = text.rfind(')');
  // A class in an unnamed namespace prints a parenthesis too.
  if (open == std::string::npos || text.compare(open, 11, "(anonymous ") == 0 || close < open) return {};
  return text.substr(open + 1, close - open - 1);
}

class ModuleTree {
 public:
  void add_root(const torch::nn::Module& module) {
    const int root = static_cast<int>(roots_.size());
    roots_.push_back({});
    add(module, nullptr, "", root, -1);
  }

  const ModuleNode& node(int id) const { return nodes_[static_cast<size_t>(id)]; }
  OwnedTensor& tensor(int id) { return tensors_[static_cast<size_t>(id)]; }
  const OwnedTensor& tensor(int id) const { return tensors_[static_cast<size_t>(id)]; }
  int tensors() const { return static_cast<int>(tensors_.size()); }
  int modules() const { return static_cast<int>(nodes_.size()); }
  /// Whether there is a module of this type without parameters and buffers.
  bool has_plain(const std::string& type) const { return plain_types_.count(type) > 0; }

  /// Class of the outermost module, with a number from the second on: in the order of their first calls.
  const std::string& root_name(int id) {
    std::string& name = roots_[static_cast<size_t>(node(id).root)];
    if (!name.empty()) return name;
    for (int n = 0; n < modules(); ++n) {
      if (node(n).root != node(id).root) continue;
      const int number = ++names_[node(n).type];
      return name = node(n).type + (number > 1 ? "#" + std::to_string(number) : "");
    }
    return name;
  }

  /// Parameters and buffers that are this tensor, a view of it or its cast to another dtype. A weight that several
  /// modules share has several.
  std::vector<int> find(const torch::Tensor& t) const {
    const auto exact = by_impl_.find(t.unsafeGetTensorImpl());
    if (exact != by_impl_.end()) return exact->second;
    const auto cast = casts_.find(t.unsafeGetTensorImpl());
    if (cast != casts_.end() && !cast->second.first.expired()) return cast->second.second;
    if (!t.has_storage()) return {};
    const auto shared = by_storage_.find(t.storage().unsafeGetStorageImpl());
    if (shared == by_storage_.end()) return {};
    std::vector<int> same;
    for (int id : shared->second) {
      const torch::Tensor& own = tensor(id).value;
      if (own.storage_offset() == t.storage_offset() && own.numel() == t.numel()) same.push_back(id);
    }
    return same.empty() && shared->second.size() == 1 ? shared->second : same;
  }

  /// `cast` has the values of these parameters in another place.
  void note_cast(const torch::Tensor& cast, const std::vector<int>& of) {
    if (casts_.size() > 4096) forget_casts();
    casts_.insert_or_assign(cast.unsafeGetTensorImpl(), std::make_pair(WeakTensor(cast.getIntrusivePtr()), of));
  }
  void forget_casts() { casts_.clear(); }

  /// Storages may have been replaced (Module::to does).
  void refresh_storages() {
    by_storage_.clear();
    for (int i = 0; i < tensors(); ++i)
      if (tensor(i).value.has_storage()) by_storage_[tensor(i).value.storage().unsafeGetStorageImpl()].push_back(i);
  }

 private:
  bool add(const torch::nn::Module& module, std::shared_ptr<torch::nn::Module> owner, const std::string& path, int root,
           int parent) {
    const int id = modules();
    nodes_.emplace_back();
    ModuleNode n;
    n.module = &module, n.owner = std::move(owner), n.path = path, n.root = root, n.parent = parent;
    n.type = short_type(module.name());
    n.config = printed_config(module);
    for (const auto& p : module.named_parameters(/*recurse=*/false)) add_tensor(n, id, p.key(), p.value(), true);
    for (const auto& b : module.named_buffers(/*recurse=*/false)) add_tensor(n, id, b.key(), b.value(), false);
    n.has_tensors = !n.tensors.empty();
    add_assigned(id, module);
    n.sort = sort_of(module);
    nodes_[static_cast<size_t>(id)] = n;
    for (const auto& child : module.named_children()) {
      const int child_id = modules();
      nodes_[static_cast<size_t>(id)].children.push_back(child_id);
      const bool has =
          add(*child.value(), child.value(), path.empty() ? child.key() : path + "." + child.key(), root, id);
      nodes_[static_cast<size_t>(id)].has_tensors |= has;
    }
    if (!node(id).has_tensors) plain_types_.insert(node(id).type);
    return node(id).has_tensors;
  }
  static ModuleNode::Sort sort_of(const torch::nn::Module& module) {
    if (module.as<torch::nn::SequentialImpl>()) return ModuleNode::Sort::sequential;
    if (module.as<torch::nn::ModuleListImpl>() || module.as<torch::nn::ModuleDictImpl>()) return ModuleNode::Sort::list;
    return module.children().empty() ? ModuleNode::Sort::leaf : ModuleNode::Sort::custom;
  }
  // `head->weight = embedding->weight` ties them, and leaves the old weight of `head` registered.
  void add_assigned(int id, const torch::nn::Module& module) {
    torch::Tensor weight;
    if (const auto* linear = module.as<torch::nn::LinearImpl>()) weight = linear->weight;
    if (const auto* embedding = module.as<torch::nn::EmbeddingImpl>()) weight = embedding->weight;
    if (!weight.defined()) return;
    for (const auto& p : module.named_parameters(/*recurse=*/false))
      if (p.value().is_same(weight)) return;
    by_impl_[weight.unsafeGetTensorImpl()].push_back(tensors());
    if (weight.has_storage()) by_storage_[weight.storage().unsafeGetStorageImpl()].push_back(tensors());
    tensors_.push_back({weight, id, "weight", true, false});
  }
  void add_tensor(ModuleNode& n, int module, const std::string& name, const torch::Tensor& value, bool parameter) {
    if (!value.defined()) return;
    const int id = tensors();
    tensors_.push_back({value, module, name, parameter});
    n.tensors.push_back(id);
    by_impl_[value.unsafeGetTensorImpl()].push_back(id);
    if (value.has_storage()) by_storage_[value.storage().unsafeGetStorageImpl()].push_back(id);
  }

  std::vector<ModuleNode> nodes_;  // a module before its children: the order of registration
  std::vector<OwnedTensor> tensors_;
  std::vector<std::string> roots_;
  std::unordered_map<std::string, int> names_;
  Names plain_types_;
  std::unordered_map<const c10::TensorImpl*, std::vector<int>> by_impl_;
  std::unordered_map<const c10::StorageImpl*, std::vector<int>> by_storage_;
  std::unordered_map<const c10::TensorImpl*, std::pair<WeakTensor, std::vector<int>>> casts_;
};

}  // namespace hb::trace::libtorch
