# shellcheck shell=bash
# How the scripts speak. Sourced; says things and ends the script, nothing else.

# A line that says what is being done and, where it takes long, how long such a thing takes.
say() { printf '%s %s\n' "$(date +%H:%M:%S)" "$*" >&2; }

# What went wrong and what to do about it; ends the script.
fail() {
  printf '\nStopped: %s\n' "$*" >&2
  trap - ERR
  exit 1
}

has() { command -v "$1" >/dev/null 2>&1; }

# A command that failed where nobody expected it to; without -e somebody did.
trap 'if [[ $- == *e* ]]; then say "$0: line $LINENO failed: $BASH_COMMAND"; fi' ERR
