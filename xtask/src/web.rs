//! The steps from sources to `target/site`. Decides the order only; each step is a module or a tool of its own.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use wasm_bindgen_cli_support::Bindgen;

use crate::budget::Sizes;
use crate::fingerprint::Fingerprint;
use crate::node::Node;
use crate::site::Site;
use crate::toolchain::{self, WasmToolchain};

/// What the result is made from besides the WebAssembly, whose sources cargo knows best.
const INPUTS: [&str; 5] = ["Cargo.lock", "public", "style", "xtask/package-lock.json", "xtask/src"];

/// Brings `target/site` up to date and says how large it is.
pub(crate) fn build(root: &Path) -> Result<Sizes> {
    let work = root.join("target/web");
    fs::create_dir_all(&work)?;
    // Two at once would put half a site in each other's place.
    let lock = fs::File::create(work.join("lock"))?;
    lock.lock().context("cannot wait for another `cargo xtask web`")?;
    let wasm = compile(root, &work)?;
    let fingerprint = Fingerprint::of(root, &INPUTS, &wasm)?;
    let site = root.join("target/site");
    let stamp = work.join("site.fingerprint");
    if !(fingerprint.matches(&stamp) && site.join("manifest.json").exists()) {
        assemble(root, &work, &wasm, &site)?;
        fs::write(&stamp, fingerprint.as_str()).context("cannot write the fingerprint")?;
    }
    Sizes::read(&site)
}

/// Compiles the frontend in a target folder of its own: its compiler may be another than the workspace's, and
/// two compilers in one folder would undo each other's work.
fn compile(root: &Path, work: &Path) -> Result<PathBuf> {
    const PROFILE: &str = "wasm-release";
    eprintln!("building the frontend for WebAssembly (about 90 s when nothing is built yet)");
    let status = WasmToolchain::find(work)?
        .cargo()
        .current_dir(root)
        .env("CARGO_TARGET_DIR", work)
        .args(["build", "--locked", "--package", "frontend", "--profile", PROFILE])
        .args(["--target", toolchain::TARGET])
        .status()
        .context("cannot run cargo")?;
    if !status.success() {
        bail!("the frontend does not build");
    }
    Ok(work.join(toolchain::TARGET).join(PROFILE).join("frontend.wasm"))
}

fn assemble(root: &Path, work: &Path, wasm: &Path, destination: &Path) -> Result<()> {
    let node = Node::new(root);
    let mut site = Site::beside(destination)?;
    let bound = bind(wasm, &work.join("bound"))?;
    eprintln!("optimising (about 10 s)");
    let [wasm, glue] = shorten(&node, &bound)?;
    site.add("wasm", "payonce.wasm", &fs::read(wasm)?)?;
    site.add("js", "payonce.js", &node.minify_module(&glue)?)?;
    site.add("css", "payonce.css", &node.minify_style(&root.join("style/checkout.css"))?)?;
    for path in files(&root.join("public"))? {
        let name = path.file_name().and_then(|name| name.to_str()).context("a file's name is not UTF-8")?;
        match name.strip_suffix(".js") {
            Some(stem) => site.add(stem, name, &node.minify(&path)?)?,
            None => site.add(name, name, &fs::read(&path)?)?,
        }
    }
    site.publish(destination)
}

/// The page's loader passes the address of the module, whose name holds a hash: the glue needs no default.
fn bind(wasm: &Path, folder: &Path) -> Result<PathBuf> {
    if folder.exists() {
        fs::remove_dir_all(folder)?;
    }
    Bindgen::new()
        .input_path(wasm)
        .web(true)?
        .typescript(false)
        .omit_default_module_path(true)
        .remove_name_section(true)
        .remove_producers_section(true)
        .out_name("payonce")
        .generate(folder)
        .context("wasm-bindgen failed")?;
    Ok(folder.to_owned())
}

/// The WebAssembly optimised, and its glue, with short names for each other.
fn shorten(node: &Node, bound: &Path) -> Result<[PathBuf; 2]> {
    let [optimised, wasm, glue] = ["optimised.wasm", "short.wasm", "short.js"].map(|name| bound.join(name));
    node.optimise_wasm(&bound.join("payonce_bg.wasm"), &optimised)?;
    let renamed = node.rename_wasm(&optimised, &wasm)?;
    fs::write(&glue, renamed.apply(&fs::read_to_string(bound.join("payonce.js"))?)?)?;
    Ok([wasm, glue])
}

/// The files of a flat folder by name; none when there is no such folder.
fn files(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    if folder.exists() {
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            if path.is_dir() {
                bail!("{} is a folder: only files are served from {}", path.display(), folder.display());
            }
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}
