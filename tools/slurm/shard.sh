# One element of the array job of tools/fleet, on its node: bash shard.sh <place>. It judges in a folder of its own on
# the node's disk, with the programs that were submitted and results in the place, where a later attempt and the
# collector find them whatever becomes of this node. tools/slurm/fleet.sh says what the place holds.
# shellcheck shell=bash disable=SC2154
set -uo pipefail
place=$1
shard=$SLURM_ARRAY_TASK_ID
# shellcheck disable=SC1091
source "$place/settings"
attempt=$place/attempts/$shard.${SLURM_RESTART_COUNT:-0}
most_restarts=3

say() { printf '%s %s: %s\n' "$(date -u +%FT%TZ)" "${SLURMD_NODENAME:-node}" "$*"; }
ended() { # <how>
  say "$*"
  printf '%s\n' "$*" >"$attempt/ended"
}
give_up() { # <why>
  ended "failed: $*"
  exit 1
}
fail() { elsewhere "$*"; } # for judge-run.sh

# What may be this node's fault is tried on another one, a few times.
elsewhere() { # <why>
  local id=${SLURM_ARRAY_JOB_ID}_$shard
  if [ "${SLURM_RESTART_COUNT:-0}" -ge $most_restarts ]; then
    give_up "$* (tried $((most_restarts + 1)) times)"
  fi
  ended "requeued: $* (${SLURMD_NODENAME:-})"
  # Requeueing ends this job; what follows must still be said.
  trap '' TERM
  scontrol requeue "$id" || exit 1
  if [ "$(sinfo -h -N -p "${SLURM_JOB_PARTITION:-}" -t idle,mixed,allocated -o %N | sort -u | wc -l)" -gt 1 ]; then
    scontrol update JobId="$id" ExcNodeList="${exclude:+$exclude,}${SLURMD_NODENAME:-}"
  fi
  exit 1
}

# Sets `tree` to the checkout that was submitted, here or unpacked, and makes sure that it is that one.
find_tree() {
  tree=$root
  if [ "$ship" = tarball ]; then
    tree=$work/tree
    { mkdir "$tree" && tar -C "$tree" -xf "$place/bundle.tar"; } || elsewhere "the tarball cannot be unpacked in $work"
    # Programs know where they were built.
    export LD_LIBRARY_PATH=$tree/build/$preset/lib:$tree/build/$preset/lib/tasks${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
  fi
  local said
  said=$(cd "$tree" 2>&1 && sha256sum --quiet --strict -c "$place/shards/$shard.sha256" 2>&1) ||
    give_up "what is in $tree is not what was submitted: submit again (${said%%$'\n'*})"
}

# Makes the build folder to judge in: its facts, tests and results are this attempt's.
make_build() {
  local name from=$tree/build/$preset
  build=$work/build/$preset
  mkdir -p "$build" "$attempt/results" || return
  for name in bin lib modules CMakeFiles aoti sources.sha256; do
    [ ! -e "$from/$name" ] || ln -s "$from/$name" "$build/$name" || return
  done
  ln -s "$attempt/results" "$build/results" && ln -s "$place/peaks" "$build/peaks" || return
  move_paths "$place/shards/$shard.json" "$build/manifest.json" &&
    move_paths "$place/shards/$shard.tests" "$build/CTestTestfile.cmake"
}

# move_paths <file> <copy>: the copy names this build folder and this tree.
move_paths() {
  local text
  text=$(<"$1")
  # In two steps, since the new folder may lie below the old one.
  text=${text//"$root/build/$preset"/@KB_BUILD@} text=${text//"$root"/@KB_TREE@}
  text=${text//@KB_BUILD@/"$build"} text=${text//@KB_TREE@/"$tree"}
  printf '%s\n' "$text" >"$2"
}

# Sets kb_pending to the kernels of this shard that have no result yet.
find_pending() {
  local own=() run
  while read -r run; do
    kb_find_pending
    own+=("${kb_pending[@]}")
  done < <(cut -d. -f1 "$place/shards/$shard.names" | sort -u)
  kb_pending=("${own[@]}")
}

mkdir -p "$attempt" || { say "cannot write in $place: make room there"; exit 1; }
say "shard $shard, attempt ${SLURM_RESTART_COUNT:-0}"
# TMPDIR may be that of the machine where it was submitted.
[ -n "$scratch" ] || scratch=$([ -d "${TMPDIR:-}" ] && echo "$TMPDIR" || echo /tmp)
work=$(mktemp -d "${scratch//%n/${SLURMD_NODENAME:-}}/kb-fleet-XXXXXX") || elsewhere "no folder can be made in $scratch"
trap 'rm -rf "$work"' EXIT
export TMPDIR=$work
find_tree
make_build || elsewhere "no room in $work"
root=$tree
# shellcheck source=tools/lib/judge-run.sh disable=SC1091
source "$tree/tools/lib/judge-run.sh"
said=$("$build/bin/kb_env" --manifest "$build/manifest.json" 2>&1) || elsewhere "it cannot judge here: $said"
cp "$build/env.json" "$attempt/env.json" || give_up "cannot write in $place: make room there"
# What an earlier attempt of this shard has judged, if it belongs to this build.
mapfile -t earlier < <(find "$place/attempts" -mindepth 1 -maxdepth 1 -name "$shard.*" ! -path "$attempt")
[ ${#earlier[@]} -eq 0 ] || "$tree/tools/slurm/kb-fleet" adopt --build-dir "$build" --allow-mixed "${earlier[@]}"
find_pending
jobs=$(kb_jobs)
# A job may have less of the node; judging one kernel takes up to 1500 MB.
for most in "${SLURM_CPUS_ON_NODE:-0}" $(((${SLURM_MEM_PER_NODE:-0} + 1499) / 1500)); do
  [ "$most" -eq 0 ] || [ "$most" -ge "$jobs" ] || jobs=$most
done
if [ ${#kb_pending[@]} -gt 0 ]; then
  trap 'kb_stop TERM 15' TERM
  say "judging ${#kb_pending[@]} kernel(s), $jobs side by side"
  kb_judge_pending
  trap - TERM
  find_pending
fi
if [ ${#kb_pending[@]} -gt 0 ]; then
  # What ctest and the programs said goes with this folder otherwise.
  cp "$build/Testing/Temporary/LastTest.log" "$attempt/tests.log"
  elsewhere "${#kb_pending[@]} kernel(s) could not be judged, ${kb_pending[0]} for one"
fi
ended "done"
