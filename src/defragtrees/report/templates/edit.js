/* The editor: rules, figures and controls. */
const stale = element("p", { class: "note", hidden: true }, "The rules were changed in this page; this section shows them as they were before.");
document.getElementById("rules-heading")?.after(stale);
panels.push(() => { stale.hidden = !steps.length; });
const editor = document.getElementById("editor");
const editStatus = element("p", { class: "edit-status", role: "status", "aria-live": "polite" }); /* announced */
const say = (words) => { editStatus.textContent = spelled(typeset(words)); };
const figures = element("dl", { class: "edit-figures" });
const list = element("ol", { class: "edit-rules", role: "list" });
const log = element("ol", { class: "edit-log" });

function headlines() {
  const against = data.has_y ? "" : " against the model";
  const lines = [[`${data.error_name}${against}`, "error", errorText]];
  if (!isClasses) lines.push(["mean absolute error", "mae", amount], ["R\u00b2", "r2", threeDigits]);
  if (isBinary && data.has_y)
    lines.push(["precision", "precision", percent, `share of flagged rows that are ${positiveName()}`],
      ["recall", "recall", percent, `share of ${positiveName()} rows that are flagged`]);
  if (isBinary) lines.push(["flagged rows", "flagged", count, `rows predicted as ${positiveName()}`]);
  const isPriced = costs.some((line, t) => line.some((cost, a) => cost !== Number(t !== a)));
  if (isPriced && data.has_y) lines.push(["mean cost", "cost", amount]);
  if (data.has_y && hasModel)
    lines.push(["agreement with the model", "fidelity", isClasses ? rateText : (value) => `R\u00b2 ${threeDigits(value)}`]);
  return [...lines, ["rules", "nRules", count], ["conditions", "nConditions", count]];
}
/* The figures above all rules and at each; the conditions of the model tried. They are those that
   the controls change: the table of the rules also has bounds that follow from the rules before. */
function showAll(found, set = current) {
  const text = (value, write) => (isKnown(value) ? write(value) : "\u2013");
  figures.replaceChildren(...headlines().map(([label, key, write, title]) => {
    const now = text(found[key], write), then = text(before[key], write);
    return element("div", { "data-figure": key, title: title || false }, element("dt", {}, spelled(label)),
      element("dd", {}, element("b", { class: now === then ? "now" : "now moved" }, now),
        element("span", { class: "was" }, " was ", element("span", { class: "before" }, then))));
  }));
  [...list.children].forEach((card, k) => {
    card.querySelector(".edit-proof").textContent = proof(found.rules[k]);
    card.querySelectorAll(".asks").forEach((place, c) => place.replaceWith(asked(conditionParts(set.rules[k].conditions[c]))));
  });
}
/* The evidence of one rule in a sentence. */
function proof(rule) {
  if (!rule.n) return "none of these rows";
  const parts = [`${percent(rule.share)} of rows (${count(rule.n)})`];
  if (!isClasses) {
    if (data.has_y) parts.push(`mean ${amount(rule.mean)}, mean absolute error ${amount(rule.miss)}`);
    if (hasModel) parts.push(`mean distance ${amount(rule.distance)} to the model`);
    return parts.join("; ");
  }
  const rate = percent(rule.rate, percentDigits(rule.interval)), range = percentRange(rule.interval);
  parts.push(`rate of ${spelled(data.classes[rule.shownClass])}${data.has_y ? "" : " (model)"} ${rate} (${range})`);
  if (data.has_y) parts.push(`${percent(rule.right)} right`);
  if (hasModel) parts.push(`the model agrees on ${percent(rule.agrees)}`);
  return parts.join("; ");
}

