// Loads the island. Until it is ready it holds a press of the button and lets it go once, and it says so when loading
// is slow or fails: of the form where that is shown, and elsewhere nothing that an earlier press would make untrue. Nothing typed is
// touched.
(() => {
  const { js, wasm } = document.currentScript.dataset;
  const root = document.querySelector("[data-payonce]");
  // What the island cannot do without: to give up a request, and to tell the bank's button from its own. The plain form needs neither.
  if (!window.WebAssembly || !window.AbortController || !window.SubmitEvent || !("submitter" in SubmitEvent.prototype)) {
    root.dataset.wasm = "failed";
    return;
  }
  const each = (selector, act) => root.querySelectorAll(selector).forEach(act);
  const say = (name) =>
    each("[data-load]", (line) => {
      line.hidden = line.dataset.load !== name;
      if (!line.hidden) root.querySelector("[role=status]").textContent = line.textContent;
    });
  const form = root.dataset.state === "ready";
  let held = null;
  let tries = 0;
  let started = false;

  const drop = () => {
    held = null;
    root.removeAttribute("data-held");
  };
  const hold = (event) => {
    // Other forms do well without the island, and so does the bank's button: whoever presses that pays no more with a card.
    if (event.submitter?.dataset.submit) drop();
    if (root.dataset.wasm === "ready" || event.target.dataset.do !== "pay" || event.submitter?.dataset.submit) return;
    event.preventDefault();
    event.stopPropagation();
    held = event.target;
    root.toggleAttribute("data-held", !started);
    if (root.dataset.wasm === "failed" && !started) load();
  };

  const load = async () => {
    root.dataset.wasm = "loading";
    say();
    const slow = setTimeout(() => form && say("load-slow"), 5000);
    try {
      // A browser may remember that a module failed: another address is another chance.
      const again = tries++ ? "?again=" + tries : "";
      const island = await import(js + again);
      await island.default({ module_or_path: wasm + again });
      started = true;
      island.hydrate();
      each("leptos-island", (element) => island[element.dataset.component](element));
      // The island starts in a task of its own.
      for (let turn = 0; !root.dataset.hydrated; turn++) {
        if (turn > 100) throw new Error("the island does not start");
        await new Promise((next) => setTimeout(next));
      }
      root.dataset.wasm = "ready";
      say();
      held?.querySelector("[name=pay]").click();
    } catch (problem) {
      console.error(problem);
      root.dataset.wasm = "failed";
      if (started) say("load-broken");
      else if (form) say("load-failed");
      else if ("watch" in root.dataset) say("load-still");
    }
    clearTimeout(slow);
    drop();
  };

  each("[data-plain]", (part) => (part.hidden = true));
  each("[data-scripted]", (part) => (part.hidden = false));
  // A plain form's Enter is the bank's button.
  each("[name=pay]", (button) => (button.type = "submit"));
  root.addEventListener("submit", hold, true);
  load();
})();
