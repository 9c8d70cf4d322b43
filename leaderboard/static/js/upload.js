// Shows the progress of an upload, and takes a file that is dropped on its field. Without this script the form is sent
// normally; the server's response is the same.
"use strict";
(() => {
  const bind = (form) => {
    const progress = form.querySelector(".upload-progress");
    const bar = progress.querySelector("progress");
    const words = progress.querySelector("[data-upload-words]");
    const buttons = form.querySelectorAll("button[type=submit]");
    const chosen = form.querySelector("input[type=file]");
    const enable = (enabled) => buttons.forEach((button) => (button.disabled = !enabled));

    const stop = (text) => {
      words.textContent = text;
      enable(true);
    };

    const zone = chosen.closest(".field");
    zone.classList.add("drop-zone");
    const hint = document.createElement("div");
    hint.className = "drop-hint";
    hint.textContent = "or drop the file here";
    chosen.after(hint);
    const mark = (event, over) => {
      if (!event.dataTransfer.types.includes("Files")) return;
      event.preventDefault();
      zone.classList.toggle("is-over", over);
    };
    zone.addEventListener("dragover", (event) => mark(event, true));
    zone.addEventListener("dragleave", (event) => mark(event, false));
    zone.addEventListener("drop", (event) => {
      mark(event, false);
      if (event.dataTransfer.files.length) chosen.files = event.dataTransfer.files;
    });

    // The response to a refused file is a whole page: its main element replaces the current one.
    const show = (page) => {
      const answer = new DOMParser().parseFromString(page, "text/html");
      const main = answer.querySelector("main");
      if (!main) return stop("The server’s answer could not be read. Try again.");
      document.querySelector("main").replaceWith(document.adoptNode(main));
      document.title = answer.title;
      document.dispatchEvent(new Event("holdout:main"));
      document.querySelectorAll("form[data-upload]").forEach(bind);
      // The file was valid: the next press needs it again. A refused one has to be chosen anew, since its author edits it.
      const next = document.querySelector("[data-keep-file] ~ form[data-upload] input[type=file]");
      if (next) next.files = chosen.files;
      (document.getElementById("refused") || main).focus();
      window.scrollTo(0, 0);
    };

    form.addEventListener("submit", (event) => {
      event.preventDefault();
      const request = new XMLHttpRequest();
      request.open("POST", form.action || window.location.href);
      request.setRequestHeader("X-Upload", "1"); // a page that it is redirected to is opened again, with its messages
      request.upload.addEventListener("progress", ({ lengthComputable, loaded, total }) => {
        if (!lengthComputable) return bar.removeAttribute("value");
        bar.value = (100 * loaded) / total;
        words.textContent = `Uploading: ${Math.floor((100 * loaded) / total)} %`;
      });
      request.upload.addEventListener("load", () => {
        bar.removeAttribute("value");
        words.textContent = "Uploaded; the file is being checked";
      });
      request.addEventListener("load", () => {
        // The request was redirected: go to that page.
        if (request.status < 400 && request.responseURL !== window.location.href) {
          window.location.assign(request.responseURL);
        } else {
          show(request.responseText);
        }
      });
      request.addEventListener("error", () => stop("The upload was interrupted. Check the connection and try again."));
      progress.hidden = false;
      enable(false);
      bar.value = 0;
      words.textContent = "Uploading";
      const data = new FormData(form);
      if (event.submitter && event.submitter.name) data.append(event.submitter.name, event.submitter.value);
      request.send(data);
    });
  };
  document.querySelectorAll("form[data-upload]").forEach(bind);
})();
