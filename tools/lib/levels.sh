# How tools/quickstart builds and judges: four kernels, then level after level, so that verdicts come early, and the
# example run. Sourced by it, after setup.sh and judge-run.sh, whose ways to follow a program and to judge it takes.
# shellcheck shell=bash disable=SC2154,SC2034

# Estimates how long all of it takes: an hour of one core to build all and to judge on the CPU, 3 minutes of downloads,
# and on a GPU 10 s for each of the 270 kernels, since one of level 1 takes 8 s on an H200 in the median.
kb_tell_duration() {
  local cores minutes
  cores=$(nproc)
  minutes=$((60 / cores + 3))
  ! nvidia-smi -L >/dev/null 2>&1 || minutes=$((minutes + 45))
  printf 'about %d minutes from nothing on the %d cores of this machine, a first table after a fifth of it\n' \
    "$minutes" "$cores"
  printf 'Ctrl-C is safe at any time: the next call continues, and does nothing twice\n'
}

kb_step_line() {
  [[ $1 =~ ^\[([0-9]+)/([0-9]+)\] ]] || return 0
  local done=${BASH_REMATCH[1]} all=${BASH_REMATCH[2]} spent=$((SECONDS - kb_step_started)) left=
  # The first steps of a build are others than most.
  [ $spent -lt 15 ] || [ $((done * 20)) -lt "$all" ] || left=$(kb_left $((spent * (all - done) / done)))
  # A line of its own for each tenth where there is no terminal.
  if [ -t 2 ] || [ $((done * 10 / all)) -gt "$kb_step_told" ]; then
    kb_step_told=$((done * 10 / all))
    kb_status "building $kb_step: $done of $all steps$left"
  fi
}

# kb_build_step <what> <target...>: what compilers say goes into a log, and on the screen if the build fails: of kernels
# that do not compile it is a verdict's evidence.
kb_build_step() {
  local log=$build/quickstart.log
  kb_step=$1 kb_step_started=$SECONDS kb_step_told=0
  shift
  if NINJA_STATUS='[%f/%t] ' kb_follow "$log" kb_step_line cmake --build "$build" -j "$KB_JOBS" --target "$@"; then
    kb_status ''
    return
  fi
  kb_status ''
  grep -v -e '^\[[0-9]*/[0-9]*\]' -e '^-- ' "$log" | tail -n 40 >&2
  kb_die "the build failed; the message above names the file, ${log#"$root"/} has all. Run this again to continue"
}

# kb_build_kernels <what> <name...>: shipped kernels, named level1.019_relu, and the programs that judge them.
kb_build_kernels() {
  local what=$1 name targets=(kb_programs)
  shift
  for name in "$@"; do targets+=("seed.$name" "$name.test" "$name.bench"); done
  kb_build_step "$what" "${targets[@]}"
}

# kb_judge_kernels <regular expression of names>: those without a fresh result.
kb_judge_kernels() {
  local name chosen=()
  kb_check_machine
  kb_find_pending
  for name in "${kb_pending[@]}"; do
    [[ ! $name =~ $1 ]] || chosen+=("$name")
  done
  kb_pending=("${chosen[@]}")
  [ ${#kb_pending[@]} -eq 0 ] || kb_judge_pending
}

# kb_print_part <glob...>: the table of these tasks of the shipped kernels.
kb_print_part() {
  local glob globs=()
  for glob in "$@"; do globs+=(--tasks "$glob"); done
  reports/kb-report rollup --build-dir "$build" --run seed "${globs[@]}" --out "$build/first" || true
}

# The names of the shipped kernels that match, such as level1.019_relu: -DKB_TASKS of an earlier call may have left out
# some.
kb_shipped() { # <regular expression>
  ctest --test-dir "$build" -N -R "^seed\.($1)\.correct$" | sed -n 's/.*: seed\.\(.*\)\.correct$/\1/p'
}

# Four small kernels of levels 1 to 3, for a table within minutes; once.
kb_first_look() {
  local names=()
  [ ! -e "$build/reports/results.json" ] || return 0
  mapfile -t names < <(kb_shipped 'level1\.019_relu|level1\.040_layer_norm|level2\.076_gemm_add_relu|level3\.001_mlp')
  [ ${#names[@]} -gt 0 ] || return 0
  kb_say "${#names[@]} of the shipped kernels first"
  kb_build_kernels "the harness and ${#names[@]} kernels" "${names[@]}"
  kb_judge_kernels "\\.($(IFS='|'; echo "${names[*]}"))\$"
  kb_print_part "${names[@]/.//}"
}

kb_judge_levels() {
  local level names=() globs=()
  for level in 1 2 3 4; do
    mapfile -t names < <(kb_shipped "level$level\..*")
    [ ${#names[@]} -gt 0 ] || continue
    kb_say "level $level: ${#names[@]} shipped kernels"
    kb_build_kernels "level $level" "${names[@]}"
    kb_judge_kernels "\.level$level\."
    globs+=("level$level/*")
    # The last table is that of everything.
    [ "$level" -eq 4 ] || kb_print_part "${globs[@]}"
  done
}

# kb_expected <source> <backend>: what its line "// Expected: skipped on cpu, pass or timeout on cuda" says.
kb_expected() {
  sed -n "s|^// Expected: ||p" "$1" | tr ',' '\n' | sed -e 's/^ *//' -e 's/[. ]*$//' |
    awk -v on="$2" '{ where = $0; if (!sub(/.* on /, "", where)) where = on }
      where == on { sub(/ on .*/, ""); print; exit }'
}

# The example run, most of whose kernels are meant to fail: one sentence, and whatever is not as it should be.
kb_judge_examples() {
  local run=examples backend=cpu name verdict expected right=0 all=0 wrong=()
  [ "$(ctest --test-dir "$build" -N -L '^examples$' | awk '/^Total Tests/ { print $3 }')" != 0 ] || return 0
  kb_say "the example run"
  kb_check_machine
  kb_find_pending
  if [ ${#kb_pending[@]} -gt 0 ]; then
    kb_status "judging ${#kb_pending[@]} examples, most of which are meant to fail"
    kb_choose_tests
    kb_follow "$build/judge.log" true ctest --test-dir "$build" -I "$build/judge.tests" -j "$KB_JOBS" \
      --fixture-exclude-cleanup '^kb\.report$' || true
    kb_status ''
  fi
  ! kb_on_gpu || backend=cuda
  while read -r name verdict; do
    expected=$(kb_expected "candidates/$(tr . / <<<"$name").cu" $backend)
    all=$((all + 1))
    if [[ " $expected " == *" $verdict "* ]]; then
      right=$((right + 1))
    else
      wrong+=("  $name is $verdict and should be $expected")
    fi
  done < <(reports/kb-report verdicts --build-dir "$build" examples)
  printf '%d of %d examples have the verdict they should\n' $right $all
  [ ${#wrong[@]} -eq 0 ] || printf '%s\n' "${wrong[@]}"
}

# The last lines: what failed, how long it took, where the page is, what to do next.
kb_tell_end() {
  printf '\nfinished in %d min %d s; the page: build/%s/reports/index.html\n' $((SECONDS / 60)) $((SECONDS % 60)) "$preset"
  printf 'next: tools/judge %s level1/019_relu my.cu (README.md, "Judge a kernel")\n' "$preset"
}
