#pragma once

#include <atomic>
#include <cstdint>

namespace hb {

/// How often data() gave out the memory of a tensor that requires grad: changes through that have no version.
inline std::atomic<uint64_t> data_calls{0};

}  // namespace hb
