#!/usr/bin/env python3
"""Writes tools/coverage/names.tsv: every public name of LibTorch's C++ headers and of Halfbridge's, and which of the two has
it. docs/coverage.md and `halfbridge port` are made from that file. libclang reads both sets of headers.

    pip install clang==14.0      # the bindings of the libclang that is installed
    tools/coverage/names.py --libtorch DIR [--libclang FILE]

Columns: kind, name, libtorch, halfbridge.
    name, namespace   the name below its root namespace; which of torch, at and c10 offer it, as letters t, a and c
    macro, tensor     a macro; a method of Tensor: `yes` or `-`
    member            a member of another class that both have; one such class, or `-`
    header            a header that Halfbridge has; `stub` if including it is an error that says what is not supported
"""
import argparse
import os
import re
import subprocess
from collections import defaultdict

from clang import cindex
from coverage import BY_HAND, HEADERS, OWN_HEADERS

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
TABLE = os.path.join(ROOT, "tools", "coverage", "names.tsv")
ROOTS = {"torch": "t", "at": "a", "c10": "c"}
OURS = [os.path.join(ROOT, d) for d in ("bridge/names", "bridge/include", "include")]
# Headers that only LibTorch has, for the names that programs look for there.
LIBTORCH_HEADERS = ["torch/script.h", "c10/util/Logging.h", "c10/util/Flags.h", "ATen/record_function.h"]
# Namespaces whose names are not for programs. What Halfbridge lacks altogether is listed as a namespace alone.
INNER = re.compile(r"(^|::)(detail|impl|internal|_\w*|native|symint|meta|guts|headeronly|aten|attr|prim|onnx|llvm|infer_schema|"
                   r"detail_\w*|bridge|autodiff|subscripts|special_functions|loss_reduction|dynamo|enforce_detail|namedinference|vec|CPU_CAPABILITY|ivalue)(::|$)")
K = cindex.CursorKind
DECLARATIONS = {K.FUNCTION_DECL, K.FUNCTION_TEMPLATE, K.CLASS_DECL, K.STRUCT_DECL, K.UNION_DECL, K.CLASS_TEMPLATE, K.ENUM_DECL,
                K.TYPE_ALIAS_DECL, K.TYPE_ALIAS_TEMPLATE_DECL, K.TYPEDEF_DECL, K.VAR_DECL, K.USING_DECLARATION, K.UNEXPOSED_DECL}
SCOPES = {K.NAMESPACE, K.TRANSLATION_UNIT}
CLASSES = {K.CLASS_DECL, K.STRUCT_DECL, K.CLASS_TEMPLATE}
MEMBERS = {K.CXX_METHOD, K.FIELD_DECL, K.FUNCTION_TEMPLATE, K.USING_DECLARATION, K.VAR_DECL}
# Classes that programs do not call methods of.
INNER_CLASS = re.compile(r"^(TensorImpl|UndefinedTensorImpl|StorageImpl|TensorBase)$")
IDENTIFIER = re.compile(r"^[A-Za-z_]\w*$")


def qualified(cursor):
    parts = []
    while cursor and cursor.kind != K.TRANSLATION_UNIT:
        parts.append(cursor.spelling)
        cursor = cursor.semantic_parent
    return "::".join(reversed(parts))


