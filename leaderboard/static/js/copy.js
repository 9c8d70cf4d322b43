// Adds a button that copies to each block of code and each digest. Without this script the text can still be selected.
"use strict";
const news = document.createElement("span");
news.className = "visually-hidden";
news.setAttribute("role", "status");
const blocks = navigator.clipboard ? document.querySelectorAll("main pre:not(.pairs > *), main .digest.mono") : []; // absent without HTTPS
for (const block of blocks) {
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
}
if (blocks.length) document.body.append(news);
