//! The form. A real one: the loader and the island only get in front of its submit, and leave the
//! bank's button alone.

use std::sync::Arc;

use leptos::prelude::*;

use super::{
    Page, back::Back, card_field::CardField, email_field::EmailField, slot::Slot,
    without_script::WithoutScript, wrongs::Wrongs,
};
use crate::{form::Field, stage::FORM};

/// The card, the mail address, the button; and the way without a card here: the bank's own page.
#[component]
pub(super) fn CardForm(
    /// What is shown.
    page: Arc<Page>,
) -> impl IntoView {
    let number = String::from("0000 0000 0000 0000");
    let cvc = String::from("000");
    view! {
        <div data-screen=FORM hidden=page.shown() != contract::IntentState::Created>
            <form
                class="screen"
                method="post"
                action=page.pay_path()
                data-do="pay"
                aria-label=page.say("form-label")
                tabindex="-1"
                novalidate
            >
                <Terms page=page.clone() />
                <WithoutScript page=page.clone() />
                <Wrongs page=page.clone() />
                <div class="screen" data-scripted hidden>
                    <CardField page=page.clone() field=Field::Number label="field-number" placeholder=number />
                    <div class="pair">
                        <CardField
                            page=page.clone()
                            field=Field::Expiry
                            label="field-expiry"
                            placeholder=page.say("field-expiry-hint")
                        />
                        <CardField page=page.clone() field=Field::Cvc label="field-cvc" placeholder=cvc />
                    </div>
                </div>
                <EmailField page=page.clone() />
                // Hidden, it would still be what Enter presses: the loader makes it one that submits.
                <button class="button" type="button" name="pay" value="card" data-scripted hidden>
                    <span class="idle">
                        <Slot lang=page.lang message="pay" argument="amount" name="pay-amount" value=page.amount() />
                    </span>
                    <span class="busy">
                        <i class="spin" aria-hidden="true"></i>
                        <span data-say="submitting">{page.say("paying")}</span>
                    </span>
                </button>
                <p class="muted small" data-scripted hidden>
                    {page.say("private")}
                </p>
                <button class="button" type="submit" name="method" value="redirect" data-submit="bank">
                    {page.say("pay-at-bank")}
                </button>
                <div data-plain>
                    <Back page=page.clone() />
                </div>
            </form>
        </div>
    }
}

/// What is agreed to by pressing the button: read by the island, posted without it.
#[component]
fn Terms(
    /// What is shown.
    page: Arc<Page>,
) -> impl IntoView {
    let amount = &page.checkout.amount;
    let fields = [
        ("intent", page.intent.id.clone()),
        ("submit_key", page.intent.submit_key.clone()),
        ("checkout_version", page.checkout.version.to_string()),
        ("amount_value", amount.value.text().unwrap_or_default().to_owned()),
        ("amount_currency", amount.currency.clone()),
    ];
    fields.map(|(name, value)| view! { <input type="hidden" name=name value=value /> }).collect_view()
}
