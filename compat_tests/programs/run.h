// What every program here shares: its command line, and a record of a run (weights at the start and at the
// end, the loss of each step) that another build's record can be compared with. Only torch:: and the standard
// library.
#pragma once

#include "fault.h"

#include <torch/torch.h>
#if __has_include(<halfbridge/graph.h>)
#include <halfbridge/graph.h>
#endif
#ifdef HALFBRIDGE_CAPTURE  // the build with LibTorch; in the other one HALFBRIDGE_TRACE works by itself
#include <halfbridge/capture_libtorch.h>
#endif

#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace run {

struct Args {
  int64_t steps = 50;
  uint64_t seed = 1;
  std::string data = ".";
  std::string out;        // a .json file; the tensors go beside it, to a .safetensors file
  double dropout = -1.0;  // below 0: the program's own
  std::map<std::string, std::string> more;

  /// Where the program computes: `--device cuda`.
  torch::Device device() const { return torch::Device(get("device", "cpu")); }
  double dropout_or(double own) const { return dropout < 0 ? own : dropout; }
  std::string get(const std::string& key, const std::string& otherwise) const {
    auto it = more.find(key);
    return it == more.end() ? otherwise : it->second;
  }
};

/// Reads `--key value` pairs; a key that no program knows is kept in `more`.
inline Args parse(int argc, char** argv) {
  Args args;
  for (int i = 1; i < argc; ++i) {
    const std::string key = argv[i];
    if (key.rfind("--", 0) != 0 || i + 1 == argc) throw std::invalid_argument("expected --key value, got " + key);
    const std::string value = argv[++i];
    if (key == "--steps") {
      args.steps = std::stoll(value);
    } else if (key == "--seed") {
      args.seed = std::stoull(value);
    } else if (key == "--data") {
      args.data = value;
    } else if (key == "--out") {
      args.out = value;
    } else if (key == "--dropout") {
      args.dropout = std::stod(value);
    } else {
      args.more[key.substr(2)] = value;
    }
  }
  torch::manual_seed(args.seed);
  return args;
}

#ifdef HALFBRIDGE_CAPTURE
using Trace = std::unique_ptr<hb::trace::Capture>;
#else
struct Trace {
  ~Trace() {}
};
#endif

/// Where HALFBRIDGE_TRACE names a folder: while the result lives, what these modules compute is traced (with `--capture
/// 0` LibTorch's build leaves that to the preloaded library). Before that, the fault of `--fault KIND:PATH` is put in.
template <class... Modules>
Trace trace(const Args& args, Modules&... modules) {
  fault(args.get("fault", ""), {&modules...});
#ifdef HALFBRIDGE_CAPTURE
  const char* folder = std::getenv("HALFBRIDGE_TRACE");
  if (folder && *folder && args.get("capture", "1") == "1")
    return std::make_unique<hb::trace::Capture>(hb::capture({modules...}, folder));
#endif
  return {};
}

/// A training step, as it is; with `--captured 1` Halfbridge's build captures it and replays it. `numbers` are those
/// that the step leaves behind; at its end it prints how often it was replayed.
template <class Signature, class Step>
std::function<Signature> training_step(const Args& args, Step step, const std::vector<double*>& numbers = {}) {
#if __has_include(<halfbridge/graph.h>)
  if (args.get("captured", "0") == "1") {
    hb::graph::CompileOptions options;
    for (double* number : numbers) options.writes(*number);
    using Compiled = hb::graph::Compiled<Step>;
    const std::shared_ptr<Compiled> captured(new Compiled(std::move(step), options), [](Compiled* c) {
      std::cout << "replayed " << c->counts().replayed << " of " << c->counts().replayed + c->counts().eager
                << std::endl;
      delete c;
    });
    return [captured](auto&&... arguments) { return (*captured)(arguments...); };
  }
#endif
  (void)args, (void)numbers;
  return step;
}

inline bool file_exists(const std::string& path) { return std::ifstream(path).good(); }

