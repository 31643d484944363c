//! Names and texts that rows hold: a database keeps them longer than the code that wrote them, so each is written out here.

use payment::{
    Capture, CheckoutStatus, Currency, DeclinedBy, Fingerprint, JournalHash, KeyKind, MethodKind, Mode,
    Money, OperationKind, Timestamp,
};

/// What is written for each, and that it reads back; what nobody wrote is read as none.
macro_rules! names {
    ($type:ident: $($variant:ident $name:literal),+) => {
        $(
            assert_eq!($type::$variant.as_str(), $name);
            assert_eq!($type::parse($name), Some($type::$variant));
        )+
        assert_eq!($type::parse("unheard of"), None);
    };
}

#[test]
fn a_stored_name_stays_what_it_is_and_reads_back() {
    names!(CheckoutStatus: Open "open", Paid "paid", Canceled "canceled", Expired "expired");
    names!(Capture: Automatic "automatic", Manual "manual");
    names!(MethodKind: CardToken "card_token", Redirect "redirect");
    names!(KeyKind: CreateCheckout "create_checkout", CreateIntent "create_intent", Submit "submit");
    names!(Mode: Test "test", Live "live");
}

#[test]
fn a_name_that_is_only_written_stays_what_it_is() {
    assert_eq!(OperationKind::ALL.map(OperationKind::as_str), ["pay", "capture", "cancel", "refund"]);
    assert_eq!(DeclinedBy::Issuer.as_str(), "issuer");
    assert_eq!(DeclinedBy::ProviderRejected.as_str(), "provider_rejected");
}

#[test]
fn r3_a_fingerprint_is_stored_as_a_text_that_reads_back() {
    let written = Fingerprint::new(KeyKind::Submit, &[("amount", "1.00".to_owned())]);
    assert!(written.canonical().contains("[\"amount\",\"1.00\"]"), "{}", written.canonical());
    assert_eq!(Fingerprint::from_canonical(written.canonical()), written);
}

#[test]
fn r24_a_hash_of_the_journal_reads_back_from_its_bytes_and_from_no_others() {
    let bytes: [u8; 32] = std::array::from_fn(|place| u8::try_from(place).unwrap());
    let hash = JournalHash::from_bytes(&bytes);
    assert_eq!(hash, Some(JournalHash(bytes)));
    assert_eq!(JournalHash::from_bytes(&bytes[1..]), None);
    let shown = hash.unwrap().to_string();
    assert!(shown.len() == 64 && shown.starts_with("000102") && shown.ends_with("1e1f"), "{shown}");
}

#[test]
fn a_moment_is_moved_and_measured_in_milliseconds() {
    let (earlier, later) = (Timestamp(1_000), Timestamp(1_250));
    assert_eq!(earlier.plus_ms(250), later);
    assert_eq!(later.plus_ms(-250), earlier);
    assert_eq!((later.since_ms(earlier), earlier.since_ms(later)), (250, -250));
    assert_eq!(Timestamp(i64::MAX).plus_ms(1), Timestamp(i64::MAX));
}

#[test]
fn a_sum_is_shown_with_its_currency() {
    let sum = Money::from_minor(150_005, Currency::parse("RUB").unwrap()).unwrap();
    assert_eq!(sum.to_string(), "1500.05 RUB");
}
