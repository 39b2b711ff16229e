// Trees of modules: what is registered, found, replaced, copied, printed and written to archives.
#include <sstream>

#include "calls.h"

using random_calls::characters;
using random_calls::Inputs;
using random_calls::Tensors;
using torch::Tensor;
namespace nn = torch::nn;

namespace {

using Modules = std::vector<std::shared_ptr<nn::Module>>;

std::shared_ptr<nn::Module> any_module(Inputs& in, int depth);

/// Parameters, buffers and children as they are drawn; it can be copied, as its layout is built anew by reset().
class Branch : public nn::Cloneable<Branch> {
 public:
  Branch(Inputs& in, int depth) : named_(in.coin()), decoupled_(in.one_of(3)), size_(in.between(1, 3)) {
    for (int64_t n = in.between(0, 2); n > 0 && depth > 0; --n) parts_.push_back(any_module(in, depth - 1));
    if (!parts_.empty() && in.one_of(4)) parts_.push_back(parts_[0]);
    reset();
  }
  void reset() override {
    weight = register_parameter(named_ ? "weight" : "w", torch::ones({size_}));
    if (decoupled_) register_parameter("fixed", torch::zeros({}), false);
    if (named_) register_parameter("missing", Tensor(), false);
    register_buffer("steps", torch::tensor(size_));
    for (size_t i = 0; i < parts_.size(); ++i) {
      const auto& child = parts_[i];
      register_module("part" + std::to_string(i), is_clone_ ? child->clone() : child);
    }
    is_clone_ = true;
  }
  void pretty_print(std::ostream& out) const override { out << "Branch(" << size_ << ")"; }
  Tensor weight;

 private:
  bool named_, decoupled_, is_clone_ = false;
  int64_t size_;
  Modules parts_;
};

std::shared_ptr<nn::Module> any_module(Inputs& in, int depth) {
  switch (in.between(0, depth > 0 ? 8 : 5)) {
    case 0:
      return nn::Linear(nn::LinearOptions(2, 1).bias(in.coin())).ptr();
    case 1:
      return nn::BatchNorm1d(nn::BatchNorm1dOptions(2).affine(in.coin()).track_running_stats(in.coin())).ptr();
    case 2:
      return nn::Dropout(0.25).ptr();
    case 3:
      return nn::PReLU().ptr();
    case 4:
      return nn::Embedding(nn::EmbeddingOptions(2, 1)).ptr();
    case 6: {
      nn::Sequential list(nn::ReLU(), nn::Linear(1, 2));  // LibTorch's copies lose names
      if (in.coin()) list->push_back(nn::Tanh());
      return list.ptr();
    }
    case 7: {
      nn::ModuleList list;
      for (int64_t n = in.between(0, 2); n > 0; --n) list->push_back(any_module(in, depth - 1));
      return list.ptr();
    }
    case 8: {
      nn::ModuleDict dict;
      for (int64_t n = in.between(1, 2); n > 0; --n)
        dict->update({{n == 1 ? "first" : "second", any_module(in, depth - 1)}});
      return dict.ptr();
    }
    default:
      return std::make_shared<Branch>(in, depth);
  }
}

/// The numbers that a tree has been given are its own: 1, 2, 3 and so on.
void count_up(nn::Module& tree) {
  const torch::NoGradGuard no_grad;
  double value = 0;
  for (Tensor& t : tree.parameters()) t.fill_(value += 1);
  for (Tensor& t : tree.buffers()) t.fill_(value += 1);
}

void show(const nn::Module& tree, Tensors& shown) {
  std::ostringstream text;
  text << tree << '\n';
  for (const auto& item : tree.named_modules("top")) text << item.key() << ' ' << item.value()->name() << '\n';
  for (const auto& item : tree.named_children()) text << item.key() << (item.value()->is_training() ? " t" : " e");
  for (const auto& item : tree.named_parameters())
    text << item.key() << item.value().sizes() << item.value().requires_grad() << item.value().dtype()
         << item.value().grad().defined() << item.value().sum().item<double>() << '\n';
  for (const auto& item : tree.named_parameters(false)) text << item.key() << ' ';
  for (const auto& item : tree.named_buffers())
    text << item.key() << item.value().dtype() << item.value().sum().item<double>() << '\n';
  for (const auto& item : tree.named_buffers(false)) text << item.key() << ' ';
  text << tree.modules(false).size() << ' ' << tree.parameters().size() << ' ' << tree.is_serializable();
  shown.push_back(characters(text.str()));
}

/// A copy that has been given the tree's numbers by an archive.
std::shared_ptr<nn::Module> passed_on(const nn::Module& tree) {
  std::stringstream bytes;
  torch::serialize::OutputArchive saved;
  tree.save(saved);
  saved.save_to(bytes);
  auto copy = tree.clone();
  const torch::NoGradGuard no_grad;
  for (Tensor& t : copy->parameters()) t.zero_();
  torch::serialize::InputArchive read;
  read.load_from(bytes);
  copy->load(read);
  return copy;
}

void change_members(Inputs& in, std::shared_ptr<nn::Module>& tree) {
  switch (in.between(0, 4)) {
    case 0:
      tree = tree->clone();
      break;
    case 1: {
      const auto names = tree->named_children().keys();
      if (!names.empty()) tree->replace_module(names[0], nn::Identity());
      break;
    }
    case 2:
      tree = passed_on(*tree);
      break;
    case 3:
      tree->register_module("late", nn::Linear(1, 1));
      break;
    default:
      tree->register_parameter(in.of<std::string>({"weight", "late", "a.b", ""}), torch::ones({2}));
      break;
  }
}

/// How many characters the names have, and how many inputs the linear layers.
int64_t count_of(nn::Module& tree) {
  int64_t count = 0;
  tree.apply([&](const std::string& name, nn::Module& module) {
    count += static_cast<int64_t>(name.size());
    if (auto* linear = module.as<nn::Linear>()) count += linear->options.in_features();
  });
  return count;
}

void change(Inputs& in, std::shared_ptr<nn::Module>& tree, Tensors& shown) {
  switch (in.between(0, 11)) {
    case 0:
      tree->train(in.coin());
      break;
    case 1:
      tree->to(in.of<torch::ScalarType>({torch::kDouble, torch::kHalf}));
      break;
    case 2:
      tree->zero_grad(in.coin());
      break;
    case 3:
      shown.push_back(torch::tensor(count_of(*tree)));
      break;
    case 4:
      for (Tensor& t : tree->parameters())
        if (t.is_floating_point()) t.mutable_grad() = torch::ones_like(t);
      break;
    case 5:
      tree->apply([&](const std::shared_ptr<nn::Module>& module) { module->eval(); });
      break;
    case 6:
      for (Tensor& t : tree->parameters()) t.requires_grad_(false);
      break;
    default:
      change_members(in, tree);
      break;
  }
}

Tensors tree(Inputs& in) {
  std::shared_ptr<nn::Module> tree = any_module(in, 3);
  count_up(*tree);
  Tensors shown;
  for (int64_t n = in.between(0, 4); n > 0; --n) {
    try {
      change(in, tree, shown);
    } catch (const c10::Error&) {
      shown.push_back(characters("refused"));
    }
  }
  show(*tree, shown);
  return shown;
}

}  // namespace

DRAWN(tree(in))
