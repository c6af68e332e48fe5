/* Legends are lists above their pictures: they break where the page ends. */

const glyphs = {
  circle: "\u25cf", square: "\u25a0", diamond: "\u25c6", "triangle-up": "\u25b2",
  "triangle-down": "\u25bc", cross: "\u271a", star: "\u2605", x: "\u2716",
  "circle-open": "\u25cb",
};
const unescaped = (text) =>
  text.replace(/&lt;/g, "<").replace(/&gt;/g, ">").replace(/&amp;/g, "&");

function legendEntry(trace) {
  const item = document.createElement("li"), key = document.createElement("span");
  const hasMarker = trace.mode.includes("markers");
  key.className = hasMarker ? "key" : `key line ${(trace.line || {}).dash || "solid"}`;
  key.style.color = hasMarker ? trace.marker.color : trace.line.color;
  key.textContent = hasMarker ? glyphs[trace.marker.symbol] || glyphs.circle : "";
  key.setAttribute("aria-hidden", "true");
  const words = document.createElement("span");
  words.className = "legendtext";
  words.textContent = unescaped(trace.name);
  item.append(key, words);
  return item;
}

function drawLegend(place, title, traces) {
  let list = place.previousElementSibling;
  if (!list || !list.classList.contains("legend")) {
    list = document.createElement("ul");
    list.className = "legend";
    list.dataset.of = place.id.replace("plot-", "");
    place.before(list);
  }
  const named = traces.filter((trace) => trace.showlegend !== false && trace.name);
  list.replaceChildren(...named.map(legendEntry));
  if (!title || !named.length) return;
  const head = document.createElement("li");
  head.className = "title";
  head.textContent = title;
  list.prepend(head);
}
