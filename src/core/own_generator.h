#pragma once
// Random numbers that are to be drawn again: the second call of a checkpointed function.

#include <vector>

#include <halfbridge/generator.h>

namespace hb::detail {

/// Stands in the place of the CPU's default generator on this thread until the end of the scope: what other threads
/// draw meanwhile is none of its numbers.
class OwnGenerator {
 public:
  explicit OwnGenerator(const Generator& own);
  OwnGenerator(const OwnGenerator&) = delete;
  OwnGenerator& operator=(const OwnGenerator&) = delete;
  ~OwnGenerator();

 private:
  const Generator* before_;
};

/// The default generators of all devices in use but the CPU, and but those that draw from the CPU's.
std::vector<Generator> generators_of_devices();

}  // namespace hb::detail
