#include "core/remains.h"

namespace hb::detail {

namespace {

struct Remains {
  std::vector<std::shared_ptr<void>> owners;
  std::vector<Tensor> tensors;
};
thread_local constinit Remains* remains = nullptr;

template <class T>
void free_next(std::vector<T>& list) {
  const T next = std::move(list.back());
  list.pop_back();
}

template <class T>
void add(T&& owner, std::vector<std::remove_reference_t<T>> Remains::*list) noexcept {
  if (!remains) {
    Remains all;
    remains = &all;
    { const T first = std::move(owner); }
    while (!all.owners.empty() || !all.tensors.empty()) {
      if (all.tensors.empty())
        free_next(all.owners);
      else
        free_next(all.tensors);
    }
    remains = nullptr;
    return;
  }
  try {
    (remains->*list).push_back(std::move(owner));
  } catch (const std::bad_alloc&) {
    // No memory to remember it: it is freed here and now by the caller's handle.
  }
}

}  // namespace

void free_in_turn(std::shared_ptr<void> owner) noexcept { add(std::move(owner), &Remains::owners); }
void free_in_turn(Tensor tensor) noexcept { add(std::move(tensor), &Remains::tensors); }

}  // namespace hb::detail
