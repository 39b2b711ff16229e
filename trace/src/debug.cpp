#include <halfbridge/trace/debug.h>

#include <iomanip>
#include <iostream>
#include <sstream>
#include <vector>

#include <halfbridge/bridge/utility.h>
#include <halfbridge/io/dtype_name.h>
#include <halfbridge/trace/statistics.h>

#include "module_tree.h"
#include "own_work.h"
#include "plain_bytes.h"

namespace hb {

using bridge::nn::Module;

namespace {

class Printer {
 public:
  Printer(std::ostream& out, bool pytorch) : out_(out), pytorch_(pytorch) {}

  void layer(const Module& module, const std::string& path, const variable_list& inputs, const variable_list& outputs) {
    const trace::OwnWork own;
    std::ostringstream text;  // one piece: calls of several threads do not mix
    const std::string type = pytorch_ ? trace::class_name(module) : bridge::demangle(typeid(module).name());
    text << (path.empty() ? "(root)" : path) << ": " << type << '(' << trace::config_of(module) << ")"
         << (module.is_training() ? "" : " eval") << '\n';
    const std::string front = path.empty() ? "" : path + ".";
    for (size_t i = 0; i < inputs.size(); ++i) tensor(text, "input[" + std::to_string(i) + "]", inputs[i]);
    for (const auto& p : module.named_parameters(false)) tensor(text, front + p.key(), p.value());
    for (const auto& b : module.named_buffers(false)) tensor(text, front + b.key(), b.value());
    for (size_t i = 0; i < outputs.size(); ++i) tensor(text, "output[" + std::to_string(i) + "]", outputs[i]);
    out_ << text.str() << std::flush;
  }

 private:
  void tensor(std::ostream& text, const std::string& name, const Tensor& given) const {
    text << "  " << std::left << std::setw(24) << name << ' ';
    if (!given.defined()) {
      text << "undefined\n";
      return;
    }
    const Tensor t = given.layout() != kStrided ? given.detach().to_dense() : given;
    const trace::Statistics s = trace::with_plain_bytes(
        t, [&](const void* data) { return trace::statistics_of(trace::dtype_of(t.scalar_type()), data, t.numel()); });
    text << t.sizes() << ' ' << (pytorch_ ? io::dtype_name(t.scalar_type()) : toString(t.scalar_type()));
    if (t.numel() == s.nan + s.inf) {
      text << (t.numel() == 0 ? " empty" : "");
    } else {
      text << std::setprecision(6) << "  min " << s.min << " max " << s.max << " mean " << s.mean << " std " << s.std
           << " l2 " << s.l2;
    }
    if (s.nan) text << " NaN " << s.nan;
    if (s.inf) text << " inf " << s.inf;
    text << '\n';
  }

  std::ostream& out_;
  bool pytorch_;
};

}  // namespace

struct LayerInfo::Hooks {
  struct Hook {
    Module* module;
    std::weak_ptr<Module> alive;
    bool counted;  // whether `alive` says anything: a module on the stack has no owner
    unsigned handle;
  };
  std::vector<Hook> hooks;
  ~Hooks() {
    for (const Hook& h : hooks)
      if (!h.counted || !h.alive.expired()) h.module->remove_hook(h.handle);
  }
};

LayerInfo::LayerInfo(std::unique_ptr<Hooks> hooks) : hooks_(std::move(hooks)) {}
LayerInfo::LayerInfo(LayerInfo&&) noexcept = default;
LayerInfo& LayerInfo::operator=(LayerInfo&&) noexcept = default;
LayerInfo::~LayerInfo() = default;
void LayerInfo::remove() { hooks_.reset(); }

LayerInfo debug_layer_info(Module& net, const std::string& naming, std::ostream& out) {
  if (naming != "pytorch" && naming != "halfbridge")
    throw ValueError("[debug_layer_info] expected the naming pytorch or halfbridge, got '" + naming + "'");
  auto printer = std::make_shared<Printer>(out, naming == "pytorch");
  auto hooks = std::make_unique<LayerInfo::Hooks>();
  net.apply(std::function<void(const std::string&, Module&)>([&](const std::string& path, Module& module) {
    if (!module.named_children().is_empty()) return;
    const auto alive = module.weak_from_this();
    const unsigned handle = module.register_forward_hook(
        [printer, path](Module& m, const variable_list& inputs, const variable_list& outputs) {
          printer->layer(m, path, inputs, outputs);
        });
    hooks->hooks.push_back({&module, alive, !alive.expired(), handle});
  }));
  return LayerInfo(std::move(hooks));
}

LayerInfo debug_layer_info(Module& net, const std::string& naming) { return debug_layer_info(net, naming, std::cout); }

}  // namespace hb
