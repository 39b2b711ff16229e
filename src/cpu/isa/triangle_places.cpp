// The places of a triangle's elements.
#include "backend/triangle.h"
#include "cpu/isa/isa.h"

namespace hb::cpu::HB_ISA {
namespace {

void places(const Triangle& t, int64_t* rows, int64_t* columns) {
  for (int64_t r = 0; r < t.rows; ++r) {
    const int64_t from = t.from(r), count = t.to(r) - from;
    HB_INDEPENDENT
    for (int64_t j = 0; j < count; ++j) rows[j] = r;
    HB_INDEPENDENT
    for (int64_t j = 0; j < count; ++j) columns[j] = from + j;
    rows += count, columns += count;
  }
}
HB_REGISTER_ISA(triangle_places_kernel, places);

}  // namespace
}  // namespace hb::cpu::HB_ISA
