#pragma once
// What the collectives of EngineBackend share: checks of their tensors, and the way into the queue.

#include <halfbridge/distributed/engine_backend.h>

#include "distributed/staged.h"
#include "distributed/work_queue.h"

namespace hb::distributed {

void check_tensor(const char* name, const Tensor& tensor);
/// A list of one strided tensor on the CPU; returns it.
const Tensor& only_tensor(const char* name, const std::vector<Tensor>& tensors);
/// The tensors' sizes and dtypes are `like`'s, and there are `count`.
void check_list(const char* name, const std::vector<Tensor>& tensors, size_t count, const Tensor& like);
void check_root(const char* name, int64_t root, int size);

/// A call of one tensor's bytes.
Call call_of(OpType op, const std::vector<Tensor>& tensors);
/// The values times PREMUL_SUM's factor; other operations' as they are.
Tensor premultiplied(const Tensor& tensor, const ReduceOp& op);

template <class Options>
intrusive_ptr<Work> enqueue(WorkQueue& queue, const Backend::Options& group, Call call, const Options& opts,
                            std::vector<Tensor> outputs, Body body) {
  queue.check_process(opTypeToString(call.op).c_str());
  call.timeout = opts.timeout == kUnsetTimeout ? group.timeout : opts.timeout;
  return queue.add(std::move(call), std::move(body), std::move(outputs), opts.asyncOp);
}

}  // namespace hb::distributed
