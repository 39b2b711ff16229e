#include "source.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <sstream>

#include <fmt/format.h>

#include <halfbridge/error.h>
#include <halfbridge/io/keys.h>

namespace hb::layer_diff::bundle {

using io::printable;
using replay::Layer;
using replay::Option;
using replay::Value;

namespace {

// Options that the constructor of a module's options takes, by type; the others are set by name.
struct Module {
  const char* types;
  const char* arguments;
  const char* names = "";  // "option:setter" where LibTorch calls it otherwise, "option:" where it has none
};
constexpr std::array kModules = {
    Module{"Linear", "in_features out_features"},
    Module{"Bilinear", "in1_features in2_features out_features"},
    Module{"Conv1d Conv2d Conv3d ConvTranspose1d ConvTranspose2d ConvTranspose3d",
           "in_channels out_channels kernel_size"},
    Module{"BatchNorm1d BatchNorm2d BatchNorm3d InstanceNorm1d InstanceNorm2d InstanceNorm3d", "num_features"},
    Module{"LayerNorm", "normalized_shape"},
    Module{"GroupNorm", "num_groups num_channels"},
    Module{"LocalResponseNorm", "size"},
    Module{"Embedding EmbeddingBag", "num_embeddings embedding_dim"},
    Module{"RNN LSTM GRU RNNCell LSTMCell GRUCell", "input_size hidden_size"},
    Module{"MultiheadAttention", "embed_dim num_heads", "batch_first:"},
    Module{"MaxPool1d MaxPool2d MaxPool3d AvgPool1d AvgPool2d AvgPool3d", "kernel_size"},
    Module{"LPPool1d LPPool2d LPPool3d", "norm_type kernel_size"},
    Module{
        "AdaptiveAvgPool1d AdaptiveAvgPool2d AdaptiveAvgPool3d AdaptiveMaxPool1d AdaptiveMaxPool2d AdaptiveMaxPool3d",
        "output_size"},
    Module{"ReflectionPad1d ReflectionPad2d ReflectionPad3d ReplicationPad1d ReplicationPad2d ReplicationPad3d "
           "ZeroPad1d ZeroPad2d ZeroPad3d",
           "padding", "value:"},
    Module{"ConstantPad1d ConstantPad2d ConstantPad3d", "padding value"},
    Module{"Softmax Softmin LogSoftmax", "dim"},
    Module{"PixelShuffle", "upscale_factor"},
    Module{"PixelUnshuffle", "downscale_factor"},
    Module{"Threshold", "threshold value"},
    Module{"ELU SELU CELU Hardshrink Hardtanh LeakyReLU PReLU ReLU ReLU6 RReLU GLU GELU Softplus Softshrink Flatten "
           "Upsample",
           "", "inplace:"},
    Module{"Dropout Dropout2d Dropout3d", "", "inplace:"},
    Module{"L1Loss MSELoss CrossEntropyLoss NLLLoss BCELoss BCEWithLogitsLoss SmoothL1Loss HuberLoss KLDivLoss "
           "SoftMarginLoss "
           "HingeEmbeddingLoss CosineEmbeddingLoss MarginRankingLoss TripletMarginLoss PoissonNLLLoss CosineSimilarity "
           "PairwiseDistance",
           ""},
};
// Modules without options.
const std::set<std::string> kPlain = {"LogSigmoid", "Softmax2d", "SiLU",       "Mish",    "Sigmoid",
                                      "Softsign",   "Tanh",      "Tanhshrink", "Identity"};

// Functions: %i are all inputs, %NAME an option.
const std::map<std::string, std::string> kFunctions = {
    {"softmax", "torch::softmax(in0, %dim)"},
    {"log_softmax", "torch::log_softmax(in0, %dim)"},
    {"leaky_relu", "torch::leaky_relu(in0, %negative_slope)"},
    {"gelu", "torch::gelu(in0, %approximate)"},
    {"elu", "torch::elu(in0, %alpha)"},
    {"flatten", "torch::flatten(in0, %start_dim, %end_dim)"},
    {"linear", "torch::linear(%i)"},
    {"conv1d", "torch::conv1d(%i3, %stride, %padding, %dilation, %groups)"},
    {"conv2d", "torch::conv2d(%i3, %stride, %padding, %dilation, %groups)"},
    {"conv3d", "torch::conv3d(%i3, %stride, %padding, %dilation, %groups)"},
    {"max_pool1d", "torch::max_pool1d(in0, %kernel_size, %stride, %padding, %dilation, %ceil_mode)"},
    {"max_pool2d", "torch::max_pool2d(in0, %kernel_size, %stride, %padding, %dilation, %ceil_mode)"},
    {"max_pool3d", "torch::max_pool3d(in0, %kernel_size, %stride, %padding, %dilation, %ceil_mode)"},
    {"avg_pool2d", "torch::avg_pool2d(in0, %kernel_size, %stride, %padding, %ceil_mode, %count_include_pad)"},
    {"adaptive_avg_pool2d", "torch::adaptive_avg_pool2d(in0, %output_size)"},
    {"matmul", "torch::matmul(in0, in1)"},
    {"add", "in0 + in1"},
    {"sub", "in0 - in1"},
    {"mul", "in0 * in1"},
    {"div", "in0 / in1"},
    {"mse_loss", "torch::mse_loss(in0, in1)"},
};
const std::set<std::string> kUnaryFunctions = {
    "relu",  "sigmoid", "tanh", "silu", "mish", "selu", "log_sigmoid", "exp",       "log",  "sqrt",
    "rsqrt", "abs",     "neg",  "sin",  "cos",  "erf",  "hardsigmoid", "hardswish", "relu6"};

bool contains(const std::string& words, const std::string& word) {
  std::istringstream stream(words);
  for (std::string w; stream >> w;)
    if (w == word) return true;
  return false;
}

// What a trace says goes into the source of a program: nothing but letters.
void check_word(const std::string& word) {
  HB_CHECK(!word.empty() &&
               std::all_of(word.begin(), word.end(), [](unsigned char c) { return std::isalpha(c) || c == '-'; }),
           "[bundle] an option has the value '", printable(word), "', which has no name in C++");
}

// torch::kReflect of reflect
std::string enumerator(const std::string& word) {
  static const std::map<std::string, std::string> special = {
      {"relu", "ReLU"}, {"gelu", "GELU"}, {"batchmean", "BatchMean"}};
  const auto found = special.find(word);
  if (found != special.end()) return "torch::k" + found->second;
  check_word(word);
  std::string name = word;
  name[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(name[0])));
  return "torch::k" + name;
}

std::string text_of_number(double number) {
  HB_CHECK(std::isfinite(number), "[bundle] an option has the value ", number, ", which is no number in C++");
  const bool whole = std::abs(number) <= replay::kMaxWhole && number == std::trunc(number);
  return whole ? fmt::format("{}", static_cast<int64_t>(number)) : fmt::format("{:.17g}", number);
}

std::string literal(const std::string& option, const Value& value) {
  switch (value.type) {
    case Value::Type::boolean:
      return value.flag ? "true" : "false";
    case Value::Type::number:
      return text_of_number(value.number);
    case Value::Type::word:
      if (option != "approximate") return enumerator(value.word);
      check_word(value.word);
      return '"' + value.word + '"';
    case Value::Type::none:
      return option == "stride" ? "{}" : "std::nullopt";
    case Value::Type::list:
      break;
  }
  std::string items;
  for (const Value& item : value.items) items += (items.empty() ? "" : ", ") + literal(option, item);
  if (option == "scale_factor") return "std::vector<double>({" + items + "})";
  if (option == "size" || option == "normalized_shape") return "std::vector<int64_t>({" + items + "})";
  return "{" + items + "}";
}

Value as_list(const Value& value) {
  if (value.type == Value::Type::list) return value;
  Value list;
  list.type = Value::Type::list;
  list.items = {value};
  return list;
}

bool needs_list(const std::string& type, const std::string& option) {
  return option == "normalized_shape" || (type == "Upsample" && (option == "scale_factor" || option == "size"));
}

std::string module_declaration(const Layer& layer, const std::string& type) {
  if (kPlain.count(type)) return "torch::nn::" + type + " layer;";
  const auto found =
      std::find_if(kModules.begin(), kModules.end(), [&](const Module& m) { return contains(m.types, type); });
  HB_CHECK(found != kModules.end(), "[bundle] a module of type ", type, " cannot be written as source");
  const auto value_of = [&](const std::string& name) {
    const Value& value = layer.args.at(name);
    return literal(name, needs_list(type, name) ? as_list(value) : value);
  };
  std::string arguments, setters;
  std::istringstream names(found->arguments);
  for (std::string name; names >> name;) {
    HB_CHECK(layer.args.has(name), "[bundle] the trace does not say the ", name, " of this ", type);
    arguments += (arguments.empty() ? "" : ", ") + value_of(name);
  }
  for (const Option& option : layer.declaration->options) {
    const Value& value = layer.args.at(option.name);
    if (value.is_none() || replay::same(value, option.standard) || contains(found->arguments, option.name)) continue;
    if (contains(found->names, option.name + ":")) {
      HB_CHECK(option.name == "inplace" || option.name == "value", "[bundle] ", type, " of LibTorch has no option ",
               option.name);
      continue;
    }
    setters += "." + option.name + "(" + value_of(option.name) + ")";
  }
  // An option that is one number may stand for a flag: Softmax(1) would be its dimension.
  return fmt::format("torch::nn::{0} layer(torch::nn::{0}Options({1}){2});", type, arguments, setters);
}

std::string inputs_text(const std::vector<bool>& defined, size_t at_least = 0) {
  std::string text;
  for (size_t i = 0; i < std::max(defined.size(), at_least); ++i)
    text += (i ? ", " : "") +
            (i < defined.size() && defined[i] ? "in" + std::to_string(i) : std::string("torch::Tensor()"));
  return text;
}

std::string function_call(const Layer& layer, const std::string& type, const std::vector<bool>& defined) {
  if (kUnaryFunctions.count(type)) return "torch::" + type + "(in0)";
  const auto found = kFunctions.find(type);
  HB_CHECK(found != kFunctions.end(), "[bundle] the function ", type, " cannot be written as source");
  std::string text;
  const std::string& pattern = found->second;
  HB_CHECK(pattern.find("in1") == std::string::npos || (defined.size() > 1 && defined[1]), "[bundle] ", type,
           " with a number cannot be written");
  for (size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] != '%') {
      text += pattern[i];
      continue;
    }
    size_t end = i + 1;
    while (end < pattern.size() && (std::isalnum(static_cast<unsigned char>(pattern[end])) || pattern[end] == '_'))
      ++end;
    const std::string name = pattern.substr(i + 1, end - i - 1);
    text += name == "i"    ? inputs_text(defined)
            : name == "i3" ? inputs_text(defined, 3)
                           : literal(name, layer.args.at(name));
    i = end - 1;
  }
  return text;
}

}  // namespace

std::string braces(const std::vector<int64_t>& values) {
  std::string text = "{";
  for (size_t i = 0; i < values.size(); ++i) text += (i ? ", " : "") + std::to_string(values[i]);
  return text + "}";
}

LayerSource source_of(const Layer& layer, const std::string& type, const std::vector<bool>& defined) {
  LayerSource source;
  if (!layer.is_module) {
    source.call = function_call(layer, type, defined);
    return source;
  }
  if (type.rfind("Dropout", 0) == 0 && layer.training && !layer.masks.empty()) {
    source.call = fmt::format("in0 * mask.to(in0.scalar_type()) / {}", 1 - layer.args.number("p"));
    return source;
  }
  source.declaration = module_declaration(layer, type);
  const bool pair = type == "LSTM" || type == "LSTMCell";
  if (pair && defined.size() >= 3)
    source.call = "layer->forward(in0, std::make_tuple(in1, in2))";
  else
    source.call = "layer->forward(" + inputs_text(defined) + ")";
  source.tuple = pair || type == "GRU" || type == "RNN" || type == "MultiheadAttention";
  return source;
}

}  // namespace hb::layer_diff::bundle
