#!/usr/bin/env python3
"""Writes docs/coverage.md: which LibTorch names of symbols.tsv and methods.tsv (names that public LibTorch programs use,
with the number of programs) Halfbridge has. The compiler is asked: every name stands in a declaration of its own, and a
name is supported if one of its declarations compiles.

    tools/coverage/coverage.py [--check]      # --check: fail if docs/coverage.md is not up to date
"""
import argparse, csv, os, re, subprocess, sys, tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
HERE = os.path.dirname(os.path.abspath(__file__))
HEADERS = ["torch/torch.h"]

# Classes in which a method of "module/optimizer/data/options" may stand.
CLASSES = """
torch::nn::Module torch::nn::SequentialImpl torch::nn::ModuleListImpl torch::nn::ModuleDictImpl torch::nn::ParameterListImpl
torch::nn::LinearImpl torch::nn::Conv2dImpl torch::nn::BatchNorm2dImpl torch::nn::MaxPool2dImpl torch::nn::EmbeddingImpl
torch::nn::LSTMImpl torch::nn::Linear torch::nn::AnyModule torch::nn::LinearOptions torch::nn::Conv2dOptions
torch::nn::ConvTranspose2dOptions torch::nn::BatchNormOptions torch::nn::EmbeddingOptions torch::nn::LSTMOptions
torch::nn::RNNOptions torch::nn::LeakyReLUOptions torch::nn::ELUOptions torch::nn::ReLUOptions torch::nn::DropoutOptions
torch::nn::SoftplusOptions torch::nn::LocalResponseNormOptions torch::nn::MaxPool2dOptions torch::nn::CrossEntropyLossOptions
torch::nn::UpsampleOptions torch::nn::FlattenOptions torch::nn::PReLUOptions torch::nn::GELUOptions
torch::nn::MSELossOptions torch::nn::TransformerEncoderLayerOptions torch::nn::functional::PadFuncOptions
torch::nn::functional::BatchNormFuncOptions
torch::optim::Optimizer torch::optim::Adam torch::optim::SGD torch::optim::SGDOptions torch::optim::AdamOptions
torch::optim::AdamParamState torch::optim::SGDParamState torch::optim::RMSpropOptions torch::optim::OptimizerParamGroup
torch::optim::StepLR torch::data::DataLoaderOptions torch::data::datasets::MNIST
torch::data::datasets::Dataset<torch::data::datasets::MNIST> torch::OrderedDict<std::string,torch::Tensor>
torch::OrderedDict<std::string,torch::Tensor>::Item torch::serialize::InputArchive torch::serialize::OutputArchive
c10::IValue torch::TensorOptions c10::ArrayRef<int64_t> std::vector<torch::Tensor> std::optional<torch::Tensor>
torch::indexing::Slice torch::autograd::Node std::string std::condition_variable std::deque<int> std::mutex
torch::data::samplers::RandomSampler torch::Scalar torch::Generator torch::Dict<std::string,torch::Tensor>
""".split()
# Names that the programs or the standard library define themselves: nothing of LibTorch's.
FOREIGN = {"map", "string", "pair", "wait", "wait_for", "notify_all", "lock", "predict", "log_prob", "get_lr", "set_lr", "attr",
           "def", "def_submodule", "commit", "extend", "encoder", "linear", "keys_", "freeze", "call", "ones", "zeros", "randn",
           "cat", "copy", "push", "swap", "pop", "names", "tensor"}


def read(table):
    with open(os.path.join(HERE, table)) as f:
        return list(csv.DictReader(f, delimiter="\t"))


def failing_lines(lines):
    """The numbers (from 0) of those lines that do not compile."""
    with tempfile.TemporaryDirectory() as d:
        path = os.path.join(d, "names.cpp")
        prefix = ["#include <%s>" % h for h in HEADERS]
        with open(path, "w") as f:
            f.write("\n".join(prefix + lines) + "\n")
        command = [os.environ.get("CXX", "g++"), "-std=c++20", "-fsyntax-only", "-w", "-Dfinal=", "-fmax-errors=0",
                   "-fno-diagnostics-show-caret", "-I", ROOT + "/include", "-I", ROOT + "/bridge/include",
                   "-I", ROOT + "/bridge/names", path]
        text = subprocess.run(command, capture_output=True, text=True).stderr
        if "fatal error" in text:
            sys.exit(text)
        return {int(n) - 1 - len(prefix) for n in re.findall(r"names\.cpp:(\d+):\d+: error", text)}


