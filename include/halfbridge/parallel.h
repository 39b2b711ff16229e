#pragma once

#include <type_traits>

#include <halfbridge/macros.h>
#include <halfbridge/threads.h>

namespace hb {

/// Whether the calling thread computes a chunk of run_chunks(), or a part of a region of OpenMP's.
HB_API bool in_chunk();
/// The number of the chunk that the calling thread computes, its number in OpenMP's region, else 0.
HB_API int chunk_number();

namespace detail {
HB_API void run_chunks(int chunks, void (*fn)(void* context, int chunk), void* context);
}

/// Calls fn(chunk) for the numbers 0 to chunks - 1 on the engine's threads. The caller takes part and computes what no
/// thread has begun, so it waits for chunks under way alone, never for a thread that has yet to come. The first
/// exception reaches the caller. Inside a chunk, and with one thread, the chunks run one after the other.
template <class F>
void run_chunks(int chunks, F&& fn) {
  using Function = std::remove_reference_t<F>;
  detail::run_chunks(
      chunks, [](void* f, int chunk) { (*static_cast<Function*>(f))(chunk); },
      const_cast<void*>(static_cast<const void*>(&fn)));
}

}  // namespace hb
