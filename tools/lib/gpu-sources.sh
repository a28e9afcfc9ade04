# Which sources only a GPU exercises, and whether one has tried them as they are. Sourced in the project's folder.
# shellcheck shell=bash

# kb_gpu_sources: one hash of what decides verdicts and times on a GPU, of the blocks that kernels are made of, and of
# the flags that all of it is built with.
kb_gpu_sources() {
  local folder without=(-path harness/cpu)
  while read -r folder; do without+=(-o -path "harness/$folder"); done < <(grep '^[a-z]' harness/without_verdict.txt)
  find harness \( "${without[@]}" \) -prune -o \
    -type f ! -name '*.md' ! -name without_verdict.txt ! -name '.*' ! -name '*~' -print0 |
    LC_ALL=C sort -z | xargs -0 sha256sum | sha256sum | cut -d' ' -f1
}

# kb_warn_unchecked: a line in yellow if no GPU has tried these sources and found all of it right.
kb_warn_unchecked() {
  local hash record
  hash=$(kb_gpu_sources)
  for record in reports/hardware/*/checked.json; do
    grep -qs "\"gpu_sources_sha256\": \"$hash\"" "$record" && grep -q '^ "right": true' "$record" && return
  done
  printf '\033[33m%s\033[0m\n' "no GPU has tried the harness as it is now: run tools/gpu-check <preset> on one (CONTRIBUTING.md)"
}
