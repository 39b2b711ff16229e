#include "distributed/call.h"

namespace hb::distributed {

namespace {

constexpr const char* kReductions[] = {"SUM", "AVG", "PRODUCT", "MIN", "MAX", "BAND", "BOR", "BXOR"};
constexpr size_t kDescribed = 3;

}  // namespace

std::string Call::signature() const {
  std::string text = opTypeToString(op);
  if (reduction != RankReduction::none) text += std::string(" (") + kReductions[static_cast<int>(reduction)] + ")";
  if (root >= 0) text += detail::str(" with root ", root);
  if (!tensors.empty()) text += " of " + tensors;
  return text;
}

std::string Call::text() const {
  std::string text = signature();
  return text.insert(opTypeToString(op).size(), detail::str(" #", number));
}

std::string described(const std::vector<Tensor>& tensors) {
  std::string text;
  for (size_t i = 0; i < tensors.size() && i < kDescribed; ++i)
    text += detail::str(i ? ", " : "", tensors[i].scalar_type(), " ", tensors[i].sizes());
  if (tensors.size() > kDescribed) text += detail::str(" and ", tensors.size() - kDescribed, " more");
  return text;
}

RankReduction reduction_of(const char* name, const ReduceOp& op, ScalarType dtype) {
  HB_CHECK(op.op_ < ReduceOp::UNUSED, "[", name, "] expected a reduce operation, got number ",
           static_cast<int>(op.op_));
  const auto reduction = op.op_ == ReduceOp::PREMUL_SUM ? RankReduction::sum : static_cast<RankReduction>(op.op_);
  const bool floating = is_floating_type(dtype), complex = is_complex_type(dtype);
  const bool bits = reduction >= RankReduction::bit_and,
             order = reduction == RankReduction::min || reduction == RankReduction::max;
  HB_CHECK(!(bits && (floating || complex)), "[", name, "] expected integers for ",
           kReductions[static_cast<int>(reduction)], ", got ", dtype);
  HB_CHECK(!(order && complex), "[", name, "] expected real numbers for ", kReductions[static_cast<int>(reduction)],
           ", got ", dtype);
  return reduction;
}

}  // namespace hb::distributed
