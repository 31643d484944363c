//! The TOML file as a whole: its text, the settings at its top, `[timing]`, `[[merchant]]`, and what merchants may not share.

use std::{collections::BTreeMap, fs, path::Path};

use payment::Mode;

use super::{
    Setting,
    merchants::{self, MerchantConfig},
    problem::{Origin, Problem},
    table::{Table, Text},
    timing::{self, Timing},
};

/// Longest file that is read.
const MAX_BYTES: u64 = 1 << 20;

/// The text of a file.
pub fn load(path: &Path) -> Result<String, Problem> {
    let name = Setting::Config.variable();
    let unreadable =
        |error: std::io::Error| Problem::new(format!("{name}: {} cannot be read: {error}", path.display()));
    let size = fs::metadata(path).map_err(unreadable)?.len();
    if size > MAX_BYTES {
        return Err(Problem::new(format!("{name}: {} is larger than {MAX_BYTES} bytes", path.display())));
    }
    fs::read_to_string(path).map_err(unreadable)
}

/// `[timing]` and `[[merchant]]`, and nothing that has no name here. `bank_url`: where test merchants find their provider.
pub fn read_sections(mut root: Table<'_>, bank_url: &str) -> (Timing, Vec<MerchantConfig>) {
    let timing = root.table("timing").map(read_timing).unwrap_or_default();
    let merchants = root.tables("merchant").into_iter().filter_map(|table| {
        let origin = table.origin().clone();
        Some((origin, merchants::read(table, bank_url)?))
    });
    let merchants: Vec<(Origin, MerchantConfig)> = merchants.collect();
    refuse_shared(&root, &merchants);
    if merchants.iter().any(|(_, merchant)| merchant.mode == Mode::Live) {
        refuse_haste(&root, timing);
    }
    let keys = Setting::ALL.map(Setting::key);
    let keys = keys.iter().map(String::as_str).filter(|key| *key != Setting::Config.key());
    root.refuse_others(&keys.chain(["timing", "merchant"]).collect::<Vec<_>>());
    (timing, merchants.into_iter().map(|(_, merchant)| merchant).collect())
}

/// The settings at the top, by their short or their whole name.
pub fn read_settings(root: &mut Table<'_>) -> BTreeMap<Setting, Text> {
    let mut found = BTreeMap::new();
    for setting in Setting::ALL.into_iter().filter(|setting| *setting != Setting::Config) {
        let (short, whole) = (setting.key(), setting.variable());
        if root.has(&short) && root.has(whole) {
            root.complain(Problem::at(
                root.origin(),
                format_args!("{short} and {whole} are the same; allowed: one"),
            ));
        }
        let number_too = setting == Setting::RateLimit;
        let mut read = |key: &str| if number_too { root.text_or_number(key) } else { root.text(key) };
        let given = [read(&short), read(whole)].into_iter().flatten().next();
        found.extend(given.map(|text| (setting, text)));
    }
    found
}

fn read_timing(mut table: Table<'_>) -> Timing {
    let mut timing = Timing::default();
    for (key, value) in timing.entries() {
        let Some(text) = table.number(key, timing::ALLOWED) else { continue };
        match timing::milliseconds(&text.value) {
            Some(ms) => *value = ms,
            None => {
                let name = table.name(key);
                table.complain(Problem::value(&text.origin, &name, &text.value, timing::ALLOWED));
            }
        }
    }
    table.refuse_others(&Timing::KEYS);
    timing
}

/// Real money gets the time that the defaults give it.
fn refuse_haste(root: &Table<'_>, mut timing: Timing) {
    let mut shortest = Timing::default();
    let shortest = shortest.entries().map(|(_, ms)| *ms);
    for ((key, value), shortest) in timing.entries().into_iter().zip(shortest) {
        if *value < shortest {
            let (is, least) = (seconds(*value), seconds(shortest));
            let text = format!("timing.{key} is {is}; allowed with a merchant in live mode: {least} or more");
            root.complain(Problem::at(root.origin(), text));
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "a year of milliseconds fits")]
fn seconds(ms: i64) -> f64 {
    ms as f64 / 1000.0
}

/// A merchant is there once in each mode, and a key opens one door.
fn refuse_shared(root: &Table<'_>, merchants: &[(Origin, MerchantConfig)]) {
    for (index, (origin, merchant)) in merchants.iter().enumerate() {
        let complain = |what: &str| {
            let name = format!("merchant[{}].{what}", index + 1);
            root.complain(Problem::at(
                origin,
                format_args!("{name} is that of an earlier merchant; allowed: another"),
            ));
        };
        let earlier = || merchants[..index].iter().map(|(_, earlier)| earlier);
        if earlier().any(|earlier| (&earlier.id, earlier.mode) == (&merchant.id, merchant.mode)) {
            complain("id");
        }
        if earlier().any(|earlier| keys(earlier).any(|key| key == merchant.secret_key.0)) {
            complain("secret_key");
        }
        let own = merchant.publishable_key.as_deref();
        let is_shared = |key| {
            key == merchant.secret_key.0 || earlier().any(|earlier| keys(earlier).any(|known| known == key))
        };
        if own.is_some_and(is_shared) {
            complain("publishable_key");
        }
    }
}

fn keys(merchant: &MerchantConfig) -> impl Iterator<Item = &str> {
    std::iter::once(merchant.secret_key.0.as_str()).chain(merchant.publishable_key.as_deref())
}
