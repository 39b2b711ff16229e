#include "uses.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <set>
#include <stdexcept>
#include <tuple>

#include "brackets.h"
#include "declarations.h"
#include "types.h"

namespace hb::cli::port {

namespace {

// Methods that other classes have too: they count only where the receiver is known for a Tensor.
const std::set<std::string_view> kCommonMethods = {
    "size",    "data",  "begin",    "end",     "at",      "back",    "front",   "clear",   "empty",  "insert", "erase",
    "find",    "count", "resize",   "reserve", "swap",    "get",     "reset",   "release", "str",    "length", "substr",
    "append",  "load",  "store",    "wait",    "lock",    "unlock",  "join",    "value",   "name",   "type",   "min",
    "max",     "index", "print",    "close",   "open",    "read",    "write",   "flush",   "total",  "ptr",    "clone",
    "fill",    "sort",  "unique",   "merge",   "values",  "names",   "indices", "real",    "imag",   "angle",  "rename",
    "conj",    "put",   "m",        "key",     "keys",    "cast",    "context", "message", "stream", "join",   "is",
    "backend", "make",  "item",     "items",   "options", "set",     "layout",  "slice",   "device", "dim",    "update",
    "pop",     "push",  "contains", "copy",    "move",    "extract", "destroy"};

// Functions and types that programs call without their namespace and mean the standard library's.
const std::set<std::string_view> kStandardNames = {"apply", "bit_cast", "copy",   "hash",   "set",  "stod",
                                                   "stoi",  "stoll",    "stoull", "string", "swap", "to_string"};

bool is_libtorch_header(std::string_view path) {
  for (std::string_view root : {"torch/", "ATen/", "c10/", "caffe2/", "TH/", "THC/"})
    if (path.substr(0, root.size()) == root) return true;
  return false;
}

bool is_libtorch_macro(std::string_view word) {
  for (std::string_view prefix : {"TORCH_", "AT_", "C10_"})
    if (word.size() > prefix.size() && word.substr(0, prefix.size()) == prefix)
      return std::isupper(static_cast<unsigned char>(word[prefix.size()]));
  return word == "PYBIND11_MODULE" || word == "CUDA_KERNEL_LOOP";
}

class Finder {
 public:
  explicit Finder(const Tree& tree) : tree_(tree), declarations_(tree), types_(tree, declarations_) {}

  std::vector<Use> run() {
    for (size_t i = 0; i < tree_.sources.size(); ++i) {
      if (tree_.sources[i].kind != Source::cmake) scan(i);
    }
    std::vector<Use> uses;
    for (auto& [key, use] : uses_) uses.push_back(std::move(use));
    return uses;
  }

 private:
  void add(size_t source, const Token& token, Use use) {
    auto [it, added] = uses_.try_emplace({use.kind, use.name}, use);
    it->second.sure |= use.sure;
    it->second.places.push_back({tree_.sources[source].path, token.line});
  }

  void scan(size_t source) {
    const std::vector<Token>& tokens = tree_.sources[source].tokens;
    for (size_t i = 0; i < tokens.size();) {
      if (tokens[i].kind == Token::include) header(source, tokens[i]);
      if (is(tokens, i, "namespace")) forward_declarations(source, i + 1);
      const bool begins =
          is_name(tokens, i) || (is(tokens, i, "::") && is_name(tokens, i + 1) && !(i > 0 && is_name(tokens, i - 1)));
      if (!begins)
        ++i;
      else if (i > 0 && (is(tokens, i - 1, ".") || is(tokens, i - 1, "->")))
        method(source, i++);
      else
        i = name(source, i);
    }
  }

  void header(size_t source, const Token& token) {
    if (!is_libtorch_header(token.text) || declarations_.own_header(token.text)) return;
    const std::string name = "<" + std::string(token.text) + ">";
    const bool has = names_.header(token.text) == Support::supported;
    add(source, token, {Use::header, name, has, true, has ? "" : std::string(names_.instead(name)), {}});
  }

