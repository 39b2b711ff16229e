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

}  // namespace hb::graph
