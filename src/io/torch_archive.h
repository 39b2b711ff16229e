// PyTorch's zip archives: what torch.save, torch::save, torch::pickle_save and TorchScript write.
#pragma once

#include <functional>
#include <iosfwd>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <halfbridge/ivalue.h>

#include "io/script_code.h"
#include "io/zip_reader.h"
#include "io/zip_writer.h"

namespace hb::io {

/// The version of the format; throws where it is no archive of PyTorch's, or none that can be read.
long check_version(const ZipReader& zip);

/// Where in an archive a value is: its pickle, and the folder of its storages.
struct ArchivePlace {
  std::string pickle = "data.pkl", storages = "data/";
};
/// Reads the value that an archive holds: an Object for LibTorch's and TorchScript's archives of modules,
/// anything for the others. With a device, all tensors are put there; without, each goes where it was. `code` is asked
/// for that of each class.
IValue read_torch_archive(const ZipReader& zip, std::optional<Device> device, const ArchivePlace& place = {},
                          const ClassCodeMaker& code = nullptr);
/// Whether it is an archive of a module, with classes.
bool is_module_archive(const ZipReader& zip);

/// Writes what LibTorch's torch::load and InputArchive read.
void write_module_archive(const std::shared_ptr<ivalue::ObjectData>& root, ZipWriter& zip);
/// An archive of TorchScript, whose module has code of its own.
struct ScriptArchive {
  IValue module, constants;                                // an object and a tuple
  std::vector<std::pair<std::string, std::string>> files;  // "code/__torch__.py", "extra/notes.txt": and its text
  long version = 0;                                        // of the format, which says what the code's functions mean
  std::unordered_map<const ivalue::ObjectData*, std::string> class_names = {};  // in place of objects' own, as pickled
};
void write_script_archive(const ScriptArchive& archive, ZipWriter& zip);
/// Writes what torch::pickle_load reads, and, with `for_python`, what Python's torch.load reads.
void write_pickle_archive(const IValue& value, bool for_python, ZipWriter& zip);

/// The folder inside an archive that is saved at `path`: the name without folders and ending, as LibTorch has
/// it.
std::string archive_root(const std::string& path);
/// Calls `write` with a writer to a temporary file, which takes the place of `path` when all went well.
void save_archive(const std::string& path, const std::function<void(ZipWriter&)>& write);
/// The same to a stream; throws where that takes no more.
void save_archive(std::ostream& stream, const std::function<void(ZipWriter&)>& write);

}  // namespace hb::io
