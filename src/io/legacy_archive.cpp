#include "io/legacy_archive.h"

#include <cstring>
#include <unordered_map>

#include "io/io_error.h"
#include "io/pickle_reader.h"
#include "io/torch_unpickler.h"

namespace hb::io {
namespace {

using Kind = PickleNode::Kind;
using namespace std::string_view_literals;

// The number 0x1950a86a20f9469cfc6c as a pickle, after its protocol.
constexpr std::string_view kMagic = "\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19."sv;
constexpr int64_t kProtocolVersion = 1001;
constexpr size_t kFrameBytes = 9;  // protocols 4 and 5 put a frame around it

// Where the magic number's pickle ends, or 0.
size_t end_of_magic(std::string_view bytes) {
  if (bytes.size() < 2 || bytes[0] != '\x80') return 0;
  size_t at = 2;
  if (bytes.size() > at && bytes[at] == '\x95') at += kFrameBytes;
  if (bytes.size() < at || bytes.substr(at, kMagic.size()) != kMagic) return 0;
  return at + kMagic.size();
}

class LegacyReader {
 public:
  LegacyReader(std::string_view bytes, const std::string& label)
      : bytes_(bytes), label_(label), position_(end_of_magic(bytes)) {}

  IValue run(std::optional<Device> device) {
    check_header();
    const PickleGraph graph = next_pickle();
    describe_storages(graph);
    const PickleGraph keys = next_pickle();
    find_storages(keys);
    const auto storage = [this](const std::string& key, size_t nbytes) { return read_storage(key, nbytes); };
    return TorchUnpickler(graph, storage, device).run();
  }

 private:
  struct Place {
    StorageId id;
    size_t offset;
    bool found;
  };

  template <typename... Parts>
  [[noreturn]] void fail(size_t offset, const Parts&... parts) const {
    io_fail("load", "'", label_, "', byte ", offset, ": ", parts...);
  }

  PickleGraph next_pickle() {
    PickleGraph graph = PickleGraph::parse(bytes_, label_, position_);
    position_ += graph.size();
    return graph;
  }

  void check_header() {
    if (position_ == 0) fail(0, "expected a torch.save file from before PyTorch 1.6");
    const PickleGraph version = next_pickle();
    if (version.root().kind != Kind::Int || version.root().integer != kProtocolVersion) {
      fail(version.root().offset, "expected the protocol version ", kProtocolVersion);
    }
    const PickleGraph system = next_pickle();
    const auto& items = system.root().items;
    if (system.root().kind != Kind::Dict) fail(system.root().offset, "expected a dict that describes the writer");
    for (size_t i = 0; i + 1 < items.size(); i += 2) {
      if (items[i]->text == "little_endian" && items[i + 1]->integer == 0) {
        fail(items[i]->offset, "expected the byte order little, got big");
      }
    }
  }

  // The sizes of storages stand behind the pickle in elements, and only the pickle knows of what.
  void describe_storages(const PickleGraph& graph) {
    for (const PickleNode& node : graph.nodes()) {
      if (node.kind != Kind::Persistent) continue;
      StorageId id = storage_id(node, label_);
      places_.emplace(id.key, Place{id, 0, false});
    }
  }

  void find_storages(const PickleGraph& keys) {
    if (keys.root().kind != Kind::List) fail(keys.root().offset, "expected the list of storages");
    for (const PickleNode* key : keys.root().items) {
      const auto found = key->kind == Kind::String ? places_.find(key->text) : places_.end();
      if (found == places_.end() || found->second.found) {
        fail(key->offset, "expected the key of a storage that the pickle uses, each once, got '", key->text, "'");
      }
      skip_storage(found->second);
    }
    if (position_ != bytes_.size()) fail(position_, "expected the end, got ", bytes_.size() - position_, " more bytes");
  }

  void skip_storage(Place& place) {
    uint64_t numel = 0;
    const size_t left = bytes_.size() - position_;
    if (left < sizeof numel) fail(position_, "expected the size of storage '", place.id.key, "' (truncated)");
    std::memcpy(&numel, bytes_.data() + position_, sizeof numel);
    if (numel != static_cast<uint64_t>(place.id.numel)) {
      fail(position_, "storage '", place.id.key, "': expected ", place.id.numel, " elements, got ", numel);
    }
    if (place.id.nbytes > left - sizeof numel) {
      fail(position_, "storage '", place.id.key, "': expected ", place.id.nbytes, " bytes, got ", left - sizeof numel,
           " (truncated)");
    }
    place.offset = position_ + sizeof numel;
    place.found = true;
    position_ = place.offset + place.id.nbytes;
  }

  intrusive_ptr<StorageImpl> read_storage(const std::string& key, size_t nbytes) const {
    const Place& place = places_.at(key);
    if (!place.found) fail(position_, "storage '", key, "' is missing");
    if (place.id.nbytes != nbytes) fail(place.offset, "storage '", key, "' is described in two ways");
    auto memory = StorageImpl::allocate(nbytes, kCPU);
    if (nbytes > 0) std::memcpy(memory->data(), bytes_.data() + place.offset, nbytes);
    return memory;
  }

  std::string_view bytes_;
  const std::string& label_;
  size_t position_;
  std::unordered_map<std::string, Place> places_;
};

}  // namespace

bool is_legacy_archive(std::string_view bytes) { return end_of_magic(bytes) != 0; }

IValue read_legacy_archive(std::string_view bytes, const std::string& label, std::optional<Device> device) {
  return LegacyReader(bytes, label).run(device);
}

}  // namespace hb::io
