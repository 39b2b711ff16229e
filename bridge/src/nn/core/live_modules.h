#pragma once
// The modules that exist.

#include <cstdint>
#include <mutex>
#include <unordered_map>

#include <halfbridge/bridge/nn/module.h>

namespace hb::bridge::nn {

/// While this lives, the memory of all modules stays; threads that make or end modules wait. What derives from a module
/// may not be complete yet, or be gone: look at its type and at bytes alone.
class LiveModules {
 public:
  LiveModules();
  using Ids = std::unordered_map<const Module*, uint64_t>;
  /// Each with a number that no other module has or had.
  const Ids& ids() const;
  /// How many have come to their end: while it does not change, all that were there are.
  uint64_t ended() const;

  static void begins(const Module& module);
  static void ends(const Module& module) noexcept;

 private:
  std::lock_guard<std::mutex> lock_;
};

}  // namespace hb::bridge::nn
