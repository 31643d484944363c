# shellcheck shell=bash
# Which of the places where tests kill a process a binary has. Sourced after say.sh, by a script that knows $root.

# Their names, as the source has them, and of the variable that arms them.
failpoints() {
  grep -rhoE 'failpoint!\("[a-z_.]+"\)' "${root:?}/crates" "$root/server/src" | cut -d '"' -f 2 | sort -u
  echo PAYONCE_FAILPOINT
}

# has_failpoints BINARY: it has all of them.
has_failpoints() {
  local name missing=()
  for name in $(failpoints); do
    grep -qF "$name" "$1" || missing+=("$name")
  done
  ((${#missing[@]} == 0)) || say "$1 lacks ${missing[*]}"
  ((${#missing[@]} == 0))
}

# has_no_failpoints BINARY: it has none of them.
has_no_failpoints() {
  local name found=()
  # A binary that is not there would have none either.
  [[ -s $1 ]] || return 1
  for name in $(failpoints); do
    ! grep -qF "$name" "$1" || found+=("$name")
  done
  ((${#found[@]} == 0)) || say "$1 has ${found[*]}"
  ((${#found[@]} == 0))
}
