# How tools/judge judges a run: build, choose, judge, tell. Sourced by it, tools/fleet and tools/quickstart; uses their
# root, build, preset, run, jobs and fail(). ctest does the judging, so that GPUs, fixtures and limits are those of any
# other call of it.
# shellcheck shell=bash disable=SC2154

# Only a terminal gets a line that changes; a log gets one line per kernel.
kb_status() {
  if [ -t 2 ]; then
    printf '\r\033[K%s' "$*" >&2
  elif [ -n "${1:-}" ]; then
    printf '%s\n' "$*" >&2
  fi
}

# Ends the programs that are working, and whatever they have started: each has a process group of its own.
kb_working=
kb_stop() {
  trap '' INT TERM HUP
  if [ -n "$kb_working" ]; then
    kill -s "$1" -- "-$kb_working" 2>/dev/null || true
    wait "$kb_working" 2>/dev/null || true
  fi
  [ ! -t 2 ] || printf '\n' >&2
  printf '%s: stopped; the same command continues where it was\n' "${0##*/}" >&2
  exit $((128 + $2))
}

# kb_follow <log> <function> <command...>: runs the command with its output in the log, gives each line of it to the
# function as it comes, and returns the command's status.
kb_follow() {
  local log=$1 each=$2 line rest='' status
  shift 2
  : >"$log" || fail "cannot write $log: make room on the disk, or make the folder writable"
  set -m
  "$@" >"$log" 2>&1 </dev/null &
  kb_working=$!
  set +m
  exec {kb_lines}<"$log"
  local ended='' pause
  # Waits without a program: one that a signal ends would have bash write about it.
  exec {pause}<> <(:)
  while :; do
    if IFS= read -r line <&"$kb_lines"; then
      "$each" "$rest$line"
      rest=
      continue
    fi
    rest+=$line
    [ -z "$ended" ] || break
    # What it wrote last may come between the last read and its end, hence one more round.
    kill -0 "$kb_working" 2>/dev/null || ended=1
    [ -n "$ended" ] || read -rt 0.2 <&"$pause" || true
  done
  exec {kb_lines}<&- {pause}<&-
  wait "$kb_working"
  status=$?
  kb_working=
  return $status
}

