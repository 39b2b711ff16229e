#!/bin/sh
# Launches nvcc and keeps what ptxas says of registers beside the object, for tools/gpu/registers.py. A compiler's cache says it
# again when it has the object already.
for argument; do
  [ "$previous" != -o ] || object=$argument
  previous=$argument
done
log=$object.ptxas
"$@" 2>"$log"
status=$?
# Everything else was meant for who builds.
grep -v -e '^ptxas info' -e 'bytes stack frame' "$log" >&2
exit $status
