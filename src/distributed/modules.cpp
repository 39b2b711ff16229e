#include "distributed/modules.h"

#include <dlfcn.h>

#include <cstdlib>

#include "distributed/nccl/library.h"

namespace hb::distributed {

namespace {

/// A library beside this one.
void* open_module(const char* engine, const char* file, const char* package, int mode) {
  Dl_info here;
  std::string path = file;
  if (dladdr(reinterpret_cast<void*>(&open_module), &here)) {
    const std::string own = here.dli_fname;
    path = own.substr(0, own.rfind('/') + 1) + file;
  }
  if (void* module = dlopen(path.c_str(), RTLD_NOW | mode)) return module;
  detail::fail<Error>("[", engine, "] expected ", engine,
                      ", which is not installed or was not there when Halfbridge was built (Debian: ", package,
                      "): ", dlerror());
}

template <class Function>
Function* find(void* module, const char* name) {
  void* function = dlsym(module, name);
  HB_CHECK(function, "[distributed] expected ", name, " in the engine's library: ", dlerror());
  return reinterpret_cast<Function*>(function);
}

void* gloo_module() {
  static void* const module = open_module("Gloo", "libhalfbridge_gloo.so", "libgloo-dev", RTLD_LOCAL);
  return module;
}

/// Whose MPI it is: the one that the program has loaded, the one whose mpirun started it, else the one that is there.
void* open_mpi() {
  const char* chosen = std::getenv("HALFBRIDGE_MPI");
  std::string kind = chosen ? chosen : "";
  HB_CHECK(kind.empty() || kind == "openmpi" || kind == "mpich",
           "[MPI] expected openmpi or mpich in HALFBRIDGE_MPI, got '", kind, "'");
  if (kind.empty()) {
    if (dlsym(RTLD_DEFAULT, "MPI_Init"))
      kind = dlsym(RTLD_DEFAULT, "ompi_mpi_comm_world") ? "openmpi" : "mpich";
    else if (std::getenv("OMPI_COMM_WORLD_SIZE"))
      kind = "openmpi";
    else if (std::getenv("PMI_SIZE") || std::getenv("MPI_LOCALRANKID"))
      kind = "mpich";
  }
  // Open MPI's plugins look for its symbols among those of all libraries.
  const auto open_one = [](bool mpich) {
    return mpich ? open_module("MPI", "libhalfbridge_mpich.so", "libmpich-dev", RTLD_GLOBAL)
                 : open_module("MPI", "libhalfbridge_mpi.so", "libopenmpi-dev", RTLD_GLOBAL);
  };
  if (!kind.empty()) return open_one(kind == "mpich");
  try {
    return open_one(false);
  } catch (const Error& first) {
    try {
      return open_one(true);
    } catch (const Error&) {
    }
    throw;
  }
}

void* mpi_module() {
  static void* const module = open_mpi();
  return module;
}

}  // namespace

nccl::Library& nccl::library() {
  static Library& opened = (*find<LibraryGetter>(
      open_module("NCCL", "libhalfbridge_nccl.so", "libnccl-dev and CUDA's headers", RTLD_LOCAL), "hb_nccl_library"))();
  return opened;
}

std::shared_ptr<Engine> mpi_engine(const std::vector<int>& ranks) {
  return (*find<MpiEngineMaker>(mpi_module(), "hb_make_mpi_engine"))(ranks);
}

std::shared_ptr<Engine> split_mpi_engine(Engine& parent, const std::vector<int>& ranks) {
  return (*find<MpiSplitter>(mpi_module(), "hb_split_mpi_engine"))(parent, ranks);
}

std::shared_ptr<Engine> gloo_engine(const intrusive_ptr<Store>& store, int rank, int size,
                                    std::shared_ptr<::gloo::transport::Device> device,
                                    std::chrono::milliseconds timeout) {
  return (*find<GlooEngineMaker>(gloo_module(), "hb_make_gloo_engine"))(store, rank, size, device, timeout);
}

std::shared_ptr<::gloo::transport::Device> gloo_device(const std::string& interface, const std::string& hostname) {
  return (*find<GlooDeviceMaker>(gloo_module(), "hb_make_gloo_device"))(interface, hostname);
}

}  // namespace hb::distributed
