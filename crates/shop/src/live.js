// Keeps what changes by itself current: asks once a second, only while somebody can see the page.
(() => {
  const { from } = document.currentScript.dataset;
  const look = async () => {
    if (document.visibilityState === 'visible') {
      const answer = await fetch(from, { cache: 'no-store' }).catch(() => undefined);
      if (answer?.ok) show(await answer.text().catch(() => ''));
    }
    setTimeout(look, 1000);
  };
  const parse = (html) => new DOMParser().parseFromString(html, 'text/html');
  const show = (html) => {
    const fresh = parse(html);
    let changed = false;
    for (const old of document.querySelectorAll('[data-live]')) {
      const now = fresh.querySelector(`[data-live="${old.dataset.live}"]`);
      if (now && now.outerHTML !== old.outerHTML) {
        old.replaceWith(now);
        changed = true;
      }
    }
    const order = document.querySelector('[data-shop=order]');
    const stands = fresh.querySelector('[data-standing]')?.dataset.standing;
    if (changed || stands !== order?.dataset.status) standing();
  };
  // A refusal or an end at the bank changes no number, and a number may change before the order does.
  const standing = async () => {
    const answer = await fetch(location.href, { cache: 'no-store' }).catch(() => undefined);
    const old = document.querySelector('[data-shop=order]');
    const now = answer?.ok && parse(await answer.text().catch(() => '')).querySelector('[data-shop=order]');
    if (old && now && now.dataset.status !== old.dataset.status) old.replaceWith(now);
  };
  setTimeout(look, 1000);
})();
