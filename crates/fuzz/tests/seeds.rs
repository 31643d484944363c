//! The properties hold for the inputs the fuzzer begins with.

use std::{fs, path::Path};

#[test]
fn every_target_has_seeds_and_holds_for_them() {
    for (name, check) in fuzz::TARGETS {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("seeds").join(name);
        let seeds = fs::read_dir(&folder).unwrap().map(|entry| fs::read(entry.unwrap().path()).unwrap());
        let seen = seeds.inspect(|seed| check(seed)).count();
        assert!(seen > 1, "{name} has {seen} seeds");
    }
}
