#pragma once
// Where temporary values lie: all in one block, those that do not live at the same time in the same place.

#include <cstddef>
#include <vector>

namespace hb::graph {

using std::size_t;

/// A value that is worked on from call `first` to call `last`.
struct Lifetime {
  size_t bytes;
  int first, last;
  size_t offset = 0;  // the answer
};

/// Gives each an offset that no other has which lives at the same time: each in the smallest gap that it
/// fits, in the best of a few orders. Returns the size of the block.
size_t plan_arena(std::vector<Lifetime>& values);

/// With AddressSanitizer a replay sees to it that no call touches a value that is not alive then: what the sanitizer
/// looks into is stopped, all other code finds bytes that are NaN of every dtype.
#ifdef __SANITIZE_ADDRESS__
inline constexpr bool kWatchesArena = true;
#else
inline constexpr bool kWatchesArena = false;
#endif
/// Values that begin to live at this call.
void open_places(char* block, const std::vector<Lifetime>& values, int call);
/// Those whose life has ended with it.
void close_places(char* block, const std::vector<Lifetime>& values, int call);
void close_place(char* begin, size_t bytes);

}  // namespace hb::graph
