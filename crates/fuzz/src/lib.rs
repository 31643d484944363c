//! What must hold for any bytes that come in: each module takes bytes and panics where a property is broken. The fuzzer makes the
//! bytes up; an ordinary test feeds the seeds.

mod answers;
mod checkout;
mod key_header;
mod money;
mod notifications;
mod refusal;
mod written;

/// Takes bytes; panics where a property is broken.
pub type Target = fn(&[u8]);

/// All of them, by name. `seeds/NAME` is where each begins.
pub const TARGETS: [(&str, Target); 5] = [
    ("key_header", key_header::check),
    ("money", money::check),
    ("checkout", checkout::check),
    ("notifications", notifications::check),
    ("answers", answers::check),
];

/// The target of this name.
pub fn target(name: &str) -> Option<Target> {
    TARGETS.iter().find(|(known, _)| *known == name).map(|(_, target)| *target)
}
