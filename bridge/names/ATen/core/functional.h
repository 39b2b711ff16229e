#pragma once
// Lists made of others: fmap gives fn of each element, filter those elements for which fn holds.

#include <vector>

#include <c10/util/ArrayRef.h>

namespace c10 {
template <class F, class T>
auto fmap(const T& inputs, const F& fn) {
  std::vector<decltype(fn(*inputs.begin()))> results;
  results.reserve(inputs.size());
  for (const auto& input : inputs) results.push_back(fn(input));
  return results;
}
template <class R, class T>
std::vector<R> fmap(const T& inputs) {
  return fmap(inputs, [](const auto& input) { return R(input); });
}
template <class F, class T>
std::vector<T> filter(ArrayRef<T> inputs, const F& fn) {
  std::vector<T> results;
  for (const T& input : inputs)
    if (fn(input)) results.push_back(input);
  return results;
}
template <class F, class T>
std::vector<T> filter(const std::vector<T>& inputs, const F& fn) {
  return filter(ArrayRef<T>(inputs), fn);
}
}  // namespace c10
