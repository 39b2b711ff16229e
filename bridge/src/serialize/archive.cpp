#include <halfbridge/bridge/serialize/archive.h>

#include <istream>
#include <ostream>

#include <halfbridge/bridge/jit.h>
#include <halfbridge/bridge/serialize.h>
#include <halfbridge/grad_mode.h>
#include <halfbridge/io/checkpoint.h>

#include "io/io_error.h"
#include "io/torch_archive.h"
#include "optim/step_watcher.h"
#include "serialize/read_stream.h"

namespace hb::bridge {
namespace serialize {

std::string read_stream(std::istream& stream) {
  stream.clear(stream.rdstate() & ~std::ios::eofbit);
  stream.seekg(0);
  if (!stream) io::io_fail("load", "cannot go to the beginning of the stream");
  std::string bytes;
  char chunk[1 << 16];
  while (stream.read(chunk, sizeof chunk) || stream.gcount() > 0) {
    bytes.append(chunk, static_cast<size_t>(stream.gcount()));
  }
  if (stream.bad()) io::io_fail("load", "cannot read the stream");
  stream.clear();  // programs write to it again
  return bytes;
}

namespace {

using Role = ivalue::ObjectData::Role;

std::shared_ptr<ivalue::ObjectData> read_module(const io::ZipReader& zip, std::optional<Device> device) {
  const IValue value = io::read_torch_archive(zip, device);
  if (!value.isObject()) {
    io::io_fail("load", "expected an archive that torch::save wrote, got '", zip.label(), "' with a ", value.tagKind(),
                " (read it with torch::pickle_load or hb::io::load_checkpoint)");
  }
  return value.toObject();
}

}  // namespace

OutputArchive::OutputArchive() : OutputArchive(std::make_shared<jit::CompilationUnit>()) {}
OutputArchive::OutputArchive(OutputArchive&&) = default;
OutputArchive& OutputArchive::operator=(OutputArchive&&) = default;
OutputArchive::~OutputArchive() = default;
OutputArchive::OutputArchive(std::shared_ptr<jit::CompilationUnit> unit)
    : unit_(std::move(unit)), object_(std::make_shared<ivalue::ObjectData>()) {}

void OutputArchive::write(const std::string& key, const IValue& value) { object_->set(key, value, Role::Attribute); }

void OutputArchive::write(const std::string& key, const Tensor& tensor, bool is_buffer) {
  if (!tensor.defined()) io::io_fail("save", "expected a defined tensor for '", key, "', got an undefined one");
  object_->set(key, tensor, is_buffer ? Role::Buffer : Role::Parameter);
}

void OutputArchive::write(const std::string& key, OutputArchive& nested) {
  object_->set(key, nested.object_, Role::Attribute);
}

void OutputArchive::save_to(const std::string& filename) {
  io::save_archive(filename, [&](io::ZipWriter& zip) { io::write_module_archive(object_, zip); });
}

void OutputArchive::save_to(std::ostream& stream) {
  io::save_archive(stream, [&](io::ZipWriter& zip) { io::write_module_archive(object_, zip); });
}

void OutputArchive::save_to(const std::function<size_t(const void*, size_t)>& write) {
  io::ZipWriter zip("archive", [&](const void* data, size_t size) {
    const size_t taken = write(data, size);
    if (taken != size) io::io_fail("save", "expected the writer to take ", size, " bytes, got ", taken);
  });
  io::write_module_archive(object_, zip);
}

InputArchive::InputArchive(InputArchive&&) = default;
InputArchive& InputArchive::operator=(InputArchive&&) = default;
InputArchive::~InputArchive() = default;
InputArchive::InputArchive() : object_(std::make_shared<ivalue::ObjectData>()) {}

const IValue* InputArchive::find(const std::string& key) const {
  const auto* attribute = object_->find(key);
  return attribute ? &attribute->value : nullptr;
}

bool InputArchive::try_read(const std::string& key, IValue& value) {
  const IValue* found = find(key);
  if (found) value = *found;
  return found != nullptr;
}

void InputArchive::read(const std::string& key, IValue& value) {
  if (!try_read(key, value))
    throw jit::ObjectAttributeError("[load] No such serialized value: the archive does not have a field with name '" +
                                    prefix_ + key + "'");
}

bool InputArchive::try_read(const std::string& key, Tensor& tensor, bool /*is_buffer*/) {
  const IValue* found = find(key);
  if (!found || !found->isTensor()) return false;
  const Tensor& loaded = found->toTensor();
  if (!tensor.defined()) {
    tensor = loaded;
    return true;
  }
  if (tensor.scalar_type() != loaded.scalar_type()) {
    // Under HALFBRIDGE_AMP weights may have been half when they were saved and float32 now, or the other way round:
    // they become what they were.
    if (optim::StepWatchers::any() && tensor.is_floating_point() && loaded.is_floating_point()) {
      NoGradGuard no_grad;
      tensor.set_data(loaded);
      return true;
    }
    io::io_fail("load", "'", prefix_, key, "': expected a tensor of dtype ", tensor.scalar_type(), ", got ",
                loaded.scalar_type());
  }
  NoGradGuard no_grad;
  // Aliases keep what they have, and tensors that shared memory when they were saved share it again.
  if (tensor.device() == loaded.device() && tensor.layout() == kStrided && loaded.layout() == kStrided) {
    tensor.set_(loaded);
  } else {
    tensor.set_data(loaded);
  }
  return true;
}

void InputArchive::read(const std::string& key, Tensor& tensor, bool is_buffer) {
  if (!try_read(key, tensor, is_buffer)) io::io_fail("load", "No such serialized tensor '", prefix_, key, "'");
}

bool InputArchive::try_read(const std::string& key, InputArchive& archive) {
  const IValue* found = find(key);
  if (!found || !found->isObject()) return false;
  auto object = found->toObject();
  archive.prefix_ = prefix_ + key + ".";
  archive.object_ = std::move(object);
  return true;
}

void InputArchive::read(const std::string& key, InputArchive& archive) {
  if (!try_read(key, archive)) io::io_fail("load", "No such serialized submodule: '", prefix_, key, "'");
}

std::string read_all(const std::function<size_t(uint64_t pos, void* buf, size_t n)>& read, size_t size) {
  std::string bytes(size, '\0');
  for (size_t done = 0; done < bytes.size();) {
    const size_t got = read(done, bytes.data() + done, bytes.size() - done);
    if (got == 0 || got > bytes.size() - done) {
      io::io_fail("load", "expected ", bytes.size() - done, " more bytes from the reader, got ", got);
    }
    done += got;
  }
  return bytes;
}

void InputArchive::load_from(const std::string& filename, std::optional<Device> device) {
  object_ = read_module(io::ZipReader::open_file(filename), device);
}

void InputArchive::load_from(std::istream& stream, std::optional<Device> device) {
  const std::string bytes = read_stream(stream);
  load_from(bytes.data(), bytes.size(), device);
}

void InputArchive::load_from(const char* data, size_t size, std::optional<Device> device) {
  object_ = read_module(io::ZipReader::open_memory(data, size, "memory"), device);
}

void InputArchive::load_from(const std::function<size_t(uint64_t pos, void* buf, size_t nbytes)>& read,
                             const std::function<size_t()>& size, std::optional<Device> device) {
  const std::string bytes = read_all(read, size());
  load_from(bytes.data(), bytes.size(), device);
}

std::vector<std::string> InputArchive::keys() {
  std::vector<std::string> names;
  names.reserve(object_->attributes.size());
  for (const auto& attribute : object_->attributes) names.push_back(attribute.name);
  return names;
}

}  // namespace serialize

std::vector<char> pickle_save(const IValue& value) { return io::pickle_save(value); }
IValue pickle_load(const std::vector<char>& data) { return io::pickle_load(data); }

}  // namespace hb::bridge
