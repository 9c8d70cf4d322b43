// Uploads a large archive in pieces through the API: a lost connection, a reload or a server restart costs one piece.
// Without this script the form is sent normally. The server reports how much it has already received (`received`).
"use strict";
(() => {
  const form = document.querySelector("form[data-image-upload]");
  const progress = form && form.querySelector(".upload-progress");
  if (!progress) return;
  const bar = progress.querySelector("progress");
  const words = progress.querySelector("[data-upload-words]");
  const news = progress.querySelector("[data-upload-news]");
  const button = form.querySelector("button[type=submit]");
  const cancel = form.querySelector("[data-upload-cancel]");
  const chosen = form.elements.file;
  const system = form.elements.system;
  const named = form.elements.new_system;
  const token = form.elements.csrfmiddlewaretoken.value;

  // Hidden here instead of by <noscript>, so that it is also shown if this file fails to load.
  form.querySelector("[data-without-script]").hidden = true;

  const WAITS = [1, 2, 4, 8, 15, 30, 30, 30, 60, 60]; // seconds before each retry; restarts after every piece that is stored
  const SILENCE = 60000; // milliseconds without a byte before a connection counts as lost

  class Stopped extends Error {}
  let underWay = null; // the current request
  let wake = null; // ends a pause
  let givenUp = false;

  // --- the URL of each upload is stored under the file's properties, so that the same file resumes after a reload
  const key = (file) => `holdout-image ${form.dataset.begin} ${file.name} ${file.size} ${file.lastModified}`;
  const remembered = (file) => {
    try { return localStorage.getItem(key(file)); } catch { return null; }
  };
  const remember = (file, address) => {
    try {
      if (address) localStorage.setItem(key(file), address);
      else localStorage.removeItem(key(file));
    } catch { /* no local storage: the list of unfinished uploads below still has it */ }
  };

  // --- requests: resolve to {status, answer}; status 0 is a lost connection
  const ask = (method, address, body = null, type = "", moved = () => {}) =>
    new Promise((resolve) => {
      const request = new XMLHttpRequest();
      let silent;
      const listen = () => {
        clearTimeout(silent);
        silent = setTimeout(() => request.abort(), SILENCE);
      };
      const end = (status) => {
        clearTimeout(silent);
        underWay = null;
        let answer = {};
        try { answer = JSON.parse(request.responseText); } catch { /* a proxy's page, or an empty body */ }
        resolve({ status, answer });
      };
      request.open(method, address);
      request.setRequestHeader("X-CSRFToken", token);
      if (type) request.setRequestHeader("Content-Type", type);
      request.upload.addEventListener("progress", ({ loaded }) => { listen(); moved(loaded); });
      request.addEventListener("load", () => end(request.status));
      for (const lost of ["error", "abort"]) request.addEventListener(lost, () => end(0));
      underWay = request;
      listen();
      request.send(body);
    });

  const pause = (seconds) =>
    new Promise((resolve) => {
      const timer = setTimeout(() => wake(), seconds * 1000);
      wake = () => { clearTimeout(timer); wake = null; resolve(); };
    });
  window.addEventListener("online", () => wake && wake());

  const checked = () => {
    if (givenUp) throw new Stopped("");
  };

  // Requests are retried after lost connections and server errors; every other answer is final.
  const isLost = ({ status, answer }) => status === 0 || (status >= 500 && (answer.new_code || answer.code) !== "engine_unavailable");
  const waited = async (tries, { status }) => {
    if (tries >= WAITS.length) throw new Stopped("The server cannot be reached. Uploaded pieces are stored: press the button to resume.");
    const why = status ? `The server answered ${status}` : "The connection was lost";
    news.textContent = `${why}; trying again in ${WAITS[tries]} s.`;
    await pause(WAITS[tries]);
    checked();
  };
  const persistently = async (...request) => {
    for (let tries = 0; ; tries += 1) {
      const found = await ask(...request);
      checked();
      if (!isLost(found)) return found;
      await waited(tries, found);
    }
  };

  const refused = ({ status, answer }) => {
    if (status === 401 || status === 403) {
      return new Stopped("You are logged out, or logged in to another session. Reload this page, log in, and choose the same file to resume.");
    }
    return new Stopped(answer.message || `The server answered ${status}.`);
  };
  const here = (address) => new URL(address, window.location.href).pathname;

  // --- an upload: its URL, and how much of it the server has received
  // The server compares the digest at the end. Files that may not fit into memory are sent without it.
  const HASHED = 256e6;
  const digest = async (file) => {
    if (!("digest" in form.dataset) || !window.crypto || !window.crypto.subtle || file.size > HASHED) return "";
    const bytes = new Uint8Array(await window.crypto.subtle.digest("SHA-256", await file.arrayBuffer()));
    return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  };
  const begun = async (file) => {
    const { track } = form.elements; // present if the phase has tracks; an invalid one is refused before the upload starts
    const properties = { name: file.name.slice(-255), bytes: file.size, sha256: await digest(file) };
    const body = JSON.stringify(track ? { ...properties, track: track.value } : properties);
    const found = await persistently("POST", form.dataset.begin, body, "application/json");
    if (found.status !== 201) throw refused(found);
    remember(file, here(found.answer.url));
    return found.answer;
  };
  const resumed = async (file) => {
    const address = form.dataset.upload || remembered(file);
    if (!address) return null;
    const found = await persistently("GET", address);
    if (found.status === 200 && found.answer.bytes === file.size) {
      if (found.answer.received) news.textContent = `Resuming at ${size(found.answer.received)}.`;
      return found.answer;
    }
    if (found.status !== 404 && found.status !== 200) throw refused(found);
    remember(file, null);
    return null;
  };

  const sent = async (upload, file) => {
    const began = Date.now();
    const first = upload.received;
    for (let tries = 0; upload.received < upload.bytes; ) {
      const offset = upload.received;
      const piece = file.slice(offset, offset + upload.chunk_bytes);
      const address = `${here(upload.chunks)}?offset=${offset}`;
      const show = (loaded) => showProgress(Math.min(offset + loaded, upload.bytes), upload.bytes, began, first);
      show(0);
      const found = await ask("POST", address, piece, "application/octet-stream", show);
      checked();
      if (found.status === 200) {
        upload = found.answer;
        tries = 0;
        news.textContent = "";
      } else if (isLost(found) || found.answer.code === "wrong_offset") {
        // Ask the server whether it stored the piece.
        if (isLost(found)) await waited(tries++, found);
        const state = await persistently("GET", here(upload.url));
        if (state.status !== 200) throw refused(state);
        upload = state.answer;
        news.textContent = `Resuming at ${size(upload.received)}.`;
      } else {
        if (found.status === 404) remember(file, null);
        throw found.status === 404 ? new Stopped("This upload was submitted or cancelled elsewhere. Press the button to start again.") : refused(found);
      }
    }
    return upload;
  };

  // --- display
  const size = (bytes) => { // formatted like sizes on the server's pages
    const rounded = Number(bytes.toPrecision(3));
    const [unit, name] = [[1e9, "GB"], [1e6, "MB"], [1e3, "kB"]].find(([least]) => rounded >= least) || [1, "bytes"];
    return `${unit === 1 ? bytes : rounded / unit} ${name}`;
  };
  const left = (seconds) => (seconds < 90 ? `${Math.ceil(seconds)} s` : seconds < 5400 ? `${Math.round(seconds / 60)} min` : `${Math.round(seconds / 3600)} h`);
  const showProgress = (done, all, began, first) => {
    const seconds = (Date.now() - began) / 1000;
    const rest = seconds > 3 && done > first ? `, about ${left(((all - done) * seconds) / (done - first))} left` : "";
    bar.value = (100 * done) / all;
    words.textContent = `Uploading: ${Math.floor((100 * done) / all)} % · ${size(done)} of ${size(all)}${rest}`;
  };
  const busy = (is) => {
    button.disabled = is;
    cancel.hidden = !is;
    chosen.disabled = is;
  };

  // --- the form
  const checkSystem = () => {
    if (!system) return;
    const both = system.value && named.value.trim();
    const none = !system.value && !named.value.trim();
    named.setCustomValidity(both || none ? "Choose one of your systems or enter a new name, not both." : "");
  };
  for (const field of [system, named]) field && field.addEventListener("input", checkSystem);
  checkSystem();

  const uploadOf = async (file) => sent((await resumed(file)) || (await begun(file)), file);

  form.addEventListener("submit", async (event) => {
    const file = chosen.files[0];
    if (!file) return; // an image in a registry, or nothing: the server reports what is missing
    event.preventDefault();
    progress.hidden = false;
    news.textContent = "";
    const wrong = unfit(file);
    if (wrong) return stop(wrong);
    givenUp = false;
    busy(true);
    try {
      const upload = await uploadOf(file);
      remember(file, null);
      form.elements.upload.value = upload.id;
      cancel.hidden = true;
      bar.removeAttribute("value");
      words.textContent = "Uploaded; the server is assembling the file";
      form.submit(); // the file field is disabled: only the upload's id is sent
    } catch (error) {
      if (!(error instanceof Stopped)) throw error;
      busy(false);
      if (!givenUp) stop(error.message);
    }
  });
  // The browser shows the page from its back/forward cache.
  window.addEventListener("pageshow", ({ persisted }) => persisted && window.location.reload());

  const unfit = (file) => {
    const expected = Number(form.dataset.bytes || file.size);
    if (file.size !== expected) return `This is a different file: it has ${file.size.toLocaleString("en")} bytes; expected ${expected.toLocaleString("en")}.`;
    if (file.size > Number(form.dataset.most)) return `The file has ${size(file.size)}; expected at most ${size(Number(form.dataset.most))}.`;
    return file.size ? "" : "The file is empty.";
  };
  const stop = (text) => {
    words.textContent = "Not uploaded";
    news.textContent = text;
  };

  cancel.addEventListener("click", async () => {
    const file = chosen.files[0];
    const address = form.dataset.upload || remembered(file);
    givenUp = true;
    if (underWay) underWay.abort();
    if (wake) wake();
    remember(file, null);
    busy(false);
    if (address) await ask("DELETE", address);
    delete form.dataset.upload;
    delete form.dataset.bytes;
    bar.value = 0;
    words.textContent = "Upload cancelled";
    news.textContent = "The uploaded pieces were deleted.";
  });
})();
