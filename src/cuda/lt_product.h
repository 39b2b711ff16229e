#pragma once
// One call of cuBLASLt, whose matrices lie by columns: what lies by rows is its transpose, so that c^T = b^T a^T is
// asked for.

#include <cstdint>

#include <halfbridge/dtype.h>

#include "cuda/cublas_lt.h"

namespace hb::cuda {

/// One operand as cuBLASLt sees it: columns of `rows` elements, `ld` apart.
struct LtOperand {
  void* data;
  int64_t rows, cols, ld, stride;
  bool transposed;
};

/// c^T (n, m) = alpha b^T a^T + beta c^T, with something that is done beside: a plain or strided batch.
struct LtProduct {
  ScalarType dtype;
  LtOperand b, a, c;
  int64_t batch;
  cublasLtEpilogue_t epilogue = CUBLASLT_EPILOGUE_DEFAULT;
  const void* vector = nullptr;  // a bias that is read, or sums that are written
  void* beside = nullptr;        // what an epilogue reads or writes for each element
  int64_t beside_ld = 0;
};

/// While it lives, products of floats of this thread may round to TF32 or may not, whatever the settings say.
class Tf32Guard {
 public:
  explicit Tf32Guard(bool allowed);
  ~Tf32Guard();
  Tf32Guard(const Tf32Guard&) = delete;
  Tf32Guard& operator=(const Tf32Guard&) = delete;

 private:
  int before_;
};

/// Bytes, at most 256.
uint32_t alignment(const void* data);
/// Whether cuBLASLt can do this epilogue for such operands.
bool has_algorithm(const LtProduct& p);
/// False, and nothing is done: has_algorithm() is false. Throws where it cannot do even the plain product.
bool multiply(const LtProduct& p, double alpha, double beta);

}  // namespace hb::cuda
