#include "cuda/generator.h"

#include <algorithm>
#include <cstring>
#include <deque>
#include <mutex>

#include <halfbridge/error.h>

#include "core/load_cuda.h"
#include "cuda/graph.h"
#include "cuda/streams.h"

namespace hb::cuda {

CudaGenerator::CudaGenerator(DeviceIndex device, uint64_t seed) : GeneratorImpl(Device(kCUDA, device)), seed_(seed) {}

void CudaGenerator::set_current_seed(uint64_t seed) { seed_ = seed, offset_ = 0; }
uint64_t CudaGenerator::seed() {
  set_current_seed(detail::getNonDeterministicRandom(true));
  return seed_;
}
void CudaGenerator::set_offset(uint64_t offset) {
  HB_CHECK(offset % 4 == 0, "offset must be a multiple of 4");
  offset_ = offset;
}

std::vector<uint8_t> CudaGenerator::state_bytes() const {
  std::vector<uint8_t> bytes(16);
  std::memcpy(bytes.data(), &seed_, 8);
  std::memcpy(bytes.data() + 8, &offset_, 8);
  return bytes;
}
void CudaGenerator::set_state_bytes(const uint8_t* data, size_t size) {
  HB_CHECK(size == 16 || size == 8, "RNG state is wrong size");
  uint64_t seed, offset = 0;
  std::memcpy(&seed, data, 8);
  if (size == 16) std::memcpy(&offset, data + 8, 8);
  set_current_seed(seed);
  set_offset(offset);
}
intrusive_ptr<GeneratorImpl> CudaGenerator::clone_impl() const {
  auto copy = make_intrusive<CudaGenerator>(device().index(), seed_);
  copy->offset_ = offset_;
  return copy;
}

PhiloxStart CudaGenerator::take(uint64_t count) {
  const PhiloxStart start{seed_, offset_};
  offset_ += (count + 3) / 4 * 4;
  return start;
}

PhiloxStart CudaGenerator::start_for_kernel(uint64_t count) {
  const std::lock_guard lock(mutex_);
  if (Graph* const graph = Graph::recorded()) return graph->draw(*this, count);
  return take(count);
}

const Generator& default_generator(DeviceIndex device) {
  static const auto* const all = [] {
    auto* made = new std::deque<Generator>;
    for (DeviceIndex i = 0; i < device_count(); ++i)
      made->push_back(make_generator<CudaGenerator>(i, seed_for_devices()));
    return made;
  }();
  return (*all)[static_cast<size_t>(device)];
}

CudaGenerator& generator_of(const char* name, const std::optional<Generator>& given) {
  const Generator& used = given && given->defined() ? *given : default_generator(current_device());
  HB_CHECK(used.device().is_cuda(), "[", name, "] Expected a 'cuda' device type for generator but found '",
           used.device().type(), "'");
  return *used.get<CudaGenerator>();
}
PhiloxStart take_numbers(const char* name, const std::optional<Generator>& given, uint64_t count) {
  return generator_of(name, given).start_for_kernel(count);
}

DrawGrid::DrawGrid(int64_t n, int together) {
  static const std::vector<int64_t> most = [] {  // of each device
    std::vector<int64_t> all;
    for (DeviceIndex i = 0; i < device_count(); ++i) {
      cudaDeviceProp p{};
      check(cudaGetDeviceProperties(&p, i), "random");
      all.push_back(int64_t{p.multiProcessorCount} * (p.maxThreadsPerMultiProcessor / kThreads));
    }
    return all;
  }();
  const int64_t used = std::min((n + kThreads - 1) / kThreads, most[static_cast<size_t>(current_device())]);
  blocks = static_cast<unsigned>(used);
  numbers = static_cast<uint64_t>((n - 1) / (kThreads * used * together) + 1) * 4;
}

}  // namespace hb::cuda
