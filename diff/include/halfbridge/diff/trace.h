// Traces as the comparison reads them (docs/trace-format.md). Tensors stay on disk until they are asked for.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <halfbridge/tensor.h>
#include <halfbridge/trace/record.h>

namespace hb::layer_diff {

using trace::Kind;
using trace::Statistics;
/// As in trace files; throws hb::Error for any other name.
Kind kind_of(const std::string& name);

/// One tensor of a trace.
struct Record {
  int64_t order = 0, step = 0, index = 0;
  Kind kind = Kind::output;
  std::optional<int64_t> call;
  bool has_path = false;
  std::string path, root, type, name;
  Dtype dtype = kFloat;
  std::vector<int64_t> shape;
  std::optional<Statistics> statistics;
  // Where its bytes are; file < 0 for one of statistics alone.
  int file = -1;
  uint64_t offset = 0, bytes = 0;
  int64_t numel() const;
};

/// One call of a module or function, with its records in the order of their index.
struct Call {
  int64_t id = 0, order = 0, step = 0;
  std::optional<int64_t> parent;
  bool has_path = false, training = false, has_children = false;
  std::string path, root, type, config;
  std::vector<const Record*> inputs, outputs, grad_outputs, grad_inputs, masks;
};

/// Recorded of a module (or of the optimizer) rather than of a call.
inline bool is_state(Kind kind) { return kind >= Kind::parameter; }

/// A trace on disk: a folder of trace files, one such file, or any other safetensors file (its tensors are then outputs
/// of calls without a type, named by their paths).
class Trace {
 public:
  /// Reads the headers. Throws hb::Error that names the file for what is missing, malformed or not within it.
  static std::shared_ptr<const Trace> open(const std::string& path);
  ~Trace();

  const std::string& path() const { return path_; }
  const std::string& producer() const { return producer_; }
  /// `complete`, or why the trace stopped early; empty where the program ended before it was closed.
  const std::string& end() const { return end_; }
  const std::vector<Record>& records() const { return records_; }  // by order
  const std::vector<Call>& calls() const { return calls_; }        // by order
  /// Parameters and buffers that a module had when `step` began (from parameter, buffer or the updated_ record of an
  /// earlier step), by name; empty where none was recorded.
  std::map<std::string, const Record*> state_of(const std::string& root, const std::string& path, int64_t step) const;

  /// What is recorded of a module beside its calls, by order: parameters, buffers, their gradients and updates, the
  /// optimizer's states.
  const std::vector<const Record*>& of_module(const std::string& root, const std::string& path) const;

  /// Reads a tensor into memory.
  Tensor load(const Record& record) const;
  /// Reads `count` elements from element `first` on, converted to double. Any thread may call it.
  void read(const Record& record, int64_t first, int64_t count, double* values) const;
  /// The same as they are on disk.
  void read_raw(const Record& record, int64_t first, int64_t count, void* bytes) const;

 private:
  struct Files;
  std::string path_, producer_, end_;
  std::vector<Record> records_;
  std::vector<Call> calls_;
  std::unique_ptr<Files> files_;
};

}  // namespace hb::layer_diff
