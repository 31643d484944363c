//! Finds card numbers in free text, so that none is ever stored: 13 to 19 digits, single spaces or hyphens between, a known
//! prefix, and Luhn's sum.

const LENGTHS: std::ops::RangeInclusive<usize> = 13..=19;

/// Whether `text` holds a card number.
pub fn has_card_number(text: &str) -> bool {
    let mut groups = Groups::default();
    text.chars().any(|character| groups.take(character)) || groups.hold_card()
}

/// Groups of digits with a single separator between each two.
#[derive(Default)]
struct Groups {
    groups: Vec<Vec<u8>>,
    after_separator: bool,
}

impl Groups {
    /// Takes one more character; whether the groups ended with it and hold a card number.
    fn take(&mut self, character: char) -> bool {
        match character {
            '0'..='9' => {
                if self.groups.is_empty() || self.after_separator {
                    self.groups.push(Vec::new());
                }
                self.after_separator = false;
                self.groups.last_mut().expect("a group was just made").push(character as u8 - b'0');
                false
            }
            ' ' | '-' if !self.groups.is_empty() && !self.after_separator => {
                self.after_separator = true;
                false
            }
            _ => {
                let held = self.hold_card();
                *self = Self::default();
                held
            }
        }
    }

    /// Whether some neighbouring groups together are a card number: another number may stand beside it.
    fn hold_card(&self) -> bool {
        (0..self.groups.len()).any(|first| {
            let mut digits = Vec::new();
            self.groups[first..].iter().any(|group| {
                digits.extend_from_slice(group);
                LENGTHS.contains(&digits.len()) && has_known_prefix(&digits) && luhn(&digits)
            })
        })
    }
}

/// Visa, Mastercard (5 and 2), Mir, American Express, Diners, JCB, Discover, UnionPay, Maestro.
fn has_known_prefix(digits: &[u8]) -> bool {
    matches!(digits, [4, ..] | [5, ..] | [2, 2..=7, ..] | [3, 0 | 4 | 5 | 6 | 7 | 8, ..] | [6, ..])
}

fn luhn(digits: &[u8]) -> bool {
    let weighted = digits.iter().rev().enumerate().map(|(place, digit)| match place % 2 {
        0 => u32::from(*digit),
        _ => u32::from(digit * 2 / 10 + digit * 2 % 10),
    });
    weighted.sum::<u32>() % 10 == 0
}

#[cfg(test)]
mod tests {
    use super::has_card_number;

    #[test]
    fn attack_21_card_numbers_are_found() {
        for text in [
            "5555555555554444",
            "card 5555 5555 5555 4444 please",
            "4111-1111-1111-1111",
            "x2200000000000004y",
        ] {
            assert!(has_card_number(text), "{text}");
        }
    }

    #[test]
    fn other_numbers_are_not() {
        for text in [
            "",
            "order 1234567890123456",
            "1000000000000008",
            "5555 5555 5555 4445",
            "+7 999 123-45-67",
            "5555  5555  5555  4444",
            "1500",
        ] {
            assert!(!has_card_number(text), "{text}");
        }
    }
}
