// Writes a layer as a program of its own.
#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <halfbridge/diff/explain.h>
#include <halfbridge/error.h>
#include <halfbridge/ops.h>

#include "../describe.h"
#include "../replay/split.h"
#include "new_folder.h"
#include "source.h"
#include "template.h"

namespace hb::layer_diff {

namespace {

namespace fs = std::filesystem;

void write_text(const fs::path& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  HB_CHECK(file, "[bundle] cannot write ", path.string());
}

const char* name_of_dtype(Dtype dtype) {
  switch (dtype) {
    case kDouble:
      return "torch::kFloat64";
    case kFloat:
      return "torch::kFloat32";
    case kHalf:
      return "torch::kFloat16";
    case kBFloat16:
      return "torch::kBFloat16";
    case kLong:
      return "torch::kInt64";
    case kInt:
      return "torch::kInt32";
    case kShort:
      return "torch::kInt16";
    case kChar:
      return "torch::kInt8";
    case kByte:
      return "torch::kUInt8";
    case kBool:
      return "torch::kBool";
    default:
      break;
  }
  throw Error("[bundle] a tensor has a dtype that has no file");
}

// A parameter's name becomes that of a file, and stands in the source.
void check_name(const std::string& name) {
  const auto is_plain = [](unsigned char c) { return std::isalnum(c) || c == '_' || c == '.'; };
  HB_CHECK(std::all_of(name.begin(), name.end(), is_plain), "[bundle] the trace names a parameter '", printable(name),
           "': expected letters, digits, '_' and '.' alone");
}

class Writer {
 public:
  Writer(const Report& report, const LayerDiff& layer, const fs::path& folder) : layer_(layer), folder_(folder) {
    HB_CHECK(layer.ref, "[bundle] layer ", layer.id, " is not in the reference");
    data_ = replay::load(*report.ref, *layer.ref);
    const auto made = replay::layer_of(*report.ref, *layer.ref);
    HB_CHECK(made, "[bundle] ", layer.ref->type, " is no type that can be made again");
    model_ = replay::model_of(data_, 0);
    HB_CHECK(model_.layer && !data_.outputs.empty() && data_.outputs[0].defined(),
             "[bundle] the layer cannot be made again: ", model_.problem);
    for (const auto& item : model_.layer->state) check_name(item.first);
  }

  void write() {
    // Attention prints none of its sizes in C++.
    replay::Layer& made = *model_.layer;
    const auto projection = made.state.find("out_proj.weight");
    if (made.declaration->type == "MultiheadAttention" && !made.args.has("embed_dim") && projection != made.state.end())
      made.args.set("embed_dim", replay::Value::of(static_cast<double>(projection->second.size(0))));
    std::vector<bool> defined;
    for (const Tensor& input : data_.inputs) defined.push_back(input.defined());
    const bundle::LayerSource source = bundle::source_of(*model_.layer, layer_.ref->type, defined);
    write_text(folder_ / "main.cpp",
               fmt::format(fmt::runtime(bundle::kMain), fmt::arg("title", title()), fmt::arg("body", body(source)),
                           fmt::arg("atol", tolerance().atol), fmt::arg("rtol", tolerance().rtol)));
    write_text(folder_ / "CMakeLists.txt", bundle::kCMakeLists);
    write_text(folder_ / "README.md", readme(source));
  }

 private:
  const LayerDiff& layer_;
  const fs::path folder_;
  replay::CallData data_;
  replay::Model model_;

  std::string title() const {
    const Call& call = *layer_.ref;
    return printable(call.has_path ? fmt::format("{} {} ({})", call.root, call.path, call.type) : call.type);
  }
  Tolerance tolerance() const { return layer_.forward.empty() ? Tolerance() : layer_.forward.front().tolerance; }

  // Stores a tensor and gives the expression that reads it.
  std::string stored(const std::string& name, const Tensor& tensor) {
    const Tensor t = tensor.detach().contiguous();
    const std::string file = name + ".bin";
    std::ofstream stream(folder_ / file, std::ios::binary);
    if (t.numel() > 0) stream.write(static_cast<const char*>(t.data_ptr()), static_cast<std::streamsize>(t.nbytes()));
    stream.close();
    HB_CHECK(stream, "[bundle] cannot write ", (folder_ / file).string());
    return fmt::format("read(\"{}\", {}, {})", file, bundle::braces(t.sizes().vec()), name_of_dtype(t.scalar_type()));
  }

