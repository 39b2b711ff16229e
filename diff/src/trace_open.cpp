// Trace::open: from a folder of files to records and calls.
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <limits>
#include <optional>
#include <unordered_map>

#include <halfbridge/error.h>
#include <halfbridge/io/safetensors.h>

#include "record_json.h"
#include "trace_files.h"

namespace hb::layer_diff {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMaxFiles = 65536;
constexpr const char* kVersionKey = "halfbridge.trace";
constexpr const char* kVersion = "1";

template <typename... Parts>
[[noreturn]] void fail(const Parts&... parts) {
  throw Error(detail::str("[trace] ", parts...));
}

// The files of a trace by number, or the one that `path` names.
std::vector<std::string> list_files(const std::string& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (!fs::exists(status)) fail("cannot open '", path, "': ", error.message());
  if (!fs::is_directory(status)) return {path};
  std::vector<std::string> files;
  for (const fs::directory_entry& entry : fs::directory_iterator(path)) {
    const std::string name = entry.path().filename().string();
    if (name.rfind("trace-", 0) == 0 && entry.path().extension() == ".safetensors")
      files.push_back(entry.path().string());
    if (files.size() > kMaxFiles) fail("'", path, "': expected at most ", kMaxFiles, " trace files");
  }
  if (files.empty()) {
    fail("'", path, "': expected files trace-00000.safetensors, trace-00001.safetensors, …, found none. Name another ",
         "safetensors file itself");
  }
  // Numbers of more than five digits stand behind those of five.
  std::sort(files.begin(), files.end(),
            [](const std::string& a, const std::string& b) { return std::pair(a.size(), a) < std::pair(b.size(), b); });
  return files;
}

// Records of all files, before they are put in order.
struct Collected {
  std::vector<ParsedRecord> records;
  std::string producer, end;
  std::unordered_map<std::string, size_t> tensors;  // by name, places in `records`
};

void take_entry(Record& record, const io::SafetensorsEntry& entry, int file) {
  record.dtype = entry.dtype;
  record.shape = entry.shape;
  record.file = file;
  record.offset = entry.offset;
  record.bytes = entry.bytes;
}

void read_trace_file(const std::string& path, int number, io::SafetensorsHeader& header, Collected& all) {
  const auto text = [&](const char* key) {
    const auto found = header.metadata.find(key);
    return found == header.metadata.end() ? std::string() : found->second;
  };
  if (text(kVersionKey) != kVersion) {
    fail("'", path, "': expected a trace of version ", kVersion, ", got '", text(kVersionKey), "'");
  }
  if (all.producer.empty()) all.producer = text("producer");
  if (!text("end").empty()) all.end = text("end");
  std::unordered_map<std::string, const io::SafetensorsEntry*> entries;
  for (const io::SafetensorsEntry& entry : header.tensors) entries.emplace(entry.name, &entry);
  for (const auto& [name, json] : header.metadata) {
    if (name == kVersionKey || name == "producer" || name == "file" || name == "end" || name == "format") continue;
    ParsedRecord parsed = parse_record(name, json);
    const auto entry = entries.find(name);
    if (entry != entries.end()) {
      take_entry(parsed.record, *entry->second, number);
      entries.erase(entry);
      if (!all.tensors.emplace(name, all.records.size()).second) fail("record '", name, "' is there twice");
    } else if (!parsed.has_dtype || !parsed.has_shape || (!parsed.record.statistics && parsed.same_as.empty())) {
      fail("'", path, "': record '", name, "' has no tensor: expected its dtype and shape, and statistics or same_as");
    }
    all.records.push_back(std::move(parsed));
  }
  if (!entries.empty()) {
    fail("'", path, "': ", entries.size(), " tensors have no entry in the metadata, as '", entries.begin()->first, "'");
  }
}

// Gives records that share the bytes of another their place.
void resolve_shared(Collected& all) {
  for (ParsedRecord& parsed : all.records) {
    Record& record = parsed.record;
    if (record.file >= 0 || parsed.same_as.empty()) continue;
    const auto found = all.tensors.find(parsed.same_as);
    if (found == all.tensors.end())
      fail("no tensor '", parsed.same_as, "' is there, whose bytes another record shares");
    const Record& source = all.records[found->second].record;
    if (source.dtype != record.dtype || source.numel() != record.numel()) {
      fail("expected the dtype and number of elements of '", parsed.same_as, "' in the record that shares its bytes");
    }
    record.file = source.file;
    record.offset = source.offset;
    record.bytes = source.bytes;
  }
}

// Every tensor of a file that is not a trace is the output of a call of its own.
void read_plain_file(const io::SafetensorsHeader& header, Collected& all) {
  all.producer = "safetensors";
  all.end = "complete";
  for (const io::SafetensorsEntry& entry : header.tensors) {
    ParsedRecord parsed;
    parsed.record.order = static_cast<int64_t>(all.records.size());
    parsed.record.call = parsed.record.order;
    parsed.record.has_path = true;
    parsed.record.path = entry.name;
    take_entry(parsed.record, entry, 0);
    all.records.push_back(std::move(parsed));
  }
}

/// How a file of a trace may end where its program was killed.
enum class Ending {
  whole,
  begun,  // empty, or within its header
  cut     // its header was being written anew: the front of the new one lies before the padding of the old one
};
Ending ending_of(const std::string& path) {
  constexpr uint64_t kLongest = uint64_t{64} << 20;  // of headers
  if (fs::path(path).filename().string().rfind("trace-", 0) != 0) return Ending::whole;
  std::ifstream file(path, std::ios::binary);
  char length[8] = {};
  if (!file || !file.read(length, 8)) return file.eof() ? Ending::begun : Ending::whole;
  uint64_t header = 0;
  for (int k = 8; k-- > 0;) header = header << 8 | static_cast<unsigned char>(length[k]);
  std::error_code error;
  const uint64_t size = fs::file_size(path, error);
  if (error || header > kLongest) return Ending::whole;
  if (size < header + 8) return Ending::begun;
  file.seekg(static_cast<std::streamoff>(header) + 7);
  return file.get() == ' ' ? Ending::cut : Ending::whole;
}

/// Nothing for the last file of a trace whose program was killed before it was readable.
std::optional<io::SafetensorsHeader> read_header(const std::string& path, bool last) {
  const Ending ending = last ? ending_of(path) : Ending::whole;
  if (ending == Ending::begun) return std::nullopt;
  try {
    return io::read_safetensors_header(path, last);
  } catch (const Error&) {
    if (ending == Ending::cut) return std::nullopt;
    throw;
  }
}

Collected collect(const std::vector<std::string>& files) {
  Collected all;
  for (size_t i = 0; i < files.size(); ++i) {
    const bool last = i + 1 == files.size();
    std::optional<io::SafetensorsHeader> header = read_header(files[i], last);
    if (!header) break;
    if (files.size() == 1 && header->metadata.count(kVersionKey) == 0) {
      read_plain_file(*header, all);
    } else {
      read_trace_file(files[i], static_cast<int>(i), *header, all);
    }
  }
  resolve_shared(all);
  std::stable_sort(all.records.begin(), all.records.end(),
                   [](const auto& a, const auto& b) { return a.record.order < b.record.order; });
  return all;
}

// Takes what a record says of its call; the first one that says a thing decides.
void describe(Call& call, const ParsedRecord& parsed) {
  const Record& record = parsed.record;
  if (!call.type.empty() && !record.type.empty() && call.type != record.type) {
    fail("call ", call.id, " has two types, ", call.type, " and ", record.type);
  }
  if (call.type.empty()) call.type = record.type;
  if (call.config.empty()) call.config = parsed.config;
  if (call.root.empty()) call.root = record.root;
  if (!call.has_path && record.has_path) {
    call.has_path = true;
    call.path = record.path;
  }
  if (!call.parent) call.parent = parsed.parent;
  call.training = call.training || parsed.training.value_or(false);
}

std::vector<const Record*>* list_of(Call& call, Kind kind) {
  switch (kind) {
    case Kind::input:
      return &call.inputs;
    case Kind::output:
      return &call.outputs;
    case Kind::grad_output:
      return &call.grad_outputs;
    case Kind::grad_input:
      return &call.grad_inputs;
    case Kind::mask:
      return &call.masks;
    default:
      return nullptr;
  }
}

void sort_by_index(std::vector<const Record*>& list) {
  std::stable_sort(list.begin(), list.end(), [](const Record* a, const Record* b) { return a->index < b->index; });
}

// `records` are in order and stay where they are; `parsed` holds the same, with what they say of their calls.
std::vector<Call> group_calls(const std::vector<Record>& records, const std::vector<ParsedRecord>& parsed) {
  std::vector<Call> calls;
  std::unordered_map<int64_t, size_t> places;
  for (size_t i = 0; i < records.size(); ++i) {
    const Record& record = records[i];
    if (!record.call) continue;
    const auto [place, is_new] = places.emplace(*record.call, calls.size());
    if (is_new) {
      Call call;
      call.id = *record.call;
      call.order = record.order;
      call.step = record.step;
      calls.push_back(std::move(call));
    }
    Call& call = calls[place->second];
    describe(call, parsed[i]);
    if (std::vector<const Record*>* list = list_of(call, record.kind)) list->push_back(&record);
  }
  for (Call& call : calls) {
    for (auto* list : {&call.inputs, &call.outputs, &call.grad_outputs, &call.grad_inputs, &call.masks}) {
      sort_by_index(*list);
    }
    const auto parent = call.parent ? places.find(*call.parent) : places.end();
    if (parent != places.end() && *call.parent != call.id) calls[parent->second].has_children = true;
  }
  return calls;
}

}  // namespace

std::shared_ptr<const Trace> Trace::open(const std::string& path) {
  const std::vector<std::string> files = list_files(path);
  Collected all = collect(files);
  auto trace = std::make_shared<Trace>();
  trace->files_ = std::make_unique<Files>();
  for (const std::string& file : files) trace->files_->files.emplace_back(file);
  trace->path_ = path;
  trace->producer_ = std::move(all.producer);
  trace->end_ = std::move(all.end);
  trace->records_.reserve(all.records.size());
  for (ParsedRecord& parsed : all.records) trace->records_.push_back(parsed.record);
  trace->calls_ = group_calls(trace->records_, all.records);
  std::vector<int64_t>& steps = trace->files_->steps;
  for (const Record& record : trace->records_) {
    if (is_state(record.kind)) trace->files_->modules[{record.root, record.path}].push_back(&record);
    if (steps.empty() || steps.back() != record.step) steps.push_back(record.step);
  }
  std::sort(steps.begin(), steps.end());
  steps.erase(std::unique(steps.begin(), steps.end()), steps.end());
  return trace;
}

}  // namespace hb::layer_diff
