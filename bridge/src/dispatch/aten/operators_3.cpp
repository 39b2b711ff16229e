#include "dispatch/aten/operators.h"

namespace hb {

namespace {
constexpr bridge::aten::Row kRows[] = {
#include "dispatch/aten/operators_3.def"
};
}  // namespace

namespace bridge::aten {
std::span<const Row> rows_3() { return kRows; }
}  // namespace bridge::aten

}  // namespace hb
