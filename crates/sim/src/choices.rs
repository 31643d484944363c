//! Where every decision of a history comes from: a seed, a list, or both. A history is a function of its decisions, and nothing else
//! decides anything.

/// Decisions: each is a number below the count of what could be done.
#[derive(Clone, Debug)]
pub struct Choices {
    source: Source,
    made: Vec<Made>,
}

/// One decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Made {
    /// What was decided.
    pub value: u32,
    /// Out of how many: `value` is below it.
    pub of: u32,
}

#[derive(Clone, Debug)]
enum Source {
    Seed(fastrand::Rng),
    List { list: Vec<u32>, at: usize },
}

impl Choices {
    /// All decisions follow from a seed.
    pub fn from_seed(seed: u64) -> Self {
        Self { source: Source::Seed(fastrand::Rng::with_seed(seed)), made: Vec::new() }
    }

    /// The decisions of a list; after its end the first of what can be done, which is where nothing goes wrong.
    pub fn from_list(list: Vec<u32>) -> Self {
        Self { source: Source::List { list, at: 0 }, made: Vec::new() }
    }

    /// Whether a list has come to its end.
    pub fn ended(&self) -> bool {
        match &self.source {
            Source::Seed(_) => false,
            Source::List { list, at } => *at >= list.len(),
        }
    }

    /// What was decided so far.
    pub fn made(&self) -> &[Made] {
        &self.made
    }

    /// One of `count`.
    pub fn one_of(&mut self, count: usize) -> usize {
        if count < 2 {
            return 0;
        }
        let of = u32::try_from(count).unwrap_or(u32::MAX);
        let value = match &mut self.source {
            Source::Seed(rng) => rng.u32(0..of),
            Source::List { .. } => self.listed(of),
        };
        self.decided(value, of)
    }

    /// One of those whose weight is not 0; the first where none has any. It is written down as its place among those.
    pub fn weighted(&mut self, weights: &[u32]) -> usize {
        let (mut sum, mut possible) = (0, 0);
        for weight in weights {
            sum += weight;
            possible += u32::from(*weight > 0);
        }
        let mut left = weights.iter().enumerate().filter(|(_, weight)| **weight > 0).map(|(index, _)| index);
        if possible < 2 {
            return left.next().unwrap_or(0);
        }
        let place = match &mut self.source {
            Source::Seed(rng) => {
                let mut drawn = rng.u32(0..sum);
                let passed = weights.iter().take_while(|weight| {
                    let passed = drawn >= **weight;
                    drawn -= if passed { **weight } else { 0 };
                    passed
                });
                passed.filter(|weight| **weight > 0).count() as u32
            }
            Source::List { .. } => self.listed(possible),
        };
        left.nth(self.decided(place, possible)).unwrap_or(0)
    }

    /// Whether something happens that happens `per_mille` times in a thousand.
    pub fn happens(&mut self, per_mille: u32) -> bool {
        self.weighted(&[1_000 - per_mille.min(1_000), per_mille.min(1_000)]) == 1
    }

    fn listed(&mut self, of: u32) -> u32 {
        let Source::List { list, at } = &mut self.source else { return 0 };
        let value = list.get(*at).copied().unwrap_or(0);
        *at += 1;
        value % of
    }

    fn decided(&mut self, value: u32, of: u32) -> usize {
        self.made.push(Made { value, of });
        value as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_seed_decided_is_decided_again_by_its_list() {
        let decide = |choices: &mut Choices| {
            let all: Vec<_> = (2..30)
                .map(|count| {
                    choices.one_of(count) + choices.weighted(&[3, 0, 4]) + usize::from(choices.happens(300))
                })
                .collect();
            all
        };
        for seed in 0..50 {
            let mut first = Choices::from_seed(seed);
            let decided = decide(&mut first);
            let list = first.made().iter().map(|made| made.value).collect();
            assert_eq!(decide(&mut Choices::from_list(list)), decided);
        }
    }

    #[test]
    fn what_cannot_be_done_is_never_decided() {
        for value in 0..9 {
            assert_ne!(Choices::from_list(vec![value]).weighted(&[1, 0, 1]), 1);
        }
        assert_eq!(Choices::from_seed(1).weighted(&[0, 0, 7]), 2);
    }
}
