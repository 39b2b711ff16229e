#!/usr/bin/env bash
# usage: tools/gpu/bundle.sh BUILD OUT.tar.xz
# Packs what a machine with an NVIDIA driver and no network needs to try the CUDA back end: the libraries, the parity cases with
# LibTorch's values (of the families whose values are small), the unit tests, the speed programs and the runner. CUDA's own libraries are too large: they
# come from that machine's toolkit or pip wheels.
set -euo pipefail
build=$1 out=$2
root=$(cd "$(dirname "$0")/../.." && pwd)
most_reference=7000000 most_bundle=60000000  # bytes
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
name=halfbridge-gpu
mkdir -p "$tree/$name"/{bin,lib,reference,recorded,python}
cp -L "$build"/libhalfbridge.so.0 "$build"/libhalfbridge_cuda.so "$build"/libhalfbridge_onednn.so "$tree/$name/lib"
cp -L "$tree/$name/lib/libhalfbridge.so.0" "$tree/$name/lib/libhalfbridge.so"  # where package_libraries.sh looks for names
cp "$build"/compat_tests/parity_{halfbridge,compare} "$build"/benchmarks/{gpu_speed,gpu_training_halfbridge,sweep_halfbridge} \
  "$build"/unit_tests/software_cuda_{training,backend}_tests "$tree/$name/bin"
cp "$root"/compat_tests/parity/not_on_cuda.txt "$tree/$name"
cp "$root"/benchmarks/gpu/gpu_speed.py "$root"/tools/gpu/summary.py "$tree/$name/python"
cp "$root"/tools/gpu/dev "$tree/$name"
cp "$root"/unit_tests/io/python_files/*.pt "$tree/$name/recorded"
strip --strip-unneeded "$tree/$name"/lib/*.so* "$tree/$name"/bin/*
"$root"/tools/package_libraries.sh "$tree/$name"
rm "$tree/$name/lib/libhalfbridge.so"
cp "$build"/benchmarks/{gpu_training,sweep}_libtorch "$tree/$name/bin"  # whose libraries are that machine's
strip --strip-unneeded "$tree/$name"/bin/*_libtorch
for file in "$tree/$name"/bin/*; do patchelf --set-rpath '$ORIGIN/../lib' "$file"; done
cp "$root"/benchmarks/sweep/sweep.py "$tree/$name/bin/sweep"
patchelf --set-rpath '$ORIGIN' "$tree/$name/lib/libhalfbridge.so.0" "$tree/$name/lib/libhalfbridge_cuda.so"
for file in "$build"/compat_tests/parity/*.libtorch.safetensors; do
  [ -e "$file" ] || { echo "error: no reference values in $build: run the tests parity.* first" >&2; exit 1; }
  [ "$(stat -Lc %s "$file")" -gt "$most_reference" ] || cp "$file" "$tree/$name/reference"
done
tar -C "$tree" --owner=0 --group=0 --sort=name -cf - "$name" | xz -T0 -6 >"$out"
size=$(stat -c %s "$out")
echo "$out: $size bytes" >&2
[ "$size" -le "$most_bundle" ] || { echo "error: expected at most $most_bundle bytes" >&2; exit 1; }
