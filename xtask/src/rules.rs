//! `cargo xtask rules`: fills docs/rules.md with the tests whose names carry a rule, a fault or an attack, or whose comment
//! carries a public report (`mollie/WooCommerce#1204`). Must never invent a rule: the headings are written by people.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result};

/// Folders that hold no tests of ours.
const SKIPPED: [&str; 4] = ["target", "node_modules", ".git", "payonce-data"];

/// `R10`, `fault 38`, `attack 55`, `vendure#2620`, as a heading of docs/rules.md begins.
type Id = String;

/// Tests by what they prove: `path: name`.
type Tests = BTreeMap<Id, BTreeSet<String>>;

/// docs/rules.md as it should be.
pub(crate) fn document(root: &Path) -> Result<String> {
    let path = root.join("docs/rules.md");
    let written = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    Ok(filled(&written, &tests(root)?))
}

/// Keeps every line but the lists of tests, which follow their headings anew.
fn filled(written: &str, tests: &Tests) -> String {
    let mut lines: Vec<String> = Vec::new();
    let mut waiting: Option<Id> = None;
    for line in written.lines().filter(|line| !line.starts_with("- `")) {
        if line.starts_with('#') {
            flush(&mut lines, waiting.take(), tests);
            waiting = heading_id(line);
        }
        // A list that was taken out leaves its empty lines behind.
        if !(line.is_empty() && lines.last().is_some_and(String::is_empty)) {
            lines.push(line.to_owned());
        }
    }
    flush(&mut lines, waiting, tests);
    lines.join("\n").trim_end().to_owned() + "\n"
}

fn flush(lines: &mut Vec<String>, heading: Option<Id>, tests: &Tests) {
    let Some(found) = heading.and_then(|id| tests.get(&id)) else { return };
    while lines.last().is_some_and(String::is_empty) {
        lines.pop();
    }
    lines.push(String::new());
    lines.extend(found.iter().map(|test| format!("- {test}")));
    lines.push(String::new());
}

/// `### R10 Timeout means unknown` → `R10`; `### fault 38 …` → `fault 38`.
fn heading_id(line: &str) -> Option<Id> {
    let mut words = line.trim_start_matches('#').split_whitespace();
    let first = words.next()?;
    match first {
        "fault" | "attack" => Some(format!("{first} {}", words.next()?)),
        _ => Some(first.to_owned()),
    }
}

fn tests(root: &Path) -> Result<Tests> {
    let mut found = Tests::new();
    for path in sources(root)? {
        let text = fs::read_to_string(&path)?;
        let shown = path.strip_prefix(root).unwrap_or(&path).display().to_string();
        let named = if shown.ends_with(".rs") { rust_tests(&text) } else { browser_tests(&text) };
        for (name, ids) in named {
            for id in ids {
                found.entry(id).or_default().insert(format!("`{shown}`: {name}"));
            }
        }
    }
    Ok(found)
}

fn sources(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if path.is_dir() {
            if !SKIPPED.contains(&name) {
                found.extend(sources(&path)?);
            }
        } else if name.ends_with(".rs") || name.ends_with(".spec.ts") {
            found.push(path);
        }
    }
    Ok(found)
}

/// Functions whose names begin with ids: `r14_fault_28_a_stale_holder_writes_nothing`.
fn rust_tests(text: &str) -> Vec<(String, Vec<Id>)> {
    named(text, |line| {
        let rest = line.trim_start_matches("pub ").trim_start_matches("async ").strip_prefix("fn ")?;
        let name = rest.split('(').next()?;
        Some((format!("`{name}`"), leading_ids(name)))
    })
}

/// What `test` reads in a line, with the reports of the comment above it; whatever carries an id.
fn named(text: &str, test: impl Fn(&str) -> Option<(String, Vec<Id>)>) -> Vec<(String, Vec<Id>)> {
    let (mut found, mut reports) = (Vec::new(), Vec::new());
    for line in text.lines().map(str::trim_start) {
        if line.starts_with("//") {
            reports.extend(reports_in(line));
        } else if let Some((name, mut ids)) = test(line) {
            ids.append(&mut reports);
            found.push((name, ids));
        } else if !line.starts_with("#[") {
            reports.clear();
        }
    }
    found.retain(|(_, ids)| !ids.is_empty());
    found
}

/// The reports that a comment names, as `product#number` or `owner/product#number`.
fn reports_in(comment: &str) -> Vec<Id> {
    let words =
        comment.split_whitespace().map(|word| word.trim_matches(|c: char| !c.is_ascii_alphanumeric()));
    let is_report = |word: &&str| {
        word.split_once('#').is_some_and(|(product, number)| {
            product.contains(|c: char| c.is_ascii_alphabetic())
                && !number.is_empty()
                && number.bytes().all(|b| b.is_ascii_digit())
        })
    };
    words.filter(is_report).map(str::to_owned).collect()
}

fn leading_ids(name: &str) -> Vec<Id> {
    let mut ids = Vec::new();
    let mut kind: Option<&str> = None;
    let mut range = false;
    for word in name.split('_') {
        let number = number(word);
        match (word, kind, number) {
            ("fault" | "faults", _, _) => kind = Some("fault"),
            ("attack" | "attacks", _, _) => kind = Some("attack"),
            ("to", Some(_), _) => range = true,
            (_, Some(kind), Some(number)) => {
                let last = ids.last().and_then(|id: &Id| id.split(' ').next_back()?.parse::<u32>().ok());
                if let (true, Some(first), Ok(last)) = (range, last, number.parse::<u32>()) {
                    ids.extend((first + 1..last).map(|between| format!("{kind} {between}")));
                }
                range = false;
                ids.push(format!("{kind} {number}"));
            }
            _ => match rule(word) {
                Some(rule) => {
                    kind = None;
                    ids.push(rule);
                }
                None => break,
            },
        }
    }
    ids
}