# kb_name_run <argument>: sets run to <run> or <run>/<sample> of candidates/.
kb_name_run() {
  local there
  run=${1%/} run=${run#candidates/}
  [[ $run =~ ^[A-Za-z0-9_-]+(/[A-Za-z0-9_-]+)?$ ]] || fail "'$run' is no name of a run: give <run> or <run>/<sample>"
  [ "$run" != seed ] && [ ! -d "$root/candidates/$run" ] || return 0
  there=$(cd "$root/candidates" && find . -mindepth 1 -maxdepth 1 -type d -printf '%P\n' | sort | paste -sd' ' |
    LC_ALL=C tr -c '[:print:]\n' '?') # a name may hold orders to the terminal
  fail "there is no folder candidates/$run: the runs are ${there// /, }; put the kernels there first"
}

# Until this program ends, no other one judges or collects with this preset.
kb_lock_build() {
  exec {kb_lock}>"$build/judge.lock" || fail "cannot write $build/judge.lock: make room, or make the folder writable"
  flock -n "$kb_lock" && return
  printf '%s: another tools/judge or tools/fleet works with the preset %s; waiting for it\n' "${0##*/}" "$preset" >&2
  flock "$kb_lock"
}

kb_build_line() {
  [ ! -t 2 ] || [[ $1 != \[* ]] || kb_status "building ${1%%]*}]"
}

kb_build_run() {
  local log=$build/judge.build.log
  kb_status "building the kernels of $run"
  NINJA_STATUS='[%f/%t] ' kb_follow "$log" kb_build_line cmake --build "$build" --target "kb_run.${run/\//.}" && return
  kb_status ''
  if [ -e "$build/refused/${run%%/*}.txt" ]; then
    cat "$build/refused/${run%%/*}.txt" >&2
    fail "no kernel of candidates/${run%%/*} is judged until this is corrected"
  fi
  if grep -q 'unknown target' "$log"; then
    fail "no kernel of candidates/$run is configured in build/$preset: are its files at levelN/NNN_slug.cu, and do" \
      "KB_RUNS and KB_TASKS (cmake --preset $preset -DKB_RUNS='*' -DKB_TASKS='*') name them?"
  fi
  grep -v -e '^\[[0-9]*/[0-9]*\]' -e '^-- ' "$log" | tail -n 40 >&2
  fail "the build failed; the message above says why, all of it is in ${log#"$root"/}"
}

# What is fresh depends on the programs that judge here, which env.json names.
kb_check_machine() {
  "$build/bin/kb_env" --manifest "$build/manifest.json" >"$build/judge.log" 2>&1 || {
    cat "$build/judge.log" >&2
    fail "this machine cannot judge with the preset $preset; the message above says why"
  }
}

# Sets kb_pending to the names of kernels without a fresh result. Who decides that is the report, so that no kernel is
# passed over here and missing there.
kb_find_pending() {
  local names
  names=$("$root/reports/kb-report" pending --build-dir "$build" "$run" 2>"$build/judge.pending.log") || {
    cat "$build/judge.pending.log" >&2
    fail "the results of build/$preset cannot be read; the message above says why"
  }
  kb_pending=()
  [ -z "$names" ] || mapfile -t kb_pending <<<"$names"
}

# Writes ctest's numbers of the tests of the pending kernels, in the form that ctest -I reads.
kb_choose_tests() {
  printf '%s\n' "${kb_pending[@]}" | awk '
    FNR == NR { wanted[$0]; next }
    match($0, /Test +#[0-9]+: /) {
      name = substr($0, RSTART + RLENGTH)
      number = substr($0, RSTART, RLENGTH)
      gsub(/[^0-9]/, "", number)
      sub(/\.(build|correct|bench|profile)$/, "", name)
      if (name in wanted) chosen = chosen "," number
    }
    END { print "0,0,0" chosen }' - <(ctest --test-dir "$build" -N 2>/dev/null) >"$build/judge.tests"
}

# Prints the time that is left, once it is known well enough. ctest builds all, then checks all, then times what is
# right, so kernels that are done say little: what a test of each kind takes and how many are left of it say more.
kb_time_left() {
  local checks=$((${#kb_pending[@]} - kb_ended[correct])) times=0 spent left
  times=$((${#kb_right[@]} - kb_ended[bench] + checks))
  spent=$((kb_spent[correct] + kb_spent[bench]))
  [ $times -ge 0 ] && [ $((checks + times)) -gt 0 ] && [ $spent -gt 0 ] || return 0
  [ $times -eq 0 ] || [ "${kb_ended[bench]}" -ge 3 ] || return 0
  left=$((checks * kb_spent[correct] / (kb_ended[correct] > 0 ? kb_ended[correct] : 1)))
  left=$((left + times * kb_spent[bench] / (kb_ended[bench] > 0 ? kb_ended[bench] : 1)))
  left=$((left * (SECONDS - kb_started) / spent))
  kb_left $left
}

kb_left() { # <seconds>
  if [ "$1" -ge 90 ]; then
    printf ', %d min left' $((($1 + 30) / 60))
  else
    printf ', %d s left' "$1"
  fi
}

# A kernel is done with its last step, which ctest names in any case: as "Not Run" if one before it failed.
kb_test_line() {
  [[ $1 =~ ^\ *[0-9]+/[0-9]+\ Test\ +\#[0-9]+:\ ([^ ]+)\.(correct|bench)\ [.\ ]*(\*\*\*)?\ *(.*) ]] || return 0
  local name=${BASH_REMATCH[1]} step=${BASH_REMATCH[2]} state=${BASH_REMATCH[4]}
  if [ "$step" = correct ] || [[ $state != 'Not Run'* ]]; then
    kb_ended[$step]=$((kb_ended[$step] + 1))
    # In hundredths of a second.
    [[ ! $state =~ ([0-9]+)\.([0-9][0-9])\ sec ]] ||
      kb_spent[$step]=$((kb_spent[$step] + 10#${BASH_REMATCH[1]}${BASH_REMATCH[2]}))
  fi
  if [ "$step" = correct ]; then
    [[ $state != Passed* ]] || kb_right[$name]=1
    [ ! -t 2 ] || [ "$kb_done" -gt 0 ] || kb_status "checked ${kb_ended[correct]} of ${#kb_pending[@]}"
    return 0
  fi
  kb_done=$((kb_done + 1))
  local verdict='does not pass'
  if [ -n "${kb_right[$name]:-}" ] && [[ $state != Failed* ]]; then
    verdict=passes
    kb_passed=$((kb_passed + 1))
  fi
  if [ -t 2 ]; then
    kb_status "judged $kb_done of ${#kb_pending[@]}, $kb_passed pass$(kb_time_left)"
  else
    kb_status "[$kb_done/${#kb_pending[@]}] $name $verdict, $kb_passed pass so far$(kb_time_left)"
  fi
}

# As many at once as cores and memory allow: judging one takes up to 1.5 GB.
kb_jobs() {
  awk -v cores="$(nproc)" '/^MemTotal/ {
    jobs = int($2 / 1500000)
    if (jobs > cores) jobs = cores
    print jobs < 1 ? 1 : jobs
  }' /proc/meminfo
}

kb_judge_pending() {
  kb_done=0 kb_passed=0 kb_started=$SECONDS
  declare -gA kb_right=() kb_ended=([correct]=0 [bench]=0) kb_spent=([correct]=0 [bench]=0)
  kb_choose_tests
  # The verdicts are in the results: a test that failed is one, and no failure of this program.
  kb_follow "$build/judge.log" kb_test_line ctest --test-dir "$build" -I "$build/judge.tests" -j "${jobs:-$(kb_jobs)}" \
    --fixture-exclude-cleanup '^kb\.report$' || true
  kb_status ''
}

# kb_print_table <log>: the run's table, the failures and the sentence of `kb-report pending`, whose log it is, and where
# all the rest stands.
kb_print_table() {
  local out=$build/runs/${run%%/*}
  "$root/reports/kb-report" rollup --build-dir "$build" --run "${run%%/*}" --out "$out" 2>"$build/judge.report.log" || {
    # 1: some result of the folder is bad, 77: there is no page; the table is there in both cases.
    [[ $? == 1 || $? == 77 ]] || { cat "$build/judge.report.log" >&2; fail "the table cannot be written: see above"; }
  }
  printf '\n'
  sed '$d' "$1"
  printf '%s: %s\n' "$run" "$(tail -n 1 "$1")"
  [ "$(wc -l <"$1")" -eq 1 ] || printf 'what each kernel lacks: %s/feedback\n' "${out#"$root"/}" >&2
}

kb_judge_run() {
  command -v flock >/dev/null || fail "flock is missing, which comes with the package util-linux: install it"
  kb_lock_build
  trap 'kb_stop INT 2' INT
  trap 'kb_stop TERM 15' TERM
  trap 'kb_stop HUP 1' HUP
  kb_build_run
  kb_check_machine
  kb_find_pending
  if [ ${#kb_pending[@]} -gt 0 ]; then
    kb_status "judging ${#kb_pending[@]} kernel(s) that have no fresh result"
    kb_judge_pending
    kb_find_pending
  else
    echo "every result of $run is fresh: nothing to judge" >&2
  fi
  kb_status ''
  kb_print_table "$build/judge.pending.log"
  [ ${#kb_pending[@]} -eq 0 ] && return 0
  printf 'judge: %s could not be judged; build/%s/judge.log says why, the same command tries again\n' \
    "${kb_pending[*]}" "$preset" >&2
  return 1
}
