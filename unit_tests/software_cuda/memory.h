#pragma once
// The device's memory: readable while kernels run, in blocks that end at a page that nobody can touch, and filled with
// NaN.

#include <cstddef>
#include <cstdint>
#include <string>

namespace software_cuda {

constexpr uint64_t kGarbage = 0x7ffa7ffa7ffa7ffaull;  // NaN in every floating type

/// Null where there is no memory left.
void* allocate_device(size_t bytes, int device);
/// False where it is not the start of a block.
bool free_device(void* memory);
void fill_garbage(void* memory, size_t bytes);

/// Kernels and copies may touch the memory while it is open. May be opened several times over.
///
/// A block's pages are opened when they are touched, since to open and to close them all for each kernel costs more
/// than most kernels. A library computes with all of them open: oneDNN's code keeps no stack that a signal's handler
/// could use.
enum class Opened { touched, all };
void open_memory(Opened which = Opened::touched);
void close_memory();
struct OpenMemory {
  explicit OpenMemory(Opened which = Opened::touched) { open_memory(which); }
  ~OpenMemory() { close_memory(); }
};
/// Opens the block that an address is in: false where there is none, or the memory is closed. For a signal's handler.
bool open_touched(const void* address);
/// Takes care that faults are ours to look at, whoever asked for them since.
void watch_faults();

/// The block that an address is in: `bytes` is 0 where there is none.
struct BlockAt {
  char* start = nullptr;
  size_t bytes = 0;
};
BlockAt block_at(const void* address);
/// Whether an address is one of the device's.
bool is_device(const void* address);
/// The device whose memory it is, 0 where it is nobody's.
int device_of(const void* address);
/// What can be said of an address that was touched and should not have been.
std::string describe(const void* address);

/// Notes the kernel that was last given the block.
void note_kernel(const void* block, const char* name);
/// The kernel that wrote after the end of a block that it was given, or null.
bool end_is_intact(const void* block);
const char* last_kernel(const void* block);

size_t memory_total();
size_t memory_used();

/// Dynamic shared memory of a block, which ends at a page that nobody can touch.
char* shared_memory(size_t bytes);

/// Pinned memory of the host.
void* allocate_pinned(size_t bytes);
bool free_pinned(void* memory);
bool is_pinned(const void* address);

}  // namespace software_cuda
