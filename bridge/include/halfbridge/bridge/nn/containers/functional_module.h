#pragma once

#include <functional>

#include <halfbridge/bridge/nn/cloneable.h>

namespace hb::bridge::nn {
inline namespace modules {

/// A function as a module; further arguments are bound after the input.
class HB_API FunctionalImpl : public Cloneable<FunctionalImpl> {
 public:
  using Function = std::function<Tensor(Tensor)>;
  explicit FunctionalImpl(Function function);
  template <typename SomeFunction, typename... Args, typename = std::enable_if_t<(sizeof...(Args) > 0)>>
  explicit FunctionalImpl(SomeFunction original_function, Args&&... args)
      : function_(std::bind(original_function, std::placeholders::_1, std::forward<Args>(args)...)) {}
  void reset() override;
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(Tensor input);
  Tensor operator()(Tensor input);
  bool is_serializable() const override;

 private:
  Function function_;
};
HB_LIBRARY_MODULE(Functional);

}  // namespace modules
}  // namespace hb::bridge::nn
