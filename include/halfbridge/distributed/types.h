#pragma once
// Reduce operations and the options of collectives.

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <halfbridge/distributed/store.h>
#include <halfbridge/tensor.h>

namespace hb::distributed {

struct HB_API _SupplementBase : intrusive_ptr_target {
  ~_SupplementBase() override;
};

/// The factor of PREMUL_SUM: a number, or a tensor of one element.
struct HB_API NCCLPreMulSumSupplement : _SupplementBase {
  double double_factor = 0.0;
  Tensor tensor_factor;
  NCCLPreMulSumSupplement(double f) : double_factor(f) {}  // NOLINT: implicit as in LibTorch
  NCCLPreMulSumSupplement(Tensor t);                       // NOLINT
};

/// How values of the ranks become one. AVG divides the sum by the number of ranks; BAND, BOR and BXOR take integers and
/// bools; PREMUL_SUM (makeNCCLPreMulSum) multiplies each rank's values by its factor first.
struct HB_API ReduceOp : intrusive_ptr_target {
  enum RedOpType : uint8_t {
    SUM = 0,
    AVG = 1,
    PRODUCT = 2,
    MIN = 3,
    MAX = 4,
    BAND = 5,
    BOR = 6,
    BXOR = 7,
    PREMUL_SUM = 8,
    UNUSED = 9
  };
  ReduceOp() = default;
  ReduceOp(RedOpType op);  // NOLINT: implicit as in LibTorch. Throws for PREMUL_SUM, which needs a factor
  ReduceOp(RedOpType op, const intrusive_ptr<_SupplementBase>& supplement) : op_(op), supplement_(supplement) {}
  ReduceOp(const ReduceOp& other) : op_(other.op_), supplement_(other.supplement_) {}
  ReduceOp& operator=(const ReduceOp& other) {
    op_ = other.op_;
    supplement_ = other.supplement_;
    return *this;
  }
  ~ReduceOp() override;
  operator RedOpType() const { return op_; }  // NOLINT
  bool operator==(uint8_t other) const { return op_ == other; }
  bool operator==(RedOpType other) const { return op_ == other; }
  bool operator==(const ReduceOp& other) const { return op_ == other.op_; }

  RedOpType op_ = SUM;
  intrusive_ptr<_SupplementBase> supplement_;
};

template <class T>
ReduceOp makeNCCLPreMulSum(const T& factor) {
  return ReduceOp(ReduceOp::PREMUL_SUM, make_intrusive<NCCLPreMulSumSupplement>(factor));
}

/// True if the operation on complex numbers is that on their parts.
HB_API bool isComplexViewAsRealAllowed(const ReduceOp& op);

/// The group's deadline holds.
constexpr auto kUnsetTimeout = std::chrono::milliseconds(-1);

// `timeout` is the collective's deadline. Without `asyncOp` the calling thread itself does the work, so that
// the Work that it gets is complete.
struct BroadcastOptions {
  int64_t rootRank = 0;
  int64_t rootTensor = 0;
  std::chrono::milliseconds timeout = kUnsetTimeout;
  bool asyncOp = true;
};
struct AllreduceOptions {
  ReduceOp reduceOp = ReduceOp::SUM;
  std::chrono::milliseconds timeout = kUnsetTimeout;
  bool asyncOp = true;
  std::optional<Tensor> sparseIndices = std::nullopt;
};
struct AllreduceCoalescedOptions : AllreduceOptions {};
struct ReduceOptions {
  ReduceOp reduceOp = ReduceOp::SUM;
  int64_t rootRank = 0;
  int64_t rootTensor = 0;
  std::chrono::milliseconds timeout = kUnsetTimeout;
  bool asyncOp = true;
};
struct AllgatherOptions {
  std::chrono::milliseconds timeout = kUnsetTimeout;
  bool asyncOp = true;
};
struct GatherOptions {
  int64_t rootRank = 0;
  std::chrono::milliseconds timeout = kUnsetTimeout;
  bool asyncOp = true;
};
struct ScatterOptions {
  int64_t rootRank = 0;
  std::chrono::milliseconds timeout = kUnsetTimeout;
  bool asyncOp = true;
};
struct ReduceScatterOptions {
  ReduceOp reduceOp = ReduceOp::SUM;
  std::chrono::milliseconds timeout = kUnsetTimeout;
  bool asyncOp = true;
};
struct AllToAllOptions {
  std::chrono::milliseconds timeout = kUnsetTimeout;
  bool asyncOp = true;
};
struct BarrierOptions {
  std::vector<int64_t> device_ids;
  std::chrono::milliseconds timeout = kUnsetTimeout;
  std::optional<Device> device;
  bool asyncOp = true;
};
struct DistributedBackendOptions {
  intrusive_ptr<Store> store;
  int group_rank;
  int group_size;
  std::chrono::duration<float> timeout;
  std::string group_id;
  std::vector<int64_t> global_ranks_in_group;
};

}  // namespace hb::distributed
