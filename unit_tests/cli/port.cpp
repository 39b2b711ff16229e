// The source reader of `halfbridge port`: its lexer, its table, and what it does about hostile trees.
#include <gtest/gtest.h>
#include <port/lexer.h>
#include <port/names.h>
#include <port/sources.h>
#include <port/uses.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

namespace {

namespace fs = std::filesystem;
using namespace hb::cli::port;

class PortTree : public testing::Test {
 protected:
  PortTree() : root_(fs::temp_directory_path() / ("halfbridge_port_" + std::to_string(getpid()))) {
    fs::create_directories(root_);
  }
  ~PortTree() override { fs::remove_all(root_); }
  void write(const std::string& name, const std::string& text) {
    fs::create_directories((root_ / name).parent_path());
    std::ofstream(root_ / name, std::ios::binary) << text;
  }
  /// The names that are used, the missing ones with a `!` in front.
  std::vector<std::string> names() const {
    std::vector<std::string> out;
    for (const Use& use : find_uses(root_.string()).all) out.push_back((use.supported ? "" : "!") + use.name);
    return out;
  }
  fs::path root_;
};

std::string words(const std::string& text) {
  std::string out;
  for (const Token& t : lex(text)) out += std::string(t.text) + " ";
  return out;
}

TEST(PortLexer, LeavesOutWhatIsNoCode) {
  EXPECT_EQ(words("a /* b */ c // d \\\n e\n f"), "a c f ");
  EXPECT_EQ(words("a\n#if 0\nb\n#if 1\nc\n#endif\n#else\nd\n#endif\ne"), "a d e ");
  EXPECT_EQ(words("x \"torch::a \\\" b\" R\"z(\"torch::b)\")z\" y"), "x \"torch::a \\\" b\" R\"z(\"torch::b)\")z\" y ");
  EXPECT_EQ(words("1'000 0x1e+2 1e+2 'a' '\\''"), "1'000 0x1e + 2 1e+2 'a' '\\'' ");
}

// 8 MB of beginnings without an end: looking for each end up to that of the file would take hours.
TEST(PortLexer, LooksForEndsWhereTheyMayBe) {
  std::string raw, include;
  for (int i = 0; i < 1 << 22; ++i) raw += "R\"";
  for (int i = 0; i < 1 << 20; ++i) include += "#include <\n";
  EXPECT_TRUE(lex(raw).empty());
  EXPECT_TRUE(lex(include).empty());
}

TEST(PortLexer, CountsLines) {
  const std::string text = "a\n/* \n */ b\nR\"(\n\n)\" c\n#include <torch/torch.h>\nd";
  std::vector<int> lines;
  for (const Token& t : lex(text)) lines.push_back(t.line);
  EXPECT_EQ(lines, (std::vector<int>{1, 3, 4, 6, 7, 8}));
}

TEST(PortLexer, EndsOnBrokenSource) {
  for (const char* text :
       {"\"open", "/* open", "R\"x(open", "#if 0", "#include <open", "'", "\\", "#", "R\"", "1'", "#define"})
    lex(text);
}

TEST(PortNames, KnowsBothLibraries) {
  const Names& names = Names::get();
  EXPECT_EQ(names.symbol("torch::nn::Conv2d"), Support::supported);
  EXPECT_EQ(names.symbol("torch::data::datasets::MNIST::Mode::kTest"), Support::supported);
  EXPECT_EQ(names.symbol("torch::jit::load"), Support::missing);
  EXPECT_EQ(names.symbol("torch::no_such_name"), Support::unknown);
  EXPECT_EQ(names.tensor_method("view"), Support::supported);
  EXPECT_EQ(names.tensor_method("int_repr"), Support::missing);
  EXPECT_EQ(names.header("torch/csrc/distributed/c10d/Store.hpp"), Support::supported);
  EXPECT_EQ(names.header("torch/csrc/distributed/c10d/ProcessGroupUCC.hpp"), Support::missing);
  EXPECT_EQ(names.symbol("c10d::ReduceOp::SUM"), Support::supported);
  EXPECT_EQ(names.symbol("c10d::ProcessGroupUCC"), Support::missing);
  EXPECT_EQ(names.header("torch/extension.h"), Support::supported);
  // By the longer of its two paths.
  EXPECT_EQ(names.header("torch/csrc/api/include/torch/nn/functional/activation.h"), Support::supported);
  EXPECT_EQ(names.header("torch/csrc/api/include/torch/nowhere.h"), Support::missing);
  EXPECT_FALSE(names.instead("jit::load").empty());
}

TEST_F(PortTree, TellsTensorsFromOtherObjects) {
  write("a.cpp",
        "struct Grid { int to_sparse_bsr(); };\n"
        "void f(torch::Tensor t, Grid g, std::vector<torch::Tensor> v, std::map<int, int> m) {\n"
        "  t.to_sparse_bsr(); g.to_sparse_bsr(); v[0].q_zero_point(); m.values(); (t + 1).q_scale();\n"
        "  t.to_mkldnn();\n"
        "}\n");
  EXPECT_EQ(names(), (std::vector<std::string>{"torch::Tensor", "!.q_scale()", "!.q_zero_point()", ".to_mkldnn()",
                                               ".to_sparse_bsr()"}));
  const Uses uses = find_uses(root_.string());
  const auto sparse =
      std::find_if(uses.all.begin(), uses.all.end(), [](const Use& u) { return u.name == ".to_sparse_bsr()"; });
  ASSERT_EQ(sparse->places.size(), 1u);
  EXPECT_EQ(sparse->places[0].line, 3);
}

TEST_F(PortTree, SeesThroughAliases) {
  write("model.h", "namespace F = torch::nn::functional;\nnamespace loop = loop;\n");
  write("a.cpp", "#include \"model.h\"\nusing namespace torch;\nauto f(Tensor x) { return F::relu(x) + loop::x; }\n");
  const std::vector<std::string> found = names();
  EXPECT_NE(std::find(found.begin(), found.end(), "torch::nn::functional::relu"), found.end());
  EXPECT_NE(std::find(found.begin(), found.end(), "torch::Tensor"), found.end());
}

TEST_F(PortTree, SurvivesHostileTrees) {
  write("ok.cpp", "torch::Tensor t;");
  write("binary.cpp", std::string("torch::jit::load\0", 17));
  write("large.cpp", std::string(5 << 20, ' '));
  write("build/CMakeCache.txt", "");
  write("build/generated.cpp", "torch::jit::load");
  fs::create_directory_symlink(root_, root_ / "loop");
  fs::create_symlink("/dev/zero", root_ / "endless.cpp");
  const Uses uses = find_uses(root_.string());
  EXPECT_EQ(uses.files, 1u);
  EXPECT_EQ(uses.notes.size(), 3u);
  EXPECT_TRUE(uses.files_to_edit().empty());
}

TEST_F(PortTree, TakesTimeThatGrowsWithTheSource) {
  std::string chain = "torch::Tensor x; auto y = x", nest = "auto z = ";
  for (int i = 0; i < 20000; ++i) chain += ".view()";
  nest += std::string(100000, '(') + "x" + std::string(100000, ')') + ".view();";
  write("chain.cpp", chain + ";");
  write("nest.cpp", nest);
  write("less.cpp", std::string(100000, '<'));
  EXPECT_EQ(names().front(), "torch::Tensor");
}

TEST_F(PortTree, RefusesWhatIsNoProgram) {
  EXPECT_THROW(find_uses((root_ / "missing").string()), std::runtime_error);
  EXPECT_THROW(find_uses(root_.string()), std::runtime_error);  // no C++ in it
}

// using namespace torch shows Halfbridge's own namespaces, too.
TEST_F(PortTree, NamesNamespacesThatWouldBeAmbiguous) {
  write("ops.h",
        "namespace ops { void f(); }\nnamespace ops::inner {}\nnamespace mine { namespace capture { void g(); } }");
  write("scaler.h", "namespace torch { namespace amp { class Scaler {}; } }\nnamespace torch::bridge { void h(); }");
  write("a.cpp",
        "#include \"ops.h\"\n#include \"scaler.h\"\nusing namespace torch;\n"
        "void k() { ops::f(); ::ops::f(); capture::g(); amp::Scaler s; torch::amp::Scaler t; bridge::h(); }");
  write("b.cpp", "#include \"ops.h\"\nvoid l() { ops::f(); }");
  std::vector<std::string> ambiguous;
  for (const Use& use : find_uses(root_.string()).all)
    if (use.name.substr(use.name.size() - 2) == "::")
      ambiguous.push_back(use.name + " " + use.instead.substr(0, use.instead.find(',')) + " " +
                          std::to_string(use.places.size()));
  EXPECT_EQ(ambiguous,
            (std::vector<std::string>{"amp:: torch::amp:: 1", "bridge:: torch::bridge:: 1", "ops:: ::ops:: 1"}));
}

}  // namespace
