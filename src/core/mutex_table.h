#pragma once

#include <array>
#include <cstdint>
#include <mutex>

namespace hb {

/// Locks for objects that threads share and that are too small to have one each. An object's place tells its lock, so
/// that threads seldom wait for each other that share nothing.
template <class Mutex = std::mutex>
class MutexTable {
 public:
  template <class Object>
  Mutex& of(const Object& object) {
    return mutexes_[reinterpret_cast<uintptr_t>(&object) / sizeof(Object) % mutexes_.size()];
  }

 private:
  std::array<Mutex, 64> mutexes_;
};

}  // namespace hb
