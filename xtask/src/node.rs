//! The tools that come from npm and run in Node: wasm-opt and esbuild, in the versions of `package-lock.json`.
//! Never installs them.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

use crate::names::Renamed;

/// What rustc writes without being asked, and every browser of the last years reads. Nothing newer: wasm-opt
/// uses whatever it is allowed to.
const WASM_FEATURES: [&str; 7] = [
    "--enable-bulk-memory",
    "--enable-bulk-memory-opt",
    "--enable-multivalue",
    "--enable-mutable-globals",
    "--enable-nontrapping-float-to-int",
    "--enable-reference-types",
    "--enable-sign-ext",
];

/// Runs the tools below `xtask/node_modules`.
pub(crate) struct Node {
    modules: PathBuf,
}

impl Node {
    pub(crate) fn new(root: &Path) -> Self {
        Self { modules: root.join("xtask/node_modules") }
    }

    /// Smaller WebAssembly that does the same.
    pub(crate) fn optimise_wasm(&self, wasm: &Path, into: &Path) -> Result<()> {
        self.wasm_opt(wasm, &["-Oz", "--converge", "--strip-target-features"], into).map(drop)
    }

    /// The same WebAssembly with short names for what it imports and exports.
    pub(crate) fn rename_wasm(&self, wasm: &Path, into: &Path) -> Result<Renamed> {
        Renamed::read(&self.wasm_opt(wasm, &["--minify-imports-and-exports-and-modules"], into)?)
    }

    fn wasm_opt(&self, wasm: &Path, passes: &[&str], into: &Path) -> Result<Vec<u8>> {
        let mut arguments: Vec<&OsStr> = vec![wasm.as_os_str()];
        arguments.extend(passes.iter().chain(&WASM_FEATURES).map(OsStr::new));
        arguments.extend(["-o".as_ref(), into.as_os_str()]);
        self.run("binaryen/bin/wasm-opt", &arguments)
    }

    /// A module and what it imports, in one file.
    pub(crate) fn minify_module(&self, module: &Path) -> Result<Vec<u8>> {
        self.run(
            "esbuild/bin/esbuild",
            &[module.as_os_str(), "--minify".as_ref(), "--bundle".as_ref(), "--format=esm".as_ref()],
        )
    }

    /// A style sheet and what it imports, in one file.
    pub(crate) fn minify_style(&self, sheet: &Path) -> Result<Vec<u8>> {
        self.run("esbuild/bin/esbuild", &[sheet.as_os_str(), "--minify".as_ref(), "--bundle".as_ref()])
    }

    /// A script that stands alone.
    pub(crate) fn minify(&self, file: &Path) -> Result<Vec<u8>> {
        self.run("esbuild/bin/esbuild", &[file.as_os_str(), "--minify".as_ref()])
    }

    /// Runs the script and returns what it printed.
    fn run(&self, script: &str, arguments: &[&OsStr]) -> Result<Vec<u8>> {
        let script = self.modules.join(script);
        if !script.exists() {
            bail!("{} is missing: run `npm ci` in xtask, or `script/setup`", script.display());
        }
        let output = Command::new("node")
            .arg(&script)
            .args(arguments)
            .stderr(Stdio::inherit())
            .output()
            .context("cannot run node")?;
        if !output.status.success() {
            bail!("{} failed on {:?}", script.display(), arguments.first());
        }
        Ok(output.stdout)
    }
}
