#pragma once
// Functions with LibTorch's schemas that the dispatcher does not have.

#include <span>

#include <halfbridge/bridge/dispatch/custom_class.h>

#include "script/operator_call.h"

namespace hb::bridge::script {

struct OwnRow {
  const char* schema;
  void (*run)(jit::Stack& stack);
};
/// All their names, some of them more than once.
std::vector<std::string> own_names();
std::span<const OwnRow> own_tensors();
std::span<const OwnRow> own_layers();
std::span<const OwnRow> own_attention();

template <auto f>
void on_stack(jit::Stack& stack) {
  bridge::detail::OnStack<decltype(f)>{f}(stack);
}

}  // namespace hb::bridge::script