/* One condition with its controls. */
function sideControls(k, c, sign) {
  const condition = () => current.rules[k].conditions[c];
  const feature = data.features[condition().feature], { steps: stops } = feature;
  const key = `${k}/${c}/${sign}`, value = () => sideValue(condition(), sign);
  const words = `rule ${k + 1}, ${spelled(feature.name)} ${sign === "=" ? "is" : sign}`;
  const nearest = (v) => stops.reduce((best, s, i) => (Math.abs(s - v) < Math.abs(stops[best] - v) ? i : best), 0);
  const written = (v) => spelled(numberText(feature, v, true) + feature.ending);
  const changed = (v) => {
    const made = withSide(condition(), sign, condition().integer ? Math.round(v) : v), [lower, upper] = ends(made);
    return Number.isFinite(v) && lower < upper ? made : null;
  };
  const commit = (v) => {
    const made = changed(v);
    if (made) done(changes.replace(k, c, made), say, false);
    else say(`The threshold must be a number that leaves a non-empty interval for ${words}; it stays ${written(value())}.`);
    show(value());
    slider.value = nearest(value());
  };
  const box = feature.kind ? element("output", {}, written(value()))
    : numberField({ step: condition().integer ? "1" : "any", "data-key": `${key}/number`, "aria-label": `Threshold of ${words}` },
      () => exact(value()), commit);
  const show = (v) => {
    if (feature.kind) box.textContent = written(v);
    else box.value = exact(v);
    slider.setAttribute("aria-valuetext", written(v));
  };
  const slider = element("input", {
    type: "range", min: 0, max: stops.length - 1, step: 1, value: nearest(value()), "data-key": `${key}/slider`,
    "aria-label": `Slider for the threshold of ${words}`, "aria-valuetext": written(value()), on: {
      input: () => {
        const made = changed(stops[slider.value]);
        show(stops[slider.value]);
        if (!made) return;
        const rule = current.rules[k], conditions = swapped(rule.conditions, c, made);
        const set = { ...current, rules: swapped(current.rules, k, { ...rule, conditions }) };
        showAll(measure(set), set);
      },
      change: () => commit(stops[slider.value]),
    } });
  return element("span", { class: "side" }, element("span", { class: "sign" }, typographic[sign] || { "=": "is" }[sign] || sign), box, slider);
}
function categoryControls(k, c) {
  const condition = current.rules[k].conditions[c], feature = data.features[condition.feature], { categories } = condition;
  const texts = [...boxTexts(feature), "any other value"], key = `${k}/${c}/category`;
  const toggle = (place) => {
    const places = categories.includes(place) ? categories.filter((one) => one !== place) : [...categories, place].sort((a, b) => a - b);
    if (places.length) return done(changes.replace(k, c, { ...condition, categories: places }), say, true, `${key}/${place}`);
    render(`${key}/${place}`);
    return say("A condition must accept at least one category; remove it instead.");
  };
  /* Of many categories, the accepted ones come first. */
  const rest = texts.slice(0, -1).flatMap((_, place) => (categories.includes(place) ? [] : [place]));
  const all = rest.length + categories.length;
  const offered = all <= mostBoxes + 1 ? [...categories, ...rest].sort((a, b) => a - b) : [...categories, ...rest].slice(0, mostBoxes);
  const boxes = offered.map((place) => element("label", { class: "category" }, element("input", {
    type: "checkbox", checked: categories.includes(place), "data-key": `${key}/${place}`, on: { change: () => toggle(place) } }), named(texts[place])));
  const legend = element("legend", { class: "hidden" }, `Rule ${k + 1}, ${spelled(feature.name)} is`);
  if (all > offered.length)
    boxes.push(` and ${count(all - offered.length)} more `,
      categoryField(feature, null, toggle, { "data-key": `${key}/more`, "aria-label": `Accept or reject a category of ${spelled(feature.name)}` }));
  return element("fieldset", { class: "side" }, legend, ...boxes);
}
function conditionItem(k, c) {
  const rule = current.rules[k], condition = rule.conditions[c], isOnly = rule.conditions.length === 1;
  const text = spelled(conditionParts(condition).join(""));
  const remove = button("Remove", `${k}/${c}/remove`, () => done(changes.remove(k, c), say, true, `${k}/drop`), {
    "aria-label": `Remove from rule ${k + 1} the condition ${text}`,
    disabled: isOnly, title: isOnly ? "Drop the rule instead" : false });
  const controls = condition.categories ? [categoryControls(k, c)]
    : sidesOf(condition).map(([sign]) => sideControls(k, c, sign));
  if (condition.missing || data.columns[condition.feature].includes(null)) {
    const key = `${k}/${c}/missing`, turned = { ...condition, missing: !condition.missing };
    controls.push(element("label", { class: "category" }, element("input", { type: "checkbox", checked: condition.missing, "data-key": key,
      "aria-label": `Rule ${k + 1}, ${spelled(data.features[condition.feature].name)} may be missing`,
      on: { change: () => done(changes.replace(k, c, turned), say, true, key) } }), "missing"));
  }
  return element("li", {}, element("span", { class: "asks" }), ...controls, remove);
}

