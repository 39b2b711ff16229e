#pragma once
// What calls read and write, for passes that move or leave out calls.

#include <map>
#include <vector>

#include "recording.h"

namespace hb::graph {

struct Operand {
  int memory;
  size_t offset;  // of an address; the geometry of a tensor is among the call's numbers
  bool written;
};
std::vector<Operand> operands_of(const RecordedCall& call);
/// What the call's argument at `pointer` holds the address of; null where that is no known memory.
const Place* place_at(const RecordedCall& call, const void* pointer);
/// Whether the call may write to this memory; whether one of the calls from `from` to before `to` may.
bool changes(const RecordedCall& call, int memory);
bool changed(const std::vector<RecordedCall>& calls, int memory, size_t from, size_t to);
/// The call that writes memory which nothing but it and one argument of call `reader` works on; -1 where there is none.
/// `others`: calls behind `reader` may work on it, too.
int sole_writer(const std::vector<RecordedCall>& calls, int memory, size_t reader, bool others = false);
bool reads(const RecordedCall& call, int memory);
/// Whether the call looks at values, and throws where they are wrong: an index out of range, a norm that is not finite.
bool checks_values(const RecordedCall& call);
/// The same of a call among others, where only the first one counts that looks at an index.
bool checks_values(const std::vector<RecordedCall>& calls, size_t at);
/// Whether the call does the same each time: functions of whole tensors may draw random numbers.
bool repeats(const RecordedCall& call);
/// Makes the call use other memories.
void move_operands(RecordedCall& call, const std::map<int, int>& moved);

/// The calls that write each memory, in order.
std::vector<std::vector<int>> writers_of(const std::vector<RecordedCall>& calls, size_t memories);

}  // namespace hb::graph
