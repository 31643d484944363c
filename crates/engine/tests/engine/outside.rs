//! Who hears of a payment: a merchant's endpoint and a mail server. They take, refuse or fall silent as the test says, and remember
//! everything that arrived.

use std::sync::{
    Mutex,
    atomic::{AtomicBool, Ordering},
};

use async_trait::async_trait;
use engine::{Again, Delivery, Mail, Sender, Webhook};

/// What a receiver does with the next that comes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mood {
    /// Takes it.
    #[default]
    Takes,
    /// Says no, for now.
    Refuses,
    /// Says no, for good.
    RefusesForGood,
    /// Takes it, and its answer is lost.
    FallsSilent,
}

/// The receivers.
#[derive(Default)]
pub struct Outside {
    mood: Mutex<Mood>,
    deaf_to_mails: AtomicBool,
    webhooks: Mutex<Vec<Webhook>>,
    mails: Mutex<Vec<Mail>>,
}

impl Outside {
    /// From now on.
    pub fn is(&self, mood: Mood) {
        *self.mood.lock().unwrap() = mood;
    }

    /// No way out for mails is configured.
    pub fn has_no_mail(&self) {
        self.deaf_to_mails.store(true, Ordering::SeqCst);
    }

    /// The webhooks that arrived, refused ones not among them.
    pub fn webhooks(&self) -> Vec<Webhook> {
        self.webhooks.lock().unwrap().clone()
    }

    /// The mails that arrived.
    pub fn mails(&self) -> Vec<Mail> {
        self.mails.lock().unwrap().clone()
    }

    fn take<T>(&self, arrived: &Mutex<Vec<T>>, message: T) -> Delivery {
        let mood = *self.mood.lock().unwrap();
        match mood {
            Mood::Takes | Mood::FallsSilent => arrived.lock().unwrap().push(message),
            Mood::Refuses | Mood::RefusesForGood => {}
        }
        match mood {
            Mood::Takes => Delivery::Delivered("taken".to_owned()),
            Mood::Refuses => Delivery::Refused("503".to_owned(), Again::Later(None)),
            Mood::RefusesForGood => Delivery::Refused("410".to_owned(), Again::Never),
            Mood::FallsSilent => Delivery::Unanswered("no answer".to_owned()),
        }
    }
}

#[async_trait]
impl Sender for Outside {
    async fn webhook(&self, webhook: &Webhook) -> Delivery {
        self.take(&self.webhooks, webhook.clone())
    }

    async fn mail(&self, mail: &Mail) -> Delivery {
        self.take(&self.mails, mail.clone())
    }

    fn sends_mails(&self) -> bool {
        !self.deaf_to_mails.load(Ordering::SeqCst)
    }
}
