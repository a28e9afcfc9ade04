# How tools/fleet submits, watches and collects. Sourced by it, after judge-run.sh, whose way to build it takes; uses
# its root, build, preset, runs and options, and fail() and say().
#
# A submission is a place, a folder that all nodes see:
#   shards/K.names, K.json, K.tests, K.sha256   what shard K judges, its manifest and tests, and the hashes of every
#                              file that it reads
#   shard.sh, settings, bundle.tar   what a node needs besides
#   attempts/K.R/              what the R-th start of shard K left: env.json, results/, and in `ended` how it ended
#   log/K                      what it said
# build/<preset>/fleet holds the places, or links to them. Jobs name their place in Slurm's comment, so that nothing has
# to be remembered between sbatch's answer and a crash.
# shellcheck shell=bash disable=SC2154

# Sets kb_places to the submissions that are not forgotten, the oldest first.
kb_find_places() {
  local entry
  kb_places=()
  for entry in $(find "$build/fleet" -mindepth 1 -maxdepth 1 -name '[0-9]*' -printf '%f\n' 2>/dev/null | sort -n); do
    kb_places+=("$(readlink -f "$build/fleet/$entry")")
  done
}

# Sets kb_live to lines "<place>|<shard>|<job>|<state>|<node or reason>" of array elements that run or wait.
kb_find_live() {
  local lines
  lines=$(squeue -h -r -u "$(id -un)" -o '%k|%K|%F|%T|%N|%r' 2>&1) ||
    fail "Slurm does not say what runs, so nothing is done: ${lines##*$'\n'}"
  kb_live=$(awk -F'|' -v OFS='|' 'FNR == NR { mine[$0]; next }
    $1 in mine { print $1, $2, $3, $4, $5 == "" ? $6 : $5 }' <(printf '%s\n' "${kb_places[@]}") - <<<"$lines")
}

kb_is_live() { grep -qF -- "$1|" <<<"$kb_live"; } # <place>

# Takes over what the nodes have left and says what was refused.
kb_adopt() {
  local place folders=() taken
  for place in "${kb_places[@]}"; do folders+=("$place"/attempts/*/); done
  taken=$("$root/tools/slurm/kb-fleet" adopt --build-dir "$build" "${mixed[@]}" "${folders[@]}" 2>"$build/fleet.log")
  # 1: some were refused; what was taken is right all the same.
  [ $? -le 1 ] || fail "$(tail -n 1 "$build/fleet.log")"
  [ ! -s "$build/fleet.log" ] || cat "$build/fleet.log" >&2
  [ ${#folders[@]} -eq 0 ] || say "$taken"
}

# Makes an empty place and sets `place` to it.
kb_make_place() {
  local number=1
  mkdir -p "$build/fleet" || fail "cannot make $build/fleet: make room, or make the folder writable"
  while [ -e "$build/fleet/$number" ] || [ -L "$build/fleet/$number" ]; do number=$((number + 1)); done
  if [ -n "$share" ]; then
    place=$(mktemp -d "$share/kb-fleet-$preset-XXXXXX") && place=$(readlink -f "$place") && chmod 755 "$place" &&
      ln -s "$place" "$build/fleet/$number"
  else
    place=$(readlink -f "$build/fleet")/$number && mkdir "$place"
  fi || fail "cannot make a folder in ${share:-$build/fleet}: name one that all nodes see with --share"
  mkdir "$place/shards" "$place/attempts" "$place/log" "$place/peaks" || fail "cannot write in $place: make room"
}

kb_forget_place() { # <place>
  local entry
  for entry in "$build"/fleet/[0-9]*; do
    [ "$(readlink -f "$entry")" = "$1" ] || continue
    rm -rf -- "$1"
    rm -rf -- "$entry"
  done
}

# K.tests: the tests of a shard's kernels and those that they need, as CTest has them here.
kb_write_tests() {
  (cd "$place/shards" && awk '
    FILENAME ~ /names$/ { k = FILENAME; sub(/\.names$/, "", k); shard[$1] = k; all[k]; next }
    match($0, /^(add_test|set_tests_properties)\(\[=\[[^]]*\]=\]/) {
      name = substr($0, RSTART, RLENGTH)
      gsub(/^[^[]*\[=\[|\]=\]$/, "", name)
      if (name == "kb.env" || name == "kb.peaks") needed = needed $0 "\n"
      sub(/\.(build|correct|bench|profile)$/, "", name)
      if (name in shard) tests[shard[name]] = tests[shard[name]] $0 "\n"
    }
    END { for (k in all) { file = k ".tests"; printf "%s%s", needed, tests[k] >file; close(file) } }' \
    ./*.names - <"$build/CTestTestfile.cmake")
}

# One file with everything that a node reads, in the folders of this checkout.
kb_write_bundle() {
  {
    cut -c67- "$place"/shards/*.sha256 | sort -u
    (cd "$root" && find reports/kb-report reports/python reports/kb_report reports/schema reports/templates tools/lib \
      tools/slurm/kb-fleet tools/slurm/kb_fleet harness/cmake \
      -name __pycache__ -prune -o -type f -print)
  } >"$place/bundle.files"
  tar -C "$root" --dereference -cf "$place/bundle.tar" -T "$place/bundle.files" ||
    fail "cannot write $place/bundle.tar: make room on the disk"
}

kb_write_place() {
  if ! { cp "$root/tools/slurm/shard.sh" "$place/shard.sh" &&
    printf '%s\n' "${runs[@]}" >"$place/runs" &&
    printf '%s=%q\n' root "$root" preset "$preset" ship "$ship" scratch "$scratch" exclude "$exclude" \
      >"$place/settings" &&
    kb_write_tests; }; then
    fail "cannot write in $place: make room on the disk"
  fi
  [ "$ship" = folder ] || kb_write_bundle
}

kb_fleet_submit() {
  local run place count job
  [ -d "${share:-/}" ] || fail "there is no folder $share: --share names one that all nodes see"
  kb_lock_build
  trap 'kb_stop INT 2' INT
  trap 'kb_stop TERM 15' TERM
  for run in "${runs[@]}"; do kb_build_run; done
  # In this order: what ends in between is known in one way or the other, and judged once.
  kb_find_places
  kb_find_live
  kb_adopt
  kb_make_place
  kb_taken_names >"$place/taken"
  count=$("$root/tools/slurm/kb-fleet" shards --build-dir "$build" --out "$place/shards" --taken "$place/taken" \
    ${shards:+--shards "$shards"} "${seconds[@]}" "${runs[@]}" 2>"$build/fleet.log") || {
    kb_forget_place "$place"
    fail "$(tail -n 1 "$build/fleet.log")"
  }
  if [ "$count" -eq 0 ]; then
    kb_forget_place "$place"
    say "nothing to submit: $(cat "$build/fleet.log")"
    return 0
  fi
  kb_write_place
  # A node that is lost, and what else Slurm calls a reason, starts the shard again on another one.
  job=$(sbatch --parsable --requeue --array="1-$count" --nodes=1 --ntasks=1 --job-name="kb.$preset" \
    --comment="$place" --chdir="$place" --output="$place/log/%a" --open-mode=append "${slurm[@]}" \
    --wrap="exec bash $(printf %q "$place/shard.sh") $(printf %q "$place")" 2>"$build/sbatch.log") || {
    kb_forget_place "$place"
    fail "sbatch refused: $(tail -n 1 "$build/sbatch.log")"
  }
  say "job ${job%%;*}: $(cat "$build/fleet.log")"
  # What they had is taken over, and what they had not is submitted again, unless its run was not named now.
  for place in "${kb_places[@]}"; do
    kb_is_live "$place" || kb_is_needed "$place" || kb_forget_place "$place"
  done
}

# Whether a run of a place that is not among those submitted now lacks results; collect is to tell.
kb_is_needed() { # <place>
  local run names
  while read -r run; do
    [[ " ${runs[*]} " != *" $run "* && " ${runs[*]} " != *" ${run%/*} "* ]] || continue
    [ "$run" = seed ] || [ -d "$root/candidates/$run" ] || continue # there is nothing to judge any more
    names=$("$root/reports/kb-report" pending --build-dir "$build" "$run" 2>/dev/null) && [ -z "$names" ] || return 0
  done < <(cat "$1/runs" 2>/dev/null)
  return 1
}

# The lines of the .names of all shards that run or wait.
kb_taken_names() {
  local its_place shard rest
  while IFS='|' read -r its_place shard rest; do
    [ -z "$its_place" ] || cat "$its_place/shards/$shard.names"
  done <<<"$kb_live"
}

# Prints the names of a shard's kernels that some attempt has judged.
kb_judged_names() { # <place> <shard>
  find "$1/attempts" -path "$1/attempts/$2.*/results/*" -name '*.json' ! -name '*.bench.json' -exec awk '
    function tell() { if (verdict !~ /null/ && (verdict !~ /pass/ || timing !~ /null/)) print name }
    BEGIN { verdict = "null" }
    FNR == 1 { tell(); verdict = "null" }
    /^ "name": / { name = $2 }
    /^ "verdict": / { verdict = $2 }
    /^ "timing": / { timing = $2 }
    END { tell() }' {} + 2>/dev/null | sort -u
}

# How the last attempt of a shard ended that no job is about any more.
kb_shard_ended() { # <place> <shard>
  local last
  last=$(find "$1/attempts" -maxdepth 1 -name "$2.*" -printf '%f\n' | sort -t. -k2n | tail -n 1)
  if [ -z "$last" ]; then
    echo "never started"
  elif [ -s "$1/attempts/$last/ended" ]; then
    cat "$1/attempts/$last/ended"
  else
    echo "ended without a word: its time limit, a signal, scancel, or a full shared folder"
  fi
}

kb_fleet_status() {
  local place shard line state names judged all=0 done=0 notes=()
  kb_find_places
  [ ${#kb_places[@]} -gt 0 ] || fail "nothing was submitted for the preset $preset"
  kb_find_live
  printf '%-8s %-5s %-7s %s\n' job shard judged state
  for place in "${kb_places[@]}"; do
    for ((shard = 1; ; ++shard)); do
      [ -e "$place/shards/$shard.names" ] || break
      names=$(wc -l <"$place/shards/$shard.names")
      judged=$(kb_judged_names "$place" "$shard" | wc -l)
      line=$(grep -F -- "$place|$shard|" <<<"$kb_live" | head -n 1)
      state=$(kb_shard_ended "$place" "$shard")
      [ -z "$line" ] || state=$(cut -d'|' -f4,5 <<<"$line" | tr '|' ' ')
      printf '%-8s %-5s %-7s %s\n' "$(cut -d'|' -f3 <<<"${line:-||-}")" "$shard" "$judged/$names" "$state"
      all=$((all + names)) done=$((done + judged))
    done
    notes+=("what its shards said is in ${place#"$root"/}/log")
  done
  printf '%s\n' "${notes[@]}"
  echo "$done of $all kernels are judged; tools/fleet collect $preset takes their results over"
}

kb_fleet_cancel() {
  local jobs
  kb_find_places
  kb_find_live
  jobs=$(cut -d'|' -f3 <<<"$kb_live" | sort -u)
  [ -n "$jobs" ] || fail "no job of the preset $preset runs or waits"
  # shellcheck disable=SC2086
  scancel $jobs || fail "Slurm did not cancel job $jobs; its message above says why"
  say "cancelled ${jobs//$'\n'/, }"
}

# The runs of all places, or of what was judged last.
kb_fleet_runs() { cat "${kb_places[@]/%//runs}" 2>/dev/null | sort -u; }

kb_fleet_collect() {
  local run unjudged=0 names
  kb_find_places
  [ ${#kb_places[@]} -gt 0 ] || fail "nothing was submitted for the preset $preset"
  kb_find_live
  while [ -n "$wait" ] && [ -n "$kb_live" ]; do
    sleep 5
    kb_find_live
  done
  kb_lock_build
  kb_adopt
  for run in $(kb_fleet_runs); do
    if ! names=$("$root/reports/kb-report" pending --build-dir "$build" "$run" 2>"$build/fleet.log"); then
      say "$(tail -n 1 "$build/fleet.log")"
      unjudged=$((unjudged + 1))
      continue
    fi
    kb_print_table "$build/fleet.log"
    [ -z "$names" ] || unjudged=$((unjudged + $(wc -l <<<"$names")))
  done
  [ "$unjudged" -gt 0 ] || return 0
  if [ -n "$kb_live" ]; then
    say "$unjudged kernel(s) are not judged yet: jobs still run (tools/fleet status $preset)"
  else
    say "$unjudged kernel(s) are not judged: tools/fleet status $preset says why, tools/fleet submit tries again"
  fi
  return 1
}