/// `r10` → `R10`, `n3` → `N3`.
fn rule(word: &str) -> Option<Id> {
    let (letter, digits) = word.split_at_checked(1)?;
    let is_rule = matches!(letter, "r" | "n" | "R" | "N")
        && !digits.is_empty()
        && digits.bytes().all(|b| b.is_ascii_digit());
    is_rule.then(|| format!("{}{digits}", letter.to_ascii_uppercase()))
}

/// `38` → `38`, `01` → `1`, `49a` → `49a`; three digits are an HTTP status.
fn number(word: &str) -> Option<String> {
    let digits = word.trim_end_matches(['a', 'b', 'c', 'd']);
    let is_number = digits.bytes().all(|b| b.is_ascii_digit()) && (1..=2).contains(&digits.len());
    (is_number && word.len() - digits.len() <= 1).then(|| word.trim_start_matches('0').to_owned())
}

/// Titles that name ids anywhere: `a double click pays once (R1, R6)`, `fault 2: a reload …`.
fn browser_tests(text: &str) -> Vec<(String, Vec<Id>)> {
    named(text, |line| {
        let rest = line.strip_prefix("test(")?;
        let quote = rest.chars().next().filter(|quote| matches!(quote, '\'' | '"' | '`'))?;
        let title = rest[1..].split(quote).next()?;
        Some((format!("\"{title}\""), ids_in(title)))
    })
}

fn ids_in(title: &str) -> Vec<Id> {
    let words = title.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    let mut ids = Vec::new();
    let mut kind: Option<&str> = None;
    for word in words {
        match word {
            "fault" | "faults" => kind = Some("fault"),
            "attack" | "attacks" => kind = Some("attack"),
            _ => match (kind, number(word), rule(word)) {
                (Some(kind), Some(number), _) => ids.push(format!("{kind} {number}")),
                (_, _, Some(rule)) => ids.push(rule),
                (..) => kind = None,
            },
        }
    }
    ids
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(name: &str) -> Vec<Id> {
        leading_ids(name)
    }

    #[test]
    fn a_tests_name_tells_what_it_proves() {
        assert_eq!(ids("r14_fault_28_a_stale_holder_writes_nothing"), ["R14", "fault 28"]);
        assert_eq!(ids("faults_1_3_5_many_submissions"), ["fault 1", "fault 3", "fault 5"]);
        assert_eq!(ids("attacks_2_to_4_what_is_no_key"), ["attack 2", "attack 3", "attack 4"]);
        assert_eq!(ids("fault_49a_accepted"), ["fault 49a"]);
        assert_eq!(ids("fault_03_fault_67_two_tabs"), ["fault 3", "fault 67"]);
        assert!(ids("faults_can_be_seen").is_empty());
        assert_eq!(ids("r15_fault_44_429_backs_off"), ["R15", "fault 44"]);
        assert!(ids("rows_are_read").is_empty());
        assert_eq!(ids_in("fault 1: a double click pays once (R1, R6)"), ["fault 1", "R1", "R6"]);
    }

    #[test]
    fn the_comment_above_a_test_names_public_reports() {
        let text = "/// Also mollie/WooCommerce#1204, killbill#639: one.\n#[test]\nasync fn r1_x(world: World) {\n    // vendure#2620\n    go();\n}\n\nfn helper() {}\n";
        let found = vec!["R1".to_owned(), "mollie/WooCommerce#1204".to_owned(), "killbill#639".to_owned()];
        assert_eq!(rust_tests(text), [("`r1_x`".to_owned(), found)]);
        assert_eq!(reports_in("// color: #123; ADR#x, see a#1b"), Vec::<Id>::new());
    }

    #[test]
    fn a_list_follows_its_heading_and_nothing_else_changes() {
        let tests = Tests::from([("R1".to_owned(), BTreeSet::from(["`a.rs`: `r1_x`".to_owned()]))]);
        let written = "# Rules\n\n### R1 One key\nText.\n\n- `old`\n\n### R2 Replay\nMore.\n";
        let expected = "# Rules\n\n### R1 One key\nText.\n\n- `a.rs`: `r1_x`\n\n### R2 Replay\nMore.\n";
        assert_eq!(filled(written, &tests), expected);
        assert_eq!(filled(expected, &tests), expected);
    }

    #[test]
    fn every_rule_has_its_tests_and_the_document_names_them() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        let written = fs::read_to_string(root.join("docs/rules.md")).unwrap();
        assert!(written == document(root).unwrap(), "docs/rules.md is not current: cargo xtask rules");
        let tests = tests(root).unwrap();
        let headings: BTreeSet<Id> =
            written.lines().filter(|l| l.starts_with("### ")).filter_map(heading_id).collect();
        let unproved: Vec<_> = headings.iter().filter(|id| !tests.contains_key(*id)).collect();
        assert!(unproved.is_empty(), "no test names {unproved:?}");
        let unknown: Vec<_> = tests.keys().filter(|id| !headings.contains(*id)).collect();
        assert!(unknown.is_empty(), "docs/rules.md has no heading for {unknown:?}");
    }
}
