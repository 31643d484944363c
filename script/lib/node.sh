# shellcheck shell=bash
# Packages of npm, exactly those of a folder's lock file. Sourced after say.sh, by a script that knows $root.

ensure_npm_packages() {
  local folder=$1
  # npm writes its own copy of the lock file last.
  [[ $folder/node_modules/.package-lock.json -nt $folder/package-lock.json ]] && return 0
  say "npm ci in ${folder#"${root:?}"/} (a few seconds)"
  (cd "$folder" && npm ci --silent) >&2 || fail "npm ci in $folder did not work"
  touch "$folder/node_modules/.package-lock.json"
}
