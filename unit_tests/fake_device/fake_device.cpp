#include "fake_device/fake_device.h"

#include <sys/mman.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <stdexcept>
#include <string>
#include <vector>

#include "backend/kernel.h"
#include "core/device_backend.h"

namespace fake_device {
namespace {

constexpr size_t kReserved = size_t{8} << 30;  // of addresses; memory only where it is used
constexpr size_t kPagesGoBack = 64 << 10;      // blocks of which no page is kept
constexpr hb::DeviceIndex kDevices = 2;

// Memory that is readable while it is open. It may be opened several times over.
class Arena {
 public:
  Arena()
      : base_(static_cast<char*>(
            mmap(nullptr, kReserved, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0))) {
    if (base_ == MAP_FAILED) throw std::runtime_error("no addresses for the fake device");
  }
  void* take(size_t bytes) {
    const std::lock_guard lock(mutex_);
    ++live_;
    std::vector<void*>& kept = free_[bytes];
    if (!kept.empty()) {
      void* memory = kept.back();
      kept.pop_back();
      return memory;
    }
    if (bytes >= 4096) used_ = (used_ + 4095) & ~size_t{4095};
    if (used_ + bytes > kReserved) throw std::runtime_error("the fake device has no memory left");
    void* memory = base_ + used_;
    used_ += bytes;
    if (depth_ > 0) protect(PROT_READ | PROT_WRITE);
    return memory;
  }
  void give(void* memory, size_t bytes) {
    const std::lock_guard lock(mutex_);
    free_[bytes].push_back(memory);
    // What opening costs grows with the pages that are there.
    if (bytes >= kPagesGoBack) madvise(memory, bytes, MADV_DONTNEED);
    if (--live_ == 0 && depth_ == 0) used_ = 0, free_.clear();
  }
  void open() {
    const std::lock_guard lock(mutex_);
    if (depth_++ == 0) protect(PROT_READ | PROT_WRITE);
  }
  void close() {
    const std::lock_guard lock(mutex_);
    if (--depth_ == 0) protect(PROT_NONE);
  }
  bool owns(const void* address) const { return address >= base_ && address < base_ + kReserved; }

 private:
  void protect(int access) {
    if (used_ && mprotect(base_, used_, access) != 0) std::abort();
  }
  char* base_;
  size_t used_ = 0, live_ = 0;
  int depth_ = 0;
  std::map<size_t, std::vector<void*>> free_;
  std::mutex mutex_;
};

Arena& arena() {
  static auto* made = new Arena;  // tensors of static storage outlive everything
  return *made;
}

class Open {
 public:
  Open() { arena().open(); }
  ~Open() { arena().close(); }
};

struct Counters {
  std::atomic<uint64_t> kernels{0}, to_host{0}, from_host{0}, waits{0};
  std::atomic<const char*> last_kernel{"none"};
} counters;

class FakeBackend final : public hb::DeviceBackend {
 public:
  hb::DeviceIndex count() const override { return kDevices; }
  hb::DeviceIndex current() const override { return current_; }
  void set_current(hb::DeviceIndex index) override { current_ = index; }

  Block allocate(size_t bytes, hb::DeviceIndex index) override {
    size_t size = 64;
    while (size < bytes) size += size < 4096 ? size : (size / 4 + 4095) / 4096 * 4096;
    const size_t now = in_use_[index] += size;
    for (size_t before = peak_[index]; now > before && !peak_[index].compare_exchange_weak(before, now);) {
    }
    return {arena().take(size), size};
  }
  void free(Block block, hb::DeviceIndex index) noexcept override {
    in_use_[index] -= block.bytes;
    arena().give(block.memory, block.bytes);
  }
  size_t memory_in_use(hb::DeviceIndex index) const override { return in_use_[index]; }
  size_t peak_memory(hb::DeviceIndex index) const override { return peak_[index]; }
  void reset_peak_memory(hb::DeviceIndex index) override { peak_[index] = in_use_[index].load(); }

  void copy(void* to, const hb::Device& to_device, const void* from, const hb::Device& from_device, size_t bytes,
            bool) override {
    if (to_device.is_cpu()) ++counters.to_host;
    if (from_device.is_cpu()) ++counters.from_host;
    const Open open;
    std::memcpy(to, from, bytes);
  }
  void synchronize(hb::DeviceIndex) override { ++counters.waits; }
  // Its kernels are the CPU's: so are the numbers that they draw.
  const hb::Generator& default_generator(hb::DeviceIndex) override { return hb::default_generator(); }

  void enter_kernel(const char* name, const hb::Device&) override {
    ++counters.kernels;
    counters.last_kernel = name;
    arena().open();
  }
  void leave_kernel(const char*, const hb::Device&) noexcept override { arena().close(); }

 private:
  static inline thread_local hb::DeviceIndex current_ = 0;
  std::array<std::atomic<size_t>, kDevices> in_use_{}, peak_{};
};

// HALFBRIDGE_FAKE_DEVICE=1 installs it in a program that does not ask for it, `default` also makes tensors there.
const bool asked_for = [] {
  const char* wish = std::getenv("HALFBRIDGE_FAKE_DEVICE");
  if (!wish) return false;
  install();
  if (std::string(wish) == "default") hb::set_default_device(hb::kPrivateUse1);
  return true;
}();
// HALFBRIDGE_DEFAULT_DEVICE=cuda makes tensors there that name no device.
const bool made_elsewhere = [] {
  const char* device = std::getenv("HALFBRIDGE_DEFAULT_DEVICE");
  if (device) hb::set_default_device(hb::Device(device));
  return device != nullptr;
}();

}  // namespace

void install() {
  static FakeBackend* const backend = [] {
    auto* made = new FakeBackend;
    hb::register_device_backend(hb::kPrivateUse1, made);
    hb::KernelSlots::share_all(hb::kPrivateUse1, hb::kCPU);
    return made;
  }();
  (void)backend;
}

Counts counts() { return {counters.kernels, counters.to_host, counters.from_host, counters.waits}; }
void reset_counts() { counters.kernels = counters.to_host = counters.from_host = counters.waits = 0; }
const char* last_kernel() { return counters.last_kernel; }
void call_missing_kernel() { hb::Kernel<void()>("nobodys")(hb::Device(hb::kPrivateUse1, 0))(); }
bool owns(const void* address) { return arena().owns(address); }

}  // namespace fake_device
