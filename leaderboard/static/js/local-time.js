// Adds the time in the reader's own zone: to the title of each <time>, and in words behind deadlines. Without this script
// times are in UTC only, as they are for readers whose zone is UTC.
"use strict";
const zoneOf = (at) => new Intl.DateTimeFormat("en", { timeZoneName: "short" }).formatToParts(at).find(({ type }) => type === "timeZoneName").value;
const padded = (number) => String(number).padStart(2, "0");
const localTime = (at) => {
  const day = [at.getFullYear(), padded(at.getMonth() + 1), padded(at.getDate())].join("-");
  return `${day} ${padded(at.getHours())}:${padded(at.getMinutes())} ${zoneOf(at)}`;
};
const addLocalTimes = (within) => {
  for (const time of within.querySelectorAll("time[datetime*=T]:not([data-local])")) {
    const at = new Date(time.dateTime);
    if (Number.isNaN(at.getTime()) || !at.getTimezoneOffset()) continue;
    const local = localTime(at);
    time.dataset.local = time.title ? "relative" : "exact";
    time.title = `${time.title || time.textContent} = ${local}`;
    if (!("deadline" in time.dataset)) continue;
    const words = document.createElement("span");
    words.className = "local-time";
    words.textContent = ` (${local})`;
    time.append(words);
  }
};
addLocalTimes(document);
document.addEventListener("holdout:main", () => addLocalTimes(document)); // js/upload.js has replaced the page's content
document.addEventListener("htmx:load", ({ target }) => addLocalTimes(target.parentNode || document));