/// Gathers a run and writes it: `FILE.json` to read, `FILE.safetensors` to compare.
class Record {
 public:
  Record(std::string program, const Args& args) : program_(std::move(program)), out_(args.out) {}

  /// Keeps copies of the module's parameters and buffers as `phase/prefix.name`.
  void weights(const std::string& phase, const std::string& prefix, const torch::nn::Module& module) {
    for (const auto& item : module.named_parameters()) keep(phase + "/" + prefix + "." + item.key(), item.value());
    for (const auto& item : module.named_buffers()) keep(phase + "/" + prefix + "." + item.key(), item.value());
  }

  void keep(const std::string& name, const torch::Tensor& value) {
    names_.push_back(name);
    values_.push_back(value.detach().to(torch::kCPU, torch::kFloat).contiguous().clone());
  }

  void loss(double value, const std::string& series = "loss") { series_[series].push_back(value); }

  void write() {
    if (out_.empty()) return;
    for (const auto& item : series_) {
      std::vector<float> all(item.second.begin(), item.second.end());
      keep("series/" + item.first, torch::tensor(all));
    }
    write_json();
    write_safetensors();
  }

 private:
  void write_json() const {
    std::ofstream json(out_);
    json << "{\"program\":\"" << program_ << "\",\"series\":{";
    bool first = true;
    for (const auto& item : series_) {
      json << (first ? "" : ",") << "\"" << item.first << "\":[";
      first = false;
      for (size_t i = 0; i < item.second.size(); ++i) json << (i ? "," : "") << number(item.second[i]);
      json << "]";
    }
    json << "},\"weights\":{";
    for (size_t i = 0; i < names_.size(); ++i) {
      json << (i ? "," : "") << "\n\"" << names_[i] << "\":{\"fnv1a\":\"" << hash(values_[i])
           << "\",\"sum\":" << number(values_[i].to(torch::kDouble).sum().item<double>()) << "}";
    }
    json << "}}\n";
    if (!json) throw std::runtime_error("could not write " + out_);
  }

  void write_safetensors() const {
    std::ostringstream header;
    int64_t at = 0;
    header << "{";
    for (size_t i = 0; i < names_.size(); ++i) {
      const int64_t bytes = values_[i].numel() * 4;
      header << (i ? "," : "") << "\"" << names_[i] << "\":{\"dtype\":\"F32\",\"shape\":[";
      for (int64_t d = 0; d < values_[i].dim(); ++d) header << (d ? "," : "") << values_[i].size(d);
      header << "],\"data_offsets\":[" << at << "," << at + bytes << "]}";
      at += bytes;
    }
    header << "}";
    std::string text = header.str();
    text.resize((text.size() + 7) / 8 * 8, ' ');
    const uint64_t length = text.size();
    const std::string path = out_.substr(0, out_.rfind(".json")) + ".safetensors";
    std::ofstream file(path, std::ios::binary);
    file.write(reinterpret_cast<const char*>(&length), 8);
    file.write(text.data(), static_cast<std::streamsize>(text.size()));
    for (const auto& value : values_) {
      file.write(reinterpret_cast<const char*>(value.data_ptr<float>()), value.numel() * 4);
    }
    if (!file) throw std::runtime_error("could not write " + path);
  }

  static std::string number(double value) {
    if (!(value - value == 0)) return "null";  // infinite or not a number
    char text[40];
    std::snprintf(text, sizeof text, "%.17g", value);
    return text;
  }

  static std::string hash(const torch::Tensor& value) {
    uint64_t state = 1469598103934665603ULL;
    const auto* bytes = reinterpret_cast<const unsigned char*>(value.data_ptr<float>());
    for (int64_t i = 0; i < value.numel() * 4; ++i) state = (state ^ bytes[i]) * 1099511628211ULL;
    char text[20];
    std::snprintf(text, sizeof text, "%016" PRIx64, state);
    return text;
  }

  std::string program_;
  std::string out_;
  std::vector<std::string> names_;
  std::vector<torch::Tensor> values_;
  std::map<std::string, std::vector<double>> series_;
};

}  // namespace run
