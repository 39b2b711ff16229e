// Products of matrices by cuBLASLt.
#include "backend/gemm_epilogue.h"

#include <algorithm>
#include <optional>

#include <halfbridge/error.h>

#include "cuda/gemm.h"
#include "cuda/lt_product.h"
#include "cuda/register.h"
#include "cuda/scratch.h"
#include "cuda/streams.h"

namespace hb::cuda {
namespace {

// m: (rows, cols) by rows, of which one stride is 1.
LtOperand transpose_of(const GemmMatrix& m, int64_t rows, int64_t cols, int64_t stride) {
  const bool by_rows = m.col == 1 && (m.row >= cols || rows == 1);
  if (by_rows) return {m.data, cols, rows, rows == 1 ? std::max<int64_t>(m.row, cols) : m.row, stride, false};
  return {m.data, rows, cols, cols == 1 ? std::max<int64_t>(m.col, rows) : m.col, stride, true};
}
bool is_dense(const GemmMatrix& m, int64_t rows, int64_t cols) {
  return (m.col == 1 && (m.row >= cols || rows == 1)) || (m.row == 1 && (m.col >= rows || cols == 1));
}

/// A stack of two dimensions whose outer one goes on where the inner one ends, in all operands.
bool is_one_stack(const Gemm& g) {
  const auto goes_on = [&](const GemmMatrix& m) { return m.batch[0] == m.batch[1] * g.batch[1]; };
  return g.batch[0] == 1 || g.batch[1] == 1 || (goes_on(g.a) && goes_on(g.b) && goes_on(g.c));
}

LtProduct product_of(const Gemm& g, int64_t batch, int which) {
  LtProduct p{g.dtype, transpose_of(g.b, g.k, g.n, g.b.batch[which]), transpose_of(g.a, g.m, g.k, g.a.batch[which]),
              transpose_of(g.c, g.m, g.n, g.c.batch[which]), batch};
  if (g.bias) p.epilogue = CUBLASLT_EPILOGUE_BIAS, p.vector = g.bias;
  return p;
}
void multiply_stack(const Gemm& g, int64_t batch, int which) {
  LtProduct p = product_of(g, batch, which);
  if (multiply(p, g.alpha, g.beta)) return;
  p.epilogue = CUBLASLT_EPILOGUE_DEFAULT, p.vector = nullptr;
  multiply(p, g.alpha, g.beta);
  Gemm stack = g;
  stack.batch[1 - which] = 1, stack.batch[which] = batch;
  add_bias_to_product(stack);
}

// The stride of a dimension of one element says nothing: it becomes one that cuBLASLt takes.
void settle_strides(GemmMatrix& m, int64_t rows, int64_t cols) {
  if (cols == 1 && m.row >= 1)
    m.col = 1;
  else if (rows == 1 && m.col >= 1)
    m.row = m.col == 1 ? cols : 1;
}

/// A copy whose rows are dense, where neither stride is 1; with one batch dimension or two.
GemmMatrix dense_copy(const Gemm& g, const GemmMatrix& m, int64_t rows, int64_t cols, void* memory) {
  gather_matrices(element_size(g.dtype), memory, m, g.batch, rows, cols);
  GemmMatrix copy;
  copy.data = memory;
  copy.row = cols, copy.col = 1;
  copy.batch[1] = rows * cols, copy.batch[0] = rows * cols * g.batch[1];
  return copy;
}

void gemm(const Gemm& asked) {
  if (asked.m * asked.n * asked.batch_count() == 0) return;
  if (asked.k == 0 || is_integral_type(asked.dtype, true)) return plain_gemm(asked);
  if (dot_product(asked)) return;
  Gemm g = asked;
  settle_strides(g.a, g.m, g.k);
  settle_strides(g.b, g.k, g.n);
  const auto bytes = [&](bool needed, int64_t elements) {
    return needed ? elements * g.batch_count() * static_cast<int64_t>(element_size(g.dtype)) : 0;
  };
  const bool copy_a = !is_dense(g.a, g.m, g.k), copy_b = !is_dense(g.b, g.k, g.n);
  const Scratch<char> of_a(bytes(copy_a, g.m * g.k)), of_b(bytes(copy_b, g.k * g.n));
  if (copy_a) g.a = dense_copy(g, g.a, g.m, g.k, of_a.get());
  if (copy_b) g.b = dense_copy(g, g.b, g.k, g.n, of_b.get());
  if (is_one_stack(g)) return multiply_stack(g, g.batch_count(), g.batch[1] == 1 ? 0 : 1);
  const auto size = static_cast<int64_t>(element_size(g.dtype));
  for (int64_t i = 0; i < g.batch[0]; ++i) {
    Gemm part = g;
    for (GemmMatrix* m : {&part.a, &part.b, &part.c}) m->data = static_cast<char*>(m->data) + i * m->batch[0] * size;
    multiply_stack(part, g.batch[1], 1);
  }
}

/// Products that a call of cuBLASLt may do as they are, without copies.
bool is_direct(const Gemm& g) {
  const bool plain = g.k == 0 || g.m * g.n == 0 || is_integral_type(g.dtype, true);
  return !plain && g.batch_count() == 1 && is_dense(g.a, g.m, g.k) && is_dense(g.b, g.k, g.n);
}

/// In one call where cuBLASLt can; the operand that is summed has dense rows of k.
void gemm_and_sums(const Gemm& g, const SummedOperand& summed) {
  const GemmMatrix& m = summed.of_a ? g.a : g.b;
  if (is_direct(g) && g.dtype != kDouble) {
    Gemm settled = g;
    settle_strides(settled.a, g.m, g.k);
    settle_strides(settled.b, g.k, g.n);
    LtProduct p = product_of(settled, 1, 0);
    p.epilogue = summed.of_a ? CUBLASLT_EPILOGUE_BGRADB : CUBLASLT_EPILOGUE_BGRADA;
    p.vector = summed.sums;
    if (multiply(p, g.alpha, g.beta)) return;
  }
  gemm(g);
  const int64_t stride = summed.of_a ? m.col : m.row;
  column_sum(g.dtype, summed.sums, m.data, g.k, summed.of_a ? g.m : g.n, stride);
}

cublasLtEpilogue_t with_bias(cublasLtEpilogue_t epilogue, const Gemm& g) {
  return g.bias ? static_cast<cublasLtEpilogue_t>(epilogue | CUBLASLT_EPILOGUE_BIAS) : epilogue;
}
/// Null where cuBLASLt cannot do it as it is.
std::optional<LtProduct> product_with(const Gemm& asked, const GemmEpilogue& e) {
  if (!is_direct(asked) || (e.reads() && asked.bias)) return std::nullopt;
  if (e.beside && alignment(e.beside) < 16) return std::nullopt;
  Gemm g = asked;
  settle_strides(g.a, g.m, g.k);
  settle_strides(g.b, g.k, g.n);
  LtProduct p = product_of(g, 1, 0);
  p.beside = e.beside, p.beside_ld = e.width;
  switch (e.kind) {
    case GemmEpilogue::Kind::relu:
      p.epilogue = with_bias(e.beside ? CUBLASLT_EPILOGUE_RELU_AUX : CUBLASLT_EPILOGUE_RELU, g);
      break;
    case GemmEpilogue::Kind::gelu:
      p.epilogue = with_bias(CUBLASLT_EPILOGUE_GELU_AUX, g);
      break;
    case GemmEpilogue::Kind::relu_gradient:
      p.epilogue = CUBLASLT_EPILOGUE_DRELU;
      break;
    case GemmEpilogue::Kind::gelu_gradient:
      p.epilogue = CUBLASLT_EPILOGUE_DGELU;
      break;
  }
  return p;
}
bool has_epilogue(const Device& device, const Gemm& g, const GemmEpilogue& e) {
  const OnDevice guard(device.index());
  const auto p = product_with(g, e);
  return p && has_algorithm(*p);
}
void gemm_epilogue(const Gemm& g, const GemmEpilogue& e) {
  const auto p = product_with(g, e);
  HB_CHECK(p && multiply(*p, g.alpha, g.beta), "[", current_function(), "] cuBLASLt has no such product of ", g.dtype);
}

[[maybe_unused]] const bool query_is_there = (has_gemm_epilogue.store(has_epilogue, std::memory_order_release), true);
HB_REGISTER_CUDA(gemm_kernel, gemm);
HB_REGISTER_CUDA(gemm_and_sums_kernel, gemm_and_sums);
HB_REGISTER_CUDA(gemm_epilogue_kernel, gemm_epilogue);

}  // namespace
}  // namespace hb::cuda
