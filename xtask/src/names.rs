//! The names that WebAssembly and its glue call each other by, made short: wasm-bindgen's hold hashes, which no compression
//! shrinks, and each is downloaded twice. Only renames.

use std::collections::{BTreeSet, HashMap};

use anyhow::{Context, Result, ensure};
use serde::Deserialize;

/// What wasm-opt calls every module that is imported from, as the glue has to write it.
const MODULE: &str = "\"a\"";

/// What wasm-opt says it renamed.
#[derive(Deserialize)]
pub(crate) struct Renamed {
    /// Module, old name, new name.
    imports: Vec<(String, String, String)>,
    /// Old name, new name.
    exports: Vec<(String, String)>,
}

impl Renamed {
    /// From what wasm-opt printed.
    pub(crate) fn read(json: &[u8]) -> Result<Self> {
        serde_json::from_slice(json).context("wasm-opt does not say what it renamed")
    }

    /// The glue with the same names as the WebAssembly has now.
    pub(crate) fn apply(&self, glue: &str) -> Result<String> {
        let mut renamed = self.rename(glue)?;
        let modules: BTreeSet<_> =
            self.imports.iter().map(|(module, _, _)| format!("\"{module}\"")).collect();
        for module in modules {
            ensure!(renamed.contains(&module), "the glue does not know {module}");
            renamed = renamed.replace(&module, MODULE);
        }
        Ok(renamed)
    }

    fn rename(&self, glue: &str) -> Result<String> {
        let imports: HashMap<&str, &str> =
            self.imports.iter().map(|(_, old, new)| (old.as_str(), new.as_str())).collect();
        let exports: HashMap<&str, &str> =
            self.exports.iter().map(|(old, new)| (old.as_str(), new.as_str())).collect();
        let mut missing: BTreeSet<&str> = imports.keys().copied().collect();
        let mut renamed = String::with_capacity(glue.len());
        let mut rest = glue;
        while let Some(start) = rest.find(begins_name) {
            let (before, from) = rest.split_at(start);
            let (name, after) = from.split_at(from.find(|c| !is_in_name(c)).unwrap_or(from.len()));
            renamed.push_str(before);
            // A function of the glue may have the name of the export it calls.
            let new = if renamed.ends_with("wasm.") { exports.get(name) } else { imports.get(name) };
            renamed.push_str(new.unwrap_or(&name));
            missing.remove(name);
            rest = after;
        }
        renamed.push_str(rest);
        ensure!(missing.is_empty(), "the glue does not know {missing:?}");
        Ok(renamed)
    }
}

fn begins_name(c: char) -> bool {
    c.is_ascii_alphabetic() || c == '_' || c == '$'
}

fn is_in_name(c: char) -> bool {
    begins_name(c) || c.is_ascii_digit()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn renamed() -> Renamed {
        let said = r#"{
            "imports": [["./payonce_bg.js", "__wbg_now_0a1b", "a"], ["./payonce_bg.js", "__wbg_now_0a1b2", "$"]],
            "exports": [["memory", "b"], ["hydrate", "c"]]
        }"#;
        Renamed::read(said.as_bytes()).unwrap()
    }

    #[test]
    fn whole_names_are_renamed_and_the_pages_own_stay() {
        let glue = "export function hydrate() { wasm.hydrate(wasm.memory.buffer); }
            const imports = { __wbg_now_0a1b: function() { return memory; }, __wbg_now_0a1b2: () => 1 };
            return { \"./payonce_bg.js\": imports };";
        let short = "export function hydrate() { wasm.c(wasm.b.buffer); }
            const imports = { a: function() { return memory; }, $: () => 1 };
            return { \"a\": imports };";
        assert_eq!(renamed().apply(glue).unwrap(), short);
    }

    #[test]
    fn glue_of_another_build_is_refused() {
        for glue in
            ["{ \"./payonce_bg.js\": { __wbg_now_0a1b: 1 } }", "{ __wbg_now_0a1b: 1, __wbg_now_0a1b2: 2 }"]
        {
            let refusal = renamed().apply(glue).unwrap_err().to_string();
            assert!(refusal.starts_with("the glue does not know"), "{refusal}");
        }
        assert!(Renamed::read(b"").is_err());
    }
}