class Headers:
    """What a set of headers declares in namespaces."""

    def __init__(self, headers, include_dirs):
        text = "".join("#include <%s>\n" % h for h in headers)
        self.arguments = ["-std=c++20", "-x", "c++"] + ["-I" + d for d in include_dirs]
        resources = subprocess.run(["clang++", "-print-resource-dir"], capture_output=True, text=True, check=True).stdout.strip()
        unit = cindex.Index.create().parse("names.cpp", self.arguments + ["-resource-dir", resources],
                                           unsaved_files=[("names.cpp", text)],
                                           options=cindex.TranslationUnit.PARSE_SKIP_FUNCTION_BODIES)
        errors = [str(d) for d in unit.diagnostics if d.severity >= cindex.Diagnostic.Error]
        if errors:
            raise SystemExit("\n".join(errors))
        self.names, self.children, self.used = defaultdict(dict), defaultdict(dict), defaultdict(set)
        self.walk(unit.cursor, "")
        dump = subprocess.run(["clang++"] + self.arguments + ["-E", "-dM", "-"], input=text, capture_output=True, text=True, check=True)
        self.macros = {m for m in re.findall(r"#define (\w+)", dump.stdout) if re.match(r"(TORCH|AT|C10|FORWARD_HAS)_", m)}

    def walk(self, cursor, scope):
        for c in cursor.get_children():
            if c.kind == K.NAMESPACE:
                name = qualified(c)
                if name.split("::")[0] not in ("torch", "at", "c10", "hb", "caffe2"):
                    continue
                self.children[scope][c.spelling] = name
                if any(t.spelling == "inline" for t, _ in zip(c.get_tokens(), range(1))):
                    self.used[scope].add(name)
                self.walk(c, name)
            elif c.kind == K.LINKAGE_SPEC:
                self.walk(c, scope)
            elif c.kind in (K.USING_DIRECTIVE, K.NAMESPACE_ALIAS):
                target = [r for r in c.get_children() if r.kind == K.NAMESPACE_REF][-1].referenced
                if c.kind == K.USING_DIRECTIVE:
                    self.used[scope].add(qualified(target))
                else:
                    self.children[scope][c.spelling] = qualified(target)
            elif c.kind in DECLARATIONS and IDENTIFIER.match(c.spelling) and c.semantic_parent.kind in SCOPES:
                if c.kind in CLASSES and not c.is_definition() and c.spelling in self.names[scope]:
                    continue
                self.names[scope][c.spelling] = c
                if c.kind == K.ENUM_DECL and not c.is_scoped_enum():
                    self.names[scope].update({e.spelling: e for e in c.get_children() if e.kind == K.ENUM_CONSTANT_DECL})

    def closure(self, scopes):
        """Namespaces whose names a lookup in one of `scopes` finds."""
        found, todo = set(), list(scopes)
        while todo:
            s = todo.pop()
            if s not in found:
                found.add(s)
                todo += self.used[s]
        return sorted(found)

    def visible(self, scopes, path, names, namespaces, depth=0):
        own = {n for s in scopes for n in self.names[s]}  # hides what using-directives bring
        scopes = self.closure(scopes)
        children = defaultdict(set)
        for s in scopes:
            for n, c in self.names[s].items():
                keep(names, path + n, c)
            for n, real in self.children[s].items():
                children[n].add(real)
        for n, real in children.items():
            if (path + n in ("detail", "impl", "nn::functional::detail") or not INNER.search(path + n)) and depth < 5 and path + n not in namespaces and n not in own | set(path.split("::")):
                namespaces.add(path + n)
                self.visible(real, path + n + "::", names, namespaces, depth + 1)


def declared(cursor):
    """What an alias or a using-declaration stands for."""
    if cursor.kind in (K.TYPE_ALIAS_DECL, K.TYPEDEF_DECL):
        return cursor.underlying_typedef_type.get_declaration()
    if cursor.kind == K.TYPE_ALIAS_TEMPLATE_DECL:  # `template <class T> using complex = Complex<T>;`
        for c in cursor.get_children():
            if c.kind == K.TYPE_ALIAS_DECL:
                for r in c.get_children():
                    if r.kind == K.TEMPLATE_REF and r.referenced:
                        return r.referenced
    if cursor.kind == K.USING_DECLARATION:
        for r in cursor.get_children():
            if r.kind in (K.TYPE_REF, K.TEMPLATE_REF) and r.referenced:
                return declared(r.referenced)
            if r.kind == K.OVERLOADED_DECL_REF:
                lib = cindex.conf.lib  # the bindings of Python lack this function
                lib.clang_getOverloadedDecl.restype = cindex.Cursor
                target = lib.clang_getOverloadedDecl(r, 0)
                target._tu = r._tu
                return declared(target)
    return cursor


def keep(cursors, name, cursor):
    """Of two things of one name the first; of a class and a function (c10::complex, torch::complex) the class."""
    if name not in cursors or declared(cursors[name]).kind not in CLASSES and declared(cursor).kind in CLASSES:
        cursors[name] = cursor


