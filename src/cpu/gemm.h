#pragma once
// The pieces that the CPU's matrix product is put together from.

#include "backend/gemm.h"

namespace hb::cpu {

/// Whether this CPU multiplies bf16 itself, so that oneDNN has fast primitives for it.
bool has_fast_bf16();

/// What gemm_kernel does, for kernels that are made of such products.
void gemm_cpu(const Gemm& g);

/// f32 and bf16 by oneDNN: a and b have a stride of 1 in one of their dimensions. One matrix,
/// by the calling thread alone.
void onednn_gemm(const Gemm& g);
/// Repeated for each matrix of a stack, of at least as many matrices as threads, which share them.
void onednn_gemm_stack(const Gemm& g);

/// A range of the columns (or rows) of a product.
Gemm slice(const Gemm& g, bool columns, int64_t from, int64_t to);
/// Whether a matrix lies in memory column by column.
inline bool is_transposed(const GemmMatrix& x) { return x.row == 1 && x.col != 1; }

constexpr int64_t kSmallSide = 64, kSmallProduct = kSmallSide * kSmallSide;

/// Loops per instruction set. One matrix each.
struct GemmLoops {
  /// f64 with blocking and packing, any strides.
  void (*f64)(const Gemm& g);
  /// Integers, any strides.
  void (*integers)(const Gemm& g);
  /// Matrix times vector (m or n is 1) of a floating dtype; a stride of 1 in one dimension.
  void (*vector)(const Gemm& g);
  /// k is 1: floating dtypes.
  void (*outer)(const Gemm& g);
  /// k and n at most kSmallSide, floating dtypes, any strides; by the calling thread.
  void (*small)(const Gemm& g);
  /// Small products of bf16 where has_fast_bf16(), sums in float; a and b have a stride of 1 in one dimension.
  void (*pairs)(const Gemm& g);
  /// Dense float copies of strided half or float matrices and back.
  void (*to_float)(ScalarType dtype, const void* in, float* out, int64_t n);
  void (*from_float)(ScalarType dtype, const float* in, void* out, int64_t n);
};
const GemmLoops& gemm_loops();

namespace v3 {
extern const GemmLoops gemm_loops;
}
namespace v4 {
extern const GemmLoops gemm_loops;
}

}  // namespace hb::cpu
