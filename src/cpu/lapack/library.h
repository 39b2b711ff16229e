#pragma once
// LAPACK's routines. A library that has them is opened when one is first asked for; no header of it is needed.
// Arguments are Fortran's: everything by address, matrices by columns, the lengths of texts last.
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <halfbridge/complex.h>

#include "formulas/complex_math.h"

namespace hb::cpu::lapack {

using Int = int32_t;
using Len = size_t;
using Text = const char*;

template <class T>
using Real = math::magnitude_t<T>;
template <class T>
constexpr bool kIsComplex = !std::is_same_v<T, Real<T>>;

/// Routines that take other arguments for complex matrices than for real ones.
template <class T>
struct SpectralRoutines {
  void (*syevd)(Text, Text, const Int* n, T* a, const Int* lda, T* w, T* work, const Int* lwork, Int* iwork,
                const Int* liwork, Int* info, Len, Len);
  void (*geev)(Text, Text, const Int* n, T* a, const Int* lda, T* wr, T* wi, T* vl, const Int* ldvl, T* vr,
               const Int* ldvr, T* work, const Int* lwork, Int* info, Len, Len);
  void (*gesdd)(Text, const Int* m, const Int* n, T* a, const Int* lda, T* s, T* u, const Int* ldu, T* vt,
                const Int* ldvt, T* work, const Int* lwork, Int* iwork, Int* info, Len);
  void (*gelsy)(const Int* m, const Int* n, const Int* nrhs, T* a, const Int* lda, T* b, const Int* ldb, Int* jpvt,
                const T* rcond, Int* rank, T* work, const Int* lwork, Int* info);
  void (*gelsd)(const Int* m, const Int* n, const Int* nrhs, T* a, const Int* lda, T* b, const Int* ldb, T* s,
                const T* rcond, Int* rank, T* work, const Int* lwork, Int* iwork, Int* info);
  void (*gelss)(const Int* m, const Int* n, const Int* nrhs, T* a, const Int* lda, T* b, const Int* ldb, T* s,
                const T* rcond, Int* rank, T* work, const Int* lwork, Int* info);
};
template <class R>
struct SpectralRoutines<Complex<R>> {
  using T = Complex<R>;
  void (*syevd)(Text, Text, const Int* n, T* a, const Int* lda, R* w, T* work, const Int* lwork, R* rwork,
                const Int* lrwork, Int* iwork, const Int* liwork, Int* info, Len, Len);
  void (*geev)(Text, Text, const Int* n, T* a, const Int* lda, T* w, T* vl, const Int* ldvl, T* vr, const Int* ldvr,
               T* work, const Int* lwork, R* rwork, Int* info, Len, Len);
  void (*gesdd)(Text, const Int* m, const Int* n, T* a, const Int* lda, R* s, T* u, const Int* ldu, T* vt,
                const Int* ldvt, T* work, const Int* lwork, R* rwork, Int* iwork, Int* info, Len);
  void (*gelsy)(const Int* m, const Int* n, const Int* nrhs, T* a, const Int* lda, T* b, const Int* ldb, Int* jpvt,
                const R* rcond, Int* rank, T* work, const Int* lwork, R* rwork, Int* info);
  void (*gelsd)(const Int* m, const Int* n, const Int* nrhs, T* a, const Int* lda, T* b, const Int* ldb, R* s,
                const R* rcond, Int* rank, T* work, const Int* lwork, R* rwork, Int* iwork, Int* info);
  void (*gelss)(const Int* m, const Int* n, const Int* nrhs, T* a, const Int* lda, T* b, const Int* ldb, R* s,
                const R* rcond, Int* rank, T* work, const Int* lwork, R* rwork, Int* info);
};

/// The routines for elements of type T: float, double or a complex number of them.
template <class T>
struct Routines : SpectralRoutines<T> {
  void (*getrf)(const Int* m, const Int* n, T* a, const Int* lda, Int* pivots, Int* info);
  void (*getrs)(Text, const Int* n, const Int* nrhs, const T* a, const Int* lda, const Int* pivots, T* b,
                const Int* ldb, Int* info, Len);
  void (*potrf)(Text, const Int* n, T* a, const Int* lda, Int* info, Len);
  void (*potrs)(Text, const Int* n, const Int* nrhs, const T* a, const Int* lda, T* b, const Int* ldb, Int* info, Len);
  void (*potri)(Text, const Int* n, T* a, const Int* lda, Int* info, Len);
  // hetrf and hetrs are sytrf and sytrs for real matrices.
  void (*sytrf)(Text, const Int* n, T* a, const Int* lda, Int* pivots, T* work, const Int* lwork, Int* info, Len);
  void (*hetrf)(Text, const Int* n, T* a, const Int* lda, Int* pivots, T* work, const Int* lwork, Int* info, Len);
  void (*sytrs)(Text, const Int* n, const Int* nrhs, const T* a, const Int* lda, const Int* pivots, T* b,
                const Int* ldb, Int* info, Len);
  void (*hetrs)(Text, const Int* n, const Int* nrhs, const T* a, const Int* lda, const Int* pivots, T* b,
                const Int* ldb, Int* info, Len);
  void (*trsm)(Text, Text, Text, Text, const Int* m, const Int* n, const T* alpha, const T* a, const Int* lda, T* b,
               const Int* ldb, Len, Len, Len, Len);
  void (*geqrf)(const Int* m, const Int* n, T* a, const Int* lda, T* tau, T* work, const Int* lwork, Int* info);
  void (*orgqr)(const Int* m, const Int* n, const Int* k, T* a, const Int* lda, const T* tau, T* work, const Int* lwork,
                Int* info);
  void (*ormqr)(Text, Text, const Int* m, const Int* n, const Int* k, const T* a, const Int* lda, const T* tau, T* c,
                const Int* ldc, T* work, const Int* lwork, Int* info, Len, Len);
  void (*gels)(Text, const Int* m, const Int* n, const Int* nrhs, T* a, const Int* lda, T* b, const Int* ldb, T* work,
               const Int* lwork, Int* info, Len);
};

/// `function` names who asks. Throws where the machine has no LAPACK.
template <class T>
const Routines<T>& routines(const char* function);

}  // namespace hb::cpu::lapack
