#pragma once
// What products of matrices need beside cuBLASLt.

#include "backend/gemm.h"

namespace hb::cuda {

/// Copies a stack of matrices with any strides; the copies lie one after another, by rows.
void gather_matrices(size_t element_size, void* to, const GemmMatrix& from, const int64_t* batch, int64_t rows,
                     int64_t cols);
/// By a plain kernel: integers, and sums of nothing (k = 0), which cuBLASLt does not take.
void plain_gemm(const Gemm& g);
/// The product of two long vectors; false: not such ones.
bool dot_product(const Gemm& g);
/// c += bias, where cuBLASLt has no call that adds it.
void add_bias_to_product(const Gemm& g);
/// column_sum_kernel.
void column_sum(ScalarType dtype, void* out, const void* in, int64_t rows, int64_t cols, int64_t stride);

}  // namespace hb::cuda
