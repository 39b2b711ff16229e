#error "<torch/extension.h> is not supported by Halfbridge: it has no Python binding"
