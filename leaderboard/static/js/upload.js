// Shows the progress of an upload. Without this script the form is sent normally; the server's response is the same.
"use strict";
(() => {
  const bind = (form) => {
    const progress = form.querySelector(".upload-progress");
    const bar = progress.querySelector("progress");
    const words = progress.querySelector("[data-upload-words]");
    const button = form.querySelector("button[type=submit]");

    const stop = (text) => {
      words.textContent = text;
      button.disabled = false;
    };

    // The response to a refused file is a whole page: its main element replaces the current one.
    const show = (page) => {
      const answer = new DOMParser().parseFromString(page, "text/html");
      const main = answer.querySelector("main");
      if (!main) return stop("The server’s answer could not be read. Try again.");
      document.querySelector("main").replaceWith(document.adoptNode(main));
      document.title = answer.title;
      document.querySelectorAll("form[data-upload]").forEach(bind);
      (document.getElementById("refused") || main).focus();
      window.scrollTo(0, 0);
    };

    form.addEventListener("submit", (event) => {
      event.preventDefault();
      const request = new XMLHttpRequest();
      request.open("POST", form.action || window.location.href);
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
      button.disabled = true;
      bar.value = 0;
      words.textContent = "Uploading";
      request.send(new FormData(form));
    });
  };
  document.querySelectorAll("form[data-upload]").forEach(bind);
})();
