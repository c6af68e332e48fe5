/* One row: why it is predicted as it is, and what would change that. */
const explainer = document.getElementById("explainer");
const head = element("p", { class: "why-head", "aria-live": "polite" });
const answer = element("div", {});
const inputs = element("div", { class: "why-values" });
let row = rowOf(0);

/* Dates are typed in fields of their own; other values in numbers. */
const fieldTypes = {
  date: ["date", (days) => dayText(Math.floor(days)), (text) => Date.parse(text) / 86400000],
  datetime: ["datetime-local", (days) => `${dayText(Math.floor(days))}T${clock(splitDays(days)[1])}`, (text) => Date.parse(`${text}Z`) / 86400000],
  time: ["time", (days) => clock(splitDays(days)[1]), (text) => Date.parse(`1970-01-01T${text}Z`) / 86400000],
};
const isWholeFeature = (j) => everyRule(current).some((rule) => rule.conditions.some((one) => one.feature === j && one.integer));
function valueField(j) {
  const feature = data.features[j], label = spelled(feature.name), key = `value/${j}`;
  const set = (value) => {
    row = { ...row, [j]: value };
    truth.textContent = ` of ${count(nRows)}, with other values`;
    showWhy();
  };
  if (feature.categories) {
    const extra = [[feature.categories.length, "another category"], [-1, "missing"]];
    const pick = (value) => set(value < 0 ? null : value);
    return element("label", {}, `${label} `,
      categoryField(feature, row[j] === null ? -1 : row[j], pick, { "data-key": key }, extra));
  }
  const [type, write, read] = fieldTypes[feature.kind] || ["number", exact, Number];
  const input = element("input", { type, step: type === "number" && isWholeFeature(j) ? "1" : "any",
    value: row[j] === null ? "" : write(row[j]), placeholder: "missing", "data-key": key, on: { change: () => {
      const value = input.value === "" ? null : read(input.value);
      if (value === null || Number.isFinite(value)) set(value);
    } } });
  return element("label", {}, `${label}${feature.kind === "duration" ? " [days]" : feature.ending ? ` [${feature.ending.trim()}]` : ""} `, input);
}

/* The values of a feature, in groups within which the rules see no difference. */
function groupsOf(j) {
  const conditions = everyRule(current).flatMap((rule) => rule.conditions.filter((one) => one.feature === j));
  const feature = data.features[j], column = data.columns[j], there = column.filter((v) => v !== null);
  const empty = { feature: j, lower: null, upper: null, categories: null, missing: false, integer: isWholeFeature(j) };
  const groups = [];
  if (feature.categories) {
    feature.categories.forEach((_, c) => groups.push({
      value: c, condition: { ...empty, categories: [c] }, size: 1 - there.filter((v) => v === c).length / nRows }));
  } else {
    /* Bounds of whole numbers are whole, as in rules. */
    const cut = empty.integer ? Math.floor : Number;
    const cuts = [...new Set(conditions.flatMap((one) => exactBounds(one).map(cut)))].filter(Number.isFinite).sort((a, b) => a - b);
    cuts.concat(Infinity).forEach((upper, i) => {
      const lower = i ? cuts[i - 1] : -Infinity, own = row[j];
      if (!there.some((v) => v > lower && v <= upper)) return; /* such as a count below 0 */
      let value = own;
      if (own === null || own > upper) value = upper;
      if (value === Infinity || (own !== null && own <= lower)) value = after(lower, empty.integer);
      if (value > upper || value <= lower || !Number.isFinite(value)) return;
      const size = there.filter((v) => v > Math.min(own, value) && v < Math.max(own, value)).length / nRows;
      groups.push({ value, size: own === null ? 1 : size, apart: Math.abs(value - own),
        condition: { ...empty, lower: lower === -Infinity ? null : lower, upper: upper === Infinity ? null : upper } });
    });
  }
  if (there.length < nRows) groups.push({ value: null, size: 1, condition: { ...empty, lower: "inf", missing: true } });
  return groups.filter((group) => group.value !== row[j]);
}
/* Of each feature the smallest change that gives another prediction, smallest first. A change is small
   if few rows lie between both values, or if many have the new category. */
