// Work that is captured and launched again.
#include <algorithm>
#include <fstream>

#include "software_cuda/queue.h"
#include "software_cuda/state.h"

using namespace software_cuda;

namespace {
thread_local cudaStreamCaptureMode mode_of_thread = cudaStreamCaptureModeGlobal;
const std::vector<Work>& works_of(cudaGraphExec_t graph) { return *reinterpret_cast<std::vector<Work>*>(graph); }
}  // namespace

namespace software_cuda {
cudaError_t refuse_in_capture(Stream* stream) {
  State& s = state();
  if (s.captures == 0) return cudaSuccess;
  const std::lock_guard lock(device_mutex());
  if (stream && !stream->capture) return cudaSuccess;
  if (!stream && mode_of_thread == cudaStreamCaptureModeRelaxed) return cudaSuccess;
  for (Stream* each : s.streams)
    if (each->capture && (!stream || each == stream)) each->capture->good = false;
  return cudaErrorStreamCaptureUnsupported;
}
}  // namespace software_cuda

cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode* mode) {
  std::swap(*mode, mode_of_thread);
  return cudaSuccess;
}
cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode) {
  if (!stream) return cudaErrorStreamCaptureUnsupported;
  const std::lock_guard lock(device_mutex());
  Stream& s = stream_of(stream);
  if (s.capture) return cudaErrorInvalidValue;
  s.capture = new Graph;
  s.capture->streams.push_back(&s);
  ++state().captures;
  return cudaSuccess;
}
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  *graph = nullptr;
  const std::lock_guard lock(device_mutex());
  Graph* const captured = stream_of(stream).capture;
  if (!captured || captured->streams.front() != &stream_of(stream)) return cudaErrorInvalidValue;
  --state().captures;
  for (Stream* each : captured->streams) each->capture = nullptr;
  if (captured->good) return *graph = reinterpret_cast<cudaGraph_t>(captured), cudaSuccess;
  delete captured;
  return cudaErrorStreamCaptureInvalidated;
}
cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status) {
  const std::lock_guard lock(device_mutex());
  const Graph* const captured = stream_of(stream).capture;
  *status = !captured        ? cudaStreamCaptureStatusNone
            : captured->good ? cudaStreamCaptureStatusActive
                             : cudaStreamCaptureStatusInvalidated;
  return cudaSuccess;
}
cudaError_t cudaGraphInstantiate(cudaGraphExec_t* made, cudaGraph_t graph, unsigned long long) {
  *made = reinterpret_cast<cudaGraphExec_t>(new std::vector<Work>(reinterpret_cast<Graph*>(graph)->works));
  return cudaSuccess;
}
cudaError_t cudaGraphLaunch(cudaGraphExec_t graph, cudaStream_t stream) {
  const std::lock_guard lock(device_mutex());
  if (!stream_of(stream).capture) ++state().counts.graph_launches;
  for (const Work& work : works_of(graph)) enqueue_work(stream, work);
  return cudaSuccess;
}
cudaError_t cudaGraphDestroy(cudaGraph_t graph) { return delete reinterpret_cast<Graph*>(graph), cudaSuccess; }
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t graph) {
  return delete reinterpret_cast<std::vector<Work>*>(graph), cudaSuccess;
}
cudaError_t cudaGraphDebugDotPrint(cudaGraph_t graph, const char* path, unsigned) {
  std::ofstream file(path);
  file << "digraph {\n";
  for (const Work& work : reinterpret_cast<Graph*>(graph)->works)
    if (work.name) file << "  \"" << work.name << "\"\n";
  file << "}\n";
  return file ? cudaSuccess : cudaErrorInvalidValue;
}
