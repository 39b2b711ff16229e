#pragma once
// What is done to a recorded step before it is replayed. No pass changes a bit of any value that is left.

#include <vector>

#include "recording.h"

namespace hb::graph {

/// Leaves out calls whose results nobody reads.
void drop_dead(std::vector<RecordedCall>& calls, const std::vector<Memory>& memories);
/// Makes one call of element-wise calls that follow one another and have as many elements; it runs them block by block,
/// and what only they see is kept in a buffer of a block's size.
void fuse_chains(std::vector<RecordedCall>& calls, const std::vector<Memory>& memories);
/// Leaves out calls that compute again what lies in memory.
void share_common(std::vector<RecordedCall>& calls, const std::vector<Memory>& memories);
/// Until the temporary values that live at once take `most` bytes, or nothing cheap is left: leaves out of memory what
/// the backward part reads, and makes it again there.
void recompute_until(std::vector<RecordedCall>& calls, std::vector<Memory>& memories, size_t most);
/// The same with large values, as long as that is thought to take no more than `share` of the step's time.
void recompute_cheap(std::vector<RecordedCall>& calls, std::vector<Memory>& memories, double share);
/// Updates large parameters as soon as their gradients are there, instead of all of them at the end.
void update_early(std::vector<RecordedCall>& calls);
/// Updates a weight by rows of its gradient as they are computed, where that is a product.
void update_with_products(std::vector<RecordedCall>& calls);
/// The first and the last call that works on each memory; what a late call reads stays beyond the last of all.
void find_lifetimes(const std::vector<RecordedCall>& calls, std::vector<Memory>& memories);
/// For each temporary value: the earlier one in whose place an element-wise call may write it, or -1.
std::vector<int> share_in_place(const std::vector<RecordedCall>& calls, const std::vector<Memory>& memories);

}  // namespace hb::graph