/* Controls for the prediction or the points of a rule. */
function predictionControls(k) {
  const rule = everyRule(current)[k], key = `${k}/prediction`;
  if (data.offers.points)
    return rule.points.map((_, p) => {
      const whose = rule.points.length > 1 ? ` for ${data.classes[p]}` : "", isWhole = form(original).isWhole(original);
      const commit = (value) => {
        if (isWhole && !Number.isInteger(value)) return say("This card has whole points."), false;
        if (Number.isNaN(value)) return say("Points must be a number."), false;
        return done(changes.predict(k, { points: swapped(rule.points, p, value) }), say, true);
      };
      return element("span", { class: "side" }, spelled(whose), numberField({
        step: isWhole ? "1" : "any", "data-key": `${key}/${p}`, "aria-label": `Points of rule ${k + 1}${spelled(whose)}` },
      () => exact(rule.points[p]), commit));
    });
  if (!form(current).hasOwnPrediction(current)) return [named(trueMinus(form(current).predictionText(rule)))];
  if (!isClasses)
    return [numberField({ "data-key": key, "aria-label": `Prediction of rule ${k + 1}` },
      () => exact(rule.prediction), (prediction) => (Number.isNaN(prediction) ? (say("A prediction must be a number."), false)
        : done(changes.predict(k, { prediction }), say, true)))];
  const options = data.classes.map((label, place) =>
    element("option", { value: place, selected: place === classPlace(rule.prediction) }, spelled(label)));
  return [element("select", { "data-key": key, "aria-label": `Prediction of rule ${k + 1}`, on: {
    change: (event) => done(changes.predict(k, { prediction: original.classes[event.target.value] }), say, true) } }, ...options)];
}
function ruleItem(k) {
  const isLast = k === current.rules.length, number = k + 1;
  const tools = element("span", { class: "tools" });
  if (!isLast && data.offers.move)
    tools.append(
      button("Up", `${k}/up`, () => done(changes.move(k, k - 1), say, true, `${k - 1}/up`),
        { disabled: k === 0, "aria-label": `Move rule ${number} up` }),
      button("Down", `${k}/down`, () => done(changes.move(k, k + 1), say, true, `${k + 1}/down`),
        { disabled: k === current.rules.length - 1, "aria-label": `Move rule ${number} down` }));
  if (!isLast)
    tools.append(button("Drop", `${k}/drop`, () => done(changes.drop(k), say, true, `${k}/drop`),
      { "aria-label": `Drop rule ${number}` }));
  const lead = isLast ? data.default_text : "if";
  return element("li", { class: "edit-rule", "data-rule": number },
    element("h3", {}, element("span", { class: "ordinal" }, String(number)), ` ${lead}`), tools,
    ...(isLast ? [] : [element("ul", { class: "conditions" }, ...current.rules[k].conditions.map((_, c) => conditionItem(k, c)))]),
    element("p", { class: "then" }, element("span", { class: "word" }, `${form(current).word} `), ...predictionControls(k)),
    element("p", { class: "edit-proof" }));
}

/* Redraw everything; keep the focus, or set it to the given control. */
function render(focus) {
  const active = document.activeElement;
  const key = editor.contains(active) ? focus || active.dataset.key : "";
  list.replaceChildren(...everyRule(current).map((_, k) => ruleItem(k)));
  refresh();
  if (!key) return;
  const same = [...editor.querySelectorAll("[data-key]")].find((one) => one.dataset.key === key);
  const target = same && !same.disabled ? same : editor.querySelector(steps.length ? '[data-key="undo"]' : "button:enabled");
  if (target) target.focus();
}
function refresh() {
  const texts = (current.edits || []).slice((original.edits || []).length);
  log.replaceChildren(...(texts.length ? texts.map((one) => element("li", {}, spelled(typeset(one.text))))
    : [element("li", { class: "none" }, "none yet")]));
  ["undo", "restart"].forEach((key) => { editor.querySelector(`[data-key="${key}"]`).disabled = !steps.length; });
  showAll(measure(current));
}
function undoLast() {
  const text = changes.undo();
  if (text === null) return;
  shownAgain(true, "undo");
  say(`Undone: ${text}`);
}
function restart() {
  changes.restart();
  shownAgain(true, "0/drop");
  say("All changes are undone.");
}
function open() {
  start.remove();
  editor.append(list, element("h3", {}, "Changes"), log);
  render();
  list.querySelector("button:enabled")?.focus();
}
const start = button("Start editing", "start", open, { class: "start" });
editor.prepend(element("div", { class: "edit-bar" }, figures,
  element("div", { class: "edit-deeds" }, button("Undo", "undo", undoLast), button("Start over", "restart", restart),
    button("Save as rules.json", "save", save), editStatus)));
editor.append(start);
editor.addEventListener("keydown", (event) => {
  const isTyping = event.target.matches('input[type="number"]');
  if (event.key.toLowerCase() === "z" && (event.ctrlKey || event.metaKey) && !isTyping) {
    event.preventDefault();
    undoLast();
  }
});
panels.push((isAnew, focus) => (isAnew && !start.isConnected ? render(focus) : refresh()));
refresh();
