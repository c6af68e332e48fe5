// Folded parts open for links that lead into them, and for print.

function unfoldTarget() {
  const place = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  for (let box = place; box; box = box.parentElement) {
    if (box.tagName === "DETAILS") box.open = true;
  }
  place?.scrollIntoView();
}

let folded = [];
addEventListener("hashchange", unfoldTarget);
addEventListener("beforeprint", () => {
  folded = [...document.querySelectorAll("details:not([open])")];
  for (const box of folded) box.open = true;
});
addEventListener("afterprint", () => {
  for (const box of folded) box.open = false;
});
if (location.hash) unfoldTarget();

const { copies } = JSON.parse(document.getElementById("report-data").textContent);
for (const button of document.querySelectorAll("[data-copy]")) {
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(copies[button.dataset.copy]);
    button.parentElement.querySelector("[role=status]").textContent = "Copied.";
  });
}
