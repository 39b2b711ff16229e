// One name for what a module, a function of PyTorch and an operator of its dispatcher call differently.
#pragma once

#include <cstdint>
#include <string>

namespace hb::layer_diff {

/// `conv` for Conv2d, conv2d, aten::convolution, mkldnn_convolution; empty for a type that is not such an operation: a
/// module that somebody wrote, or none.
std::string canonical_type(const std::string& type);

/// Sets of compositions, a bit for each: `linear` written as matmul and add, `cross_entropy_loss` as log_softmax and
/// nll_loss. Calls make an operation if a composition of it takes all of them as parts and one of them is what it
/// needs.
struct Compositions {
  uint32_t of = 0;      // the type is what they compose
  uint32_t part = 0;    // the type may be a part
  uint32_t needed = 0;  // the type is the part that must be there
};
Compositions compositions_of(const std::string& canonical);

/// Operations that give their input back where the model is in eval mode.
bool is_identity_like(const std::string& canonical);

}  // namespace hb::layer_diff
