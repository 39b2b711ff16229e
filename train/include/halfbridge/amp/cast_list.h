#pragma once
// What a level casts, or does not: classes of modules and functions.

#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <halfbridge/bridge/nn/module.h>

namespace hb::amp {

/// Classes of modules, by the class or its holder, and functions by name:
///   list.add<nn::Linear, MyBlockImpl>().add("softmax").remove("matmul")
/// Classes derived from a listed one are of the list too.
class CastList {
 public:
  template <class... Modules>
  CastList& add() {
    (add_one<Modules>(), ...);
    return *this;
  }
  template <class... Modules>
  CastList& remove() {
    (remove_one(name_of<Modules>()), ...);
    return *this;
  }
  /// A function of the table of classes (docs/mixed-precision.md, hb::autocast::ops()), named as there. Both throw
  /// ValueError for a name that it does not have.
  HB_API CastList& add(const std::string& function);
  HB_API CastList& remove(const std::string& function);

  bool contains(const bridge::nn::Module& module) const {
    for (const auto& entry : entries_)
      if (entry.second(module)) return true;
    return false;
  }
  bool contains(const std::string& function) const { return functions_.count(function) != 0; }
  /// Number of classes of modules.
  size_t size() const { return entries_.size(); }
  /// Names of these classes, for messages.
  std::vector<std::string> names() const {
    std::vector<std::string> all;
    for (const auto& entry : entries_) all.push_back(entry.first);
    return all;
  }
  const std::set<std::string>& functions() const { return functions_; }

 private:
  template <class M, bool holder = bridge::nn::detail::is_module_holder<M>::value>
  struct ClassOf {
    using type = M;
  };
  template <class M>
  struct ClassOf<M, true> {
    using type = typename M::ContainedType;
  };
  template <class M>
  static std::string name_of() {
    return bridge::demangle(typeid(typename ClassOf<M>::type).name());
  }
  template <class M>
  void add_one() {
    using Class = typename ClassOf<M>::type;
    remove_one(name_of<M>());
    entries_.emplace_back(name_of<M>(),
                          [](const bridge::nn::Module& m) { return dynamic_cast<const Class*>(&m) != nullptr; });
  }
  void remove_one(const std::string& name) {
    for (size_t i = entries_.size(); i-- > 0;)
      if (entries_[i].first == name) entries_.erase(entries_.begin() + static_cast<std::ptrdiff_t>(i));
  }
  std::vector<std::pair<std::string, std::function<bool(const bridge::nn::Module&)>>> entries_;
  std::set<std::string> functions_;
};

/// The lists of O1 and O2 to begin with; change the copy and give it to custom_mixed_precision. White: linear layers,
/// convolutions, recurrent layers and cells, attention, and the functions that CUDA's list of autocast casts to half.
/// Black: batch, instance, layer and group norms, losses, as modules and as functions.
HB_API CastList get_white_list();
HB_API CastList get_black_list();
/// The batch norms, which keep_batchnorm_fp32 is about.
HB_API CastList batch_norms();

}  // namespace hb::amp
