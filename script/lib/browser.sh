# shellcheck shell=bash
# A browser for the tests. Sourced after say.sh and debian.sh; only script/test needs one.

# Debian's Chromium where there is one or may be one, else Playwright's own (in the folder $1, after `npm ci`).
ensure_browser() {
  has chromium && return 0
  if may_install_packages; then
    install_packages chromium && return 0
  fi
  say "npx playwright install chromium (about 1 min)"
  (cd "$1" && npx playwright install chromium) >&2 ||
    fail "the browser tests need Chromium: install your system's package, or run 'npx playwright install chromium' in $1"
}
