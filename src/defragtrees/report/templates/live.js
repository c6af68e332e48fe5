/* The style sheet shows what needs scripts where they run. */
document.documentElement.classList.add("live");
document.documentElement.dataset.ready = "yes";
