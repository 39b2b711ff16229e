#include <halfbridge/distributed/objects.h>

#include <algorithm>
#include <cstring>
#include <map>

#include <halfbridge/grad_mode.h>
#include <halfbridge/ops.h>

namespace hb::distributed {

namespace {

constexpr int64_t kMessageBytes = 25 << 20;

Tensor bytes_tensor(const std::string& bytes, int64_t room) {
  Tensor t = zeros({room}, kByte);
  if (!bytes.empty()) std::memcpy(t.data_ptr<uint8_t>(), bytes.data(), bytes.size());
  return t;
}
std::string text_of(const Tensor& t, int64_t size) {
  return {reinterpret_cast<const char*>(t.data_ptr<uint8_t>()), static_cast<size_t>(size)};
}

// One message: the tensors end to end, broadcast, and back.
void broadcast_flat(ProcessGroup& group, const std::vector<Tensor>& tensors, int root) {
  std::vector<Tensor> parts;
  for (const Tensor& t : tensors) parts.push_back(t.reshape({-1}));
  std::vector<Tensor> flat{parts.size() == 1 ? parts[0].contiguous() : cat(parts)};
  BroadcastOptions options;
  options.rootRank = root;
  group.broadcast(flat, options)->wait();
  if (group.getRank() == root) return;
  int64_t at = 0;
  for (const Tensor& t : tensors) {
    t.copy_(flat[0].narrow(0, at, t.numel()).view(t.sizes()));
    at += t.numel();
  }
}

// A message per dtype and device, and per so many bytes.
void broadcast_messages(ProcessGroup& group, TensorList tensors, int64_t message_bytes, int root) {
  if (group.getSize() == 1) return;
  NoGradGuard no_grad;
  struct Message {
    ScalarType dtype;
    Device device;
    int64_t bytes = 0;
    std::vector<Tensor> tensors;
  };
  std::vector<Message> open;
  for (const Tensor& t : tensors) {
    auto at = std::find_if(open.begin(), open.end(),
                           [&](const Message& m) { return m.dtype == t.scalar_type() && m.device == t.device(); });
    if (at == open.end()) at = open.insert(at, Message{t.scalar_type(), t.device(), 0, {}});
    at->tensors.push_back(t);
    at->bytes += t.numel() * static_cast<int64_t>(t.element_size());
    if (at->bytes < message_bytes) continue;
    broadcast_flat(group, at->tensors, root);
    open.erase(at);
  }
  for (const Message& m : open) broadcast_flat(group, m.tensors, root);
}

// 64 bits of the bytes of a tensor: different bytes give different sums but for one in 2^64.
uint64_t hash_of(const Tensor& tensor) {
  const Tensor t = tensor.detach().to(kCPU).contiguous();
  const auto* bytes = static_cast<const unsigned char*>(t.data_ptr());
  const size_t size = static_cast<size_t>(t.numel()) * t.element_size();
  uint64_t sum = 0xcbf29ce484222325ULL ^ size;
  for (size_t at = 0; at < size; at += 8) {
    uint64_t word = 0;
    std::memcpy(&word, bytes + at, std::min<size_t>(8, size - at));
    sum = (sum ^ word) * 0x9e3779b97f4a7c15ULL;
    sum ^= sum >> 29;
  }
  return sum;
}

}  // namespace

std::vector<std::string> all_gather_bytes(ProcessGroup& group, const std::string& bytes) {
  if (group.getSize() == 1) return {bytes};
  const auto ranks = static_cast<size_t>(group.getSize());
  const auto gathered = [&](const Tensor& own) {
    std::vector<Tensor> in{own};
    std::vector<std::vector<Tensor>> out(1);
    for (size_t r = 0; r < ranks; ++r) out[0].push_back(empty_like(own));
    group.allgather(out, in)->wait();
    return out[0];
  };
  const auto sizes = gathered(full({1}, static_cast<int64_t>(bytes.size()), kLong));
  int64_t most = 0;
  for (const Tensor& t : sizes) most = std::max(most, t.item<int64_t>());
  const auto all = gathered(bytes_tensor(bytes, most));
  std::vector<std::string> result;
  for (size_t r = 0; r < ranks; ++r) result.push_back(text_of(all[r], sizes[r].item<int64_t>()));
  return result;
}

std::vector<std::string> gather_bytes(ProcessGroup& group, const std::string& bytes, int root) {
  constexpr int kTag = 0x6862;
  if (group.getRank() != root) {
    std::vector<Tensor> size{full({1}, static_cast<int64_t>(bytes.size()), kLong)};
    group.send(size, root, kTag)->wait();
    std::vector<Tensor> data{bytes_tensor(bytes, static_cast<int64_t>(bytes.size()))};
    group.send(data, root, kTag)->wait();
    return {};
  }
  std::vector<std::string> all(static_cast<size_t>(group.getSize()));
  for (int r = 0; r < group.getSize(); ++r) {
    if (r == root) {
      all[static_cast<size_t>(r)] = bytes;
      continue;
    }
    std::vector<Tensor> size{zeros({1}, kLong)};
    group.recv(size, r, kTag)->wait();
    std::vector<Tensor> data{zeros({size[0].item<int64_t>()}, kByte)};
    group.recv(data, r, kTag)->wait();
    all[static_cast<size_t>(r)] = text_of(data[0], data[0].numel());
  }
  return all;
}

std::string broadcast_bytes(ProcessGroup& group, const std::string& bytes, int root) {
  if (group.getSize() == 1) return bytes;
  BroadcastOptions options;
  options.rootRank = root;
  std::vector<Tensor> size{full({1}, static_cast<int64_t>(bytes.size()), kLong)};
  group.broadcast(size, options)->wait();
  const auto n = size[0].item<int64_t>();
  std::vector<Tensor> data{group.getRank() == root ? bytes_tensor(bytes, n) : zeros({n}, kByte)};
  group.broadcast(data, options)->wait();
  return text_of(data[0], n);
}

void all_reduce(ProcessGroup& group, const Tensor& tensor, ReduceOp op) {
  if (group.getSize() == 1) return;
  std::vector<Tensor> list{tensor};
  AllreduceOptions options;
  options.reduceOp = op;
  group.allreduce(list, options)->wait();
}

void broadcast_all(ProcessGroup& group, const std::vector<Tensor>& tensors, int root) {
  broadcast_messages(group, tensors, kMessageBytes, root);
}

void broadcast_coalesced(const intrusive_ptr<ProcessGroup>& process_group, TensorList tensors, size_t buffer_size,
                         int rank) {
  broadcast_messages(*process_group, tensors, static_cast<int64_t>(buffer_size), rank);
}

void check_equal_on_all_ranks(ProcessGroup& group, const std::vector<Tensor>& tensors,
                              const std::vector<std::string>& names) {
  if (group.getSize() == 1) return;
  std::string own;
  for (const Tensor& t : tensors) {
    const uint64_t hash = t.defined() ? hash_of(t) : 0;
    own.append(reinterpret_cast<const char*>(&hash), sizeof hash);
  }
  const auto all = all_gather_bytes(group, own);
  for (size_t i = 0; i < tensors.size(); ++i) {
    std::string ranks;
    for (size_t r = 1; r < all.size(); ++r) {
      HB_CHECK(all[r].size() == all[0].size(),
               "[check_equal_on_all_ranks] expected the same number of tensors on all "
               "ranks, got ",
               all[0].size() / 8, " on rank 0 and ", all[r].size() / 8, " on rank ", r);
      if (all[r].compare(8 * i, 8, all[0], 8 * i, 8) != 0) ranks += (ranks.empty() ? "" : ", ") + std::to_string(r);
    }
    HB_CHECK(ranks.empty(),
             "[check_equal_on_all_ranks] expected equal bytes on all ranks, got others than rank 0's in ",
             i < names.size() ? names[i] : detail::str("tensor ", i), " of shape ", tensors[i].sizes(), " on rank(s) ",
             ranks);
  }
}

}  // namespace hb::distributed
