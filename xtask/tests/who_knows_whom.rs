//! Keeps the section "Who may know whom" of docs/architecture.md: which of our crates may depend on which, and
//! which may name the libraries that belong to one place. What a crate needs for its own tests is its own affair.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use cargo_metadata::{DependencyKind, Metadata, MetadataCommand};

/// For each of our crates, those of ours it may depend on. A new crate has to be entered here.
const OURS: [(&str, &[&str]); 15] = [
    ("app", &["contract"]),
    // Its ledger is the independent witness: it shares no code with what it witnesses.
    ("bank", &[]),
    // A client of the public API, and nothing more.
    ("bench", &["contract"]),
    ("contract", &[]),
    ("engine", &["payment", "planted", "providers", "store"]),
    ("frontend", &["app"]),
    ("fuzz", &["contract", "engine", "payment", "payonce", "providers"]),
    ("payment", &["planted"]),
    ("payonce", &["app", "bank", "contract", "engine", "payment", "providers", "shop", "store"]),
    // Nothing is left of it in a release.
    ("planted", &[]),
    ("providers", &["payment"]),
    ("shop", &["contract"]),
    ("sim", &["engine", "payment", "planted", "providers", "store"]),
    ("store", &["payment", "planted"]),
    ("xtask", &[]),
];

/// Libraries (and those that begin with their name and a dash or underscore) and the crates that may name them.
const LIBRARIES: [(&str, &[&str]); 6] = [
    ("axum", &["bank", "payonce", "shop"]),
    ("leptos", &["app", "frontend", "payonce", "shop"]),
    ("reqwest", &["bank", "payonce", "providers", "shop"]),
    ("rusqlite", &["bank", "bench", "shop", "sim", "store"]),
    ("sqlx", &["store"]),
    // The engine is of no runtime: the simulation polls it by hand, and has one for SQLite alone.
    ("tokio", &["bank", "bench", "payonce", "shop", "sim", "store"]),
];

/// What each of our crates depends on, ours and others'.
type Graph = BTreeMap<String, BTreeSet<String>>;

/// Every edge that no rule allows, in words.
fn forbidden_edges(graph: &Graph) -> Vec<String> {
    let mut found = Vec::new();
    for (name, dependencies) in graph {
        let Some((_, allowed)) = OURS.iter().find(|(ours, _)| ours == name) else {
            found.push(format!("{name} is in no rule"));
            continue;
        };
        for dependency in dependencies {
            if graph.contains_key(dependency) && !allowed.contains(&dependency.as_str()) {
                found.push(format!("{name} may not know {dependency}"));
            }
            for (library, users) in LIBRARIES {
                if belongs_to(dependency, library) && !users.contains(&name.as_str()) {
                    found.push(format!("{name} may not name {dependency}"));
                }
            }
        }
    }
    found
}

fn belongs_to(dependency: &str, library: &str) -> bool {
    dependency.strip_prefix(library).is_some_and(|rest| rest.is_empty() || rest.starts_with(['-', '_']))
}

fn metadata() -> Metadata {
    MetadataCommand::new()
        .no_deps()
        .other_options(vec!["--offline".to_owned()])
        .exec()
        .expect("cargo metadata")
}

fn graph_of(metadata: &Metadata) -> Graph {
    let direct = |package: &cargo_metadata::Package| {
        let dependencies = package.dependencies.iter();
        dependencies
            .filter(|dependency| dependency.kind != DependencyKind::Development)
            .map(|dependency| dependency.name.clone())
            .collect()
    };
    metadata.packages.iter().map(|package| (package.name.to_string(), direct(package))).collect()
}

/// The entries of a manifest that say a version (or a path, or an edition) of their own.
fn entries_outside_the_workspace(manifest: &toml::Table) -> Vec<String> {
    let mut found = Vec::new();
    let package = manifest["package"].as_table().expect("a package");
    for key in ["version", "edition", "license", "publish"] {
        if !inherits(package.get(key)) {
            found.push(format!("package.{key}"));
        }
    }
    if !inherits(manifest.get("lints")) {
        found.push("lints".to_owned());
    }
    let targets = manifest.get("target").and_then(toml::Value::as_table);
    let targets = targets.into_iter().flat_map(|targets| targets.values()).filter_map(toml::Value::as_table);
    for table in targets.chain([manifest]) {
        for kind in ["dependencies", "dev-dependencies", "build-dependencies"] {
            let dependencies = table.get(kind).and_then(toml::Value::as_table);
            for (name, entry) in dependencies.into_iter().flatten() {
                if !inherits(Some(entry)) {
                    found.push(format!("{kind}.{name}"));
                }
            }
        }
    }
    found
}

fn inherits(entry: Option<&toml::Value>) -> bool {
    entry.and_then(|entry| entry.get("workspace")) == Some(&toml::Value::Boolean(true))
}

#[test]
fn our_crates_know_only_whom_they_may() {
    assert_eq!(forbidden_edges(&graph_of(&metadata())), Vec::<String>::new());
}

#[test]
fn versions_are_named_by_the_workspace_only() {
    for package in metadata().packages {
        let manifest: toml::Table = fs::read_to_string(&package.manifest_path).unwrap().parse().unwrap();
        let found = entries_outside_the_workspace(&manifest);
        assert_eq!(found, Vec::<String>::new(), "{} must say `workspace = true` here", package.manifest_path);
    }
}

fn made_up(edges: &[(&str, &[&str])]) -> Graph {
    let owned = |names: &[&str]| names.iter().map(ToString::to_string).collect();
    edges.iter().map(|(name, dependencies)| ((*name).to_owned(), owned(dependencies))).collect()
}

#[test]
fn an_allowed_graph_is_not_blamed() {
    let graph = made_up(&[
        ("store", &["payment", "sqlx", "tokio"]),
        ("payment", &["serde", "axumatic"]),
        ("payonce", &["store", "axum", "leptos_axum", "reqwest"]),
    ]);
    assert_eq!(forbidden_edges(&graph), Vec::<String>::new());
}

#[test]
fn every_kind_of_forbidden_edge_is_found() {
    let graph = made_up(&[
        ("bank", &["payment", "rusqlite"]),
        ("engine", &["tokio-util"]),
        ("newcomer", &[]),
        ("payment", &["sqlx"]),
        ("store", &["leptos_axum"]),
    ]);
    let expected = [
        "bank may not know payment",
        "engine may not name tokio-util",
        "newcomer is in no rule",
        "payment may not name sqlx",
        "store may not name leptos_axum",
    ];
    assert_eq!(forbidden_edges(&graph), expected);
}

#[test]
fn a_version_of_ones_own_is_found_in_every_table() {
    let manifest = r#"
        package = { name = "x", version = "1.0.0", edition.workspace = true, license.workspace = true, publish.workspace = true }
        lints.workspace = true
        dependencies = { good = { workspace = true, features = ["f"] }, bad = "1" }
        dev-dependencies = { bad = { version = "1" } }
        target.'cfg(unix)'.build-dependencies = { bad = { path = "../bad" } }
    "#;
    let found = entries_outside_the_workspace(&manifest.parse().unwrap());
    assert_eq!(
        found,
        ["package.version", "build-dependencies.bad", "dependencies.bad", "dev-dependencies.bad"]
    );
}
