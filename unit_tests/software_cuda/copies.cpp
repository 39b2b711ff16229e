// Copies and fills, in the order of streams.
#include <cstring>

#include "software_cuda/memory.h"
#include "software_cuda/queue.h"
#include "software_cuda/state.h"

namespace software_cuda {
namespace {

/// What reaches the host and was never written is a fault of the kernel that should have written it.
void look_for_garbage(const void* from, size_t bytes) {
  const auto* at = static_cast<const char*>(from);
  size_t found = 0;
  for (size_t i = 0; i + 8 <= bytes; i += 8) found += std::memcmp(at + i, &kGarbage, 8) == 0;
  if (found == 0) return;
  State& s = state();
  if (const auto overtaken = s.overtaken.find(block_at(from).start); overtaken != s.overtaken.end())
    return report(cudaErrorLaunchFailure, overtaken->second);
  const char* kernel = last_kernel(from);
  report(cudaErrorLaunchFailure, std::string(kernel ? "kernel " : "nobody: ") + (kernel ? kernel : "memory") +
                                     " left " + std::to_string(found * 8) + " of the " + std::to_string(bytes) +
                                     " bytes that are copied to the host unwritten");
}

void count_copy(bool from_device, bool to_device, size_t bytes) {
  Counts& c = state().counts;
  ++(from_device && to_device ? c.copies_on_device : from_device ? c.copies_to_host : c.copies_from_host);
  c.bytes_copied += bytes;
}

}  // namespace
}  // namespace software_cuda

using namespace software_cuda;

cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind, cudaStream_t stream) {
  if (bytes == 0) return cudaSuccess;
  const bool from_device = is_device(from), to_device = is_device(to);
  const bool captured = stream_of(stream).capture != nullptr;
  const bool pageable = (!from_device && !is_pinned(from)) || (!to_device && !is_pinned(to));
  if (captured && pageable) return refuse_in_capture(&stream_of(stream));
  if (!captured) {
    const std::lock_guard lock(device_mutex());
    count_copy(from_device, to_device, bytes);
  }
  Work work;
  if (to_device) work.pointers.push_back(to);
  if (from_device) work.pointers.push_back(from);
  if (from_device || is_pinned(from)) {
    work.run = [=] {
      const OpenMemory open;
      if (from_device && !to_device) look_for_garbage(from, bytes);
      std::memmove(to, from, bytes);
      return true;
    };
  } else {  // memory that is not pinned has been read when this returns
    work.run = [to,
                staged = std::vector<char>(static_cast<const char*>(from), static_cast<const char*>(from) + bytes)] {
      const OpenMemory open;
      std::memcpy(to, staged.data(), staged.size());
      return true;
    };
  }
  enqueue_work(stream, std::move(work));
  if (!to_device && !is_pinned(to)) {
    ++state().counts.synchronisations;
    drain(stream);
  }
  return cudaPeekAtLastError();
}

cudaError_t cudaMemcpyPeerAsync(void* to, int, const void* from, int, size_t bytes, cudaStream_t stream) {
  return cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, stream);
}

cudaError_t cudaMemsetAsync(void* to, int value, size_t bytes, cudaStream_t stream) {
  if (!stream_of(stream).capture) ++state().counts.launches;
  enqueue(stream, [=] {
    const OpenMemory open;
    std::memset(to, value, bytes);
    state().ran += "memset\n";
    return true;
  });
  return cudaSuccess;
}

void software_cuda_fill_garbage(void* memory, size_t bytes, cudaStream_t stream) {
  enqueue(stream, [=] {
    const OpenMemory open;
    fill_garbage(memory, bytes);
    note_kernel(memory, nullptr);
    state().overtaken.erase(block_at(memory).start);
    return true;
  });
}
