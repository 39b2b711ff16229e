#pragma once
// What ranks tell each other besides tensors, and collectives that wait.

#include <string>
#include <vector>

#include <halfbridge/distributed/process_group.h>

namespace hb::distributed {

/// Bytes of all ranks, in their order.
HB_API std::vector<std::string> all_gather_bytes(ProcessGroup& group, const std::string& bytes);
/// The same on the root alone; nothing on other ranks.
HB_API std::vector<std::string> gather_bytes(ProcessGroup& group, const std::string& bytes, int root = 0);
/// The root's bytes.
HB_API std::string broadcast_bytes(ProcessGroup& group, const std::string& bytes, int root = 0);
/// The reduction of all ranks' tensors into each.
HB_API void all_reduce(ProcessGroup& group, const Tensor& tensor, ReduceOp op = ReduceOp::SUM);
/// The root's values into all ranks' tensors: one message per dtype, device and 25 MiB.
HB_API void broadcast_all(ProcessGroup& group, const std::vector<Tensor>& tensors, int root = 0);
/// The same with messages of about `buffer_size` bytes.
HB_API void broadcast_coalesced(const intrusive_ptr<ProcessGroup>& process_group, TensorList tensors,
                                size_t buffer_size, int rank = 0);
/// Throws hb::Error unless these tensors have the same bytes on all ranks. The message names the first that differs (by
/// `names`, or its number) and the ranks that differ from rank 0.
HB_API void check_equal_on_all_ranks(ProcessGroup& group, const std::vector<Tensor>& tensors,
                                     const std::vector<std::string>& names = {});

}  // namespace hb::distributed
