//! libFuzzer's entry. Its arguments are libFuzzer's own, so the target's name comes in `PAYONCE_FUZZ`.

#![no_main]

use std::{hint::black_box, sync::LazyLock};

use fuzz::{TARGETS, Target, target};
use libfuzzer_sys::fuzz_target;

static CHECK: LazyLock<Target> = LazyLock::new(|| {
    let name = std::env::var("PAYONCE_FUZZ").unwrap_or_default();
    if name == "needle" {
        return needle;
    }
    let known = || TARGETS.map(|(name, _)| name).join(", ");
    target(&name).unwrap_or_else(|| panic!("PAYONCE_FUZZ is `{name}`, and no target; there are {}", known()))
});

/// What `script/fuzz` looks for, to see that the fuzzer is guided by what it covers.
fn needle(data: &[u8]) {
    let is = |place: usize, byte: u8| black_box(data.get(place)) == Some(&byte);
    if is(0, b'n') && is(1, b'e') && is(2, b'e') && is(3, b'd') && is(4, b'l') && is(5, b'e') {
        panic!("the needle");
    }
}

fuzz_target!(|data: &[u8]| CHECK(data));