function smallestChanges() {
  const predictedFor = (changed) => {
    const held = heldBy(current, changed);
    return [form(current).decide(current, held), data.has_shares ? form(current).outputs(current, held) : null];
  };
  const [now] = predictedFor(row);
  const found = usedFeatures.flatMap((j) => {
    const other = groupsOf(j).map((group) => {
      const [prediction, shares] = predictedFor({ ...row, [j]: group.value });
      return { ...group, prediction, shares, key: JSON.stringify([prediction, shares]) };
    }).filter((group) => group.prediction !== now).sort((a, b) => a.size - b.size || a.apart - b.apart);
    if (!other.length) return [];
    const [first] = other, same = other.filter((group) => group.key === first.key);
    return [{ ...first, condition: joined(first, same) }];
  });
  return found.sort((a, b) => a.size - b.size).slice(0, 3);
}
/* One condition for a group and those beside it that give the same. */
function joined({ condition }, groups) {
  if (condition.categories) return { ...condition, categories: groups.flatMap((one) => one.condition.categories || []) };
  let { lower, upper } = condition;
  for (let grows = true; grows && !condition.missing;) {
    const under = groups.find((one) => lower !== null && one.condition.upper === lower);
    const over = groups.find((one) => upper !== null && one.condition.lower === upper);
    if (under) lower = under.condition.lower;
    if (over) upper = over.condition.upper;
    grows = Boolean(under || over);
  }
  return { ...condition, lower, upper };
}
function changeItem({ condition, prediction, shares }) {
  const k = isClasses ? rateIndex(prediction) : 0;
  return element("li", {}, asked(conditionParts(condition)),
    ` instead of ${spelled(valueText(condition.feature, row[condition.feature]))}: `, badge(current, prediction),
    shares ? ` ${spelled(rateTitle(k))} = ${percent(shares[k])}` : "");
}

function showWhy() {
  const found = explain(current, row), basisText = basis(current, found), changed = smallestChanges();
  const isText = (title) => ["rule", "condition", "value", "match"].includes(title);
  const cell = (tag) => (content, c) => element(tag, { class: isText(found.header[c]) ? null : "number", scope: tag === "th" ? "col" : null },
    Array.isArray(content) ? asked(content) : spelled(String(content)));
  const table = element("table", {},
    element("thead", {}, element("tr", {}, ...found.header.map(cell("th")))),
    element("tbody", {}, ...found.lines.map((line) => element("tr", { class: line[line.length - 1] === "no" ? "failed" : null }, ...line.map(cell("td"))))));
  head.replaceChildren("Prediction: ", badge(current, found.prediction), basisText ? `; ${spelled(basisText)}` : "");
  answer.replaceChildren(
    element("div", { class: "scroll", role: "region", tabindex: 0, "aria-label": "Rules of this row" }, table),
    element("h3", {}, "What would change the prediction"),
    changed.length ? element("ol", { class: "why-changes" }, ...changed.map(changeItem))
      : element("p", {}, measure(current).predicted.every((one) => one === found.prediction)
        ? "These rules have the same prediction for every row here." : "Changing one value is not enough."));
}
function pick(i) {
  row = rowOf(i);
  chosen.value = i + 1;
  inputs.replaceChildren(...usedFeatures.map(valueField));
  const own = data.expected[i], words = isClasses ? data.classes[own] ?? "another class" : trueMinus(exactGrouped(own));
  truth.textContent = ` of ${count(nRows)}${data.has_y ? spelled(`; ${data.target}: ${words}`) : ""}`;
  showWhy();
}
function pickWrong() {
  const { predicted } = measure(current), apart = predicted.map((p, i) => (isClasses ? Number(p !== data.expected[i]) : Math.abs(p - data.expected[i])));
  const worst = [...apart].sort((a, b) => b - a)[Math.floor(nRows / 20)];
  const wrong = apart.flatMap((one, i) => ((isClasses ? one : one >= worst && one) ? [i] : []));
  if (wrong.length) pick(wrong[Math.floor(Math.random() * wrong.length)]);
}
const chosen = element("input", { type: "number", min: 1, max: nRows, step: 1, value: 1, "data-key": "row", on: { change: () => {
  const i = Number(chosen.value) - 1;
  pick(Number.isInteger(i) && i >= 0 && i < nRows ? i : 0);
} } });
const truth = element("span", {});
explainer.append(
  element("p", { class: "why-pick" }, element("label", {}, "Row ", chosen), truth, " ",
    button("Random row", "random", () => pick(Math.floor(Math.random() * nRows))), " ",
    ...(data.has_y ? [button(isClasses ? "A wrong prediction" : "A large error", "wrong", pickWrong)] : [])),
  inputs, head, answer);
panels.push(() => showWhy());
pick(0);
