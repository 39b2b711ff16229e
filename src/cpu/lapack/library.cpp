// LAPACK, loaded so that it finds its own symbols first: LibTorch brings another one, MKL's, whose routines have the
// same names.
#include "cpu/lapack/library.h"

#include <dlfcn.h>
#include <sys/mman.h>

#include <cstdlib>
#include <string>
#include <thread>

#include <halfbridge/error.h>

#include "cpu/own_symbols.h"

namespace hb::cpu::lapack {
namespace {

/// OpenBLAS takes addresses for each core when it is loaded, and asks again for ever where it gets none.
void check_addresses(const char* function) {
  const size_t wanted = (size_t{256} << 20) + (size_t{64} << 20) * std::thread::hardware_concurrency();
  void* const room = mmap(nullptr, wanted, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  HB_CHECK(room != MAP_FAILED, "[", function, "] expected ", wanted >> 20,
           " MiB of addresses to load LAPACK, got less: the process's limit (ulimit -v) is too low");
  munmap(room, wanted);
}

/// OpenBLAS by its own name, else the LAPACK that the machine has chosen.
void* open_library(const char* function) {
  check_addresses(function);
  void* library = nullptr;
  if (const char* asked = std::getenv("HALFBRIDGE_LAPACK")) {
    library = dlopen(asked, own_symbols_first());
  } else {
    for (const char* name : {"libopenblas.so.0", "liblapack.so.3"})
      if (!library) library = dlopen(name, own_symbols_first());
  }
  if (!library) return nullptr;
  // OpenBLAS's threads wait for each other in loops: with another process on one of two cores a decomposition took 300
  // times as long on two of them. Work is split among the engine's threads instead.
  if (void* set_threads = dlsym(library, "openblas_set_num_threads")) reinterpret_cast<void (*)(int)>(set_threads)(1);
  return library;
}

void* find(const char* function, char letter, const char* routine) {
  static void* const library = open_library(function);
  HB_CHECK(library, "[", function, "] expected LAPACK (libopenblas.so.0 or liblapack.so.3), got none: ",
           "install Debian's libopenblas0-pthread, or name a library in HALFBRIDGE_LAPACK");
  void* address = dlsym(library, (letter + std::string(routine) + '_').c_str());
  HB_CHECK(address, "[", function, "] expected a LAPACK with the routine ", letter, routine, ", got one without");
  return address;
}

template <class T>
Routines<T> load(const char* function) {
  constexpr bool complex = kIsComplex<T>;
  constexpr char letter = std::is_same_v<Real<T>, float> ? (complex ? 'c' : 's') : (complex ? 'z' : 'd');
  Routines<T> r;
  const auto get = [&](auto& routine, const char* name) {
    routine = reinterpret_cast<std::remove_reference_t<decltype(routine)>>(find(function, letter, name));
  };
  get(r.getrf, "getrf"), get(r.getrs, "getrs");
  get(r.potrf, "potrf"), get(r.potrs, "potrs"), get(r.potri, "potri");
  get(r.sytrf, "sytrf"), get(r.hetrf, complex ? "hetrf" : "sytrf");
  get(r.sytrs, "sytrs"), get(r.hetrs, complex ? "hetrs" : "sytrs");
  get(r.trsm, "trsm"), get(r.geqrf, "geqrf"), get(r.gels, "gels");
  get(r.orgqr, complex ? "ungqr" : "orgqr"), get(r.ormqr, complex ? "unmqr" : "ormqr");
  get(r.syevd, complex ? "heevd" : "syevd"), get(r.geev, "geev"), get(r.gesdd, "gesdd");
  get(r.gelsy, "gelsy"), get(r.gelsd, "gelsd"), get(r.gelss, "gelss");
  return r;
}

}  // namespace

template <class T>
const Routines<T>& routines(const char* function) {
  static const Routines<T> loaded = load<T>(function);
  return loaded;
}
template const Routines<float>& routines(const char*);
template const Routines<double>& routines(const char*);
template const Routines<Complex<float>>& routines(const char*);
template const Routines<Complex<double>>& routines(const char*);

}  // namespace hb::cpu::lapack
