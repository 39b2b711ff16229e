#pragma once
// Work of a stream that is recorded once and launched again (CUDA graphs). What is recorded on this thread has memory
// of a pool of its own, draws random numbers from where the device says, and reads numbers that may change from memory.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "core/cuda_api.h"
#include "cuda/allocator.h"
#include "cuda/generator.h"
#include "cuda/runtime.h"

namespace hb::cuda {

class Graph final : public CudaGraphApi {
 public:
  explicit Graph(bool keep_graph) : keep_graph_(keep_graph) {}
  ~Graph() override;

  void begin(Pool pool, int mode) override;
  void end() override;
  void instantiate() override;
  void replay() override;
  void update(const std::function<void()>& again) override;
  void reset() override;
  Pool pool() const override { return pool_; }
  void* raw_graph() override { return graph_; }
  void* raw_executable() override { return executable_; }
  void debug_dump(const std::string& path) override;

  /// The one that this thread records, or null.
  static Graph* recorded() noexcept;
  /// Throws if this thread records: what follows is a copy between host and device. (CUDA records a copy from memory
  /// that is not pinned as it is, and reads that memory at each launch.)
  static void expect_none();
  /// The one whose numbers this thread brings up to date, or null.
  static Graph* updated() noexcept;

  /// Where a recorded kernel's random numbers begin: see PhiloxStart.
  PhiloxStart draw(CudaGenerator& generator, uint64_t count);
  /// Memory from which the next recorded kernel of an optimizer reads its rule.
  void* add_numbers(const void* numbers, size_t bytes);
  /// The same for a kernel that is called again.
  void write_numbers(const void* numbers, size_t bytes);
  int* block_counters() const { return counters_; }

 private:
  struct Draws {
    uint64_t* start = nullptr;  // seed and offset, on the device, which each launch moves on
    uint64_t count = 0;         // numbers a launch draws
    uint64_t seed = 0, offset = 0;
    bool written = false;  // whether those two are what the device has
  };
  struct Numbers {
    void* memory;
    std::vector<char> now;
    bool written = false;
  };
  void* allocate_kept(size_t bytes);
  void stop(bool good);
  void write(Numbers& n, cudaStream_t stream);

  bool keep_graph_;
  Pool pool_{0, 0};
  DeviceIndex device_ = 0;
  cudaStream_t stream_ = nullptr;
  cudaGraph_t graph_ = nullptr;
  cudaGraphExec_t executable_ = nullptr;
  int* counters_ = nullptr;
  std::vector<void*> kept_;
  std::map<CudaGenerator*, Draws> draws_;
  std::vector<Numbers> numbers_;
  size_t next_numbers_ = 0;
};

CudaGraphApi::Pool make_graph_pool();
/// The last of a graph's kernels: the next launch's random numbers begin behind this one's.
void advance_draws(uint64_t* start, uint64_t count);

}  // namespace hb::cuda
