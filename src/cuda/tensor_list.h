#pragma once
// A list of tensors as one launch: its blocks are shared among the tensors by their sizes.

#include <algorithm>

#include <halfbridge/array_ref.h>

#include "cuda/launch.h"
#include "cuda/search.h"

namespace hb::cuda {

constexpr int kMostTensors = 240;             // what fits the arguments of a launch
constexpr int64_t kPerBlock = kThreads * 16;  // elements a block has of a tensor, at least

/// `Item` has a member numel.
template <class Item>
struct TensorList {
  int count = 0;
  int first[kMostTensors + 1] = {};  // block of each tensor
  Item item[kMostTensors];

#ifdef HB_DEVICE_CODE
  /// The tensor of a block.
  __device__ int of_block(int block) const { return static_cast<int>(first_beyond(first + 1, count, block)); }
  __device__ int blocks_of(int tensor) const { return first[tensor + 1] - first[tensor]; }
#endif
};

/// Calls launch(list, blocks) for the tensors, as few times as they fit; empty ones are left out.
template <class Item, class F>
void for_lists(ArrayRef<Item> items, const F& launch) {
  static_assert(sizeof(TensorList<Item>) < 32000);
  TensorList<Item> list;
  const auto flush = [&] {
    if (list.count > 0) launch(list, static_cast<unsigned>(list.first[list.count]));
    list.count = 0;
  };
  for (const Item& item : items) {
    if (item.numel == 0) continue;
    if (list.count == kMostTensors) flush();
    const auto blocks = static_cast<int>(std::min<int64_t>((item.numel + kPerBlock - 1) / kPerBlock, 4096));
    list.item[list.count] = item;
    list.first[list.count + 1] = list.first[list.count] + blocks;
    ++list.count;
  }
  flush();
}

}  // namespace hb::cuda
