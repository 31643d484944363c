//! Rebuilds the server when the browser's files have been built anew: their names carry their hashes.

fn main() {
    println!("cargo:rerun-if-changed=../target/site/manifest.json");
}
