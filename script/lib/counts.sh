# shellcheck shell=bash
# Counts what passed and what failed, step by step. Sourced after say.sh by script/test.
# A step is a function step_NAME; it runs in a shell of its own, so that its end does not end the others.

# One line "PASSED FAILED" for each count.
COUNTS=$(mktemp)
trap 'rm -f "$COUNTS"' EXIT
FAILED_STEPS=()

count() { printf '%d %d\n' "$1" "$2" >>"$COUNTS"; }

# check NAME COMMAND…: one that passes or fails as a whole.
check() {
  local name=$1
  shift
  if "$@"; then
    say "passed: $name"
    count 1 0
  else
    say "FAILED: $name"
    count 0 1
  fi
}

run_step() {
  local status failed_before
  say "=== $1"
  failed_before=$(sum 2)
  # Not in a condition: that would switch -e off inside.
  set +e
  (
    trap - EXIT
    set -e
    "step_$1"
  )
  status=$?
  set -e
  if ((status != 0)); then
    say "FAILED: the step $1 ended early"
    count 0 1
  fi
  (($(sum 2) == failed_before)) || FAILED_STEPS+=("$1")
}

# The step's own exit status counts too: what died before it could report is no success.
count_or_fail() {
  local passed=$1 failed=$2 status=$3
  ((status == 0 || failed > 0)) || failed=1
  count "$passed" "$failed"
}

# count_junit FILE STATUS: cargo-nextest's report; its first element holds the sums.
count_junit() {
  local sums tests=0 failures=0 errors=0
  if [[ -s $1 ]]; then
    sums=$(grep -m 1 '<testsuites ' "$1")
    tests=$(attribute tests "$sums") failures=$(attribute failures "$sums") errors=$(attribute errors "$sums")
  fi
  count_or_fail $((tests - failures - errors)) $((failures + errors)) "$2"
}

attribute() { sed -nE "s/.* $1=\"([0-9]+)\".*/\1/p" <<<"$2"; }

# count_libtest FILE STATUS: what `cargo test` prints for each binary.
count_libtest() {
  local passed failed
  read -r passed failed < <(
    awk '/^test result:/ { for (i = 2; i <= NF; i++) { if ($i == "passed;") p += $(i-1); if ($i == "failed;") f += $(i-1) } }
         END { print p + 0, f + 0 }' "$1"
  )
  count_or_fail "$passed" "$failed" "$2"
}

# count_playwright FILE STATUS: its JSON report. A test that passed only at its second try has failed.
count_playwright() {
  local passed=0 failed=0
  if [[ -s $1 ]]; then
    read -r passed failed < <(node -e '
      const { stats } = JSON.parse(require("fs").readFileSync(process.argv[1]));
      console.log(stats.expected, stats.unexpected + stats.flaky)' "$1")
  fi
  count_or_fail "$passed" "$failed" "$2"
}

# sum COLUMN of all counts so far.
sum() { awk -v column="$1" '{ total += $column } END { print total + 0 }' "$COUNTS"; }

# The last line is for machines. Ends the script.
report_counts() {
  local passed failed
  passed=$(sum 1) failed=$(sum 2)
  ((failed == 0)) || say "failed steps: ${FAILED_STEPS[*]}"
  printf '%d passed, %d failed\n' "$passed" "$failed"
  # That nothing was tested is no success.
  ((failed == 0 && passed > 0)) && exit 0 || exit 1
}
