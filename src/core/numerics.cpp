#include <halfbridge/numerics.h>

#include <atomic>

namespace hb {
namespace {
std::atomic<bool> winograd_allowed{true};
}

bool allow_winograd() { return winograd_allowed.load(std::memory_order_relaxed); }
void set_allow_winograd(bool allowed) { winograd_allowed.store(allowed, std::memory_order_relaxed); }

}  // namespace hb
