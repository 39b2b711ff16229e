#!/usr/bin/env python3
"""Writes bridge/src/dispatch/aten/*.def: which operators of the namespace aten LibTorch's headers declare, for those of whose
names Halfbridge has a function or a method. The types, and whether a function of them exists, are the compiler's business.

    tools/aten_operators.py --libtorch DIR

A row: HB_ATEN(name, "overload", "names of the arguments, with lengths of lists and defaults", C++ types)
Operators that write into an out tensor, and those of named dimensions, streams and storages are left out.
"""
import argparse
import glob
import os
import re

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
FOLDER = os.path.join(ROOT, "bridge", "src", "dispatch", "aten")
PARTS = 4
DECLARED = re.compile(r'using schema = (.*?);\n.*?name = "aten::([^"]*)";\n.*?overload_name = "([^"]*)";\n'
                      r'.*?schema_str = "(.*?)";\n', re.S)
UNKNOWN = re.compile(r"Dimname|Stream|Storage|ArrayRef<at::Scalar>")
WRITES_OUT = re.compile(r"\*, .*Tensor\(a!\)")
TYPES = {"const at::ITensorListRef &": "TensorList", "c10::SymIntArrayRef": "IntArrayRef", "at::OptionalSymIntArrayRef": "OptionalIntArrayRef",
         "c10::SymInt": "int64_t", "c10::string_view": "std::string_view", "::std::": "std::", "c10::": ""}
CONSTANTS = {"Mean": "1", "contiguous_format": "0", "long": "4"}


def split(text):
    """At commas outside of brackets."""
    parts, depth, current = [], 0, ""
    for c in text.replace("->", "→"):  # of aliases: "Tensor(a -> *) self"
        depth += (c in "<([") - (c in ">)]")
        if c == "," and depth == 0:
            parts.append(current.strip())
            current = ""
        else:
            current += c
    return parts + [current.strip()] if current.strip() else parts


def cpp_type(text):
    for theirs, ours in sorted(TYPES.items(), key=lambda pair: -len(pair[0])):
        text = text.replace(theirs, ours)
    return re.sub(r", *", ", ", text.replace("at::", "").replace(" &", "&"))


def argument(text):
    """The name, with the length of a list that may be one number, and the default in full."""
    head, equals, default = text.partition("=")
    if head == "*":
        return head
    kind, name = head.rsplit(" ", 1)
    length = re.search(r"\[(\d+)\]", kind)
    if length:
        name += length[0]
    if not equals:
        return name
    default = CONSTANTS.get(default, default)
    if length and default != "None" and not default.startswith("["):
        default = "[" + ", ".join([default] * int(length[1])) + "]"
    return name + "=" + default.replace('\\', '').replace('"', '\\"')


def row(types, name, overload, schema):
    result, arguments = re.match(r"(.*?) ?\((.*)\)$", types).groups()
    inside = schema[schema.index("(") + 1:schema.rindex(") ->")]
    names = ", ".join(argument(a) for a in split(inside))
    signature = "%s(%s)" % (cpp_type(result), ", ".join(cpp_type(a) for a in split(arguments)))
    return f'HB_ATEN({name}, "{overload}", "{names}", {signature})\n'


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--libtorch", required=True)
    root = parser.parse_args().libtorch
    ours = ""
    for path in glob.glob(os.path.join(ROOT, "include/halfbridge/ops/*")) + [ROOT + "/include/halfbridge/tensor.h"]:
        with open(path) as file:
            ours += file.read()
    known = set(re.findall(r"\b[A-Za-z_]\w*\b", ours))
    rows = []
    for path in glob.glob(os.path.join(root, "**/ATen/ops/*_ops.h"), recursive=True):
        with open(path) as file:
            for types, name, overload, schema in DECLARED.findall(file.read()):
                # Tables declare an in-place form, or one of a group, by the name of the other.
                declared = {name, name.removesuffix("_"), name.removeprefix("special_"), name.removeprefix("fft_")}
                if declared & known and not UNKNOWN.search(types) and not WRITES_OUT.search(schema.rpartition(") ->")[0]):
                    rows.append(row(types, name, overload, schema))
    rows.sort()
    size = -(-len(rows) // PARTS)
    for part in range(PARTS):
        with open(os.path.join(FOLDER, f"operators_{part + 1}.def"), "w") as file:
            file.writelines(rows[part * size:(part + 1) * size])


if __name__ == "__main__":
    main()
