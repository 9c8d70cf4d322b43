// Adds and removes rows of a table of forms (Django's formsets). Without this script there are a few empty rows, and a row
// that is emptied is removed when the form is saved.
"use strict";
for (const table of document.querySelectorAll("table[data-rows]")) {
  const form = table.closest("form");
  const body = table.tBodies[0];
  const total = form.elements[`${table.dataset.rows}-TOTAL_FORMS`];
  const blank = form.querySelector("template[data-row]");
  const add = form.querySelector("[data-add-row]");
  const update = () => (add.disabled = body.rows.length >= Number(table.dataset.most));
  const prepare = (row) => {
    const remove = row.querySelector("[data-remove-row]");
    remove.hidden = false;
    remove.addEventListener("click", () => {
      const next = row.nextElementSibling || row.previousElementSibling;
      row.remove(); // its number stays unused, which the server takes for an empty row
      update();
      (next ? next.querySelector("input") : add).focus();
    });
  };
  for (const row of body.rows) prepare(row);
  add.hidden = false;
  add.addEventListener("click", () => {
    const number = Number(total.value);
    const copy = document.createElement("tbody");
    copy.innerHTML = blank.innerHTML.replaceAll("__prefix__", number);
    const row = copy.rows[0];
    for (const label of row.querySelectorAll(".visually-hidden")) label.textContent += number + 1;
    body.append(row);
    total.value = number + 1;
    prepare(row);
    update();
    row.querySelector("input").focus();
  });
  update();
}
