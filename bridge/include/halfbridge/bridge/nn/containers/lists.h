#pragma once
// Modules and parameters by number and by name.

#include <string>
#include <vector>

#include <halfbridge/bridge/nn/cloneable.h>

namespace hb::bridge::nn {
namespace detail {
template <typename T, typename Key>
T& checked_cast(const std::shared_ptr<Module>& module, const Key& key) {
  static_assert(is_module<T>::value, "Can only ask for an nn::Module type");
  T* cast = dynamic_cast<T*>(module.get());
  HB_CHECK(cast, "Unable to cast module[", key, "] to ", demangle(typeid(T).name()));
  return *cast;
}
}  // namespace detail

inline namespace modules {

/// Modules under the names "0", "1", ...
class HB_API ModuleListImpl : public Cloneable<ModuleListImpl> {
 public:
  using Iterator = std::vector<std::shared_ptr<Module>>::iterator;
  using ConstIterator = std::vector<std::shared_ptr<Module>>::const_iterator;

  ModuleListImpl() = default;
  template <typename... Modules>
  explicit ModuleListImpl(Modules&&... modules) {
    (push_back(std::forward<Modules>(modules)), ...);
  }
  std::shared_ptr<Module> clone(const std::optional<Device>& device = std::nullopt) const override;
  void reset() override {}
  void pretty_print(std::ostream& stream) const override;

  void push_back(std::shared_ptr<Module> module);
  template <typename M, typename = detail::enable_if_module_t<M>>
  void push_back(M&& module) {
    push_back(std::make_shared<std::decay_t<M>>(std::forward<M>(module)));
  }
  template <typename M>
  void push_back(const ModuleHolder<M>& module_holder) {
    push_back(module_holder.ptr());
  }
  template <typename Container>
  void extend(const Container& container) {
    for (const auto& module : container) push_back(module);
  }
  void insert(size_t index, std::shared_ptr<Module> module);
  template <typename M>
  void insert(size_t index, const ModuleHolder<M>& module_holder) {
    insert(index, module_holder.ptr());
  }
  template <typename M, typename = detail::enable_if_module_t<M>>
  void insert(size_t index, M&& module) {
    insert(index, std::make_shared<std::decay_t<M>>(std::forward<M>(module)));
  }

  Iterator begin() { return modules_.begin(); }
  ConstIterator begin() const { return modules_.begin(); }
  Iterator end() { return modules_.end(); }
  ConstIterator end() const { return modules_.end(); }
  template <typename T>
  T& at(size_t index) {
    return detail::checked_cast<T>(ptr(index), index);
  }
  template <typename T>
  const T& at(size_t index) const {
    return detail::checked_cast<T>(ptr(index), index);
  }
  std::shared_ptr<Module> ptr(size_t index) const {
    HB_CHECK(index < size(), "Index out of range");
    return modules_[index];
  }
  template <typename T>
  std::shared_ptr<T> ptr(size_t index) const {
    return std::dynamic_pointer_cast<T>(ptr(index));
  }
  std::shared_ptr<Module> operator[](size_t index) const { return ptr(index); }
  size_t size() const noexcept { return modules_.size(); }
  bool is_empty() const noexcept { return modules_.empty(); }

 private:
  std::vector<std::shared_ptr<Module>> modules_;
};
HB_LIBRARY_MODULE(ModuleList);

/// Modules by name, in order of insertion.
class HB_API ModuleDictImpl : public Cloneable<ModuleDictImpl> {
 public:
  using Dict = OrderedDict<std::string, std::shared_ptr<Module>>;
  using Pairs = std::vector<std::pair<std::string, std::shared_ptr<Module>>>;
  using Iterator = Dict::Iterator;
  using ConstIterator = Dict::ConstIterator;

  ModuleDictImpl();
  explicit ModuleDictImpl(const Pairs& modules);
  explicit ModuleDictImpl(const Dict& modules);
  std::shared_ptr<Module> clone(const std::optional<Device>& device = std::nullopt) const override;
  void reset() override {}
  void pretty_print(std::ostream& stream) const override;

  Pairs items() const;
  std::vector<std::string> keys() const;
  std::vector<std::shared_ptr<Module>> values() const;
  Iterator begin();
  ConstIterator begin() const;
  Iterator end();
  ConstIterator end() const;
  size_t size() const noexcept;
  bool empty() const noexcept;
  bool contains(const std::string& key) const noexcept;
  void clear();
  std::shared_ptr<Module> operator[](const std::string& key) const;
  template <typename T>
  T& at(const std::string& key) {
    return detail::checked_cast<T>(modules_[key], key);
  }
  template <typename T>
  const T& at(const std::string& key) const {
    return detail::checked_cast<T>(modules_[key], key);
  }
  std::shared_ptr<Module> pop(const std::string& key);
  void update(const Pairs& modules);
  template <typename Container>
  void update(const Container& container) {
    for (auto& item : container) insert(item.key(), item.value());
  }

 private:
  void insert(const std::string& key, std::shared_ptr<Module> module);
  Dict modules_;
};
HB_LIBRARY_MODULE(ModuleDict);

/// Parameters under the names "0", "1", ...
class HB_API ParameterListImpl : public Cloneable<ParameterListImpl> {
 public:
  using Item = OrderedDict<std::string, Tensor>::Item;
  using Iterator = std::vector<Item>::iterator;
  using ConstIterator = std::vector<Item>::const_iterator;

  ParameterListImpl();
  template <typename... Tensors>
  explicit ParameterListImpl(Tensors&&... params) {
    (append(std::forward<Tensors>(params)), ...);
  }
  std::shared_ptr<Module> clone(const std::optional<Device>& device = std::nullopt) const override;
  void reset() override {}
  void pretty_print(std::ostream& stream) const override;

  void append(const Tensor& param);
  void append(const Item& pair);
  template <typename Container>
  void extend(const Container& container) {
    for (const auto& param : container) append(param);
  }
  template <typename Container>
  ParameterListImpl& operator+=(const Container& other) {
    extend(other);
    return *this;
  }
  Iterator begin();
  ConstIterator begin() const;
  Iterator end();
  ConstIterator end() const;
  Tensor& at(size_t idx);
  const Tensor& at(size_t idx) const { return const_cast<ParameterListImpl*>(this)->at(idx); }
  Tensor& operator[](size_t idx) { return at(idx); }
  const Tensor& operator[](size_t idx) const { return at(idx); }
  size_t size() const noexcept;
  bool is_empty() const noexcept { return parameters_.is_empty(); }
};
HB_LIBRARY_MODULE(ParameterList);

/// Parameters by name.
class HB_API ParameterDictImpl : public Cloneable<ParameterDictImpl> {
 public:
  using Iterator = OrderedDict<std::string, Tensor>::Iterator;
  using ConstIterator = OrderedDict<std::string, Tensor>::ConstIterator;

  ParameterDictImpl();
  explicit ParameterDictImpl(const OrderedDict<std::string, Tensor>& params);
  std::shared_ptr<Module> clone(const std::optional<Device>& device = std::nullopt) const override;
  void reset() override {}
  void pretty_print(std::ostream& stream) const override;

  Tensor& insert(const std::string& key, const Tensor& param);
  Tensor pop(const std::string& key);
  std::vector<std::string> keys() const;
  std::vector<Tensor> values() const;
  Iterator begin();
  ConstIterator begin() const;
  Iterator end();
  ConstIterator end() const;
  size_t size() const noexcept;
  bool empty() const noexcept;
  /// Each key must be there already.
  template <typename Container>
  void update(const Container& container) {
    for (auto& item : container) parameters_[item.key()] = item.value();
  }
  void clear();
  bool contains(const std::string& key) const noexcept;
  const Tensor& get(const std::string& key) const;
  Tensor& get(const std::string& key);
  Tensor& operator[](const std::string& key);
  const Tensor& operator[](const std::string& key) const;

 private:
  void put(const std::string& key, const Tensor& param);
};
HB_LIBRARY_MODULE(ParameterDict);

}  // namespace modules
}  // namespace hb::bridge::nn
