#include "dispatch/aten/operators.h"

namespace hb {

namespace {
constexpr bridge::aten::Row kRows[] = {
#include "dispatch/aten/operators_4.def"
};
}  // namespace

namespace bridge::aten {
std::span<const Row> rows_4() { return kRows; }
}  // namespace bridge::aten

}  // namespace hb
