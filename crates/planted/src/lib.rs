//! Faults planted on purpose in `payment`, `store` and `engine`, each at the guard that it breaks: whoever claims to find faults has
//! to find these. Compiled only with `--cfg planted`, never in a release: without it [`is`] is always false, and nothing of a
//! fault is left.

mod faults;

pub use faults::Fault;

/// Whether this fault was chosen.
#[cfg(not(planted))]
#[inline(always)]
pub const fn is(_: Fault) -> bool {
    false
}

#[cfg(planted)]
pub use chosen::{choose, is};

#[cfg(planted)]
mod chosen {
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::Fault;

    /// A bit for each fault, of the whole process.
    static CHOSEN: [AtomicU64; 2] = [const { AtomicU64::new(0) }; 2];

    const _: () = assert!(Fault::ALL.len() <= CHOSEN.len() * u64::BITS as usize);

    /// Chooses these faults, in place of those chosen before; none with an empty slice. To be called while nothing runs.
    pub fn choose(faults: &[Fault]) {
        for (at, word) in CHOSEN.iter().enumerate() {
            let of_it = faults.iter().filter(|fault| place(**fault).0 == at);
            word.store(of_it.fold(0, |bits, fault| bits | place(*fault).1), Ordering::Relaxed);
        }
    }

    /// Whether this fault was chosen.
    #[inline(always)]
    pub fn is(fault: Fault) -> bool {
        let (word, bit) = place(fault);
        CHOSEN[word].load(Ordering::Relaxed) & bit != 0
    }

    /// Its word, and its bit there.
    const fn place(fault: Fault) -> (usize, u64) {
        (fault as usize / u64::BITS as usize, 1 << (fault as u32 % u64::BITS))
    }
}

#[cfg(all(test, planted))]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// Every layer below a fault, itself included, if it stands on none of them twice.
    fn is_acyclic(fault: Fault, above: &[Fault]) -> bool {
        let above = [above, &[fault]].concat();
        fault.with().iter().all(|layer| !above.contains(layer) && is_acyclic(*layer, &above))
    }

    #[test]
    fn every_fault_has_a_name_of_its_own_a_sentence_and_layers_without_a_circle() {
        let names: BTreeSet<_> = Fault::ALL.iter().map(|fault| fault.name()).collect();
        assert_eq!(names.len(), Fault::ALL.len());
        for fault in Fault::ALL {
            let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte == b'-';
            assert!(fault.name().bytes().all(is_plain), "{}", fault.name());
            assert!(fault.breaks().ends_with('.'), "{}", fault.name());
            assert!(is_acyclic(*fault, &[]), "{}", fault.name());
        }
    }

    #[test]
    fn those_chosen_last_are_chosen_and_no_others() {
        let (first, last) = (Fault::ALL[0], Fault::ALL[Fault::ALL.len() - 1]);
        choose(&[first]);
        choose(&[last, last]);
        let chosen: Vec<_> = Fault::ALL.iter().copied().filter(|fault| is(*fault)).collect();
        assert_eq!(chosen, [last]);
        choose(&[]);
        assert!(!is(last));
    }
}