  bool differentiable() const {
    if (data_.grad_outputs.empty() || !data_.grad_outputs[0].defined()) return false;
    for (const Tensor& gradient : data_.grad_inputs)
      if (gradient.defined()) return true;
    return false;
  }

  std::string body(const bundle::LayerSource& source) {
    std::string text;
    const bool gradients = differentiable();
    for (size_t i = 0; i < data_.inputs.size(); ++i) {
      const Tensor& input = data_.inputs[i];
      if (!input.defined()) continue;
      if (const size_t first = data_.first_same[i]; first != i) {
        text += fmt::format("  torch::Tensor in{} = in{};  // one tensor\n", i, first);
        continue;
      }
      text += fmt::format("  torch::Tensor in{} = {};\n", i, stored(fmt::format("input_{}", i), input));
      if (gradients && input.is_floating_point()) text += fmt::format("  in{}.requires_grad_(true);\n", i);
    }
    if (source.call.find("mask.") != std::string::npos)
      text += fmt::format("  torch::Tensor mask = {};\n", stored("mask", model_.layer->masks[0]));
    if (!source.declaration.empty()) {
      text += fmt::format("  {}\n  layer->to({});\n  layer->train({});\n", source.declaration,
                          name_of_dtype(data_.dtype), model_.layer->training);
      for (const auto& [name, tensor] : model_.layer->state)
        text += fmt::format("  set(*layer, \"{}\", {});\n", name, stored(name, tensor));
    }
    text += source.tuple ? fmt::format("  torch::Tensor out = std::get<0>({});\n", source.call)
                         : fmt::format("  torch::Tensor out = {};\n", source.call);
    text += fmt::format("  bool same = compare(\"output 0\", out, {});\n", stored("output_0", data_.outputs[0]));
    if (!gradients) return text;
    text += fmt::format("  out.backward({});\n", stored("grad_output_0", data_.grad_outputs[0]));
    for (size_t i = 0; i < data_.grad_inputs.size(); ++i)
      if (data_.grad_inputs[i].defined() && data_.first_same[i] == i)
        text += fmt::format("  same = compare(\"gradient of input {0}\", in{1}.grad(), {2}) && same;\n",
                            fmt::join(data_.same_as(i), ", "), i,
                            stored(fmt::format("grad_input_{}", i), data_.grad_of_same(i)));
    return text;
  }

  std::string readme(const bundle::LayerSource& source) const {
    std::string figures;
    for (const TensorDiff& diff : layer_.forward) {
      if (!diff.ref || !diff.compared) continue;
      const Metrics& m = diff.metrics;
      figures += fmt::format("| {} {} | {} | {:.3g} | {:.3g} | {:.3g} | {:.2f} % |\n", name_of(diff.ref->kind),
                             diff.ref->index, bundle::braces(diff.ref->shape), m.max_abs, m.max_rel, m.mean_abs,
                             100 * m.share_out);
    }
    std::string causes;
    for (const Hint& hint : layer_.hints) causes += fmt::format("- {}: {}\n", hint.cause, hint.text);
    return fmt::format(fmt::runtime(bundle::kReadme), fmt::arg("title", title()),
                       fmt::arg("code", source.declaration.empty() ? source.call : source.declaration),
                       fmt::arg("figures", figures), fmt::arg("verdict", name_of(layer_.verdict)),
                       fmt::arg("reason", layer_.verdict_reason),
                       fmt::arg("causes", causes.empty() ? "None was found.\n" : causes));
  }
};

}  // namespace

std::optional<int> layer_for_bundle(const Report& report) {
  if (report.first_forward) return report.first_forward;
  return report.first_backward;
}

void write_bundle(const Report& report, int id, const std::string& directory) {
  HB_CHECK(id >= 0 && static_cast<size_t>(id) < report.layers.size(), "[bundle] expected a layer of the report, got ",
           id);
  const bundle::NewFolder folder(directory);
  Writer(report, report.layers[static_cast<size_t>(id)], folder.path()).write();
  folder.put_in_place();
}

}  // namespace hb::layer_diff
