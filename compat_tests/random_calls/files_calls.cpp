// Tensors through files: of any dtype and layout, several with the same memory. With $FILES, a folder, a program leaves
// its files there for the other library's, which reads them if they are there.
#include <torch/script.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "calls.h"

using random_calls::Inputs;
using random_calls::Tensors;
using torch::Tensor;

namespace {

#ifdef HALFBRIDGE_VERSION
constexpr const char *kOwn = "halfbridge", *kOther = "libtorch";
#else
constexpr const char *kOwn = "libtorch", *kOther = "halfbridge";
#endif

/// What was written, or the bytes that the other library has written for the same call.
std::string exchanged(const std::string& bytes, const std::string& name) {
  const char* const folder = std::getenv("FILES");
  if (!folder) return bytes;
  std::ofstream(std::filesystem::path(folder) / (name + kOwn), std::ios::binary) << bytes;
  std::ifstream other(std::filesystem::path(folder) / (name + kOther), std::ios::binary);
  if (!other) return bytes;
  std::ostringstream read;
  read << other.rdbuf();
  return read.str();
}

Tensors any_tensors(Inputs& in) {
  Tensors all;
  for (int64_t n = in.between(1, 3); n > 0; --n) {
    all.push_back(in.any(1).x);
    const Tensor last = all.back();
    if (in.one_of(3)) all.push_back(last.detach().flatten());
    if (in.one_of(4) && last.dim() > 0) all.push_back(last.detach().transpose(0, -1));
    if (in.one_of(4)) all.push_back(last);
    if (in.one_of(6)) all.push_back(last.detach().clone().set_requires_grad(last.is_floating_point()));
  }
  return all;
}

/// The tensors, whether they want a gradient, and which of them share memory.
Tensors known_of(const Tensors& all) {
  Tensors shown;
  for (const Tensor& t : all) {
    shown.push_back(t.detach());
    std::vector<int64_t> known{t.requires_grad(), t.is_leaf(), t.storage_offset(), t.is_contiguous()};
    for (const Tensor& other : all) known.push_back(t.is_alias_of(other));
    known.push_back(static_cast<int64_t>(t.storage().nbytes()));
    shown.push_back(torch::tensor(known));
  }
  return shown;
}

std::string name_of(Inputs& in) { return std::to_string(std::hash<std::string>()(in.description())) + "."; }

Tensors saved(Inputs& in) {
  const Tensors all = any_tensors(in);
  std::ostringstream bytes;
  torch::save(all, bytes);
  std::istringstream read(exchanged(bytes.str(), name_of(in)));
  Tensors back;
  torch::load(back, read);
  return known_of(back);
}

Tensors pickled(Inputs& in) {
  const Tensors all = any_tensors(in);
  c10::impl::GenericList list(c10::AnyType::get());
  for (const Tensor& t : all) list.push_back(t);
  const auto bytes = torch::pickle_save(list);
  const std::string read = exchanged({bytes.begin(), bytes.end()}, name_of(in));
  const c10::IValue value = torch::pickle_load({read.begin(), read.end()});
  Tensors back;
  for (const c10::IValue& item : value.toListRef()) back.push_back(item.toTensor());
  return known_of(back);
}

Tensors archived(Inputs& in) {
  const Tensors all = any_tensors(in);
  torch::serialize::OutputArchive whole, part;
  for (size_t i = 0; i < all.size(); ++i)
    (i % 2 ? part : whole).write("t" + std::to_string(i), all[i], in.coin() && !all[i].requires_grad());
  part.write("number", c10::IValue(in.between(-3, 3)));
  whole.write("part", part);
  std::ostringstream bytes;
  whole.save_to(bytes);
  std::istringstream stream(exchanged(bytes.str(), name_of(in)));
  torch::serialize::InputArchive read, read_part;
  read.load_from(stream);
  read.read("part", read_part);
  Tensors back;
  for (size_t i = 0; i < all.size(); ++i) {
    Tensor t;
    auto& archive = i % 2 ? read_part : read;
    const std::string name = "t" + std::to_string(i);
    if (!archive.try_read(name, t, true) && !archive.try_read(name, t)) archive.read(name, t);
    back.push_back(t);
  }
  return known_of(back);
}

Tensors scripted(Inputs& in) {
  torch::jit::Module module("Kept");
  const Tensors all = any_tensors(in);
  for (size_t i = 0; i < all.size(); ++i) {
    if (all[i].requires_grad())
      module.register_parameter("t" + std::to_string(i), all[i], false);
    else
      module.register_buffer("t" + std::to_string(i), all[i]);
  }
  std::ostringstream bytes;
  module.save(bytes);
  std::istringstream read(exchanged(bytes.str(), name_of(in)));
  const auto back = torch::jit::load(read);
  Tensors tensors;
  for (size_t i = 0; i < all.size(); ++i) tensors.push_back(back.attr("t" + std::to_string(i)).toTensor());
  return known_of(tensors);
}

}  // namespace

DRAWN(saved(in))
DRAWN(pickled(in))
DRAWN(archived(in))
DRAWN(scripted(in))
