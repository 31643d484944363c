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
  const show = (html) => {
    const fresh = new DOMParser().parseFromString(html, 'text/html');
    for (const old of document.querySelectorAll('[data-live]')) {
      const now = fresh.querySelector(`[data-live="${old.dataset.live}"]`);
      if (now && now.outerHTML !== old.outerHTML) old.replaceWith(now);
    }
  };
  setTimeout(look, 1000);
})();
