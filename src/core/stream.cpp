#include <halfbridge/error.h>
#include <halfbridge/stream.h>

#include "core/cuda_api.h"

namespace hb {

namespace {
void only_cuda(const Device& device) {
  HB_CHECK(device.is_cuda(), "[Stream] expected a stream of the CPU or of CUDA, got one of ", device);
}
}  // namespace

bool Stream::query() const {
  if (device_.is_cpu()) return true;
  only_cuda(device_);
  return cuda_api("Stream").stream_is_done(id_, device_.index());
}

void Stream::synchronize() const {
  if (device_.is_cpu()) return;
  only_cuda(device_);
  cuda_api("Stream").wait_for_stream(id_, device_.index());
}

}  // namespace hb
