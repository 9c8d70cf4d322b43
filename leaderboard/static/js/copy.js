// Adds a button that copies to each block of code and each digest. Without this script the text can still be selected.
"use strict";
(() => {
  const news = document.createElement("span");
  news.className = "visually-hidden";
  news.setAttribute("role", "status");
  const add = (block) => {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "copy";
    button.textContent = "Copy";
    const name = block.getAttribute("aria-label") ?? block.closest("dd")?.previousElementSibling?.textContent;
    if (name) button.setAttribute("aria-label", `Copy: ${name}`);
    const text = block.textContent.trim();
    button.addEventListener("click", async () => {
      await navigator.clipboard.writeText(text);
      button.textContent = news.textContent = "Copied";
      setTimeout(() => {
        button.textContent = "Copy";
        news.textContent = "";
      }, 2000);
    });
    if (block.tagName === "PRE") block.before(button);
    else block.append(" ", button);
  };
  const addAll = () => {
    if (!navigator.clipboard) return; // absent without HTTPS
    const blocks = document.querySelectorAll("main pre:not(.pairs > *, .copy + *), main .digest.mono:not(:has(.copy))");
    blocks.forEach(add);
    if (blocks.length) document.body.append(news);
  };
  addAll();
  // Parts of a page are replaced by other scripts.
  document.addEventListener("holdout:main", addAll);
  document.addEventListener("htmx:afterSwap", addAll);
})();
