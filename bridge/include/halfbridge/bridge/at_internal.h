#pragma once
// at::internal, at::launch and what at::show_config and its kin answer.

#include <cstdint>
#include <functional>
#include <string>
#include <tuple>

#include <halfbridge/bridge/context.h>
#include <halfbridge/macros.h>

namespace hb::bridge {

namespace internal {
/// Element-wise loops of fewer elements than this run on one thread.
constexpr int64_t GRAIN_SIZE = 32768;
/// Nothing to do: the threads begin with the first loop.
inline void lazy_init_num_threads() {}
/// The number of parts and the elements of each that `parallel_for` would cut [begin, end) into.
inline std::tuple<size_t, size_t> calc_num_tasks_and_chunk_size(int64_t begin, int64_t end, int64_t grain_size) {
  if (end - begin < grain_size) return {1, static_cast<size_t>(std::max(int64_t{0}, end - begin))};
  const int64_t threads = get_num_threads();
  const int64_t chunk = std::max(std::max(grain_size, int64_t{1}), (end - begin + threads - 1) / threads);
  return {static_cast<size_t>((end - begin + chunk - 1) / chunk), static_cast<size_t>(chunk)};
}
}  // namespace internal

inline namespace api {
/// Runs the function on this thread, for there is no pool of tasks beside the loops.
inline void launch(const std::function<void()>& task) { task(); }
inline void intraop_launch(const std::function<void()>& task) { task(); }
inline int intraop_default_num_threads() { return get_num_threads(); }

/// What this library is and was built with, for people.
HB_API std::string show_config();
HB_API std::string get_parallel_info();
HB_API std::string get_openmp_version();
/// The instruction set whose kernels run: "AVX512", "AVX2" or "DEFAULT".
HB_API std::string get_cpu_capability();
}  // namespace api

}  // namespace hb::bridge