  /// `namespace at { class Tensor; }` compiles, and declares another class than the one that at::Tensor stands for.
  void forward_declarations(size_t source, size_t at) {
    const std::vector<Token>& tokens = tree_.sources[source].tokens;
    const std::string space = qualified_name(tokens, at);
    if (!is(tokens, at, "{") || !Names::get().is_root(space.substr(0, space.find("::")))) return;
    for (int depth = 0; at < tokens.size(); ++at) {
      depth += is(tokens, at, "{") - is(tokens, at, "}");
      if (depth == 0) return;
      const bool declares = is(tokens, at, "class") || is(tokens, at, "struct");
      if (depth != 1 || !declares || !is_name(tokens, at + 1) || !is(tokens, at + 2, ";")) continue;
      const std::string full = space + "::" + std::string(tokens[at + 1].text);
      if (names_.symbol(full) == Support::supported)
        add(source, tokens[at],
            {Use::symbol,
             "class " + full + ";",
             false,
             true,
             "#include <ATen/core/ATen_fwd.h>, or the class's header",
             {}});
    }
  }

  size_t name(size_t source, size_t at) {
    const std::vector<Token>& tokens = tree_.sources[source].tokens;
    const Token& token = tokens[at];
    const bool opens = at > 0 && is(tokens, at - 1, "namespace") && !(at > 1 && is(tokens, at - 2, "using"));
    const std::string written = qualified_name(tokens, at);
    ambiguous_space(source, token, written, opens);
    if (is(tokens, at, "#")) return at;  // a macro pastes the rest of the name: at::k##type
    const bool bare = written.find("::") == std::string::npos;
    if (bare && is_libtorch_macro(written)) {
      macro(source, token, written);
    } else if (!bare || is_used_bare(tokens, at, written)) {
      const std::string full = declarations_.resolve(source, written);
      if (full.find("::") != std::string::npos && !(bare && is_standard(written, full))) symbol(source, token, full);
    }
    return at;
  }

  /// A namespace of the program's own that has the name of one that `using namespace torch` shows in Halfbridge.
  void ambiguous_space(size_t source, const Token& token, const std::string& written, bool opens) {
    const size_t colon = written.find("::");
    if (token.text == "::" || colon == std::string::npos || opens) return;
    const std::string space = written.substr(0, colon), instead = declarations_.unambiguous(source, space);
    if (!instead.empty())
      add(source, token,
          {Use::symbol, space + "::", false, true, instead + "::, since Halfbridge has a namespace of that name", {}});
  }

  /// Whether a name without :: can be one of LibTorch's: a type or constant, or a function that is called.
  static bool is_used_bare(const std::vector<Token>& tokens, size_t past, const std::string& name) {
    const bool capital = std::isupper(static_cast<unsigned char>(name[0]));
    const bool constant = name.size() > 1 && name[0] == 'k' && std::isupper(static_cast<unsigned char>(name[1]));
    return capital || constant || is(tokens, past, "(");
  }

  /// Whether a name without :: that Halfbridge lacks is the standard library's instead.
  bool is_standard(const std::string& written, const std::string& full) const {
    return kStandardNames.count(written) != 0 && names_.symbol(full) == Support::missing;
  }

  void symbol(size_t source, const Token& token, const std::string& full) {
    std::string table_name;
    const Support support = names_.symbol(full, &table_name);
    const std::string last = full.substr(full.rfind("::") + 2);
    if (support == Support::unknown && declarations_.own(last)) return;
    if (support == Support::missing && names_.opens(full)) return;  // a namespace alone: its names count
    // Members of a class count as the class; what is in a missing namespace is shown in full.
    const std::string root = full.substr(0, full.find("::") + 2);
    const std::string shown = names_.is_namespace(root + table_name) ? full : root + table_name;
    const Limit* limit = names_.limit(shown);
    // Some are in headers that the table of names was not made from.
    Use use{Use::symbol, shown, support == Support::supported || (limit && !limit->is_missing()), true, {}, {}};
    if (use.supported && limit && limit->compiles) use.limit = limit->text;
    if (!use.supported) use.instead = limit ? limit->text : names_.instead(shown.substr(root.size()));
    if (use.instead.empty() && support == Support::unknown) use.instead = elsewhere(shown.substr(root.size()));
    add(source, token, std::move(use));
  }

