#include "dispatch/aten/operators.h"

namespace hb {

namespace {
constexpr bridge::aten::Row kRows[] = {
#include "dispatch/aten/operators_2.def"
};
}  // namespace

namespace bridge::aten {
std::span<const Row> rows_2() { return kRows; }
}  // namespace bridge::aten

}  // namespace hb
