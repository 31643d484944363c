//! The island: carries events from the page to the visit, and the visit's stage back to the page.
//! Must never hold a rule, or words: it only unhides what the server rendered.

use leptos::{ev, prelude::*, task::spawn_local};

use crate::{
    browser::{memory::Memory, net, page::PageElements, show, signals},
    card::Card,
    visit::{Command, Event, Visit},
};

/// All that the running island needs; cheap to copy into handlers.
#[derive(Clone, Copy)]
struct Running {
    visit: RwSignal<Visit>,
    page: StoredValue<PageElements, LocalStorage>,
    memory: StoredValue<Memory, LocalStorage>,
    timer: StoredValue<Option<TimeoutHandle>, LocalStorage>,
}

/// The interactive part of the payment page. Its children are rendered by the server and stay as they are.
#[island]
pub fn Widget(
    /// The screens.
    children: Children,
) -> impl IntoView {
    let running = StoredValue::new_local(None::<Running>);
    // Effects run in the browser only.
    Effect::new(move |_| {
        if let Some(started) = start() {
            running.set_value(Some(started));
        }
    });
    let act = move |name: &str| match running.try_get_value().flatten() {
        Some(running) => running.act(name),
        None => false,
    };
    view! {
        <div
            class="stack"
            on:submit=move |event: ev::SubmitEvent| {
                if PageElements::wanted(&event).is_some_and(|name| act(&name)) {
                    event.prevent_default();
                }
            }
            on:click=move |event: ev::MouseEvent| {
                if PageElements::pressed(&event).is_some_and(|name| act(&name)) {
                    event.prevent_default();
                }
            }
            on:input=move |event: ev::Event| PageElements::help_typing(&event)
        >
            {children()}
        </div>
    }
}

/// Finds the page and starts; `None` when there is none, as in a fragment of a test.
fn start() -> Option<Running> {
    let page = PageElements::find()?;
    let mut visit = Visit::new(page.opening());
    let memory = Memory::of(page.checkout());
    let been_here = memory.remember(page.intent(), page.submit_key());
    let first = visit.open(been_here);
    page.hydrated();

    let running = Running {
        visit: RwSignal::new(visit),
        page: StoredValue::new_local(page),
        memory: StoredValue::new_local(memory),
        timer: StoredValue::new_local(None),
    };
    running.run(first);
    signals::listen(running.memory.try_with_value(Memory::channel).flatten().as_ref(), move |event| {
        running.handle(event);
    });
    Effect::new(move |before: Option<show::Before>| {
        running.visit.with(|visit| {
            running.page.try_with_value(|page| show::show(page, visit, before)).unwrap_or_default()
        })
    });
    Some(running)
}

impl Running {
    /// What a form or a button asks for; whether it was for us.
    fn act(self, name: &str) -> bool {
        match name {
            "pay" => {
                let form = self.page.try_with_value(|page| Card::read(&page.typed(), signals::this_month()));
                if let Some(form) = form {
                    self.handle(Event::Pay(form));
                }
            }
            "again" => self.handle(Event::TryAgain),
            "check" => self.handle(Event::Due),
            "copy" => {
                self.page.try_with_value(PageElements::copy_link);
            }
            _ => return false,
        }
        true
    }

    fn handle(self, event: Event) {
        // The page may be going away: then nobody needs to know.
        if let Some(commands) = self.visit.try_update(|visit| visit.handle(event)) {
            self.run(commands);
        }
    }

    fn run(self, commands: Vec<Command>) {
        for command in commands {
            self.obey(command);
        }
    }

    fn obey(self, command: Command) {
        let Some(server) = self.page.try_with_value(PageElements::server) else { return };
        match command {
            Command::Submit(card) => {
                let Some(terms) = self.page.try_with_value(PageElements::terms).flatten() else { return };
                spawn_local(
                    async move { self.handle(Event::Replied(net::pay(&server, &card, terms).await)) },
                );
            }
            Command::Ask => {
                self.stop_waiting();
                spawn_local(async move { self.handle(Event::Asked(net::ask(&server).await)) });
            }
            Command::AskIn { pause_s } => {
                self.stop_waiting();
                let pause = std::time::Duration::from_secs(pause_s.into());
                let timer = set_timeout_with_handle(move || self.handle(Event::Due), pause).ok();
                self.timer.try_set_value(timer);
            }
            Command::Renew => spawn_local(async move {
                match net::renew(&server).await {
                    Ok(()) => {
                        self.memory.try_with_value(Memory::tell);
                        PageElements::reload();
                    }
                    Err(note) => self.handle(Event::NotRenewed(note)),
                }
            }),
            Command::Reload => PageElements::reload(),
            Command::Tell => {
                self.memory.try_with_value(Memory::tell);
            }
            Command::Forget => {
                self.memory.try_with_value(Memory::forget);
            }
        }
    }

    fn stop_waiting(self) {
        if let Some(timer) = self.timer.try_get_value().flatten() {
            timer.clear();
        }
    }
}
