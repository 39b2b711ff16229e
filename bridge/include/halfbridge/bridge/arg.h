#pragma once

#include <utility>

#define HB_ARG_GETTERS(T, name)                            \
  const T& name() const noexcept { return this->name##_; } \
  T& name() noexcept { return this->name##_; }             \
                                                           \
 private:                                                  \
  T name##_ /* NOLINT */

/// A named argument of an options struct: chained setters `options.name(value)` and the getter `options.name()`.
#define HB_ARG(T, name)                                   \
 public:                                                  \
  auto name(T new_##name)->decltype(*this) { /* NOLINT */ \
    this->name##_ = std::move(new_##name);                \
    return *this;                                         \
  }                                                       \
  HB_ARG_GETTERS(T, name)

/// The same with a setter that is compiled once, in the library (HB_ARG_SETTER): for types whose assignment takes much
/// template code.
#define HB_ARG_COMPILED(T, name)                         \
 public:                                                 \
  auto name(T new_##name)->decltype(*this); /* NOLINT */ \
  HB_ARG_GETTERS(T, name)
#define HB_ARG_SETTER(Options, T, name)               \
  auto Options::name(T new_##name)->decltype(*this) { \
    this->name##_ = std::move(new_##name);            \
    return *this;                                     \
  }
