// Times by the shopper's clock. Of another day they have a date, whose month is a word in English: its readers do not agree which of
// two numbers it is.
const clock = (() => {
  const say = (at, timeStyle, whole) => {
    const page = document.documentElement.lang;
    const lang = page === "en" ? "en-GB" : page;
    const date = new Date(at);
    const today = !whole && date.toDateString() === new Date().toDateString();
    return date.toLocaleString(lang, today ? { timeStyle } : { timeStyle, dateStyle: "medium" });
  };
  const write = (time, at) => {
    time.dateTime = at;
    const style = time.dataset.clock;
    if (at) time.textContent = say(at, style ?? "medium", !style);
  };
  document.querySelectorAll("time").forEach((time) => write(time, time.dateTime));
  return { say, write };
})();
