#pragma once
// Every collective against values computed in one process. Used with ranks that are threads, and with processes started
// by mpirun.

#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>

#include <torch/torch.h>

#include <functional>
#include <string>
#include <vector>

namespace checks {

using c10d::Backend;
using c10d::ReduceOp;
using torch::Tensor;
using Tensors = std::vector<Tensor>;

struct Failure : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Where tensors of the tests are.
inline torch::Device& device() {
  static torch::Device device = torch::kCPU;
  return device;
}
inline bool on_gpu() { return device().is_cuda(); }
inline Tensor zeros(torch::IntArrayRef sizes, torch::Dtype dtype = torch::kFloat) {
  return torch::zeros(sizes, torch::TensorOptions(dtype).device(device()));
}
inline Tensor full(torch::IntArrayRef sizes, double v) { return torch::full(sizes, v).to(device()); }

inline void expect_equal(const Tensor& got, const Tensor& want, const std::string& what) {
  if (got.sizes() != want.sizes() || got.scalar_type() != want.scalar_type() || !torch::equal(got.cpu(), want.cpu()))
    throw Failure(what + ": got another result than one process");
}

inline const std::vector<torch::Dtype>& dtypes() {
  static const std::vector<torch::Dtype> list{
      torch::kFloat32, torch::kFloat64, torch::kFloat16, torch::kBFloat16, torch::kUInt8,        torch::kInt8,
      torch::kInt16,   torch::kInt32,   torch::kInt64,   torch::kBool,     torch::kComplexFloat, torch::kComplexDouble};
  return list;
}

/// What rank r has at element i: small, so that sums are exact in every dtype.
inline int64_t value(int rank, int64_t i, torch::Dtype dtype) {
  const int64_t v = (i * 7 + rank * 3) % 5 + 1;
  return dtype == torch::kBool ? v % 2 : v;
}

inline Tensor input(int rank, std::vector<int64_t> sizes, torch::Dtype dtype) {
  int64_t n = 1;
  for (int64_t s : sizes) n *= s;
  std::vector<int64_t> values(n);
  for (int64_t i = 0; i < n; ++i) values[i] = value(rank, i, dtype);
  return torch::tensor(values, torch::kInt64).reshape(sizes).to(dtype).to(device());
}

inline bool takes(ReduceOp::RedOpType op, torch::Dtype dtype) {
  const bool real = dtype != torch::kComplexFloat && dtype != torch::kComplexDouble;
  // NCCL's have no bits, no 16-bit integers, no mean of bools and no product of complex numbers.
  if (on_gpu() && (op >= ReduceOp::BAND || dtype == torch::kInt16 || (op == ReduceOp::AVG && dtype == torch::kBool) ||
                   (op == ReduceOp::PRODUCT && !real)))
    return false;
  if (op >= ReduceOp::BAND) return real && !torch::isFloatingType(dtype);
  return real || op == ReduceOp::SUM || op == ReduceOp::AVG || op == ReduceOp::PRODUCT;
}

/// The reduction over all ranks, element by element.
inline Tensor reduced(int size, std::vector<int64_t> sizes, torch::Dtype dtype, ReduceOp::RedOpType op) {
  int64_t n = 1;
  for (int64_t s : sizes) n *= s;
  std::vector<double> results(n);
  for (int64_t i = 0; i < n; ++i) {
    int64_t r = value(0, i, dtype);
    for (int rank = 1; rank < size; ++rank) {
      const int64_t v = value(rank, i, dtype);
      if (op == ReduceOp::SUM || op == ReduceOp::AVG) r += v;
      if (op == ReduceOp::PRODUCT) r *= v;
      if (op == ReduceOp::MIN) r = std::min(r, v);
      if (op == ReduceOp::MAX) r = std::max(r, v);
      if (op == ReduceOp::BAND) r &= v;
      if (op == ReduceOp::BOR) r |= v;
      if (op == ReduceOp::BXOR) r ^= v;
    }
    results[i] = static_cast<double>(r);
    if (op == ReduceOp::AVG && dtype != torch::kBool)
      results[i] = torch::isIntegralType(dtype, true) ? r / size : r / double(size);
  }
  Tensor result = torch::tensor(results, torch::kFloat64).reshape(sizes);
  return (dtype == torch::kInt8 || dtype == torch::kUInt8 ? result.to(torch::kInt64) : result).to(dtype);
}

inline void check_reductions(Backend& group, torch::Dtype dtype, std::vector<int64_t> sizes) {
  const int rank = group.getRank(), size = group.getSize();
  for (auto op : {ReduceOp::SUM, ReduceOp::AVG, ReduceOp::PRODUCT, ReduceOp::MIN, ReduceOp::MAX, ReduceOp::BAND,
                  ReduceOp::BOR, ReduceOp::BXOR}) {
    if (!takes(op, dtype)) continue;
    const Tensor want = reduced(size, sizes, dtype, op);
    const std::string what = c10::str("op ", int(op), " ", dtype, " ", torch::IntArrayRef(sizes));
    Tensors all{input(rank, sizes, dtype)};
    c10d::AllreduceOptions options;
    options.reduceOp = op;
    group.allreduce(all, options)->wait();
    expect_equal(all[0], want, "allreduce " + what);
    Tensors one{input(rank, sizes, dtype)};
    c10d::ReduceOptions to_root;
    to_root.reduceOp = op;
    to_root.rootRank = size - 1;
    group.reduce(one, to_root)->wait();
    expect_equal(one[0], rank == size - 1 ? want : input(rank, sizes, dtype), "reduce " + what);
    Tensors out{zeros(sizes, dtype)};
    std::vector<Tensors> in{Tensors(size, input(rank, sizes, dtype))};
    c10d::ReduceScatterOptions scatter;
    scatter.reduceOp = op;
    group.reduce_scatter(out, in, scatter)->wait();
    expect_equal(out[0], want, "reduce_scatter " + what);
  }
}

inline void check_moves(Backend& group, torch::Dtype dtype, std::vector<int64_t> sizes) {
  const int rank = group.getRank(), size = group.getSize();
  const std::string what = c10::str(" ", dtype, " ", torch::IntArrayRef(sizes));
  const auto of = [&](int r) { return input(r, sizes, dtype); };
  const auto empty = [&] {
    Tensors list;
    for (int r = 0; r < size; ++r) list.push_back(zeros(sizes, dtype));
    return list;
  };
  const auto expect_all = [&](const Tensors& list, const std::string& name) {
    for (int r = 0; r < size; ++r) expect_equal(list[r], of(r), name + what);
  };
  const int root = size > 1 ? 1 : 0;
  Tensors tensors{of(rank)};
  c10d::BroadcastOptions broadcast;
  broadcast.rootRank = root;
  group.broadcast(tensors, broadcast)->wait();
  expect_equal(tensors[0], of(root), "broadcast" + what);

  std::vector<Tensors> outputs{empty()}, none;
  Tensors in{of(rank)}, out{zeros(sizes, dtype)};
  group.allgather(outputs, in)->wait();
  expect_all(outputs[0], "allgather");
  outputs = {empty()};
  c10d::GatherOptions gather;
  gather.rootRank = root;
  group.gather(rank == root ? outputs : none, in, gather)->wait();
  if (rank == root) expect_all(outputs[0], "gather");
  std::vector<Tensors> inputs{{}};
  for (int r = 0; r < size; ++r) inputs[0].push_back(of(r));
  c10d::ScatterOptions scatter;
  scatter.rootRank = root;
  group.scatter(out, rank == root ? inputs : none, scatter)->wait();
  expect_equal(out[0], of(rank), "scatter" + what);
  Tensors sent(size, of(rank)), received = empty();
  group.alltoall(received, sent)->wait();
  expect_all(received, "alltoall");
}

/// Tensors that hold all ranks' parts, several at a time, and rows of different numbers.
inline void check_whole_tensors(Backend& group) {
  const int rank = group.getRank(), size = group.getSize();
  Tensors parts;
  for (int r = 0; r < size; ++r) parts.push_back(input(r, {2, 3}, torch::kFloat));
  Tensor all = torch::cat(parts), in = parts[rank].clone(), out = zeros({2 * size, 3});
  group._allgather_base(out, in)->wait();
  expect_equal(out, all, "_allgather_base");
  Tensors outs{zeros({2 * size, 3}), zeros({2 * size, 3})}, ins{in, in * 2};
  group.allgather_into_tensor_coalesced(outs, ins)->wait();
  expect_equal(outs[0], all, "allgather_into_tensor_coalesced");
  expect_equal(outs[1], all * 2, "allgather_into_tensor_coalesced");
  std::vector<Tensors> lists;
  for (int r = 0; r < size; ++r) lists.push_back({zeros({2, 3}), zeros({2, 3})});
  group.allgather_coalesced(lists, ins)->wait();
  for (int r = 0; r < size; ++r) expect_equal(lists[r][1], parts[r] * 2, "allgather_coalesced");

  Tensor sum = zeros({2, 3}), mine = in.repeat({size, 1});
  const Tensor want = reduced(size, {2, 3}, torch::kFloat, ReduceOp::SUM);
  group._reduce_scatter_base(sum, mine)->wait();
  expect_equal(sum, want, "_reduce_scatter_base");
  Tensors sums{zeros({2, 3}), zeros({2, 3})}, mines{mine, mine * 3};
  group.reduce_scatter_tensor_coalesced(sums, mines)->wait();
  expect_equal(sums[1], want * 3, "reduce_scatter_tensor_coalesced");
  Tensors several{in.clone(), in.flatten().slice(0, 0, 4).clone(), zeros({0})};
  group.allreduce_coalesced(several)->wait();
  expect_equal(several[0], want, "allreduce_coalesced");
  expect_equal(several[1], want.flatten().slice(0, 0, 4), "allreduce_coalesced");

  // Rank r sends r + 1 rows to each.
  std::vector<int64_t> in_rows(size, rank + 1), out_rows;
  Tensors expected;
  for (int r = 0; r < size; ++r) out_rows.push_back(r + 1), expected.push_back(full({r + 1, 2}, double(r)));
  Tensor rows = full({size * (rank + 1), 2}, double(rank)), got = zeros({size * (size + 1) / 2, 2});
  group.alltoall_base(got, rows, out_rows, in_rows)->wait();
  expect_equal(got, torch::cat(expected), "alltoall_base");
}

inline void check_strided(Backend& group) {
  const int rank = group.getRank(), size = group.getSize();
  Tensors tensors{input(rank, {3, 5}, torch::kFloat).t()};
  group.allreduce(tensors)->wait();
  expect_equal(tensors[0].contiguous(), reduced(size, {3, 5}, torch::kFloat, ReduceOp::SUM).t().contiguous(),
               "strided allreduce");
  Tensor wide = zeros({4, 6}), narrow = wide.slice(1, 0, 3);
  std::vector<Tensors> outputs{Tensors(size)};
  for (auto& out : outputs[0]) out = zeros({3, 4}).t();
  Tensors in{narrow.add_(rank)};
  group.allgather(outputs, in)->wait();
  for (int r = 0; r < size; ++r) expect_equal(outputs[0][r].contiguous(), full({4, 3}, double(r)), "strided allgather");
}

/// Tags mean nothing to NCCL; messages to and from others at once are coalesced.
inline void check_messages_in_streams(Backend& group) {
  const int rank = group.getRank(), size = group.getSize();
  const int next = (rank + 1) % size, before = (rank + size - 1) % size;
  for (int64_t n : {1, 1000, 300000}) {
    Tensors out{full({n}, rank)}, in{zeros({n})}, wide{zeros({n, 2})}, column{wide[0].select(1, 1)};
    group.startCoalescing();
    group.send(out, next, 0);
    group.recv(column, before, 0);
    group.endCoalescing()->wait();
    expect_equal(wide[0].select(1, 1).contiguous(), full({n}, before), "recv");
    expect_equal(wide[0].select(1, 0).contiguous(), zeros({n}), "beside what was received");
    if (rank % 2 == 0 && rank + 1 < size) group.send(out, rank + 1, 0)->wait();
    if (rank % 2 == 1) {
      group.recv(in, rank - 1, 0)->wait();
      expect_equal(in[0], full({n}, rank - 1), "recv of a pair");
    }
  }
  group.barrier()->wait();
}

inline void check_messages(Backend& group) {
  const int rank = group.getRank(), size = group.getSize();
  if (size == 1) return;
  if (on_gpu()) return check_messages_in_streams(group);
  const int next = (rank + 1) % size, before = (rank + size - 1) % size;
  for (int64_t n : {0, 1, 1000, 300000}) {
    Tensors large{full({n}, double(rank))}, small{full({1}, double(rank + 100))};
    Tensors in{zeros({n})}, first{zeros({1})};
    auto a = group.send(large, next, 1), b = group.send(small, next, 2);
    group.recv(first, before, 2)->wait();  // before the other, which was sent first
    group.recv(in, before, 1)->wait();
    a->wait(), b->wait();
    expect_equal(in[0], full({n}, double(before)), "recv");
    expect_equal(first[0], full({1}, double(before + 100)), "recv of another tag");
  }
  Tensors mine{full({2}, double(rank))}, any{zeros({2})};
  if (rank != 0) {
    group.send(mine, 0, 5)->wait();
  } else {
    double sum = 0;
    for (int r = 1; r < size; ++r) {
      auto work = group.recvAnysource(any, 5);
      work->wait();
      if (any[0][0].item<double>() != work->sourceRank()) throw Failure("recvAnysource names another rank");
      sum += any[0][0].item<double>();
    }
    if (sum != size * (size - 1) / 2.0) throw Failure("recvAnysource missed a rank");
  }
  group.barrier()->wait();
}

/// The sum of sparse gradients, and factors before a sum.
inline void check_special(Backend& group) {
  const int rank = group.getRank(), size = group.getSize();
  if (!on_gpu()) {
    const Tensor indices = torch::tensor({0, rank}, torch::kInt64).reshape({1, 2});
    Tensors sparse{torch::sparse_coo_tensor(indices, torch::ones({2, 2}), {size + 1, 2})};
    Tensor want = zeros({size + 1, 2});
    want[0] += size;
    for (int r = 0; r < size; ++r) want[r] += 1;
    group.allreduce(sparse)->wait();
    expect_equal(sparse[0].to_dense(), want, "allreduce of sparse tensors");
  }
  Tensors scaled{full({3}, double(rank + 1))};
  c10d::AllreduceOptions options;
  options.reduceOp = c10d::makeNCCLPreMulSum(0.5);
  group.allreduce(scaled, options)->wait();
  expect_equal(scaled[0], full({3}, size * (size + 1) / 4.0), "PREMUL_SUM");
}

/// Many at a time, waited for in another order.
inline void check_async(Backend& group) {
  const int rank = group.getRank(), size = group.getSize();
  std::vector<Tensors> tensors;
  std::vector<c10::intrusive_ptr<c10d::Work>> works;
  for (int i = 0; i < 50; ++i) tensors.push_back({full({1000}, double(rank + i))});
  for (auto& t : tensors) works.push_back(group.allreduce(t));
  for (int i = 49; i >= 0; --i) {
    works[i]->wait(std::chrono::milliseconds(60000));
    if (!works[i]->isCompleted() || !works[i]->isSuccess()) throw Failure("work that was waited for is not complete");
    expect_equal(works[i]->result().at(0), full({1000}, size * (size - 1) / 2.0 + double(size * i)), "async allreduce");
  }
  const auto future = works[0]->getFuture();
  future->wait();
  if (future->value().toTensorVector().size() != 1) throw Failure("the future has no tensor");
}

inline void check_all(Backend& group) {
  for (torch::Dtype dtype : dtypes()) {
    check_reductions(group, dtype, {7, 3});
    check_moves(group, dtype, {5});
  }
  check_reductions(group, torch::kFloat, {0});
  check_reductions(group, torch::kFloat, {300001});
  check_reductions(group, torch::kBFloat16, {40000});
  check_moves(group, torch::kFloat, {0});
  check_moves(group, torch::kFloat, {400000});
  check_whole_tensors(group);
  check_strided(group);
  check_messages(group);
  check_special(group);
  check_async(group);
}

}  // namespace checks
