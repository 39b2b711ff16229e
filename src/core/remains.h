#pragma once
// Destruction without recursion: chains of a million nodes, tensors that own graphs that own tensors, nested lists.

#include <memory>
#include <new>
#include <utility>
#include <vector>

#include <halfbridge/tensor.h>

namespace hb::detail {

/// For destructors: gives up what the object owns. The outermost call on a thread frees it and whatever is handed over
/// meanwhile, one after the other, before it returns; the calls within it only hand over.
void free_in_turn(std::shared_ptr<void> owner) noexcept;
void free_in_turn(Tensor tensor) noexcept;
template <class T>
void free_list_in_turn(std::vector<T>& list) noexcept {
  try {
    free_in_turn(std::make_shared<std::vector<T>>(std::move(list)));
  } catch (const std::bad_alloc&) {
    // The list is freed where it stands.
  }
}

}  // namespace hb::detail
