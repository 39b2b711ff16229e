// NCCL's calls. libnccl.so.2 is opened at run time, so that this library loads where there is none and can say so.
#include <nccl.h>

#include <atomic>
#include <cstring>

#include <halfbridge/error.h>

#include "cuda/library.h"
#include "distributed/nccl/library.h"

namespace hb::cuda {
const char* current_function() { return "NCCL"; }
}  // namespace hb::cuda

namespace hb::distributed::nccl {

namespace {

const cuda::Library& opened() {
  static const auto* const opened = new cuda::Library("NCCL (pip: nvidia-nccl-cu13)", {"libnccl.so.2"}, "nccl");
  return *opened;
}
#define HB_NCCL(function) HB_CUDA_SYMBOL(opened(), function)

void check(ncclResult_t code, const char* call, ncclComm_t comm = nullptr) {
  if (code == ncclSuccess) return;
  const char* more = HB_NCCL(ncclGetLastError)(comm);
  throw DistBackendError(detail::str("[NCCL] ", call, " failed: ", HB_NCCL(ncclGetErrorString)(code),
                                     more && *more ? detail::str(" (", more, ")") : std::string()));
}

struct Type {
  ncclDataType_t type;
  size_t each;  // NCCL's elements for one of ours
};

Type type_of(ScalarType type) {
  switch (type) {
    case kChar:
      return {ncclInt8, 1};
    case kByte:
    case kBool:
      return {ncclUint8, 1};
    case kInt:
      return {ncclInt32, 1};
    case kLong:
      return {ncclInt64, 1};
    case kHalf:
      return {ncclFloat16, 1};
    case kBFloat16:
      return {ncclBfloat16, 1};
    case kFloat:
      return {ncclFloat32, 1};
    case kDouble:
      return {ncclFloat64, 1};
    case kComplexFloat:
      return {ncclFloat32, 2};
    case kComplexDouble:
      return {ncclFloat64, 2};
    default:
      break;
  }
  detail::fail<TypeError>("Input tensor data type is not supported for NCCL process group: ", type);
}

/// As PyTorch: sums of bools are "any", products "all"; complex numbers are summed as pairs.
ncclRedOp_t op_of(RankReduction op, ScalarType type) {
  const bool pairs = is_complex_type(type);
  switch (op) {
    case RankReduction::sum:
      return type == kBool ? ncclMax : ncclSum;
    case RankReduction::mean:
      if (type == kBool) throw TypeError("Cannot use ReduceOp.AVG with boolean inputs");
      return ncclAvg;
    case RankReduction::product:
      if (!pairs) return type == kBool ? ncclMin : ncclProd;
      break;
    case RankReduction::min:
      return ncclMin;
    case RankReduction::max:
      return ncclMax;
    case RankReduction::bit_and:
      throw ValueError("Cannot use ReduceOp.BAND with NCCL");
    case RankReduction::bit_or:
      throw ValueError("Cannot use ReduceOp.BOR with NCCL");
    case RankReduction::bit_xor:
      throw ValueError("Cannot use ReduceOp.BXOR with NCCL");
    case RankReduction::none:
      break;
  }
  detail::fail<ValueError>("[NCCL] expected a sum or a mean of complex numbers, got another reduction of ", type);
}

cudaStream_t stream_of(void* stream) { return static_cast<cudaStream_t>(stream); }

class Connected final : public Communicator {
 public:
  explicit Connected(ncclComm_t comm) : comm_(comm) {}
  ~Connected() override {
    if (!aborted_) HB_NCCL(ncclCommDestroy)(comm_);
  }
  void allreduce(const void* in, void* out, size_t count, ScalarType type, RankReduction op, void* stream) override {
    const Type t = type_of(type);
    checked("ncclAllReduce",
            HB_NCCL(ncclAllReduce)(in, out, count * t.each, t.type, op_of(op, type), comm_, stream_of(stream)));
  }
  void reduce(const void* in, void* out, size_t count, ScalarType type, RankReduction op, int root,
              void* stream) override {
    const Type t = type_of(type);
    checked("ncclReduce",
            HB_NCCL(ncclReduce)(in, out, count * t.each, t.type, op_of(op, type), root, comm_, stream_of(stream)));
  }
  void broadcast(const void* in, void* out, size_t bytes, int root, void* stream) override {
    checked("ncclBroadcast", HB_NCCL(ncclBroadcast)(in, out, bytes, ncclUint8, root, comm_, stream_of(stream)));
  }
  void allgather(const void* in, void* out, size_t bytes, void* stream) override {
    checked("ncclAllGather", HB_NCCL(ncclAllGather)(in, out, bytes, ncclUint8, comm_, stream_of(stream)));
  }
  void reduce_scatter(const void* in, void* out, size_t count, ScalarType type, RankReduction op,
                      void* stream) override {
    const Type t = type_of(type);
    checked("ncclReduceScatter",
            HB_NCCL(ncclReduceScatter)(in, out, count * t.each, t.type, op_of(op, type), comm_, stream_of(stream)));
  }
  void send(const void* in, size_t bytes, int peer, void* stream) override {
    checked("ncclSend", HB_NCCL(ncclSend)(in, bytes, ncclUint8, peer, comm_, stream_of(stream)));
  }
  void recv(void* out, size_t bytes, int peer, void* stream) override {
    checked("ncclRecv", HB_NCCL(ncclRecv)(out, bytes, ncclUint8, peer, comm_, stream_of(stream)));
  }
  std::string async_error() override {
    ncclResult_t result = ncclSuccess;
    check(HB_NCCL(ncclCommGetAsyncError)(comm_, &result), "ncclCommGetAsyncError", comm_);
    if (result == ncclSuccess || result == ncclInProgress) return {};
    const char* more = HB_NCCL(ncclGetLastError)(comm_);
    return detail::str(HB_NCCL(ncclGetErrorString)(result), more && *more ? detail::str(": ", more) : std::string());
  }
  void abort() noexcept override {
    if (!aborted_.exchange(true)) HB_NCCL(ncclCommAbort)(comm_);
  }

