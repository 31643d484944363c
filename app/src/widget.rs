//! The island: carries events from the page to the visit, and the visit's stage back to the page.
//! Must never hold a rule, or words: it only unhides what the server rendered.

use std::{
    cell::{Cell, RefCell},
    rc::Rc,
    time::Duration,
};

use leptos::{ev, prelude::*, task::spawn_local};

use crate::{
    browser::{
        memory::Memory,
        net::{self, Body, Came},
        page::PageElements,
        show::{self, Before},
        signals,
    },
    form::Form,
    stage::Note,
    visit::{Command, Event, Past, Reply, Visit},
    wire::{Seen, Terms},
};

/// All that the running island needs. Nothing is rendered in the browser, so there is no signal and no effect to render it:
/// they would be a tenth of the download.
struct Running {
    visit: RefCell<Visit>,
    page: PageElements,
    memory: Memory,
    timer: Cell<Option<TimeoutHandle>>,
}

/// A request, with what it needs from the page at this moment.
enum Request {
    Pay(Form, Terms),
    Ask,
    Offer,
    Check,
    Release,
    Renew,
}

/// The interactive part of the payment page. Its children are rendered by the server and stay as they are.
#[island]
pub fn Widget(
    /// The screens.
    children: Children,
) -> impl IntoView {
    let running = is_browser().then(Running::start).flatten();
    let act = move |name: Option<String>| match (&running, name) {
        (Some(running), Some(name)) => Running::act(running, &name),
        (_, _) => false,
    };
    let submit = act.clone();
    view! {
        <div
            class="stack"
            on:submit=move |event: ev::SubmitEvent| {
                if submit(PageElements::wanted(&event)) {
                    event.prevent_default();
                }
            }
            on:click=move |event: ev::MouseEvent| {
                if act(PageElements::pressed(&event)) {
                    event.prevent_default();
                }
            }
            on:input=move |event: ev::Event| PageElements::help_typing(&event)
        >
            {children()}
        </div>
    }
}

impl Running {
    /// Takes the page over from the server; `None` when there is none, as in a fragment of a test.
    fn start() -> Option<Rc<Self>> {
        let page = PageElements::find()?;
        let mut opening = Visit::new(page.opening())
            .noting(page.opening_note())
            .again(page.is_again())
            .showing(page.terms());
        let memory = Memory::of(page.checkout());
        // What is over is not written down: the other tabs would hear of it and open anew, then this one, for ever.
        let past =
            if opening.is_over() { Past::New } else { memory.past(&page.intent(), &page.submit_key()) };
        let first = opening.open(past);
        page.hydrated();
        page.watch(opening.watches());

        let running = Rc::new(Self { visit: RefCell::new(opening), page, memory, timer: Cell::new(None) });
        let listening = running.clone();
        signals::listen(&running.memory, running.page.target(), move |event, answer| {
            Self::take(&listening, event, answer);
        });
        first.into_iter().for_each(|command| Self::obey(&running, command));
        if running.memory.take_behind() {
            Self::handle(&running, Event::WasBehind);
        }
        Some(running)
    }

    /// What a form or a button asks for; whether it was for us.
    fn act(running: &Rc<Self>, name: &str) -> bool {
        match name {
            "pay" => {
                let form = Form::read(&running.page.typed(), running.page.today());
                Self::handle(running, Event::Pay(form));
            }
            "again" => Self::handle(running, Event::TryAgain),
            "accept" => Self::handle(running, Event::Accept),
            "check" => Self::handle(running, Event::Check),
            "release" => Self::handle(running, Event::Release),
            // The browser posts the form; the other tabs are to look what comes of it.
            "bank" => {
                let leaves = running.visit.borrow().may_leave();
                Self::handle(running, Event::ToBank);
                return !leaves;
            }
            _ => return false,
        }
        true
    }

    fn handle(running: &Rc<Self>, event: Event) {
        Self::take(running, event, None);
    }

    /// The same, with the answer that brought the event. Of an answer that came too late nothing is shown.
    fn take(running: &Rc<Self>, event: Event, answer: Option<Body>) {
        let before = Before::of(&running.visit.borrow());
        let commands = running.visit.borrow_mut().handle(event);
        if let Some(answer) = answer
            && let Some(seen) = Seen::read(&answer, &running.page.intent())
            && running.visit.borrow().shows(&seen)
        {
            PageElements::paint(&answer.0);
        }
        commands.into_iter().for_each(|command| Self::obey(running, command));
        show::show(&running.page, &running.visit.borrow(), &before);
    }

    fn obey(running: &Rc<Self>, command: Command) {
        match command {
            Command::Begin => running.memory.begin(&running.page.intent()),
            Command::Submit(form) => {
                if let Some(terms) = running.page.terms() {
                    Self::send(running, Request::Pay(form, terms));
                } else {
                    // Somebody made the page's own fields unreadable. The press is answered once it is taken.
                    let refused = Event::Replied(Reply::NotSent(Note::Refused));
                    let running = running.clone();
                    spawn_local(async move { Self::handle(&running, refused) });
                }
            }
            Command::Ask => {
                running.stop_waiting();
                Self::send(running, Request::Ask);
            }
            Command::AskOffer => Self::send(running, Request::Offer),
            Command::AskIn { pause_s } => {
                running.stop_waiting();
                let waiting = running.clone();
                let due = move || Self::handle(&waiting, Event::Due);
                running.timer.set(set_timeout_with_handle(due, Duration::from_secs(pause_s.into())).ok());
            }
            Command::Follow { intent } => running.page.follow(&intent),
            Command::Adopt(offer) => {
                show::adopt(&running.page, &offer);
                running.memory.remember(&offer.intent, &offer.submit_key);
            }
            Command::Check => {
                running.stop_waiting();
                Self::send(running, Request::Check);
            }
            Command::Release => Self::send(running, Request::Release),
            Command::Renew => Self::send(running, Request::Renew),
            Command::KeepBehind => running.memory.keep_behind(),
            Command::Reload => running.page.reload(),
            Command::Tell => running.memory.tell(),
            Command::Forget => running.memory.forget(),
        }
    }

    fn send(running: &Rc<Self>, request: Request) {
        let running = running.clone();
        let (server, turn) = (running.page.server(), running.visit.borrow().turn());
        spawn_local(async move {
            let (event, answer) = match request {
                Request::Pay(form, terms) => {
                    let (reply, answer) = net::pay(&server, form, terms).await;
                    (Event::Replied(reply), answer)
                }
                Request::Ask => asked(net::ask(&server).await),
                Request::Offer => (Event::Offered(net::offer(&server).await), None),
                Request::Check => asked(net::check(&server).await),
                Request::Release => {
                    let (seen, answer) = net::release(&server).await;
                    (Event::Released(seen), answer)
                }
                Request::Renew => (Event::Renewed(net::renew(&server).await), None),
            };
            if running.visit.borrow().awaits(turn) {
                Self::take(&running, event, answer);
            }
        });
    }

    fn stop_waiting(&self) {
        if let Some(timer) = self.timer.take() {
            timer.clear();
        }
    }
}

fn asked((seen, answer): Came<Result<Seen, Note>>) -> Came<Event> {
    (Event::Asked(seen), answer)
}
