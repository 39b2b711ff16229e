#include "io/torch_archive.h"
#include "io/quoted.h"

#include <cstdlib>
#include <ostream>
#include <utility>

#include "io/atomic_file.h"
#include "io/io_error.h"
#include "io/torch_pickler.h"
#include "io/torch_unpickler.h"

namespace hb::io {
namespace {

// A pickle holds names and shapes; the numbers lie in records of their own.
constexpr uint64_t kMaxPickleBytes = uint64_t{1} << 30;
constexpr uint64_t kMaxSmallRecord = 4096;
constexpr long kNewestVersion = 10;
constexpr const char* kFormatVersion = "3\n";

void check_byte_order(const ZipReader& zip) {
  if (!zip.has("byteorder")) return;
  const std::string order = zip.read("byteorder", kMaxSmallRecord);
  if (order != "little") io_fail("load", "'", zip.label(), "': expected the byte order little, got '", order, "'");
}

intrusive_ptr<StorageImpl> read_storage(const ZipReader& zip, const std::string& record, const std::string& key,
                                        size_t nbytes) {
  const uint64_t held = zip.size(record);
  if (held != nbytes) {  // before memory is taken for what the pickle claims
    io_fail("load", "storage '", key, "' of '", zip.label(), "': expected ", nbytes, " bytes, got ", held);
  }
  auto memory = StorageImpl::allocate(nbytes, kCPU);
  if (nbytes > 0) zip.read_into(record, memory->data(), nbytes);
  return memory;
}

// One class per object: LibTorch finds an object's attributes, and which of them are parameters, by its
// class.
class ClassWriter {
 public:
  explicit ClassWriter(const ivalue::ObjectData& root) { collect(root, 0); }
  const TorchPickler::ClassNames& names() const { return names_; }
  void write(ZipWriter& zip) const {
    for (const auto& [object, file] : files_) zip.add(file, source(*object));
  }

 private:
  void collect(const ivalue::ObjectData& object, int depth) {
    if (depth > 200) io_fail("save", "expected at most 200 levels of nested archives, got more");
    if (names_.count(&object)) return;
    const bool root = files_.empty();
    const std::string module = root ? "" : ".___torch_mangle_" + std::to_string(files_.size() - 1);
    const std::string file = root ? "" : "/" + module.substr(1);
    names_.emplace(&object, "__torch__" + module + ".Module");
    files_.emplace_back(&object, "code/__torch__" + file + ".py");
    for (const auto& attribute : object.attributes) {
      if (attribute.value.isObject()) collect(*attribute.value.toObject(), depth + 1);
    }
  }

  static std::string list_of(const ivalue::ObjectData& object, ivalue::ObjectData::Role role) {
    std::string text = "[";
    for (const auto& attribute : object.attributes) {
      if (attribute.role == role) text += quoted(attribute.name) + ", ";
    }
    return text + "]\n";
  }

  // Quoted, an attribute may have a name that is not an identifier, as a parameter "0" has.
  std::string source(const ivalue::ObjectData& object) const {
    std::string text = "class Module(Module):\n";
    text += "  __parameters__ = " + list_of(object, ivalue::ObjectData::Role::Parameter);
    text += "  __buffers__ = " + list_of(object, ivalue::ObjectData::Role::Buffer);
    text += "  __annotations__ = []\n";
    for (const auto& attribute : object.attributes) {
      const std::string type = attribute.value.isObject() ? names_.at(attribute.value.toObject().get())
                                                          : attribute.value.type()->annotation_str();
      text += "  __annotations__[" + quoted(attribute.name) + "] = " + type + "\n";
    }
    return text;
  }

