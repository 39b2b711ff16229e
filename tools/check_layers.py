#!/usr/bin/env python3
"""Fails where a file of a layer includes a header of a layer that it does not stand on.

usage: check_layers.py ROOT LAYER:FOLDER,...:USED,... ...      as cmake/layers.cmake lists them
"""
import pathlib
import re
import sys

INCLUDE = re.compile(r'^\s*#\s*include\s+([<"])([^>"]+)[>"]', re.M)


def public_layer(header):
    """The layer of a public header: <halfbridge/bridge/...>; the engine's are declarations that any layer may see."""
    part = header.split("/")
    return part[1] if part[0] == "halfbridge" and part[1] in ("bridge", "train", "trace", "amp", "graph.h") else None


def main(root, rules):
    root = pathlib.Path(root)
    allowed, owner = {}, {}
    for rule in rules:
        layer, folders, uses = rule.split(":")
        allowed[layer] = {layer, *filter(None, uses.split(","))}
        for folder in folders.split(","):
            owner[folder] = layer
    public = {"bridge": "bridge", "train": "train", "amp": "train", "trace": "trace", "graph.h": "graph"}
    wrong, files = [], 0
    for folder, layer in owner.items():
        for file in sorted((root / folder).rglob("*")):
            if file.suffix not in (".h", ".cpp", ".def"):
                continue
            files += 1
            for kind, header in INCLUDE.findall(file.read_text()):
                target = None
                if kind == "<":
                    target = public.get(public_layer(header))
                else:
                    target = owner.get("src/" + header.split("/")[0])
                if target and target not in allowed[layer]:
                    wrong.append(f"{file.relative_to(root)}: layer '{layer}' includes {header} of layer '{target}'")
    print("\n".join(wrong) if wrong else f"{files} files, no upward include")
    return 1 if wrong or files == 0 else 0


sys.exit(main(sys.argv[1], sys.argv[2:]))
