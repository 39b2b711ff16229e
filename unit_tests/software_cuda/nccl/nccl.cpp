// NCCL's stand-in: its interface, by its own header, upon the software device's streams and files in shared memory. A
// call is queued; it gives its values to the others when the stream comes to it, and is done when all have given
// theirs. Values are summed in the order of ranks by the CPU's kernel.
#include <dlfcn.h>
#include <nccl.h>

#include <halfbridge/error.h>

#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "distributed/engine.h"
#include "software_cuda/nccl/exchange.h"
#include "software_cuda/software_cuda.h"

struct ncclComm {
  ncclComm(const std::string& folder, int rank, int size) : exchange(folder, rank, size) {}
  stand_in::Exchange exchange;
  uint64_t collectives = 0;
  std::map<std::string, uint64_t> messages;  // by "from:to"
  std::atomic<bool> aborted{false};
};

namespace {

using hb::ScalarType;
using Comm = std::shared_ptr<ncclComm>;

/// Calls that are queued keep what was aborted.
std::map<ncclComm_t, Comm>& all_comms() {
  static auto* const all = new std::map<ncclComm_t, Comm>;
  return *all;
}

struct Step {
  Comm comm;
  std::function<void()> give;    // once
  std::function<bool()> others;  // whether they have given
  std::function<void()> take;
  bool given = false;
};

/// Calls that are one operation.
struct Operation {
  std::vector<Step> steps;

  static bool ready(void* self) {
    bool all = true;
    for (Step& step : static_cast<Operation*>(self)->steps) {
      if (step.comm->aborted) continue;
      if (!step.given) step.give();
      step.given = true;
      all &= step.others();
    }
    return all;
  }
  static void run(void* self) {
    const std::unique_ptr<Operation> operation(static_cast<Operation*>(self));
    for (Step& step : operation->steps)
      if (!step.comm->aborted) step.take();
  }
};

const software_cuda::Control& device() {
  static const auto* const control = [] {
    void* library = dlopen(std::getenv("HALFBRIDGE_CUDA_LIBRARY"), RTLD_NOW | RTLD_NOLOAD);
    return reinterpret_cast<software_cuda::GetControl>(dlsym(library, "software_cuda_control"))();
  }();
  return *control;
}

thread_local int depth = 0;
thread_local std::map<cudaStream_t, std::vector<Step>> grouped;
thread_local std::string last_error;

void submit(cudaStream_t stream, std::vector<Step> steps) {
  device().library_call(stream, "nccl", Operation::ready, Operation::run, new Operation{std::move(steps)});
}

ncclResult_t add(cudaStream_t stream, Step step) {
  if (depth > 0)
    grouped[stream].push_back(std::move(step));
  else
    submit(stream, {std::move(step)});
  return ncclSuccess;
}

ScalarType type_of(ncclDataType_t type) {
  switch (type) {
    case ncclInt8:
      return hb::kChar;
    case ncclUint8:
      return hb::kByte;
    case ncclInt32:
      return hb::kInt;
    case ncclInt64:
      return hb::kLong;
    case ncclFloat16:
      return hb::kHalf;
    case ncclBfloat16:
      return hb::kBFloat16;
    case ncclFloat32:
      return hb::kFloat;
    case ncclFloat64:
      return hb::kDouble;
    default:
      return ScalarType::Undefined;
  }
}

void reduce(const std::vector<stand_in::Bytes>& parts, size_t from, void* out, size_t count, ncclDataType_t type,
            ncclRedOp_t op) {
  using hb::RankReduction;
  constexpr RankReduction kOps[] = {RankReduction::sum, RankReduction::product, RankReduction::max, RankReduction::min,
                                    RankReduction::mean};
  hb::distributed::Call call;
  call.dtype = type_of(type), call.reduction = kOps[op];
  std::vector<const void*> in;
  for (const auto& part : parts) in.push_back(part.data() + from);
  hb::distributed::reduce_memory(call, out, in.data(), static_cast<int64_t>(in.size()), count);
}

/// All give bytes, and each takes what it wants of all.
ncclResult_t exchange(ncclComm_t c, const char* name, const void* in, size_t bytes, cudaStream_t stream,
                      std::function<void(const std::vector<stand_in::Bytes>&)> take) {
  const Comm comm = all_comms().at(c);
  const auto& e = comm->exchange;
  const uint64_t number = ++comm->collectives;
  const auto file = [=](uint64_t n, int rank) { return std::to_string(n) + "." + std::to_string(rank); };
  Step step{comm, [=, &e] { e.put(file(number, e.rank()), in, bytes); },
            [=, &e] {
              for (int r = 0; r < e.size(); ++r)
                if (!e.there(file(number, r))) return false;
              return true;
            },
            [=, &e] {
              std::vector<stand_in::Bytes> all;
              for (int r = 0; r < e.size(); ++r) all.push_back(e.get(file(number, r)));
              const std::string taken = std::to_string(number) + ".taken";
              if (e.last(taken)) {
                for (int r = 0; r < e.size(); ++r) e.remove(file(number, r));
                e.remove(taken);
              }
              for (const auto& part : all)
                if (part.size() != bytes) std::fprintf(stderr, "%s: ranks differ in size\n", name), std::abort();
              take(all);
            }};
  return add(stream, std::move(step));
}

size_t size_of(ncclDataType_t type) { return hb::element_size(type_of(type)); }

/// A send is done when it was received, as of large messages.
ncclResult_t message(ncclComm_t c, bool sends, const void* in, void* out, size_t bytes, int peer, cudaStream_t stream) {
  const Comm comm = all_comms().at(c);
  const auto& e = comm->exchange;
  const std::string way = sends ? std::to_string(e.rank()) + ":" + std::to_string(peer)
                                : std::to_string(peer) + ":" + std::to_string(e.rank());
  const std::string file = "m" + way + "." + std::to_string(++comm->messages[(sends ? "s" : "r") + way]);
  if (sends) {
    const std::string got = file + ".got";
    return add(stream, {comm, [=, &e] { e.put(file, in, bytes); }, [=, &e] { return e.there(got); },
                        [=, &e] { e.remove(got); }});
  }
  // It is taken as soon as it is there, so that a rank that sends to itself within a group ends.
  const auto values = std::make_shared<stand_in::Bytes>();
  const auto here = std::make_shared<bool>(false);
  return add(stream, {comm, [] {},
                      [=, &e] {
                        if (*here || !e.there(file)) return *here;
                        *values = e.get(file);
                        e.put(file + ".got", "", 0);
                        e.remove(file);
                        return *here = true;
                      },
                      [=] {
                        if (values->size() != bytes) std::fprintf(stderr, "ncclRecv: another size\n"), std::abort();
                        std::memcpy(out, values->data(), bytes);
                      }});
}

}  // namespace

