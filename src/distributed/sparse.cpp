// The sum of sparse tensors.
#include <halfbridge/ops.h>

#include "distributed/enqueue.h"

namespace hb::distributed {

namespace {

/// Every rank's rows of a tensor whose number differs from rank to rank.
Tensor gather_rows(Engine& engine, Call call, const Tensor& own, const std::vector<int64_t>& rows) {
  int64_t all = 0;
  for (int64_t n : rows) all += n;
  std::vector<int64_t> sizes = own.sizes().vec();
  sizes[0] = all;
  const Tensor result = empty(sizes, own.options());
  const Staged mine(own, true);
  const size_t row = all ? static_cast<size_t>(result.nbytes() / all) : 0;
  std::vector<Piece> sends, receives;
  auto* to = static_cast<unsigned char*>(result.data_ptr());
  for (int64_t n : rows) {
    sends.push_back({mine.data(), mine.bytes()});
    receives.push_back({to, n * row});
    to += n * row;
  }
  call.bytes = 0;
  engine.alltoall(call, sends.data(), receives.data());
  return result;
}

}  // namespace

intrusive_ptr<Work> EngineBackend::allreduce_sparse(std::vector<Tensor>& tensors, const AllreduceOptions& opts) {
  HB_CHECK(tensors.size() == 1 && tensors[0].is_sparse(), "[allreduce_sparse] expected one sparse tensor, got ",
           tensors.size(), " tensors");
  HB_CHECK(opts.reduceOp == ReduceOp::SUM, "[allreduce_sparse] expected SUM, got another operation");
  const Tensor tensor = tensors[0];
  Call call;
  call.op = OpType::_ALLREDUCE_SPARSE;
  call.dtype = tensor.scalar_type();
  call.reduction = RankReduction::sum;
  call.tensors = described(tensors);
  return enqueue(*queue_, *options_, call, opts, tensors, [tensor](Engine& engine, const Call& call) {
    const Tensor own = tensor.detach().coalesce();
    const int64_t entries = own._nnz();
    std::vector<int64_t> rows(engine.size());
    std::vector<void*> places;
    for (int64_t& n : rows) places.push_back(&n);
    engine.allgather(call, &entries, places.data(), sizeof(entries));
    const Tensor indices = gather_rows(engine, call, own._indices().t().contiguous(), rows).t();
    const Tensor values = gather_rows(engine, call, own._values(), rows);
    tensor.copy_(sparse_coo_tensor(indices, values, tensor.sizes()).coalesce());
  });
}

}  // namespace hb::distributed
