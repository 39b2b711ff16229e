#pragma once

#include <cstdint>

namespace hb {

/// The sequence number that the next node of this thread gets.
uint64_t next_sequence_nr() noexcept;

}  // namespace hb
