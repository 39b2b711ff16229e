#pragma once
// A table of functions that are called with random arguments, written against torch:: alone: one source, two builds.
#include <torch/torch.h>

#include <functional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "inputs.h"

namespace random_calls {

using Tensors = std::vector<Tensor>;

struct Call {
  std::string text;
  int operands;  // 0: it draws its own
  std::function<Tensors(const Tensor& x, const Tensor& y, const Parameters& p, Inputs& in)> function;
};

/// All calls, in no order.
std::vector<Call>& calls();

inline Tensors results(Tensor t) { return {std::move(t)}; }
inline Tensors results(Tensors list) { return list; }
inline Tensors results(bool flag) { return {torch::tensor(flag)}; }
template <class... Ts>
Tensors results(const std::tuple<Ts...>& t) {
  return std::apply([](const auto&... each) { return Tensors{each...}; }, t);
}

struct Added {
  Added(const char* text, int operands, decltype(Call::function) function) {
    calls().push_back({text, operands, std::move(function)});
  }
};

}  // namespace random_calls

// ONE(expression of x and p), TWO(expression of x, y and p), DRAWN(expression of in, which draws): its text is its
// name.
#define RANDOM_CALL(operands, number, ...)                                                 \
  static const random_calls::Added added_##number(                                         \
      #__VA_ARGS__, operands,                                                              \
      []([[maybe_unused]] const torch::Tensor& x, [[maybe_unused]] const torch::Tensor& y, \
         [[maybe_unused]] const random_calls::Parameters& p,                               \
         [[maybe_unused]] random_calls::Inputs& in) { return random_calls::results(__VA_ARGS__); });
#define RANDOM_CALL_AT(operands, number, ...) RANDOM_CALL(operands, number, __VA_ARGS__)
#define ONE(...) RANDOM_CALL_AT(1, __COUNTER__, __VA_ARGS__)
#define TWO(...) RANDOM_CALL_AT(2, __COUNTER__, __VA_ARGS__)
#define DRAWN(...) RANDOM_CALL_AT(0, __COUNTER__, __VA_ARGS__)