  TorchPickler::ClassNames names_;
  std::vector<std::pair<const ivalue::ObjectData*, std::string>> files_;
};

void write_pickle(const TorchPickler& pickler, const std::string& pickle, ZipWriter& zip,
                  const ArchivePlace& place = {}) {
  const auto& storages = pickler.storages();
  for (size_t i = 0; i < storages.size(); ++i) {
    zip.add(place.storages + std::to_string(i), storages[i].data_ptr(), storages[i].nbytes());
  }
  zip.add(place.pickle, pickle);
}

void write_end(ZipWriter& zip, const std::string& version = kFormatVersion) {
  zip.add("version", version);
  zip.add("byteorder", "little");
  zip.add(".data/serialization_id", zip.content_id());
  zip.finish();
}

}  // namespace

long check_version(const ZipReader& zip) {
  const char* name = zip.has("version") ? "version" : ".data/version";
  if (!zip.has(name)) io_fail("load", "expected a PyTorch archive, got '", zip.label(), "' without a version record");
  const std::string text = zip.read(name, kMaxSmallRecord);
  char* end = nullptr;
  const long version = std::strtol(text.c_str(), &end, 10);
  if (end == text.c_str() || version < 1 || version > kNewestVersion) {
    io_fail("load", "'", zip.label(), "': expected a format version of 1 to ", kNewestVersion, ", got '", text, "'");
  }
  return version;
}

bool is_module_archive(const ZipReader& zip) { return zip.has("constants.pkl"); }

IValue read_torch_archive(const ZipReader& zip, std::optional<Device> device, const ArchivePlace& place,
                          const ClassCodeMaker& class_code) {
  check_version(zip);
  check_byte_order(zip);
  if (!zip.has(place.pickle)) {
    io_fail("load", "expected a PyTorch archive with a record ", place.pickle, ", got '", zip.label(), "' without one",
            zip.has("model.json") ? " (an older TorchScript format, which is not supported)" : "");
  }
  const std::string pickle = zip.read(place.pickle, kMaxPickleBytes);
  const PickleGraph graph = PickleGraph::parse(pickle, zip.label() + ":" + place.pickle);
  const auto storage = [&](const std::string& key, size_t nbytes) {
    return read_storage(zip, place.storages + key, key, nbytes);
  };
  const auto code = std::make_shared<ScriptCode>(zip, class_code);
  const auto declared = [code](const std::string& name) { return code->find(name); };
  return TorchUnpickler(graph, storage, device, declared).run();
}

void write_module_archive(const std::shared_ptr<ivalue::ObjectData>& root, ZipWriter& zip) {
  const ClassWriter classes(*root);
  TorchPickler pickler(TorchPickler::Flavour::TorchScript);
  write_pickle(pickler, pickler.pickle(IValue(root), classes.names()), zip);
  classes.write(zip);
  TorchPickler constants(TorchPickler::Flavour::TorchScript);
  zip.add("constants.pkl", constants.pickle(IValue(ivalue::TupleData::create(std::vector<IValue>()))));
  write_end(zip);
}

void write_script_archive(const ScriptArchive& archive, ZipWriter& zip) {
  TorchPickler module(TorchPickler::Flavour::TorchScript), constants(TorchPickler::Flavour::TorchScript);
  write_pickle(module, module.pickle(archive.module, archive.class_names), zip);
  for (const auto& [name, text] : archive.files) zip.add(name, text);
  write_pickle(constants, constants.pickle(archive.constants), zip, {"constants.pkl", "constants/"});
  write_end(zip, std::to_string(archive.version) + "\n");
}

void write_pickle_archive(const IValue& value, bool for_python, ZipWriter& zip) {
  TorchPickler pickler(for_python ? TorchPickler::Flavour::Python : TorchPickler::Flavour::TorchScript);
  const std::string pickle = pickler.pickle(value);
  write_pickle(pickler, pickle, zip);
  write_end(zip);
}

std::string archive_root(const std::string& path) {
  const auto slash = path.rfind('/');
  std::string name = slash == std::string::npos ? path : path.substr(slash + 1);
  const auto dot = name.rfind('.');
  if (dot != std::string::npos) name.erase(dot);
  return name.empty() ? "archive" : name;
}

void save_archive(const std::string& path, const std::function<void(ZipWriter&)>& write) {
  AtomicFile file(path);
  ZipWriter zip(archive_root(path), [&file](const void* data, size_t size) { file.write(data, size); });
  write(zip);
  file.commit();
}

void save_archive(std::ostream& stream, const std::function<void(ZipWriter&)>& write) {
  ZipWriter zip("archive", [&stream](const void* data, size_t size) {
    stream.write(static_cast<const char*>(data), static_cast<std::streamsize>(size));
    if (!stream.good()) io_fail("save", "cannot write to the stream");
  });
  write(zip);
}

}  // namespace hb::io
