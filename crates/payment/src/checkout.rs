//! The order offered for payment, as far as rules need it.

/// Where a checkout stands. Paid is a fact of the checkout: it has a charge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CheckoutStatus {
    /// Can be paid.
    Open,
    /// Has a charge.
    Paid,
    /// Withdrawn by the merchant. Nothing writes it yet: it is understood wherever a checkout is read.
    Canceled,
    /// Ran out of time unpaid.
    Expired,
}

impl CheckoutStatus {
    /// As stored and as on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Paid => "paid",
            Self::Canceled => "canceled",
            Self::Expired => "expired",
        }
    }

    /// From its stored form.
    pub fn parse(text: &str) -> Option<Self> {
        [Self::Open, Self::Paid, Self::Canceled, Self::Expired]
            .into_iter()
            .find(|status| status.as_str() == text)
    }
}

/// When authorised money is taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Capture {
    /// At once.
    #[default]
    Automatic,
    /// When the merchant asks.
    Manual,
}

impl Capture {
    /// As stored and as on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Automatic => "automatic",
            Self::Manual => "manual",
        }
    }

    /// From its stored form.
    pub fn parse(text: &str) -> Option<Self> {
        [Self::Automatic, Self::Manual].into_iter().find(|capture| capture.as_str() == text)
    }
}

/// How a shopper wants to pay. Not part of any fingerprint: every tab tokenises the card afresh.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MethodKind {
    /// A card, tokenised by the browser with the provider.
    CardToken,
    /// The provider's own page.
    Redirect,
}

impl MethodKind {
    /// As stored and as on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::CardToken => "card_token",
            Self::Redirect => "redirect",
        }
    }

    /// From its stored form.
    pub fn parse(text: &str) -> Option<Self> {
        [Self::CardToken, Self::Redirect].into_iter().find(|method| method.as_str() == text)
    }
}
