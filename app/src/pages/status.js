// The page to read looks again by itself, and throws nothing away meanwhile: neither what is typed nor the place of the keyboard.
// A browser that cannot do all of it reads the page anew: nothing here is newer than what it needs for that.
(() => {
  const main = document.querySelector("[data-payonce]");
  const page = main.dataset.page;
  const address = () => main.querySelector("input[name=email]");

  // The same screen: of what it says only what is not pressed or typed in can be new.
  const freshen = (now) => {
    const parts = "[data-trail], [data-looks], .state";
    const fresh = now.querySelectorAll(parts);
    main.querySelectorAll(parts).forEach((part, place) => {
      if (!part.isEqualNode(fresh[place])) part.replaceWith(fresh[place]);
    });
  };
  const replace = (now) => {
    const field = address();
    const [typed, typing] = [field && field.value, field && field === document.activeElement];
    main.replaceChildren(...now.childNodes);
    main.dataset.state = now.dataset.state;
    const next = address();
    if (next && typed) next.value = typed;
    (next && typing ? next : main.querySelector("[data-screen]:not([hidden]) .state:not([hidden]) h2")).focus();
  };
  const show = (text) => {
    const read = new DOMParser().parseFromString(text, "text/html");
    const now = read.querySelector("[data-payonce]");
    now.querySelectorAll("time").forEach((time) => clock.write(time, time.dateTime));
    (now.dataset.state === main.dataset.state ? freshen : replace)(now);
    main.dataset.pause = now.dataset.pause || "";
    document.title = read.title;
  };

  // What is not answered now is asked for again.
  const ask = () => fetch(page, { cache: "no-store" }).then((answer) => (answer.ok ? answer.text() : "")).catch(() => "");
  const look = async () => {
    const text = await ask();
    try {
      if (text) show(text);
    } catch (problem) {
      console.error(problem);
      location.replace(page);
    }
    later();
  };
  const later = () => {
    const { pause } = main.dataset;
    if (pause) setTimeout(look, pause * 1000);
  };
  later();
})();
