#pragma once

#include <halfbridge/distributed/engine_backend.h>

namespace hb::distributed {

namespace nccl {
class StreamQueue;
}

constexpr const char* NCCL_BACKEND_NAME = "nccl";
constexpr auto kProcessGroupNCCLDefaultTimeout = std::chrono::milliseconds(10 * 60 * 1000);

/// Collectives of tensors on GPUs by NCCL, which is opened when the first group is made (pip: nvidia-nccl-cu13). A
/// collective is queued in a stream of the group after what the current stream holds, in the current stream itself
/// where asyncOp is false; Work::wait lets the current stream wait for it, not the host, but for a barrier or where a
/// timeout is given or TORCH_NCCL_BLOCKING_WAIT is 1. Sums take float16, bfloat16, float32, float64, int8, uint8,
/// int32, int64, bool (SUM: any, PRODUCT: all) and complex numbers (SUM and AVG); BAND, BOR and BXOR throw ValueError,
/// other dtypes TypeError. What moves values takes every dtype. Tags of messages mean nothing, recvAnysource and
/// monitoredBarrier throw.
///
/// A collective that fails or whose deadline passes ends the process with a message
/// (TORCH_NCCL_ASYNC_ERROR_HANDLING: 1 and 3, the default), or the communicators, so that calls and waits throw (2).
class HB_API ProcessGroupNCCL : public EngineBackend {
 public:
  struct HB_API Options : Backend::Options {
    explicit Options(bool is_high_priority_stream = false);
    static intrusive_ptr<Options> create(bool is_high_priority_stream = false) {
      return make_intrusive<Options>(is_high_priority_stream);
    }
    bool is_high_priority_stream;
    /// Accepted; a group of some ranks connects anew.
    intrusive_ptr<ProcessGroupNCCL> split_from;
    int split_color = -2;
  };

  /// Connects when a collective first needs it. Throws hb::Error where there is no NCCL or no GPU.
  explicit ProcessGroupNCCL(intrusive_ptr<Store> store, int rank, int size,
                            intrusive_ptr<Options> options = Options::create());
  ~ProcessGroupNCCL() override;

  const std::string getBackendName() const override { return NCCL_BACKEND_NAME; }
  intrusive_ptr<Options> getOptions() { return nccl_options_; }
  bool supportsCoalescing() const override { return true; }
  /// What is called between them is one Work; messages among them go side by side.
  void startCoalescing() override;
  intrusive_ptr<Work> endCoalescing() override;
  intrusive_ptr<Work> endCoalescing(OpType) { return endCoalescing(); }
  /// Connects now.
  void eagerConnectSingleDevice(Device device) override;
  intrusive_ptr<Work> send(std::vector<Tensor>& tensors, int dstRank, int tag) override;
  intrusive_ptr<Work> recv(std::vector<Tensor>& tensors, int srcRank, int tag) override;
  intrusive_ptr<Work> recvAnysource(std::vector<Tensor>& tensors, int tag) override;
  void monitoredBarrier(const BarrierOptions& opts = BarrierOptions(), bool waitAllRanks = false) override;
  intrusive_ptr<Backend> split(const intrusive_ptr<Store>& store, const std::vector<int>& ranks,
                               const intrusive_ptr<Backend::Options>& opts) override;
  intrusive_ptr<Backend> merge(const intrusive_ptr<Store>& store, const intrusive_ptr<Backend::Options>& opts,
                               const int& rank, const int& size) override;

 private:
  nccl::StreamQueue& streams();
  intrusive_ptr<Work> message(const char* name, std::vector<Tensor>& tensors, int peer, bool sends);
  intrusive_ptr<Options> nccl_options_;
};

/// NCCL's version, "2.28.9". Throws where there is no NCCL.
HB_API std::string nccl_version();

}  // namespace hb::distributed
