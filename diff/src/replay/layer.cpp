#include "layer.h"

#include <algorithm>
#include <cmath>
#include <sstream>
#include <string_view>
#include <unordered_map>

#include <halfbridge/autograd.h>
#include <halfbridge/error.h>
#include <halfbridge/memory_limit.h>
#include <halfbridge/ops.h>

#include "declarations.h"

namespace hb::layer_diff::replay {

namespace {

Option parse_option(const std::string& word) {
  Option option;
  const size_t sign = word.find_first_of("=~");
  option.name = word.substr(0, sign);
  if (sign == std::string::npos) return option;
  option.continuous = word[sign] == '~';
  std::istringstream values(word.substr(sign + 1));
  bool first = true;
  for (std::string value; std::getline(values, value, '|'); first = false) {
    if (first)
      option.standard = parse_value(value);
    else
      option.others.push_back(parse_value(value));
  }
  return option;
}

using Table = std::unordered_map<std::string, Declaration>;

std::unordered_map<std::string, Forward> make_forwards() {
  std::unordered_map<std::string, Forward> forwards;
  for (const Lines* lines : {&activation_lines(), &conv_lines(), &pooling_lines(), &norm_lines(), &basic_lines(),
                             &loss_lines(), &recurrent_lines(), &attention_lines()})
    for (const Line& line : *lines)
      HB_CHECK(forwards.emplace(line.name, line.forward).second, "[replay] ", line.name, " stands in two lines");
  return forwards;
}

struct Row {
  const char *type, *forward, *options;
};
constexpr Row kRows[] = {
#define HB_LAYER(module, kind, forward, precision, operators, options, source) {#module, #forward, options},
#define HB_PYTHON_LAYER HB_LAYER
#include <halfbridge/bridge/nn/table/modules.def>
#define HB_CALL(function, kind, forward, options, source) {#function, #forward, options},
#include <halfbridge/bridge/nn/table/functions.def>
};

Table make_table() {
  const auto forwards = make_forwards();
  Table table;
  for (const Row& row : kRows) {
    if (std::string_view(row.forward) == "none") continue;
    const auto forward = forwards.find(row.forward);
    HB_CHECK(forward != forwards.end(), "[replay] nothing runs ", row.forward, " again, of which ", row.type,
             " is one");
    Declaration declaration;
    declaration.type = row.type;
    declaration.forward = forward->second;
    std::istringstream options(row.options);
    for (std::string word; options >> word;) declaration.options.push_back(parse_option(word));
    HB_CHECK(table.emplace(row.type, std::move(declaration)).second, "[replay] the table has the type ", row.type,
             " twice");
  }
  return table;
}

Tensor converted(const Tensor& tensor, Dtype dtype) {
  return tensor.defined() && tensor.is_floating_point() ? tensor.detach().to(dtype) : tensor;
}

// What a layer may take for one tensor: options of a hostile trace could ask for any amount.
size_t most_bytes(const Layer& layer, const Tensors& inputs) {
  constexpr size_t kLeast = size_t{256} << 20, kTimes = 64;
  size_t bytes = 0;
  const auto add = [&](const Tensor& tensor) { bytes += tensor.defined() ? tensor.nbytes() : 0; };
  for (const Tensor& input : inputs) add(input);
  for (const auto& item : layer.state) add(item.second);
  return std::max(kLeast, kTimes * bytes);
}

Run make_run(const Layer& layer, const Tensors& inputs, Dtype dtype) {
  Run run{layer, layer.args, {}, {}, layer.masks};
  for (const Tensor& input : inputs) run.inputs.push_back(converted(input, dtype));
  for (const auto& [name, tensor] : layer.state) run.state[name] = converted(tensor, dtype);
  return run;
}

}  // namespace

const Declaration* find_declaration(const std::string& type) {
  static const Table table = make_table();
  const auto found = table.find(type);
  return found == table.end() ? nullptr : &found->second;
}

Arguments arguments_of(const Declaration& declaration, const std::string& config) {
  Arguments args;
  const Config given = parse_config(config);
  for (size_t i = 0; i < declaration.options.size(); ++i) {
    const Option& option = declaration.options[i];
    const auto named = given.named.find(option.name);
    if (named != given.named.end())
      args.set(option.name, named->second);
    else
      args.set(option.name, i < given.positional.size() ? given.positional[i] : option.standard);
  }
  return args;
}

int64_t whole(const std::string& name, double number) {
  HB_CHECK(std::abs(number) <= kMaxWhole, "[replay] expected a whole number of at most ",
           static_cast<int64_t>(kMaxWhole), " for ", name, ", got ", number);
  return static_cast<int64_t>(number);
}

const Value& Arguments::at(const std::string& name) const {
  static const Value none;
  const auto found = values_.find(name);
  return found == values_.end() ? none : found->second;
}
double Arguments::number(const std::string& name) const {
  const Value& value = at(name);
  if (value.type == Value::Type::list && value.items.size() == 1 && value.items[0].type == Value::Type::number)
    return value.items[0].number;
  HB_CHECK(value.type == Value::Type::number, "[replay] expected a number for ", name, ", got ", text_of(value));
  return value.number;
}
bool Arguments::flag(const std::string& name) const {
  const Value& value = at(name);
  return value.type == Value::Type::number ? value.number != 0 : value.flag;
}
std::string Arguments::word(const std::string& name) const { return at(name).word; }
std::optional<double> Arguments::optional_number(const std::string& name) const {
  if (!has(name)) return std::nullopt;
  return number(name);
}
std::vector<double> Arguments::numbers(const std::string& name) const {
  const Value& value = at(name);
  std::vector<double> numbers;
  if (value.type == Value::Type::number) numbers.push_back(value.number);
  for (const Value& item : value.items) numbers.push_back(item.number);
  return numbers;
}
std::vector<int64_t> Arguments::integers(const std::string& name) const {
  std::vector<int64_t> values;
  for (double number : numbers(name)) values.push_back(whole(name, number));
  return values;
}
std::vector<int64_t> Arguments::integers(const std::string& name, size_t count) const {
  std::vector<int64_t> values = integers(name);
  if (values.size() == 1) values.resize(count, values[0]);
  HB_CHECK(values.empty() || values.size() == count, "[replay] expected ", count, " values for ", name, ", got ",
           values.size());
  return values;
}

Tensor Run::operand(const std::string& name, size_t position) const {
  const auto found = state.find(name);
  if (found != state.end()) return found->second;
  return layer.is_module ? Tensor() : input_or_none(position);
}
const Tensor& Run::input(size_t i) const {
  HB_CHECK(i < inputs.size() && inputs[i].defined(), "[replay] expected at least ", i + 1, " inputs, got ",
           inputs.size());
  return inputs[i];
}
bool Run::training() const { return args.has("training") ? args.flag("training") : layer.training; }

Tensors forward(const Layer& layer, const Tensors& inputs, Dtype dtype, State* updated) {
  NoGradGuard no_grad;
  const MemoryLimit limit(most_bytes(layer, inputs));
  Run run = make_run(layer, inputs, dtype);
  Tensors outputs = layer.declaration->forward(run);
  if (updated) *updated = std::move(run.updated);
  return outputs;
}

Gradients backward(const Layer& layer, const Tensors& inputs, const Tensors& grad_outputs, Dtype dtype) {
  AutoGradMode with_grad(true);
  const MemoryLimit limit(most_bytes(layer, inputs));
  Run run = make_run(layer, inputs, dtype);
  std::vector<Tensor> leaves;
  const auto follow = [&](Tensor& tensor) {
    if (!tensor.defined() || !tensor.is_floating_point()) return;
    tensor = tensor.clone().requires_grad_(true);
    leaves.push_back(tensor);
  };
  for (Tensor& input : run.inputs) follow(input);
  for (auto& [name, tensor] : run.state)
    if (name.rfind("running_", 0) != 0) follow(tensor);
  const Run kept = run;  // the forward function may replace what the run holds
  const Tensors outputs = layer.declaration->forward(run);
  Tensors roots, seeds;
  for (size_t i = 0; i < outputs.size() && i < grad_outputs.size(); ++i) {
    if (!outputs[i].defined() || !outputs[i].requires_grad() || !grad_outputs[i].defined()) continue;
    roots.push_back(outputs[i]);
    seeds.push_back(grad_outputs[i].to(outputs[i].scalar_type()).reshape(outputs[i].sizes()));
  }
  Gradients gradients;
  if (!roots.empty()) autodiff::backward(roots, seeds);
  for (const Tensor& input : kept.inputs)
    gradients.inputs.push_back(input.defined() && input.requires_grad() ? input.grad() : Tensor());
  for (const auto& [name, tensor] : kept.state)
    if (tensor.defined() && tensor.requires_grad() && tensor.grad().defined()) gradients.state[name] = tensor.grad();
  return gradients;
}

std::optional<Layer> layer_of(const Trace& trace, const Call& call) {
  Layer layer;
  layer.declaration = find_declaration(call.type);
  if (!layer.declaration) return std::nullopt;
  layer.args = arguments_of(*layer.declaration, call.config);
  layer.training = call.training;
  layer.is_module = call.has_path;
  if (call.has_path) {
    for (const auto& [name, record] : trace.state_of(call.root, call.path, call.step))
      layer.state[name] = trace.load(*record);
    // Modules whose children are never called: attention uses the parameters of its out_proj.
    for (const char* child : {"out_proj"})
      for (const auto& [name, record] : trace.state_of(call.root, call.path + "." + child, call.step))
        layer.state[std::string(child) + "." + name] = trace.load(*record);
  }
  for (const Record* mask : call.masks) layer.masks.push_back(trace.load(*mask));
  return layer;
}

}  // namespace hb::layer_diff::replay
