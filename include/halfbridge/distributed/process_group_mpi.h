#pragma once

#include <halfbridge/distributed/engine_backend.h>

namespace hb::distributed {

constexpr const char* MPI_BACKEND_NAME = "mpi";

/// Collectives of CPU tensors by the MPI that the program was started with: Open MPI (Debian: libopenmpi3) or MPICH
/// (libmpich12), found by the variables that mpirun sets, or by HALFBRIDGE_MPI=openmpi or mpich.
class HB_API ProcessGroupMPI : public EngineBackend {
 public:
  /// A group of the given ranks of the run, of all if there are none; null for a rank that is not among them. All ranks
  /// of the run call it. Initialises MPI if the program has not. Throws hb::Error where there is no MPI, naming the
  /// package.
  static intrusive_ptr<ProcessGroupMPI> createProcessGroupMPI(std::vector<int> ranks = {});
  ~ProcessGroupMPI() override;
  const std::string getBackendName() const override { return MPI_BACKEND_NAME; }
  intrusive_ptr<Backend> split(const intrusive_ptr<Store>& store, const std::vector<int>& ranks,
                               const intrusive_ptr<Backend::Options>& opts) override;

 private:
  ProcessGroupMPI(std::shared_ptr<Engine> engine, int rank, int size);
};

}  // namespace hb::distributed
