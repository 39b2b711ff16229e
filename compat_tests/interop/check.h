// Checks of the programs that exchange files.
#pragma once

#include <torch/torch.h>

#include <cstring>
#include <iostream>
#include <string>

namespace interop {

inline int& failures() {
  static int count = 0;
  return count;
}

inline void check(bool ok, const std::string& what) {
  if (ok) return;
  ++failures();
  std::cout << "FAILED: " << what << std::endl;
}

/// Same dtype, shape and bits.
inline bool same_bits(const torch::Tensor& got, const torch::Tensor& expected) {
  if (!got.defined() || got.scalar_type() != expected.scalar_type() || got.sizes() != expected.sizes()) return false;
  const torch::Tensor left = got.detach().contiguous(), right = expected.detach().contiguous();
  return left.numel() == 0 || std::memcmp(left.data_ptr(), right.data_ptr(), left.nbytes()) == 0;
}

inline void check_bits(const torch::Tensor& got, const torch::Tensor& expected, const std::string& what) {
  check(same_bits(got, expected), what + ": the bits differ");
}

/// Runs one group of checks; an exception is a failure.
template <typename Body>
void section(const std::string& name, Body body) {
  try {
    body();
  } catch (const std::exception& error) {
    check(false, name + ": " + error.what());
  }
}

}  // namespace interop
