/* Elements and controls that the editor, the threshold and the explanation share. */

/* Spell out characters that change the direction of text. */
const spelled = (text) => text.replace(/[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g,
  (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, "0")}`);

function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "on") for (const [event, run] of Object.entries(value)) made.addEventListener(event, run);
    else if (value === true) made.setAttribute(name, "");
    else if (value !== false && value !== null) made.setAttribute(name, value);
  }
  made.append(...children);
  return made;
}
const button = (label, key, run, attributes = {}) =>
  element("button", { type: "button", "data-key": key, on: { click: run }, ...attributes }, label);
const named = (text) => element("bdi", {}, spelled(text));
const asked = (parts) => element("span", { class: "asks" }, spelled(parts[0]), element("b", {}, named(parts[1])), spelled(parts[2]));
const badge = (set, prediction) =>
  element("span", { class: `prediction ${isClasses ? data.colours[prediction] : ""}` }, named(answerText(set, prediction)));

/* A number; the field shows the old text again if `commit` returns false. */
function numberField(attributes, read, commit) {
  const input = element("input", { type: "number", step: "any", value: read(), ...attributes });
  input.addEventListener("change", () => {
    if (commit(input.value.trim() === "" ? NaN : Number(input.value)) === false) input.value = read();
  });
  return input;
}
/* A choice of a category: a list or, of many, a field that suggests them. */
const mostBoxes = 50;
const boxTexts = (feature) => feature.boxes || feature.categories;
function categoryField(feature, value, choose, attributes, extra = []) {
  const texts = boxTexts(feature).map(spelled);
  if (texts.length <= mostBoxes) {
    const options = [...texts.map((text, c) => [c, text]), ...extra]
      .map(([c, text]) => element("option", { value: c, selected: String(c) === String(value) }, text));
    return element("select", { ...attributes, on: { change: (event) => choose(Number(event.target.value)) } }, ...options);
  }
  const id = `names-${attributes["data-key"]}`.replace(/\W/g, "-");
  const input = element("input", { type: "search", list: id, value: texts[value] ?? "", placeholder: "search a category", ...attributes,
    on: { change: () => { if (texts.includes(input.value)) choose(texts.indexOf(input.value)); } } });
  return element("span", {}, input, element("datalist", { id }, ...texts.map((text) => element("option", { value: text }))));
}

/* Figures now and before the changes. */
const errorText = (value) => (isClasses ? `${fixed(100 * value, 1)}%` : amount(value));
const before = measure(original);
const positiveName = () => data.classes[data.positive];

/* After a change: show it everywhere, and say it. */
function done(text, say, ...about) {
  shownAgain(...about);
  const words = text === null ? "no change" : text;
  const sum = `${data.error_name} ${errorText(measure(current).error)}, before ${errorText(before.error)}.`;
  say(`${words[0].toUpperCase()}${words.slice(1)}. Now ${sum}`);
}
