#pragma once
#include <torch/csrc/jit/api/module.h>

#include <string>
#include <vector>

namespace torch::jit {
/// freeze() without its optimizations.
inline hb::bridge::jit::Module freeze_module(const hb::bridge::jit::Module& module,
                                             const std::vector<std::string>& preserved = {},
                                             bool /*freeze_interfaces*/ = true, bool /*preserve_parameters*/ = false) {
  return hb::bridge::jit::freeze(module, preserved, false);
}
}  // namespace torch::jit
