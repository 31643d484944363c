// The form in the other language, in its place: what is typed stays. Anywhere else, and where the order has gone on or the page is not
// the same in both, the link is a link.
(() => {
  const root = document.querySelector("[data-payonce]");
  const link = root.querySelector(".foot a");
  const SAID = ["lang", "title", "href", "action", "aria-label", "placeholder", "data-page"];
  const skipped = "script, noscript, [role=status], [data-trail]";
  const isElement = (node) => node.nodeType === Node.ELEMENT_NODE;
  const isWhole = (node) => !isElement(node) || node.matches(`${skipped}, [data-slot]`);

  const alike = (here, there) =>
    here.nodeName === there.nodeName &&
    (isWhole(here) ||
      (here.childNodes.length === there.childNodes.length && [...here.childNodes].every((node, place) => alike(node, there.childNodes[place]))));
  const speak = (here, there) => {
    if (!isElement(here)) here.data = there.data;
    else if (!here.matches(skipped)) {
      SAID.filter((name) => there.hasAttribute(name)).forEach((name) => here.setAttribute(name, there.getAttribute(name)));
      if (isWhole(here)) here.textContent = there.textContent;
      else here.childNodes.forEach((node, place) => speak(node, there.childNodes[place]));
    }
  };

  const turn = async () => {
    const { href } = link;
    try {
      const read = new DOMParser().parseFromString(await (await fetch(href, { cache: "no-store" })).text(), "text/html");
      const [here, there] = [document.documentElement, read.documentElement];
      if (read.querySelector("[data-payonce]").dataset.intent !== root.dataset.intent || !alike(here, there)) throw href;
      speak(here, there);
      history.replaceState(null, "", href);
    } catch {
      location.assign(href);
    }
  };
  link.addEventListener("click", (event) => {
    const { state, wasm } = root.dataset;
    if (wasm !== "ready" || !["ready", "invalid"].includes(state) || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    turn();
  });
})();
