# shellcheck shell=bash
# Packages of Debian and its children. Sourced after say.sh.
# Installs only where that is allowed (root); everywhere else the caller names what is missing.

may_install_packages() { [[ $(id -u) == 0 ]] && has apt-get && [[ -e /etc/debian_version ]]; }

# install_packages NAME…: those that are not there yet. Fetches the package lists only when there are none.
install_packages() {
  local package missing=()
  for package in "$@"; do
    dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null | grep -qx installed || missing+=("$package")
  done
  ((${#missing[@]})) || return 0
  say "apt-get install ${missing[*]} (about 30 s)"
  export DEBIAN_FRONTEND=noninteractive
  apt-cache show "${missing[@]}" >/dev/null 2>&1 || apt-get update -qq
  apt-get install -qq -y --no-install-recommends "${missing[@]}" >/dev/null || {
    # The lists were older than the archive.
    apt-get update -qq && apt-get install -qq -y --no-install-recommends "${missing[@]}" >/dev/null
  }
}
