//! What is left out of the exploration of small worlds makes no difference.

use sim::{
    alike::as_drawn,
    explore::{Bounds, Explored, How, explore_by},
    fault::Fault,
    periods::Periods,
};

fn explored(bounds: &Bounds, threads: usize, how: How) -> Explored {
    let explored = explore_by(bounds, threads, 1_000_000, how);
    assert!(explored.complete, "{explored:?}");
    explored
}

const WORLDS: [Bounds; 4] = [
    Bounds {
        name: "",
        faults: &[(Fault::RequestLost, 1), (Fault::RequestRepeated, 1), (Fault::LeaseEnds, 1)],
        nodes: 2,
        tabs: 1,
        deeds: 1,
        periods: Periods::SERVED,
    },
    Bounds {
        name: "",
        faults: &[(Fault::Killed, 1), (Fault::LeaseEnds, 1)],
        nodes: 2,
        tabs: 1,
        deeds: 1,
        periods: Periods::SERVED,
    },
    Bounds { name: "", faults: &[(Fault::LeaseEnds, 1)], nodes: 2, tabs: 2, deeds: 1, periods: Periods::SERVED },
    Bounds {
        name: "",
        faults: &[(Fault::CardRefused, 1), (Fault::TokenDies, 1)],
        nodes: 2,
        tabs: 1,
        deeds: 3,
        periods: Periods::SERVED,
    },
];

#[test]
fn states_that_are_merged_come_to_the_same_ends() {
    for bounds in &WORLDS {
        let all = explored(bounds, 2, How { digest: as_drawn, every_order: true, ..How::default() });
        let fewer = explored(bounds, 2, How::default());
        assert_eq!(all.ends, fewer.ends);
        assert!(fewer.states < all.states, "{} states, and {} of them", all.states, fewer.states);
    }
}

#[test]
fn whichever_of_two_states_comes_first_stands_for_both() {
    for bounds in &WORLDS {
        for every_order in [false, true] {
            let how = How { every_order, ..How::default() };
            let [one, other] = [false, true].map(|backwards| explored(bounds, 1, How { backwards, ..how }));
            assert_eq!((one.states, one.ends), (other.states, other.ends));
        }
    }
}
