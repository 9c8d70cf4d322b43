// Says why a passkey was not used. Without passkeys in the browser, their buttons are disabled.
"use strict";
const passkeyError = document.getElementById("passkey-error");
const showPasskeyError = (text) => {
  passkeyError.textContent = text;
  passkeyError.hidden = false;
};
if (!window.PublicKeyCredential) {
  for (const button of document.querySelectorAll("[data-passkey]")) button.disabled = true;
  showPasskeyError("This browser has no passkeys, or the page was not loaded over HTTPS.");
}
document.addEventListener("allauth.error", (event) => {
  event.preventDefault();
  const name = event.detail.exception.name;
  if (name === "InvalidStateError") showPasskeyError("This device already has a passkey for this account.");
  else if (name === "NotAllowedError") showPasskeyError("No passkey was used: it was cancelled, or this device has none for this site.");
  else showPasskeyError("The passkey could not be used. Reload the page and try again.");
});
