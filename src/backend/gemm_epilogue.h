#pragma once

#include <atomic>

#include "backend/gemm.h"

namespace hb {

/// What is done with each element of a single product before it is written, rounded once more.
struct GemmEpilogue {
  enum class Kind { relu, relu_gradient, gelu, gelu_gradient };  // gelu by tanh
  Kind kind = Kind::relu;
  /// relu: which elements were positive, in bits as the device orders them, `width` of them for each row, a multiple of
  /// 128; written, or read for the gradient, or null. gelu: what it is given (m, n), dense; written, or read.
  void* beside = nullptr;
  int64_t width = 0;
  bool reads() const { return kind == Kind::relu_gradient || kind == Kind::gelu_gradient; }
};
inline void operands(capture::Operands& v, GemmEpilogue& e) {
  if (e.reads())
    v.reads(e.beside);
  else
    v.writes(e.beside);
}
HB_API inline Kernel<void(const Gemm& gemm, const GemmEpilogue& epilogue)> gemm_epilogue_kernel{"matmul"};
/// Whether the device has such a call for these operands; null where no device has any.
using GemmEpilogueQuery = bool (*)(const Device& device, const Gemm& gemm, const GemmEpilogue& epilogue);
HB_API inline std::atomic<GemmEpilogueQuery> has_gemm_epilogue{nullptr};

}  // namespace hb
