//! Finds card numbers in free text, so that none is ever stored: 13 to 19 digits, single spaces or hyphens between, a known
//! prefix, and Luhn's sum.

const LENGTHS: std::ops::RangeInclusive<usize> = 13..=19;

/// Whether `text` holds a card number.
pub(super) fn is_in(text: &str) -> bool {
    let mut digits: Vec<u8> = Vec::new();
    let mut separated = false;
    for character in text.chars().chain(std::iter::once('\n')) {
        match character {
            '0'..='9' => {
                digits.push(character as u8 - b'0');
                separated = false;
            }
            ' ' | '-' if !digits.is_empty() && !separated => separated = true,
            _ => {
                if holds_card(&digits) {
                    return true;
                }
                digits.clear();
                separated = false;
            }
        }
    }
    false
}

/// Any run of the right length within the digits: a number may be glued to others.
fn holds_card(digits: &[u8]) -> bool {
    LENGTHS.rev().any(|length| digits.windows(length).any(|window| has_known_prefix(window) && luhn(window)))
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
    use super::is_in;

    #[test]
    fn attack_21_card_numbers_are_found() {
        for text in [
            "5555555555554444",
            "card 5555 5555 5555 4444 please",
            "4111-1111-1111-1111",
            "x2200000000000004y",
        ] {
            assert!(is_in(text), "{text}");
        }
    }

    #[test]
    fn other_numbers_are_not() {
        for text in [
            "",
            "order 1234567890123456",
            "5555 5555 5555 4445",
            "+7 999 123-45-67",
            "5555  5555  5555  4444",
            "1500",
        ] {
            assert!(!is_in(text), "{text}");
        }
    }
}
