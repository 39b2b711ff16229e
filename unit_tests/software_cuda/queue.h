#pragma once
// Streams: what is queued there happens when somebody waits for it, and no sooner.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "software_cuda/cuda_runtime.h"
#include "software_cuda/lanes.h"

namespace software_cuda {

/// Queues work: `run` returns false where it failed (then `failure()` says how).
void enqueue(cudaStream_t stream, std::function<bool()> run);
/// A call of a vendor's library, which computes on the host with the device's memory open.
void enqueue_library_call(cudaStream_t stream, const char* name, std::function<void()> run,
                          std::function<bool()> ready = nullptr);
void enqueue_kernel(const Geometry& launch, cudaStream_t stream, std::vector<const void*> pointers,
                    std::function<void()> lane);
/// A stream's work, and what that waits for, or that of all.
void drain(cudaStream_t stream);
void drain_all();
struct Event;
void drain_until(const Event& event);
/// As far as nothing has to wait for other processes, or for another thread; true where the event has happened before.
bool poll(const Event& event);
bool happened(const Event& event);
void check_launch(const Geometry& launch);

/// The text for as long as the process lives.
const char* lasting(const std::string& text);

/// Addresses of the device among the bytes of an argument: whoever hides one otherwise is not seen.
void find_pointers(const void* argument, size_t bytes, std::vector<const void*>& found);

template <class... P, class... A>
void launch(const char* name, void (*kernel)(P...), dim3 grid, dim3 block, size_t shared, cudaStream_t stream,
            A&&... arguments) {
  using Values = std::tuple<std::decay_t<P>...>;
  Values values{static_cast<std::decay_t<P>>(arguments)...};
  std::vector<const void*> pointers;
  std::apply([&](const auto&... v) { (find_pointers(&v, sizeof v, pointers), ...); }, values);
  enqueue_kernel({name, grid, block, shared}, stream, std::move(pointers),
                 [kernel, values]() mutable { std::apply(kernel, values); });
}

}  // namespace software_cuda
