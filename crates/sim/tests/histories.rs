//! Histories are functions of their seeds, whatever store they run over.

use sim::{
    histories::{self, Worlds, play_all},
    sqlite::File,
};

#[test]
fn the_same_history_over_sqlite_ends_with_the_same_rows() {
    let file = File::new().unwrap();
    let mut writes = 0;
    for seed in 0..60 {
        let compared = file.compare(Worlds::Drawn, seed);
        writes += compared.unwrap_or_else(|difference| panic!("seed {seed}: {difference}")).writes;
    }
    assert!(writes > 60 * 10, "nothing happened: {writes} transactions");
}

#[test]
fn histories_are_of_payments() {
    let pressed = |worlds| play_all(worlds, 0..500, 2, false).submitted;
    let (drawn, small) = (pressed(Worlds::Drawn), pressed(Worlds::Small));
    assert!(drawn > 225, "somebody pressed Pay in {drawn} of 500 histories");
    assert!(small > 125, "somebody pressed Pay in {small} of 500 small histories");
}

#[test]
fn same_seed_same_trace() {
    let trace = |seed| histories::world(Worlds::Drawn, seed, false).run().0.hash;
    let mut traces: Vec<_> = (0..1_000).map(trace).collect();
    for (seed, first) in traces.iter().enumerate() {
        assert_eq!(trace(seed as u64), *first, "seed {seed}");
    }
    traces.sort_unstable();
    traces.dedup();
    assert_eq!(traces.len(), 1_000, "a history says nothing of its seed");
}
