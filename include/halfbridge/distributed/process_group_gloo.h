#pragma once

#include <halfbridge/distributed/engine_backend.h>

namespace gloo::transport {
class Device;
}

namespace hb::distributed {

constexpr const char* GLOO_BACKEND_NAME = "gloo";

/// Collectives of CPU tensors. Ranks of one host exchange through shared memory, where sums run in the order of the
/// ranks; others through Gloo's TCP, which is opened when it is needed (Debian: libgloo-dev).
/// HALFBRIDGE_GLOO_TRANSPORT=tcp keeps ranks of one host to Gloo.
class HB_API ProcessGroupGloo : public EngineBackend {
 public:
  struct HB_API Options : Backend::Options {
    explicit Options(std::chrono::milliseconds timeout = kBackendDefaultTimeout);
    static intrusive_ptr<Options> create(std::chrono::milliseconds timeout = kBackendDefaultTimeout) {
      return make_intrusive<Options>(timeout);
    }
    static intrusive_ptr<Options> create_default(std::chrono::milliseconds timeout = kBackendDefaultTimeout) {
      return create(timeout);
    }
    /// The interfaces for TCP; the first is used. None: that of GLOO_SOCKET_IFNAME, else that of the host's name, else
    /// loopback.
    std::vector<std::shared_ptr<::gloo::transport::Device>> devices;
    /// Accepted; a group has one thread.
    int threads = 2;
  };

  /// Devices of Gloo. Throw where Gloo is not installed.
  static std::shared_ptr<::gloo::transport::Device> createDeviceForInterface(const std::string& interface,
                                                                             bool lazyInit = false);
  static std::shared_ptr<::gloo::transport::Device> createDeviceForHostname(const std::string& hostname,
                                                                            bool lazyInit = false);
  static std::shared_ptr<::gloo::transport::Device> createDefaultDevice(bool lazyInit = false);

  /// Meets the other ranks in `store`; throws DistStoreError where they do not come within its timeout.
  explicit ProcessGroupGloo(const intrusive_ptr<Store>& store, int rank, int size,
                            intrusive_ptr<Options> options = Options::create());
  ~ProcessGroupGloo() override;

  const std::string getBackendName() const override { return GLOO_BACKEND_NAME; }
  intrusive_ptr<Options> getOptions() { return gloo_options_; }
  /// Where all ranks are on one host: a tensor (size) in memory that they share. Sums of such tensors, if all ranks'
  /// are, copy nothing; large ones take a quarter of the time. A child of fork() shares the tensor's values.
  bool supportsTensorAlloc(DeviceIndex deviceIdx) override;
  Tensor allocateTensor(long size, TensorOptions options = {}) override;
  int getNumThreads() { return gloo_options_->threads; }
  intrusive_ptr<Backend> split(const intrusive_ptr<Store>& store, const std::vector<int>& ranks,
                               const intrusive_ptr<Backend::Options>& opts) override;
  intrusive_ptr<Backend> merge(const intrusive_ptr<Store>& store, const intrusive_ptr<Backend::Options>& opts,
                               const int& rank, const int& size) override;

 private:
  intrusive_ptr<Options> gloo_options_;
};

}  // namespace hb::distributed
