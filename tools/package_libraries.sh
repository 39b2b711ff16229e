#!/usr/bin/env bash
# usage: tools/package_libraries.sh TREE
# Copies into TREE/lib of an install tree what its programs load and a machine with a compiler may lack, so that nothing of it
# depends on the machine: each file finds the others beside it ($ORIGIN). Their licences go to share/doc/halfbridge/licenses.
set -euo pipefail
tree=$1
lib=$tree/lib
licenses=$tree/share/doc/halfbridge/licenses

# What every machine with a C++ compiler has: the C library, and the compiler's own.
of_the_machine='^(linux-vdso|ld-linux-x86-64|libc|libm|libmvec|libdl|libpthread|librt|libstdc\+\+|libgcc_s)\.so'

# The path of the library NAME: as the loader finds it.
find_library() { ldconfig -p | awk -v name="$1" '$1 == name && /x86-64/ && !found { print $NF; found = 1 }'; }

# needed FILE: the names that its header asks for.
needed() { readelf -d "$1" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p'; }

copy_license() {
  local package file
  file=$(readlink -f "$1")
  # dpkg may know the file by its place before /lib became a link.
  package=$({ dpkg -S "$file" || dpkg -S "${file#/usr}" || true; } 2>/dev/null | head -n 1 | cut -d: -f1)
  [ -n "$package" ] || { echo "error: no package owns $1, so its licence is not known" >&2; exit 1; }
  cp "/usr/share/doc/$package/copyright" "$licenses/$package"
}

# bundle FILE: copies what FILE needs, and what that needs.
bundle() {
  local name path
  for name in $(needed "$1"); do
    [[ $name =~ $of_the_machine ]] && continue
    [ -e "$lib/$name" ] && continue
    path=$(find_library "$name")
    [ -n "$path" ] || { echo "error: $1 needs $name, which is not on this machine" >&2; exit 1; }
    add "$name" "$path"
  done
}

add() {
  cp -L "$2" "$lib/$1"
  chmod 644 "$lib/$1"
  copy_license "$2"
  patchelf --set-rpath '$ORIGIN' "$lib/$1"
  bundle "$lib/$1"
}

mkdir -p "$licenses"
for file in "$lib"/libhalfbridge*.so "$tree"/bin/*; do
  # MPI is the one that mpirun belongs to, and finds its own parts beside itself.
  [[ $file =~ libhalfbridge_(mpi|mpich)\.so$ ]] || bundle "$file"
done
patchelf --set-rpath '$ORIGIN' "$lib/libhalfbridge_onednn.so"
# What the library opens while it runs stands as text in it.
for name in $(grep -aoE 'lib(dnnl|openblas|lapack|lapacke)\.so(\.[0-9]+)+' "$lib/libhalfbridge.so" | sort -u); do
  [ -e "$lib/$name" ] && continue
  path=$(find_library "$name")
  [ -n "$path" ] || { echo "warning: $name is not on this machine and will not be in the archive" >&2; continue; }
  add "$name" "$path"
done