 private:
  void checked(const char* call, ncclResult_t code) { check(code, call, comm_); }
  ncclComm_t comm_;
  std::atomic<bool> aborted_{false};
};

class Opened final : public Library {
 public:
  std::string version() override {
    int code = 0;
    check(HB_NCCL(ncclGetVersion)(&code), "ncclGetVersion");
    return detail::str(code / 10000, ".", code / 100 % 100, ".", code % 100);
  }
  std::string unique_id() override {
    ncclUniqueId id;
    check(HB_NCCL(ncclGetUniqueId)(&id), "ncclGetUniqueId");
    return {id.internal, sizeof id.internal};
  }
  std::unique_ptr<Communicator> connect(const std::string& bytes, int rank, int size) override {
    ncclUniqueId id;
    HB_CHECK(bytes.size() == sizeof id.internal, "[NCCL] expected an id of ", sizeof id.internal, " bytes, got ",
             bytes.size());
    std::memcpy(id.internal, bytes.data(), bytes.size());
    ncclComm_t comm = nullptr;
    check(HB_NCCL(ncclCommInitRank)(&comm, size, id, rank), "ncclCommInitRank");
    return std::make_unique<Connected>(comm);
  }
  void group_start() override { check(HB_NCCL(ncclGroupStart)(), "ncclGroupStart"); }
  void group_end() override { check(HB_NCCL(ncclGroupEnd)(), "ncclGroupEnd"); }
};

}  // namespace

}  // namespace hb::distributed::nccl

extern "C" HB_API hb::distributed::nccl::Library& hb_nccl_library() {
  static auto* const library = new hb::distributed::nccl::Opened;
  return *library;
}
