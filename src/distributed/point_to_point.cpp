// Messages between two ranks, and the barrier that names who is missing.
#include <climits>

#include <halfbridge/grad_mode.h>

#include "distributed/enqueue.h"
#include "distributed/text.h"

namespace hb::distributed {

namespace {

constexpr int kMonitorTag = INT_MAX;

/// A send or a receive.
class MessageWork : public Work {
 public:
  MessageWork(OpType op, std::unique_ptr<Transfer> transfer, const Staged& staged, Tensor tensor, std::string text,
              std::chrono::milliseconds timeout)
      : Work(-1, op),
        transfer_(std::move(transfer)),
        staged_(staged),
        tensor_(std::move(tensor)),
        text_(std::move(text)),
        timeout_(timeout) {}

  bool isCompleted() override {
    if (!Work::isCompleted()) attempt([&] { return transfer_->test(); });
    return Work::isCompleted();
  }

  bool wait(std::chrono::milliseconds timeout) override {
    const auto limit = timeout == kNoTimeout || timeout == kUnsetTimeout ? timeout_ : timeout;
    bool in_time = true;
    if (!Work::isCompleted())
      attempt([&] { return in_time = transfer_->wait(std::chrono::steady_clock::now() + limit); });
    if (!in_time)
      throw DistBackendError(
          detail::str("[", text_, "] timed out after ", limit.count(), " ms: the other rank has not come"));
    if (const auto error = exception()) std::rethrow_exception(error);
    return true;
  }

  int sourceRank() const override { return opType_ == OpType::SEND ? Work::sourceRank() : transfer_->source(); }
  std::vector<Tensor> result() override { return {tensor_}; }

 private:
  template <class F>
  void attempt(const F& step) {
    std::lock_guard<std::mutex> turn(turn_);
    if (Work::isCompleted()) return;
    std::exception_ptr error;
    try {
      if (!step()) return;
      const NoGradGuard no_grad;
      if (opType_ != OpType::SEND) staged_.store();
    } catch (const Error& e) {
      error = std::make_exception_ptr(DistBackendError(detail::str("[", text_, "] ", e.what())));
    }
    finish(error);
  }

  std::mutex turn_;
  std::unique_ptr<Transfer> transfer_;
  Staged staged_;
  Tensor tensor_;
  std::string text_;
  std::chrono::milliseconds timeout_;
};

Owner owner_of(const Staged& staged) { return std::make_shared<Tensor>(staged.memory()); }

void check_peer(const char* name, int peer, int size, int rank) {
  HB_CHECK(peer >= 0 && peer < size, "[", name, "] expected a rank from 0 to ", size - 1, ", got ", peer);
  HB_CHECK(peer != rank, "[", name, "] expected another rank, got this one, ", rank);
}

void check_tag(const char* name, int tag) {
  HB_CHECK(tag >= 0 && tag < kMonitorTag, "[", name, "] expected a tag from 0 to ", kMonitorTag - 1, ", got ", tag);
}

}  // namespace

intrusive_ptr<Work> EngineBackend::send(std::vector<Tensor>& tensors, int dstRank, int tag) {
  queue_->check_process("send");
  const Tensor& tensor = only_tensor("send", tensors);
  check_peer("send", dstRank, size_, rank_);
  check_tag("send", tag);
  const NoGradGuard no_grad;
  const Staged staged(tensor, true);
  auto transfer = queue_->engine().send(dstRank, tag, staged.data(), staged.bytes(), owner_of(staged));
  return make_intrusive<MessageWork>(OpType::SEND, std::move(transfer), staged, tensor,
                                     detail::str("SEND of ", described(tensors), " to rank ", dstRank, ", tag ", tag),
                                     options_->timeout);
}

intrusive_ptr<Work> EngineBackend::recv(std::vector<Tensor>& tensors, int srcRank, int tag) {
  queue_->check_process("recv");
  const Tensor& tensor = only_tensor("recv", tensors);
  check_peer("recv", srcRank, size_, rank_);
  check_tag("recv", tag);
  const NoGradGuard no_grad;
  const Staged staged(tensor, false);
  auto transfer = queue_->engine().recv(srcRank, tag, staged.data(), staged.bytes(), owner_of(staged));
  return make_intrusive<MessageWork>(OpType::RECV, std::move(transfer), staged, tensor,
                                     detail::str("RECV of ", described(tensors), " from rank ", srcRank, ", tag ", tag),
                                     options_->timeout);
}

intrusive_ptr<Work> EngineBackend::recvAnysource(std::vector<Tensor>& tensors, int tag) {
  queue_->check_process("recvAnysource");
  const Tensor& tensor = only_tensor("recvAnysource", tensors);
  check_tag("recvAnysource", tag);
  const NoGradGuard no_grad;
  const Staged staged(tensor, false);
  auto transfer = queue_->engine().recv(-1, tag, staged.data(), staged.bytes(), owner_of(staged));
  return make_intrusive<MessageWork>(OpType::RECVANYSOURCE, std::move(transfer), staged, tensor,
                                     detail::str("RECVANYSOURCE of ", described(tensors), ", tag ", tag),
                                     options_->timeout);
}

void EngineBackend::monitoredBarrier(const BarrierOptions& opts, bool waitAllRanks) {
  queue_->check_process("monitoredBarrier");
  const auto timeout = opts.timeout == kUnsetTimeout ? options_->timeout : opts.timeout;
  const auto deadline = std::chrono::steady_clock::now() + timeout;
  Engine& engine = queue_->engine();
  const auto byte = std::make_shared<char>(0);
  const auto receive = [&](int from) {
    try {
      return engine.recv(from, kMonitorTag, byte.get(), 1, byte)->wait(deadline);
    } catch (const DistError&) {  // it has died: missing, too
      return false;
    }
  };
  if (rank_ != 0) {
    engine.send(0, kMonitorTag, byte.get(), 1, byte)->wait(deadline);
    if (!receive(0))
      throw DistBackendError(detail::str("[monitoredBarrier] Rank ", rank_,
                                         " successfully reached monitoredBarrier, but rank 0 "
                                         "did not answer in ",
                                         timeout.count(), " ms"));
    return;
  }
  std::vector<int> missing;
  for (int r = 1; r < size_ && (waitAllRanks || missing.empty()); ++r)
    if (!receive(r)) missing.push_back(r);
  if (!missing.empty())
    throw DistBackendError(detail::str("[Rank 0]: Rank", missing.size() > 1 ? "s " : " ", listed(missing),
                                       " failed to pass monitoredBarrier in ", timeout.count(), " ms"));
  for (int r = 1; r < size_; ++r) engine.send(r, kMonitorTag, byte.get(), 1, byte)->wait(deadline);
}

}  // namespace hb::distributed
