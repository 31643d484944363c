# shellcheck shell=bash
# A Rust that can build for WebAssembly. Sourced after say.sh and debian.sh, by a script that knows $root.
# Changes the machine only through rustup or, where packages may be installed, through Debian's packages.

readonly WASM_TARGET=wasm32-unknown-unknown

# The first folder of PATH whose rustc compiles something that needs std; a std of another version is there and does
# not work. `cargo xtask web` looks in the same way.
wasm_toolchain() {
  local folder scratch
  scratch=$(mktemp -d)
  while IFS= read -r -d: folder; do
    [[ -x $folder/rustc && -x $folder/cargo ]] || continue
    # Into a folder: rustc replaces what it writes to, and for root that would be /dev/null itself.
    if "$folder/rustc" --crate-name=trial --crate-type=lib --emit=metadata --target "$WASM_TARGET" \
      --out-dir "$scratch" - <<<'pub fn text() -> String { String::new() }' 2>/dev/null; then
      rm -rf "$scratch"
      printf '%s\n' "$folder"
      return 0
    fi
  done <<<"$PATH:"
  rm -rf "$scratch"
  return 1
}

ensure_wasm_toolchain() {
  wasm_toolchain >/dev/null && return 0
  if has rustup; then
    say "rustup target add $WASM_TARGET (seconds)"
    rustup target add "$WASM_TARGET" >&2 || say "rustup could not add it"
    wasm_toolchain >/dev/null && return 0
  fi
  if may_install_packages; then
    debian_wasm_toolchain
    wasm_toolchain >/dev/null && return 0
  fi
  fail "no rustc here can build for $WASM_TARGET.
With rustup:            rustup target add $WASM_TARGET
On Debian, as root:     run this script again, it installs rustc-web and builds the target's std"
}

# Debian ships the compiler, the linker and the source of std, but not std built for this target.
debian_wasm_toolchain() {
  local llvm
  install_packages rustc-web cargo-web rust-web-src rust-web-llvm
  # rust-lld belongs to the LLVM that this rustc was built with.
  llvm=$(dpkg-query -W -f='${Depends}' rust-web-llvm | grep -oE 'llvm-[0-9]+' | head -n 1)
  install_packages "lld-${llvm#llvm-}"
  build_std
}

build_std() (
  say "building std for $WASM_TARGET (about 30 s)"
  scratch=$(mktemp -d)
  trap 'rm -rf "$scratch"' EXIT
  export PATH="/usr/bin:$PATH" CARGO_TARGET_DIR="$scratch/target"
  unset RUSTC RUSTUP_TOOLCHAIN
  cd "$scratch" || exit
  mkdir src && : >src/lib.rs
  printf '[package]\nname = "scratch"\nedition = "2024"\n[lib]\ncrate-type = ["cdylib"]\n' >Cargo.toml
  # Without the bitcode, fat LTO would not find std ("Can't find section .llvmbc").
  RUSTC_BOOTSTRAP=1 RUSTFLAGS="-C embed-bitcode=yes" \
    /usr/bin/cargo build --quiet --release -Zbuild-std=std,panic_abort --target "$WASM_TARGET" >&2
  lib=$(/usr/bin/rustc --print target-libdir --target "$WASM_TARGET")
  # Of another version, if anything.
  rm -rf "$lib"
  mkdir -p "$lib"
  find "target/$WASM_TARGET/release/deps" -name 'lib*.rlib' ! -name 'libscratch*' -exec cp {} "$lib/" \;
  # What was compiled against an earlier std does not link against this one.
  rm -rf "${root:?}/target/web"
)
