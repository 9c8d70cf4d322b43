// Adds a search field above each long list that may have one (select[data-filter]): while one types, only the options with
// this text stay, and the first of them is chosen. Without this script the list has all options.
"use strict";
const LONG = 12; // options
const addSearch = (select) => {
  if (select.options.length <= LONG || select.dataset.filter === "on") return;
  select.dataset.filter = "on";
  const places = [...select.options].map((option) => [option, option.parentNode]);
  const search = document.createElement("input");
  search.type = "search";
  search.className = "select-search";
  search.placeholder = "Type to search";
  search.autocomplete = "off";
  search.setAttribute("aria-label", `Search: ${select.labels[0] ? select.labels[0].firstChild.textContent.trim() : select.name}`);
  const news = document.createElement("span");
  news.className = "select-news soft small";
  news.setAttribute("role", "status");
  search.addEventListener("input", () => {
    const words = search.value.trim().toLowerCase();
    const chosen = select.selectedOptions[0];
    const found = places.filter(([option]) => !words || (option.value && option.text.toLowerCase().includes(words)));
    news.textContent = words ? `${found.length} of ${places.length} match` : "";
    if (!found.length) return; // the list stays as it was
    for (const [option] of places) option.remove();
    for (const [option, parent] of found) parent.append(option);
    for (const group of select.querySelectorAll("optgroup")) group.hidden = !group.children.length;
    (found.some(([option]) => option === chosen) ? chosen : found[0][0]).selected = true;
    select.dispatchEvent(new Event("input", { bubbles: true }));
  });
  search.addEventListener("keydown", (event) => {
    if (event.key === "Enter") event.preventDefault(); // it would send the form
  });
  select.before(search);
  select.after(news);
};
const addSearches = () => document.querySelectorAll("select[data-filter]").forEach(addSearch);
addSearches();
document.addEventListener("holdout:main", addSearches); // js/upload.js has replaced the page's content
