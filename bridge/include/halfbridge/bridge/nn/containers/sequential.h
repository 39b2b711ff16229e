#pragma once

#include <initializer_list>
#include <string>
#include <vector>

#include <halfbridge/bridge/nn/cloneable.h>
#include <halfbridge/bridge/nn/containers/any.h>

namespace hb::bridge::nn {
inline namespace modules {

/// Modules that are called one after another, each with the result of the one before.
class HB_API SequentialImpl : public Cloneable<SequentialImpl> {
 public:
  using Iterator = std::vector<AnyModule>::iterator;
  using ConstIterator = std::vector<AnyModule>::const_iterator;

  SequentialImpl();
  template <typename... Modules>
  explicit SequentialImpl(Modules&&... modules) {
    modules_.reserve(sizeof...(Modules));
    push_back(std::forward<Modules>(modules)...);
  }
  explicit SequentialImpl(OrderedDict<std::string, AnyModule>&& ordered_dict);
  explicit SequentialImpl(std::initializer_list<NamedAnyModule> named_modules);

  std::shared_ptr<Module> clone(const std::optional<Device>& device = std::nullopt) const override;
  void reset() override {}
  void pretty_print(std::ostream& stream) const override;

  template <typename ReturnType = Tensor, typename... InputTypes>
  ReturnType forward(InputTypes&&... inputs) {
    HB_CHECK(!is_empty(), "Cannot call forward() on an empty Sequential");
    return hooked([this](auto&&... in) { return this->run<ReturnType>(std::forward<decltype(in)>(in)...); },
                  std::forward<InputTypes>(inputs)...);
  }

  template <typename ModuleType>
  void push_back(std::shared_ptr<ModuleType> module_ptr) {
    push_back(std::to_string(modules_.size()), std::move(module_ptr));
  }
  template <typename ModuleType>
  void push_back(std::string name, std::shared_ptr<ModuleType> module_ptr) {
    push_back(std::move(name), AnyModule(std::move(module_ptr)));
  }
  template <typename M, typename = detail::enable_if_module_t<M>>
  void push_back(M&& module) {
    push_back(std::to_string(modules_.size()), std::forward<M>(module));
  }
  template <typename M, typename = detail::enable_if_module_t<M>>
  void push_back(std::string name, M&& module) {
    push_back(std::move(name), std::make_shared<std::decay_t<M>>(std::forward<M>(module)));
  }
  template <typename M>
  void push_back(const ModuleHolder<M>& module_holder) {
    push_back(std::to_string(modules_.size()), module_holder);
  }
  template <typename M>
  void push_back(std::string name, const ModuleHolder<M>& module_holder) {
    push_back(std::move(name), module_holder.ptr());
  }
  template <typename Container>
  void extend(const Container& container) {
    for (const auto& module : container) push_back(module);
  }
  void push_back(AnyModule any_module);
  void push_back(std::string name, AnyModule any_module);

  Iterator begin();
  ConstIterator begin() const;
  Iterator end();
  ConstIterator end() const;
  template <typename T>
  T& at(size_t index) {
    check_index(index);
    return modules_[index].get<T>();
  }
  template <typename T>
  const T& at(size_t index) const {
    check_index(index);
    return modules_[index].get<T>();
  }
  std::shared_ptr<Module> ptr(size_t index) const;
  template <typename T>
  std::shared_ptr<T> ptr(size_t index) const {
    check_index(index);
    return modules_[index].ptr<T>();
  }
  std::shared_ptr<Module> operator[](size_t index) const { return ptr(index); }
  size_t size() const noexcept { return modules_.size(); }
  bool is_empty() const noexcept { return modules_.empty(); }

 private:
  template <typename First, typename Second, typename... Rest,
            typename = std::enable_if_t<!std::is_convertible_v<First, std::string>>>
  void push_back(First&& first, Second&& second, Rest&&... rest) {
    push_back(std::forward<First>(first));
    push_back(std::forward<Second>(second), std::forward<Rest>(rest)...);
  }
  void push_back() {}
  void check_index(size_t index) const;
  template <typename ReturnType, typename... InputTypes>
  ReturnType run(InputTypes&&... inputs) {
    if constexpr (std::is_same_v<ReturnType, Tensor> && sizeof...(InputTypes) == 1 &&
                  (std::is_same_v<std::decay_t<InputTypes>, Tensor> && ...)) {
      return forward_tensor(std::forward<InputTypes>(inputs)...);
    } else {
      AnyValue value = forward_rest(modules_.front().any_forward(std::forward<InputTypes>(inputs)...), 1);
      if (auto* result = value.template try_get<ReturnType>()) return std::move(*result);
      detail_any::wrong_result(value.type_info(), typeid(ReturnType));
    }
  }
  Tensor forward_tensor(Tensor input);
  AnyValue forward_rest(AnyValue value, size_t from);

  std::vector<AnyModule> modules_;
};

template <>
inline constexpr bool is_library_module<SequentialImpl> = true;
HB_LIBRARY_CLONEABLE(Sequential);
class HB_API Sequential : public ModuleHolder<SequentialImpl> {
 public:
  using ModuleHolder<SequentialImpl>::ModuleHolder;
  Sequential();
  Sequential(std::initializer_list<NamedAnyModule> named_modules);
};

}  // namespace modules
}  // namespace hb::bridge::nn
