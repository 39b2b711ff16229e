#include <halfbridge/distributed/types.h>

namespace hb::distributed {

_SupplementBase::~_SupplementBase() = default;
ReduceOp::~ReduceOp() = default;

NCCLPreMulSumSupplement::NCCLPreMulSumSupplement(Tensor t) : tensor_factor(std::move(t)) {
  HB_CHECK(tensor_factor.numel() == 1, "[makeNCCLPreMulSum] expected a factor of one element, got ",
           tensor_factor.numel());
}

ReduceOp::ReduceOp(RedOpType op) : op_(op) {
  HB_CHECK(op != PREMUL_SUM, "[ReduceOp] expected makeNCCLPreMulSum(factor), got PREMUL_SUM without a factor");
}

bool isComplexViewAsRealAllowed(const ReduceOp& op) {
  return op == ReduceOp::SUM || op == ReduceOp::AVG || op == ReduceOp::PREMUL_SUM || op == ReduceOp::UNUSED;
}

}  // namespace hb::distributed
