#include "dispatch/aten/operators.h"

namespace hb {

namespace {
constexpr bridge::aten::Row kRows[] = {
#include "dispatch/aten/operators_1.def"
};
}  // namespace

namespace bridge::aten {
std::span<const Row> rows_1() { return kRows; }
}  // namespace bridge::aten

}  // namespace hb
