#pragma once
// A collective in words and numbers: what ranks compare and what messages say.

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include <halfbridge/distributed/types.h>
#include <halfbridge/distributed/work.h>

#include "backend/reduce_ranks.h"

namespace hb::distributed {

using Deadline = std::chrono::steady_clock::time_point;

struct Call {
  OpType op = OpType::UNKNOWN;
  uint64_t number = 0;  // of the group, from 1
  ScalarType dtype = ScalarType::Undefined;
  RankReduction reduction = RankReduction::none;
  int root = -1;
  size_t bytes = 0;     // that each rank must have alike
  std::string tensors;  // "Float [2, 3]"
  Device device{kCPU};  // where they are
  std::chrono::milliseconds timeout{0};
  Deadline deadline{};

  /// "ALLREDUCE #5 (SUM) of Float [2, 3]".
  std::string text() const;
  /// The same without the number: what makes two calls alike.
  std::string signature() const;
};

/// "Float [2, 3], Float [4]", of many the first few.
std::string described(const std::vector<Tensor>& tensors);

/// The reduction that the CPU computes; throws for dtypes that it does not take. PREMUL_SUM is a sum.
RankReduction reduction_of(const char* name, const ReduceOp& op, ScalarType dtype);

}  // namespace hb::distributed
