#include <halfbridge/bridge/expanding_array.h>

#include <cstdlib>

namespace hb::bridge::detail {

void wrong_number_of_values(size_t wanted, size_t got) {
  HB_CHECK(false, "Expected ", wanted, " values, but instead got ", got);
  std::abort();
}

}  // namespace hb::bridge::detail
