#error "<torch/python.h> is not supported by Halfbridge: it has no Python binding"