def members(cls, found, seen):
    """Names of the public members of a class and its bases."""
    cls = cls.get_definition() or cls
    if cls.hash in seen:
        return
    seen.add(cls.hash)
    for c in cls.get_children():
        if c.kind == K.CXX_BASE_SPECIFIER:
            for r in c.get_children():
                if r.kind in (K.TYPE_REF, K.TEMPLATE_REF) and r.referenced:
                    members(declared(r.referenced), found, seen)
        elif c.kind in MEMBERS and IDENTIFIER.match(c.spelling) and c.access_specifier == cindex.AccessSpecifier.PUBLIC:
            found.add(c.spelling)


def letters(headers):
    """{name: letters of the root namespaces}, the same of namespaces, {name: cursor}."""
    names, spaces, cursors = defaultdict(str), defaultdict(str), {}
    for root, letter in ROOTS.items():
        n, s = {}, set()
        headers.visible([root], "", n, s)
        for name, cursor in n.items():
            names[name] += letter
            keep(cursors, name, cursor)
        for name in s:
            spaces[name] += letter
    return names, spaces, cursors


def class_members(cursors, others):
    """{member: shortest name of a class that has it}, and the members of Tensor. A class that `others` lack is left out."""
    owner, tensor = {}, set()
    constructors = {c.spelling for c in cursors.values() if c.kind in CLASSES}
    for name in sorted(cursors.keys() & others.keys(), key=lambda n: (len(n), n)):
        cursor = cursors[name]
        cursor = declared(cursor)
        if cursor.kind not in CLASSES or INNER_CLASS.match(name):
            continue
        found = set()
        members(cursor, found, set())
        if cursor.spelling == "Tensor":
            tensor |= found
        else:
            for m in found - constructors:
                owner.setdefault(m, name)
    return owner, tensor


def our_headers():
    base = OURS[0]
    for folder, _, files in os.walk(base):
        for f in files:
            path = os.path.join(folder, f)
            with open(path) as text:
                yield os.path.relpath(path, base), "stub" if text.read().startswith("#error") else "yes"


def rows(theirs, ours):
    their_names, their_spaces, their_cursors = letters(theirs)
    our_names, our_spaces, our_cursors = letters(ours)
    for name in sorted(their_spaces.keys() | our_spaces.keys()):
        if name.partition("::")[0] not in BY_HAND:
            yield "namespace", name, their_spaces.get(name, "-"), our_spaces.get(name, "-")
        elif name in BY_HAND:
            yield "namespace", name, their_spaces.get(name, "-"), "-"
    for name in sorted(their_names.keys() | our_names.keys()):
        scope = name.rpartition("::")[0]
        if scope.partition("::")[0] == "impl" and name not in our_names:
            continue  # what LibTorch keeps to itself; programs use a few guards of it
        if not scope or (scope in our_spaces and scope.partition("::")[0] not in BY_HAND):  # a namespace that we lack stands for all that is in it
            yield "name", name, their_names.get(name, "-"), our_names.get(name, "-")
    yes = lambda name, of: "yes" if name in of else "-"
    for name in sorted(theirs.macros | ours.macros):
        yield "macro", name, yes(name, theirs.macros), yes(name, ours.macros)
    their_members, their_tensor = class_members(their_cursors, our_cursors)
    our_members, our_tensor = class_members(our_cursors, their_cursors)
    for name in sorted(their_tensor | our_tensor):
        yield "tensor", name, yes(name, their_tensor), yes(name, our_tensor)
    for name in sorted(their_members.keys() | our_members.keys()):
        yield "member", name, their_members.get(name, "-"), our_members.get(name, "-")
    for name, state in sorted(our_headers()):
        yield "header", name, "-", state


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--libtorch", required=True, help="folder that holds torch/include")
    parser.add_argument("--libclang", default="/usr/lib/llvm-14/lib/libclang.so.1")
    options = parser.parse_args()
    cindex.Config.set_library_file(options.libclang)
    include = os.path.join(options.libtorch, "torch", "include")
    theirs = Headers(HEADERS + LIBTORCH_HEADERS, [include, include + "/torch/csrc/api/include"])
    ours = Headers(HEADERS + OWN_HEADERS + ["torch/script.h"], OURS)
    with open(TABLE, "w") as f:
        f.write("kind\tname\tlibtorch\thalfbridge\n")
        for row in rows(theirs, ours):
            f.write("\t".join(row) + "\n")


if __name__ == "__main__":
    main()
