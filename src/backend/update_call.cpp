#include "backend/update_call.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "core/thread_object.h"

namespace hb {

bool overlap(ArrayRef<UpdateTensor> tensors, size_t itemsize) {
  constexpr size_t kFew = 8;  // that are compared faster than they are sorted
  if (tensors.size() <= kFew) {
    const auto begins_before = [&](const UpdateTensor& a, const UpdateTensor& b) {
      return static_cast<const char*>(a.param) < static_cast<const char*>(b.param) + b.numel * itemsize;
    };
    for (size_t i = 1; i < tensors.size(); ++i)
      for (size_t j = 0; j < i; ++j)
        if (begins_before(tensors[i], tensors[j]) && begins_before(tensors[j], tensors[i])) return true;
    return false;
  }
  struct Ranges : std::vector<std::pair<const char*, const char*>> {};
  auto& ranges = detail::thread_object<Ranges>();
  ranges.clear();
  for (const auto& t : tensors) {
    const auto* begin = static_cast<const char*>(t.param);
    ranges.emplace_back(begin, begin + t.numel * itemsize);
  }
  std::sort(ranges.begin(), ranges.end());
  for (size_t i = 1; i < ranges.size(); ++i)
    if (ranges[i].first < ranges[i - 1].second) return true;
  return false;
}

}  // namespace hb