  /// A name that neither library has: another root namespace may have it.
  std::string elsewhere(const std::string& rest) const {
    for (const char* root : {"torch::", "at::", "c10::"})
      if (names_.symbol(root + rest) == Support::supported) return root + rest;
    if (Names::is_inner(rest)) return "a name of LibTorch's inside, of which there is no table: the compiler tells";
    return "not in <torch/torch.h> of LibTorch 2.11 either: a name of another version, or of a header that the table "
           "leaves out";
  }

  void macro(size_t source, const Token& token, const std::string& word) {
    if (declarations_.own(word)) return;
    if (const Limit* limit = names_.limit(word); limit && limit->compiles)
      return add(source, token, {Use::macro, word, true, true, {}, {}, std::string(limit->text)});
    const Support support = names_.macro(word);
    const std::string instead(support == Support::supported ? std::string_view() : names_.instead(word));
    if (support == Support::unknown && instead.empty()) return;  // one of the build's
    add(source, token, {Use::macro, word, support == Support::supported, true, instead, {}});
  }

  void method(size_t source, size_t at) {
    const std::vector<Token>& tokens = tree_.sources[source].tokens;
    size_t next = at + 1;
    if (is(tokens, next, "<")) next = past_template_arguments(tokens, next);
    if (!is(tokens, next, "(")) return;
    const std::string name(tokens[at].text);
    const Type receiver = types_.operand_before(source, at - 1);
    const Support tensor = names_.tensor_method(name), member = names_.member(name);
    if (receiver == Type::tensor) {
      if (tensor != Support::unknown) add_method(source, tokens[at], Use::tensor_method, name, tensor, true);
      return;
    }
    if (receiver == Type::other || receiver == Type::tensors || declarations_.own(name)) return;
    const bool sure = receiver == Type::library;
    if (!sure && kCommonMethods.count(name)) return;
    if (member != Support::unknown)
      add_method(source, tokens[at], Use::member, name, member, sure);
    else if (!sure && tensor != Support::unknown)
      add_method(source, tokens[at], Use::tensor_method, name, tensor, false);
  }
  void add_method(size_t source, const Token& token, Use::Kind kind, const std::string& name, Support support,
                  bool sure) {
    const bool has = support == Support::supported;
    Use use{kind, "." + name + "()", has, sure, has ? "" : std::string(names_.instead(name)), {}};
    if (const Limit* limit = kind == Use::tensor_method && has ? names_.limit("torch::Tensor::" + name) : nullptr)
      if (limit->compiles) use.limit = limit->text;
    add(source, token, std::move(use));
  }

  const Tree& tree_;
  const Names& names_ = Names::get();
  const Declarations declarations_;
  const Types types_;
  std::map<std::pair<Use::Kind, std::string>, Use> uses_;
};

bool is_name_of_libtorch(const Use& use) { return use.kind != Use::header && use.kind != Use::build; }

}  // namespace

size_t Uses::names() const { return std::count_if(all.begin(), all.end(), is_name_of_libtorch); }

size_t Uses::missing() const {
  return std::count_if(all.begin(), all.end(), [](const Use& u) { return is_name_of_libtorch(u) && !u.supported; });
}

size_t Uses::limited() const {
  return std::count_if(all.begin(), all.end(), [](const Use& u) { return u.supported && !u.limit.empty(); });
}

std::vector<std::string> Uses::files_to_edit() const {
  std::set<std::string> files;
  for (const Use& use : all)
    if (!use.supported)
      for (const Place& place : use.places) files.insert(place.file);
  return {files.begin(), files.end()};
}

Uses find_uses(const std::string& root) {
  const Tree tree = read_tree(root);
  Uses uses;
  uses.files = tree.sources.size();
  uses.notes = tree.notes;
  const bool any =
      std::any_of(tree.sources.begin(), tree.sources.end(), [](const Source& s) { return s.kind != Source::cmake; });
  if (!any) throw std::runtime_error("[port] no C++ sources in " + root);
  uses.all = Finder(tree).run();
  for (const Source& source : tree.sources) {
    if (source.kind == Source::cuda) uses.cuda_sources.push_back(source.path);
    if (source.kind == Source::cmake) find_cmake_uses(source, uses.all);
  }
  return uses;
}

}  // namespace hb::cli::port
