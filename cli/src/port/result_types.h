#pragma once
// What the methods, functions and types of LibTorch give, by their names alone.

#include <algorithm>
#include <array>
#include <string_view>

#include "types.h"

namespace hb::cli::port {

template <size_t N>
bool one_of(std::string_view word, const std::array<std::string_view, N>& words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

/// What calling a method of a Tensor gives.
Type result_of_tensor_method(std::string_view name);
/// What calling a function or constructor of LibTorch gives; `full` has its namespace.
Type result_of_libtorch(std::string_view full);
/// Whether the name is that of a number, a string or something of std.
bool is_plain_type(std::string_view name);

}  // namespace hb::cli::port
