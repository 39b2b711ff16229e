#pragma once
// Random numbers of a device: Philox 4x32-10 (Salmon et al., 2011), counted as PyTorch counts, so that a seed gives its
// numbers.

#include <optional>

#include <halfbridge/generator.h>

namespace hb::cuda {

/// Where a kernel's numbers begin: thread i draws from subsequence i of `seed`, from `offset` on. In a recorded graph
/// the device knows the seed and what is added to the offset.
struct PhiloxStart {
  uint64_t seed, offset;
  const uint64_t* on_device = nullptr;
};

class CudaGenerator final : public GeneratorImpl {
 public:
  explicit CudaGenerator(DeviceIndex device, uint64_t seed);
  void set_current_seed(uint64_t seed) override;
  uint64_t current_seed() const override { return seed_; }
  uint64_t seed() override;
  void set_offset(uint64_t offset) override;
  uint64_t get_offset() const override { return offset_; }
  /// Seed and offset, 8 bytes each.
  std::vector<uint8_t> state_bytes() const override;
  void set_state_bytes(const uint8_t* data, size_t size) override;
  intrusive_ptr<GeneratorImpl> clone_impl() const override;

  /// The start for a kernel each of whose threads draws at most `count` numbers of 32 bits.
  PhiloxStart take(uint64_t count);
  /// The same, under the lock, for a kernel that this thread is about to launch, or to record.
  PhiloxStart start_for_kernel(uint64_t count);

 private:
  uint64_t seed_, offset_ = 0;
};

const Generator& default_generator(DeviceIndex device);

/// The given generator, or the current device's. Throws where it is another device's.
CudaGenerator& generator_of(const char* name, const std::optional<Generator>& given);
/// CudaGenerator::take under its lock.
PhiloxStart take_numbers(const char* name, const std::optional<Generator>& given, uint64_t count);

/// How PyTorch spreads n draws (n > 0): over blocks of 256 threads, at most as many as the current device runs at once.
/// Each thread draws four numbers of 32 bits at a time, for `together` elements.
struct DrawGrid {
  static constexpr int kThreads = 256;
  DrawGrid(int64_t n, int together);
  unsigned blocks;
  uint64_t numbers;  // of 32 bits that a thread takes
};

}  // namespace hb::cuda