extern "C" {

ncclResult_t ncclGetVersion(int* version) { return *version = NCCL_VERSION_CODE, ncclSuccess; }
ncclResult_t ncclGetUniqueId(ncclUniqueId* id) {
  const std::string folder = stand_in::new_folder();
  *id = {};
  folder.copy(id->internal, sizeof(id->internal) - 1);
  return folder.empty() ? ncclSystemError : ncclSuccess;
}
ncclResult_t ncclCommInitRank(ncclComm_t* comm, int size, ncclUniqueId id, int rank) {
  const auto made = std::make_shared<ncclComm>(id.internal, rank, size);
  all_comms()[made.get()] = made;
  *comm = made.get();
  return ncclSuccess;
}
ncclResult_t ncclCommDestroy(ncclComm_t comm) { return all_comms().erase(comm) ? ncclSuccess : ncclInvalidArgument; }
ncclResult_t ncclCommAbort(ncclComm_t comm) {
  all_comms().at(comm)->aborted = true;
  return ncclCommDestroy(comm);
}
ncclResult_t ncclCommGetAsyncError(ncclComm_t comm, ncclResult_t* error) {
  *error = ncclSuccess;
  const auto& e = comm->exchange;
  for (int r = 0; r < e.size(); ++r) {
    if (r == e.rank() || !e.dead(r)) continue;
    *error = ncclRemoteError;
    last_error = "rank " + std::to_string(r) + " of the communicator is gone";
  }
  return ncclSuccess;
}
const char* ncclGetErrorString(ncclResult_t code) {
  return code == ncclRemoteError ? "remote process exited or there was a network error" : "invalid argument";
}
const char* ncclGetLastError(ncclComm_t) { return last_error.c_str(); }

ncclResult_t ncclGroupStart() { return ++depth, ncclSuccess; }
ncclResult_t ncclGroupEnd() {
  if (--depth > 0) return ncclSuccess;
  for (auto& [stream, steps] : std::exchange(grouped, {})) submit(stream, std::move(steps));
  return ncclSuccess;
}

ncclResult_t ncclAllReduce(const void* in, void* out, size_t count, ncclDataType_t type, ncclRedOp_t op,
                           ncclComm_t comm, cudaStream_t stream) {
  return exchange(comm, "ncclAllReduce", in, count * size_of(type), stream,
                  [=](const auto& all) { reduce(all, 0, out, count, type, op); });
}
ncclResult_t ncclReduce(const void* in, void* out, size_t count, ncclDataType_t type, ncclRedOp_t op, int root,
                        ncclComm_t comm, cudaStream_t stream) {
  return exchange(comm, "ncclReduce", in, count * size_of(type), stream,
                  [=, rank = comm->exchange.rank()](const auto& all) {
                    if (rank == root) reduce(all, 0, out, count, type, op);
                  });
}
ncclResult_t ncclBroadcast(const void* in, void* out, size_t count, ncclDataType_t type, int root, ncclComm_t comm,
                           cudaStream_t stream) {
  const size_t bytes = count * size_of(type);
  return exchange(comm, "ncclBroadcast", in, bytes, stream,
                  [=](const auto& all) { std::memcpy(out, all[static_cast<size_t>(root)].data(), bytes); });
}
ncclResult_t ncclAllGather(const void* in, void* out, size_t count, ncclDataType_t type, ncclComm_t comm,
                           cudaStream_t stream) {
  const size_t bytes = count * size_of(type);
  return exchange(comm, "ncclAllGather", in, bytes, stream, [=](const auto& all) {
    for (size_t r = 0; r < all.size(); ++r) std::memcpy(static_cast<char*>(out) + r * bytes, all[r].data(), bytes);
  });
}
ncclResult_t ncclReduceScatter(const void* in, void* out, size_t count, ncclDataType_t type, ncclRedOp_t op,
                               ncclComm_t comm, cudaStream_t stream) {
  const size_t bytes = count * size_of(type);
  const auto rank = static_cast<size_t>(comm->exchange.rank()), size = static_cast<size_t>(comm->exchange.size());
  return exchange(comm, "ncclReduceScatter", in, bytes * size, stream,
                  [=](const auto& all) { reduce(all, rank * bytes, out, count, type, op); });
}
ncclResult_t ncclSend(const void* in, size_t count, ncclDataType_t type, int peer, ncclComm_t comm,
                      cudaStream_t stream) {
  return message(comm, true, in, nullptr, count * size_of(type), peer, stream);
}
ncclResult_t ncclRecv(void* out, size_t count, ncclDataType_t type, int peer, ncclComm_t comm, cudaStream_t stream) {
  return message(comm, false, nullptr, out, count * size_of(type), peer, stream);
}
}
