#!/bin/sh
# usage: left_behind.sh before|after FILE BUILD
# What tests of several processes leave behind: processes of the programs that they start, sockets, named shared memory (Halfbridge's has no
# name, MPI's has), System V segments, network namespaces. "before" writes what is there to FILE, "after" fails for what is there besides; both
# wait for processes that are still ending.
set -u
when=$1 file=$2 build=$3

present() {
  for process in /proc/[0-9]*; do
    program=$(readlink "$process/exe" 2>/dev/null) || continue
    words=$({ tr '\0' ' ' <"$process/cmdline"; } 2>/dev/null)
    case $program:$words in
      "$build"/unit_tests/rank_tests:* | "$build"/unit_tests/nccl_tests:* | "$build"/unit_tests/ranks_program:* | \
        "$build"/unit_tests/resume_program:* | "$build"/unit_tests/train_by_hand:* | "$build"/cli/halfbridge:*' run '*)
        echo "process ${process#/proc/} $words"
        ;;
    esac
  done
  ls /dev/shm 2>/dev/null | sed 's/^/shared memory /'
  awk 'NR > 1 { print "System V segment " $2 }' /proc/sysvipc/shm 2>/dev/null
  awk 'NR > 1 && /halfbridge|hb_/ { print "socket " $NF }' /proc/net/unix 2>/dev/null
  ip netns list 2>/dev/null | awk '/^hb/ { print "network namespace " $1 }'
}

besides() { present | sort -u | grep -v -x -F -f "$file"; }

if [ "$when" = before ]; then
  present | grep -v '^process ' | sort -u >"$file"
  echo "(nothing)" >>"$file" # an empty list of patterns would match every line
  exit 0
fi
for _ in $(seq 100); do
  left=$(besides) || exit 0
  sleep 0.2
done
echo "left behind:"
echo "$left"
exit 1
