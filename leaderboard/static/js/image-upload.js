// Uploads a large file in pieces by the tus protocol (tus-js-client, the global `tus`): a lost connection, a reload or a
// server restart costs one piece. Without this script the form is sent normally.
"use strict";
(() => {
  const form = document.querySelector("form[data-image-upload]");
  const progress = form && form.querySelector(".upload-progress");
  if (!progress || !window.tus) return;
  const bar = progress.querySelector("progress");
  const words = progress.querySelector("[data-upload-words]");
  const news = progress.querySelector("[data-upload-news]");
  const spoken = progress.querySelector("[data-upload-spoken]");
  const pauseButton = progress.querySelector("[data-upload-pause]");
  const cancelButton = progress.querySelector("[data-upload-cancel]");
  const button = form.querySelector("button[type=submit]");
  const chosen = form.elements.file;
  const system = form.elements.system;
  const named = form.elements.new_system;

  // Hidden here instead of by <noscript>, so that it is also shown if this file fails to load.
  form.querySelector("[data-without-script]").hidden = true;

  const CHUNK = 16e6; // CHUNK_BYTES of core/chunked_upload.py
  const WAITS = [1, 2, 4, 8, 15, 30, 30, 30, 60, 60]; // seconds before each retry; restarts after every piece that is stored
  const SILENCE = 60000; // milliseconds without a byte before a connection counts as lost
  const SPOKEN = 25; // percent between two announcements to screen readers
  // The server compares the digest at the end. Files that may not fit into memory are sent without it.
  const HASHED = 256e6;

  let upload = null; // the tus.Upload of the chosen file
  let isRunning = false; // neither paused nor stopped
  let isWaiting = false; // for a retry
  let silence = null; // the timer that notices a silent connection

  // --- display
  const size = (bytes) => { // formatted like sizes on the server's pages
    const rounded = Number(bytes.toPrecision(3));
    const [unit, name] = [[1e9, "GB"], [1e6, "MB"], [1e3, "kB"]].find(([least]) => rounded >= least) || [1, "bytes"];
    return `${unit === 1 ? bytes : rounded / unit} ${name}`;
  };
  const left = (seconds) => (seconds < 90 ? `${Math.ceil(seconds)} s` : seconds < 5400 ? `${Math.round(seconds / 60)} min` : `${Math.round(seconds / 3600)} h`);
  let began = null; // {at, from}: when the upload began or was resumed, and at which byte
  const showProgress = (done, all) => {
    began ??= { at: Date.now(), from: done };
    const seconds = (Date.now() - began.at) / 1000;
    const rest = seconds > 3 && done > began.from ? `, about ${left(((all - done) * seconds) / (done - began.from))} left` : "";
    const percent = Math.floor((100 * done) / all);
    bar.value = (100 * done) / all;
    words.textContent = `Uploading: ${percent} % · ${size(done)} of ${size(all)}${rest}`;
    const step = percent - (percent % SPOKEN);
    if (step && spoken.dataset.step !== String(step)) {
      spoken.dataset.step = step;
      spoken.textContent = `${step} % uploaded`;
    }
  };
  const busy = (is) => {
    isRunning = is;
    isWaiting = false;
    began = null;
    clearTimeout(silence);
    button.disabled = is;
    chosen.disabled = is;
    pauseButton.hidden = cancelButton.hidden = !is;
    pauseButton.textContent = "Pause";
  };
  const stop = (text) => {
    busy(false);
    words.textContent = "Not uploaded";
    news.textContent = text;
  };

  // --- errors: lost connections and server errors are retried; every other answer is final
  const answerTo = ({ originalResponse: response }) => {
    if (!response) return { status: 0 };
    let body = {};
    try { body = JSON.parse(response.getBody()); } catch { /* a proxy's page, or an empty body */ }
    return { status: response.getStatus(), code: body.code, message: body.message };
  };
  const isRetried = ({ status, code }) => status === 0 || (status >= 500 && code !== "engine_unavailable") || code === "wrong_offset";
  const LOGGED_OUT = ["not_authenticated", "authentication_failed", "permission_denied"];
  const UNREADABLE = "The file cannot be read. Choose it again.";
  const reason = (error) => {
    if (!error.originalRequest) return UNREADABLE;
    const answer = answerTo(error);
    if (isRetried(answer)) return "The server cannot be reached. Uploaded pieces are stored: press the button to resume.";
    if (answer.status === 401 || LOGGED_OUT.includes(answer.code)) {
      return "You are logged out, or logged in to another session. Reload this page, log in, and choose the same file to resume.";
    }
    if (answer.status === 404 || answer.status === 410) return "This upload was submitted or cancelled elsewhere. Press the button to start again.";
    return answer.message || `The server answered ${answer.status}.`;
  };

  const restart = async () => {
    news.textContent = "The connection was lost; resuming.";
    await upload.abort();
    if (isRunning) upload.start();
  };
  const listen = () => {
    clearTimeout(silence);
    if (isRunning) silence = setTimeout(restart, SILENCE);
  };
  window.addEventListener("online", () => isRunning && isWaiting && restart());

  // --- an upload
  const digest = async (file) => {
    if (!("digest" in form.dataset) || !window.crypto || !window.crypto.subtle || file.size > HASHED) return "";
    const bytes = new Uint8Array(await window.crypto.subtle.digest("SHA-256", await file.arrayBuffer()));
    return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  };
  const begun = async (file) => {
    const { track } = form.elements; // present if the phase has tracks; an invalid one is refused before the upload starts
    const metadata = { filename: file.name.slice(-255), sha256: await digest(file), track: track ? track.value : "" };
    const started = new window.tus.Upload(file, {
      endpoint: form.dataset.begin,
      uploadUrl: form.dataset.upload || null,
      chunkSize: CHUNK,
      headers: { "X-CSRFToken": form.elements.csrfmiddlewaretoken.value },
      metadata: Object.fromEntries(Object.entries(metadata).filter(([, text]) => text)),
      // The address of each upload is stored under the file's properties, so that the same file resumes after a reload.
      fingerprint: async () => `holdout ${form.dataset.begin} ${file.name} ${file.size} ${file.lastModified}`,
      removeFingerprintOnSuccess: true,
      retryDelays: WAITS.map((seconds) => 1000 * seconds),
      onShouldRetry: (error, attempt) => {
        const answer = answerTo(error);
        if (!isRunning || !isRetried(answer)) return false;
        clearTimeout(silence);
        isWaiting = true;
        news.textContent = `${answer.status ? `The server answered ${answer.status}` : "The connection was lost"}; trying again in ${WAITS[attempt]} s.`;
        return true;
      },
      onBeforeRequest: () => { isWaiting = false; listen(); },
      onAfterResponse: (request, response) => {
        const offset = Number(response.getHeader("Upload-Offset"));
        if (response.getStatus() >= 300 || !isRunning) return;
        news.textContent = request.getMethod() === "HEAD" && offset ? `Resuming at ${size(offset)}.` : "";
      },
      onProgress: (done, all) => {
        if (!isRunning) return;
        listen();
        showProgress(done, all);
      },
      onSuccess: () => finish(started),
      onError: (error) => stop(reason(error)),
    });
    const previous = await started.findPreviousUploads();
    previous.sort((one, other) => new Date(other.creationTime) - new Date(one.creationTime));
    if (previous.length && !form.dataset.upload) started.resumeFromPreviousUpload(previous[0]);
    return started;
  };
  const finish = (finished) => {
    clearTimeout(silence);
    form.elements.upload.value = /([0-9a-f-]{36})\/$/.exec(finished.url)[1];
    pauseButton.hidden = cancelButton.hidden = true;
    bar.removeAttribute("value");
    words.textContent = spoken.textContent = "Uploaded; the server is assembling the file";
    news.textContent = "";
    form.submit(); // the file field is disabled: only the upload's id is sent
  };

  // --- the form
  const checkSystem = () => {
    if (!system) return;
    const given = Number(Boolean(system.value)) + Number(Boolean(named.value.trim()));
    const wrong = ["Choose one of your systems, or enter a new name.", "", "Choose a system or enter a new name, not both."];
    named.setCustomValidity(wrong[given]);
  };
  for (const field of [system, named]) field && field.addEventListener("input", checkSystem);
  checkSystem();

  const unfit = (file) => {
    const expected = Number(form.dataset.bytes || file.size);
    if (file.size !== expected) return `This is a different file: it has ${file.size.toLocaleString("en")} bytes; expected ${expected.toLocaleString("en")}.`;
    if (file.size > Number(form.dataset.most)) return `The file has ${size(file.size)}; expected at most ${size(Number(form.dataset.most))}.`;
    return file.size ? "" : "The file is empty.";
  };

  form.addEventListener("submit", async (event) => {
    const file = chosen.files[0];
    if (!file) return; // an image in a registry, or nothing: the server reports what is missing
    event.preventDefault();
    progress.hidden = false;
    news.textContent = "";
    const wrong = unfit(file);
    if (wrong) return stop(wrong);
    busy(true);
    showProgress(0, file.size);
    began = null;
    upload = null;
    try {
      upload = await begun(file);
    } catch {
      return stop(UNREADABLE);
    }
    if (isRunning) upload.start();
  });
  // The browser shows the page from its back/forward cache.
  window.addEventListener("pageshow", ({ persisted }) => persisted && window.location.reload());

  pauseButton.addEventListener("click", async () => {
    if (!upload) return;
    isRunning = !isRunning;
    began = null;
    pauseButton.textContent = isRunning ? "Pause" : "Resume";
    if (isRunning) return upload.start();
    clearTimeout(silence);
    words.textContent = words.textContent.replace(/^Uploading/, "Paused").replace(/, about .* left$/, "");
    news.textContent = "Paused. Uploaded pieces are stored.";
    await upload.abort();
  });

  cancelButton.addEventListener("click", async () => {
    busy(false);
    words.textContent = "Upload cancelled";
    news.textContent = "";
    bar.value = 0;
    button.focus();
    try {
      if (upload) await upload.abort(true);
      news.textContent = "The uploaded pieces were deleted.";
    } catch {
      news.textContent = "The server cannot be reached. Cancel the upload under “Unfinished uploads” after a reload.";
    }
    upload = null;
    delete form.dataset.upload;
    delete form.dataset.bytes;
  });
})();