def forms(name, i):
    """Declarations that compile if the name is a member of a namespace, a namespace, or a member of a class."""
    scope, _, last = name.rpartition("::")
    yield "namespace c%d { using ::%s; }" % (i, name)
    yield "namespace n%d = ::%s;" % (i, name)
    if "::" in scope:
        yield "struct m%d : ::%s { using ::%s::%s; };" % (i, scope, scope, last)
        yield "struct h%d : ::%s::Impl { using ::%s::Impl::%s; };" % (i, scope, scope, last)
        yield "auto v%d = ::%s;" % (i, name)


def supported_symbols(names):
    lines, owner = [], []
    for i, name in enumerate(names):
        for form in forms(name, i):
            lines.append(form)
            owner.append(name)
    bad = failing_lines(lines)
    return {owner[i] for i in range(len(lines)) if i not in bad}


def supported_methods(methods):
    lines, owner = [], []
    for i, (method, of) in enumerate(methods):
        for j, cls in enumerate(["torch::Tensor"] if of == "tensor" else CLASSES):
            lines.append("struct t%d_%d : %s { using B = %s; using B::%s; };" % (i, j, cls, cls, method))
            owner.append((method, of))
    bad = failing_lines(lines)
    return {owner[i] for i in range(len(lines)) if i not in bad}


def table(rows):
    return ["| name | programs | |", "| --- | --- | --- |"] + ["| `%s` | %s | %s |" % r for r in rows]


def page():
    symbols, methods = read("symbols.tsv"), read("methods.tsv")
    have = supported_symbols([s["symbol"] for s in symbols])
    pairs = [(m["method"], m["of"]) for m in methods]
    have_methods = supported_methods(pairs)
    answer = lambda ok: "supported" if ok else "**not supported**"
    symbol_rows = [(s["symbol"], s["programs_using"], answer(s["symbol"] in have)) for s in symbols]
    tensor_rows, other_rows = [], []
    for m in methods:
        key = (m["method"], m["of"])
        if m["of"] == "tensor":
            tensor_rows.append((m["method"], m["programs_using"], answer(key in have_methods)))
        elif key in have_methods or m["method"] not in FOREIGN:
            other_rows.append((m["method"], m["programs_using"], answer(key in have_methods)))
    count = lambda rows, least: "%d of %d" % (sum(r[2] == "supported" and int(r[1]) >= least for r in rows),
                                              sum(int(r[1]) >= least for r in rows))
    out = ["# Coverage of LibTorch's names", "",
           "Generated by `tools/coverage/coverage.py` from the code: do not edit. The names are those that 18 public LibTorch",
           "programs use, with the number of programs; the compiler was asked whether `<torch/torch.h>` of Halfbridge has them.",
           "A name that is not supported fails to compile. TorchScript, CUDA and the Python binding are not part of this library.", "",
           "| | used by 6 or more | by 2 or more | all |", "| --- | --- | --- | --- |"]
    for title, rows in (("symbols", symbol_rows), ("Tensor methods", tensor_rows), ("other methods", other_rows)):
        out.append("| %s | %s | %s | %s |" % (title, count(rows, 6), count(rows, 2), count(rows, 1)))
    out += ["", "## Symbols", ""] + table(symbol_rows)
    out += ["", "## Tensor methods", ""] + table(tensor_rows)
    out += ["", "## Methods of modules, optimizers, data and options", ""] + table(other_rows)
    return "\n".join(out) + "\n"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--check", action="store_true")
    target = os.path.join(ROOT, "docs", "coverage.md")
    text = page()
    if parser.parse_args().check:
        with open(target) as f:
            sys.exit(0 if f.read() == text else "docs/coverage.md is not up to date: run tools/coverage/coverage.py")
    with open(target, "w") as f:
        f.write(text)
    print(text.split("## Symbols")[0])


if __name__ == "__main__":
    main()
