#pragma once
// The calls of CUB that Halfbridge uses, for the software device. As CUB's, a call without memory asks for its size.

#include <algorithm>
#include <numeric>
#include <vector>

#include "software_cuda/lanes.h"
#include "software_cuda/memory.h"
#include "software_cuda/queue.h"

namespace cub {
namespace software {

constexpr size_t kRoom = 256;  // the workspace that each call asks for, and spoils

template <class F>
cudaError_t call(const char* name, void* room, size_t& bytes, cudaStream_t stream, F run) {
  if (!room) return bytes = kRoom, cudaSuccess;
  if (bytes < kRoom) return cudaErrorInvalidValue;
  software_cuda::enqueue_library_call(stream, name, [room, run] {
    software_cuda::fill_garbage(room, kRoom);
    run();
  });
  return cudaSuccess;
}

/// The order of n keys by bits [begin, end) of their image, equal ones as they come.
template <class K, class I>
std::vector<I> order_of(const K* keys, I n, bool descending) {
  std::vector<I> order(static_cast<size_t>(n));
  std::iota(order.begin(), order.end(), I{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](I a, I b) { return descending ? keys[b] < keys[a] : keys[a] < keys[b]; });
  return order;
}

}  // namespace software

struct DeviceRadixSort {
  template <class K, class I>
  static cudaError_t SortKeys(void* room, size_t& bytes, const K* keys, K* keys_out, I n, int begin_bit, int end_bit,
                              cudaStream_t stream) {
    return software::call("cub::DeviceRadixSort::SortKeys", room, bytes, stream, [=] {
      (void)begin_bit, (void)end_bit;  // no key has others
      std::copy(keys, keys + n, keys_out);
      std::sort(keys_out, keys_out + n);
    });
  }
  template <class K, class V, class I>
  static cudaError_t SortPairs(void* room, size_t& bytes, const K* keys, K* keys_out, const V* values, V* values_out,
                               I n, int begin_bit, int end_bit, cudaStream_t stream) {
    return software::call("cub::DeviceRadixSort::SortPairs", room, bytes, stream, [=] {
      (void)begin_bit;
      const auto mask = end_bit >= int(sizeof(K) * 8) ? ~uint64_t{0} : (uint64_t{1} << end_bit) - 1;
      std::vector<K> seen(keys, keys + n);  // bits above end_bit are not looked at
      for (K& k : seen) k = static_cast<K>(static_cast<uint64_t>(k) & mask);
      const auto order = software::order_of(seen.data(), n, false);
      for (I i = 0; i < n; ++i) keys_out[i] = keys[order[i]], values_out[i] = values[order[i]];
    });
  }
};

struct NullType {};

/// Sorts what the threads of a block have: kItems neighbours each at first, then every kThreads-th.
template <class K, int kThreads, int kItems, class V = NullType>
class BlockRadixSort {
 public:
  struct TempStorage {
    K keys[kThreads * kItems];
    int places[kThreads * kItems];  // in order
    V values[kThreads * kItems];
  };
  explicit BlockRadixSort(TempStorage& room) : room_(room) {}

  void SortBlockedToStriped(K (&keys)[kItems], int begin_bit, int end_bit) {
    for (int k = 0; k < kItems; ++k) room_.keys[first() + k] = keys[k];
    sort(begin_bit, end_bit);
    for (int k = 0; k < kItems; ++k) keys[k] = room_.keys[room_.places[k * kThreads + self()]];
    software_cuda::meet_block();
  }
  void SortBlockedToStriped(K (&keys)[kItems], V (&values)[kItems], int begin_bit, int end_bit) {
    for (int k = 0; k < kItems; ++k) room_.values[first() + k] = values[k];
    SortBlockedToStriped(keys, begin_bit, end_bit);
    for (int k = 0; k < kItems; ++k) values[k] = room_.values[room_.places[k * kThreads + self()]];
    software_cuda::meet_block();
  }

 private:
  static int self() { return static_cast<int>(threadIdx.x); }
  static int first() { return self() * kItems; }
  void sort(int begin_bit, int end_bit) {
    software_cuda::meet_block();
    if (self() == 0) {
      const int bits = end_bit - begin_bit;
      const uint64_t mask = bits >= 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1;
      const auto digits = [&](int place) { return static_cast<uint64_t>(room_.keys[place]) >> begin_bit & mask; };
      std::iota(room_.places, room_.places + kThreads * kItems, 0);
      std::stable_sort(room_.places, room_.places + kThreads * kItems,
                       [&](int a, int b) { return digits(a) < digits(b); });
    }
    software_cuda::meet_block();
  }

  TempStorage& room_;
};

struct DeviceScan {
  template <class In, class Out, class I>
  static cudaError_t InclusiveSum(void* room, size_t& bytes, In in, Out out, I n, cudaStream_t stream) {
    return software::call("cub::DeviceScan::InclusiveSum", room, bytes, stream,
                          [=] { std::inclusive_scan(in, in + n, out); });
  }
  template <class In, class Out, class I>
  static cudaError_t ExclusiveSum(void* room, size_t& bytes, In in, Out out, I n, cudaStream_t stream) {
    return software::call("cub::DeviceScan::ExclusiveSum", room, bytes, stream,
                          [=] { std::exclusive_scan(in, in + n, out, std::remove_cvref_t<decltype(*out)>{0}); });
  }
};

}  // namespace cub
