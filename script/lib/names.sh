# shellcheck shell=bash
# Which of the names that only tests may meet a binary has. Sourced after say.sh, by a script that knows $root.

# The places where tests kill a process, as the source names them, and the variable that arms them.
failpoints() {
  grep -rhoE 'failpoint!\("[a-z_.]+"\)' "${root:?}/crates" "$root/server/src" | cut -d '"' -f 2 | sort -u
  echo PAYONCE_FAILPOINT
}

# The faults that are planted for the proof to find.
planted_faults() { sed -nE 's/^    [A-Za-z]+ "([a-z-]+)" \[[A-Za-z, ]*\]$/\1/p' "${root:?}/crates/planted/src/faults.rs"; }

# has_all BINARY NAME…
has_all() {
  local name missing=()
  # That nothing is looked for is no success.
  (($# > 1)) || return 1
  for name in "${@:2}"; do
    grep -qF -e "$name" "$1" || missing+=("$name")
  done
  ((${#missing[@]} == 0)) || say "$1 lacks ${missing[*]}"
  ((${#missing[@]} == 0))
}

# has_none BINARY NAME…
has_none() {
  local name found=()
  # A binary that is not there would have none either.
  [[ -s $1 ]] && (($# > 1)) || return 1
  for name in "${@:2}"; do
    ! grep -qF -e "$name" "$1" || found+=("$name")
  done
  ((${#found[@]} == 0)) || say "$1 has ${found[*]}"
  ((${#found[@]} == 0))
}
