# shellcheck shell=bash
# Fuzzing on the stable compiler. Sourced after say.sh and debian.sh, by a script that knows $root.
# script/lib/covered compiles our own crates so that they tell what was reached; libFuzzer comes with the crate libfuzzer-sys, as C++.

readonly FUZZ_TARGETS=(key_header money checkout notifications answers)

# Sets FUZZER. What is not ours is compiled as for the tests: most of it is there already.
build_fuzzer() {
  if ! has c++ && may_install_packages; then
    install_packages g++
  fi
  has c++ || fail "a C++ compiler is missing; libFuzzer is built with it. Install g++ (Debian: apt-get install g++)."
  say "building the fuzzer (2 min after the tests, 6 min without)"
  (cd "${root:?}" && RUSTC_WORKSPACE_WRAPPER=$root/script/lib/covered cargo build --locked --quiet --workspace \
    --exclude frontend --features payonce/failpoints,fuzz/libfuzzer --bin fuzz --target-dir "$root/target") >&2
  FUZZER=$root/target/debug/fuzz
  finds_the_needle || fail "the fuzzer does not find what is hidden: no coverage guides it. Has the compiler changed?"
}

# Six bytes, each behind a branch of its own: without coverage that takes 2^48 tries.
finds_the_needle() {
  local folder status=0
  folder=$(mktemp -d)
  PAYONCE_FUZZ=needle "$FUZZER" -runs=3000000 -artifact_prefix="$folder/" >"$folder/log" 2>&1 || status=$?
  # A hit, and not that it could not run.
  ((status != 0)) && grep -q 'the needle' "$folder/log" || status=0
  rm -rf "$folder"
  ((status != 0))
}

# fuzz_targets SECONDS [NAME…]: as many at a time as there are cores; a line for each. Fails if any has crashed.
fuzz_targets() {
  local seconds=$1 name running=0 cores failed=0
  shift
  (($#)) || set -- "${FUZZ_TARGETS[@]}"
  cores=$(getconf _NPROCESSORS_ONLN)
  for name in "$@"; do
    if ((running == cores)); then
      wait -n || failed=1
      running=$((running - 1))
    fi
    fuzz_target "$name" "$seconds" &
    running=$((running + 1))
  done
  while ((running-- > 0)); do
    wait -n || failed=1
  done
  return "$failed"
}

# fuzz_target NAME SECONDS: begins with the seeds and with what earlier runs found.
fuzz_target() {
  local name=$1 seconds=$2 status=0 crash crashes=0 words=$root/crates/fuzz/words.dict
  local folder=$root/target/fuzz seeds=$root/crates/fuzz/seeds/$name
  local log=$folder/$name.log kept=$folder/corpus/$name found=$folder/crashes/$name
  mkdir -p "$kept" "$found"
  PAYONCE_FUZZ=$name "$FUZZER" -max_total_time="$seconds" -timeout=5 -use_value_profile=1 -print_final_stats=1 \
    -dict="$words" -artifact_prefix="$found/" "$kept" "$seeds" >"$log" 2>&1 || status=$?
  ((status == 0)) || crashes=1
  printf '%s: %s runs, %s branches, %d crashes\n' "$name" "$(fuzz_statistic number_of_executed_units "$log")" \
    "$(sed -nE 's/.* cov: ([0-9]+) .*/\1/p' "$log" | tail -n 1 | grep . || echo 0)" "$crashes"
  ((status != 0)) || return 0
  grep -A 4 'panicked at' "$log" >&2 || tail -n 5 "$log" >&2
  crash=$(sed -nE 's/.*Test unit written to //p' "$log" | tail -n 1)
  if [[ -s $crash ]]; then
    printf '%s: this input, in hexadecimal (%s):\n%s\n' "$name" "$crash" "$(od -An -v -tx1 "$crash" | tr -d ' \n')" >&2
  fi
  return 1
}

fuzz_statistic() { sed -nE "s/^stat::$1: *([0-9]+)$/\1/p" "$2"; }
