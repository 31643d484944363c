
// The payment as it goes on: one stream for all tabs of this browser, held by the tab that has the lock and is looked at.
// What it tells goes to the island, which tells the other tabs to ask.
(() => {
  const root = document.querySelector("[data-payonce]");
  const each = (selector, act) => root.querySelectorAll(selector).forEach(act);
  const say = (name, detail) => root.dispatchEvent(detail === undefined ? new Event(name) : new CustomEvent(name, { detail }));
  const { checkout, token } = root.dataset;
  // A stream that was refused, and not merely broken, is asked for again after this.
  const AGAIN_MS = 15000;
  // Nobody's timer runs longer.
  const LATEST_MS = 2 ** 31 - 1;

  const look = (name, at) =>
    each(`[data-look=${name}]`, (line) => {
      line.hidden = !at;
      clock.write(line.querySelector("time"), at ?? "");
    });
  const line = ({ at, what }) => {
    const made = root.querySelector(`[data-step=${what}]`).cloneNode(true);
    clock.write(made.querySelector("time"), at);
    return made;
  };
  // One screen has four headings: which is true changes with every try, and is said once.
  const head = ({ held, unreached_until }, in_question) => {
    look("unreached", unreached_until);
    const name = held ? (in_question ? "untried" : "held") : unreached_until ? "unreached" : "reached";
    each("[data-heading]", (heading) => (heading.hidden = heading.dataset.heading !== name));
    const region = root.querySelector("[role=status]");
    const words = root.querySelector(`[data-heading=${name}] h2`).textContent;
    // Of anything else the island speaks.
    if (root.dataset.state === "processing" && name !== "reached" && !region.textContent.startsWith(words)) region.textContent = words;
  };
  // Where the result is told is the server's to say: another device's address may have been first. The form stays while that is as it was.
  const mail = (address = "") => {
    if (root.querySelector("[data-slot=email]")?.textContent === address) return;
    each("[data-with=email]", (line) => (line.hidden = !address));
    each("[data-slot=email]", (slot) => (slot.textContent = address));
    each("[data-without=email]", (form) => (form.hidden = !!address));
  };
  root.paint = ({ progress, released_by, paid_at, told_to, in_question }) => {
    if (paid_at) look("paid", paid_at);
    if (released_by) {
      const time = clock.say(released_by, "short");
      each("[data-slot=released-by]", (slot) => (slot.textContent = time));
    }
    if (!progress) return;
    each("[data-trail]", (trail) => trail.replaceChildren(...progress.steps.map(line)));
    look("last", progress.last_look_at);
    look("next", progress.next_look_at);
    head(progress, in_question);
    mail(told_to);
  };

  const stream = (signal) =>
    new Promise((end) => {
      const source = new EventSource(`/v1/payment_intents/${root.dataset.intent}/events?token=${token}`);
      const close = () => {
        source.close();
        say("live", null);
        end();
      };
      source.addEventListener("state", ({ data }) => {
        const intent = JSON.parse(data);
        say("live", intent);
        const closes = intent.closed && !("closed" in root.dataset);
        const { state } = root.dataset;
        const news = intent.behind || closes || intent.state !== (state === "ready" ? "created" : state);
        // The island paints what it takes. Without one this does.
        if (root.dataset.wasm === "ready") return;
        if (!news) root.paint(intent);
        // A reload would send the form again that this page answers.
        else if (root.dataset.wasm === "failed") location.replace(root.dataset.page);
      });
      source.onerror = () => {
        say("live", null);
        if (source.readyState === EventSource.CLOSED) {
          close();
          setTimeout(again, AGAIN_MS, signal);
        }
      };
      signal.addEventListener("abort", close);
    });

  // For later or for another device. The button says what came of it: nobody sees the live region.
  const copy = async ({ target }) => {
    const button = target.closest("[data-do=copy]");
    if (!button) return;
    // A browser may have no clipboard, or refuse it.
    const copied = await Promise.resolve(navigator.clipboard?.writeText(location.href).then(() => true)).catch(() => false);
    const words = root.querySelector(copied ? "[data-say=copied]" : "[data-say=not-copied]").textContent;
    button.textContent = words;
    root.querySelector("[role=status]").textContent = words;
  };

  let held = null;
  const follow = (here) => {
    const wanted = here && "watch" in root.dataset && !document.hidden;
    if (!wanted) held = held?.abort();
    else if (!held && window.EventSource && navigator.locks) {
      held = new AbortController();
      const { signal } = held;
      navigator.locks.request(`payonce-live-${checkout}`, { signal }, () => stream(signal)).catch(() => {});
    }
  };
  const again = (signal) => {
    if (held?.signal !== signal) return;
    held = null;
    follow(true);
  };

  root.addEventListener("click", copy);
  const left = new Date(root.dataset.expires) - Date.now();
  if (left > 0) setTimeout(() => say("heard"), Math.min(left, LATEST_MS));
  new MutationObserver((changes) => {
    // Another intent has another stream.
    if (changes.some(({ attributeName }) => attributeName === "data-intent")) follow(false);
    follow(true);
  }).observe(root, { attributeFilter: ["data-watch", "data-intent"] });
  document.addEventListener("visibilitychange", () => {
    follow(true);
    if (!document.hidden) say("heard");
  });
  addEventListener("online", () => say("heard"));
  // Neither a stream nor a lock goes with a page into the back-forward cache.
  addEventListener("pagehide", () => follow(false));
  addEventListener("pageshow", () => follow(true));
  follow(true);
})();
