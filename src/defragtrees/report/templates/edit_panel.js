/* The editor: rules, figures and controls. */

/* Spell out characters that change the direction of text. */
const spelled = (text) => text.replace(/[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g,
  (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, "0")}`);
const shownText = (text) => spelled(trueMinus(text)).replace(/<=/g, "\u2264").replace(/>=/g, "\u2265");

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

const before = measure(original);
const errorText = (value) => (isClasses ? shareText(value) : amount(value));
const fidelityText = (value) => (isClasses ? rateText(value) : `R\u00b2 ${threeDigits(value)}`);
const valueText = (value, write) => (value === null || value === undefined ? "\u2013" : write(value));

/* The figures above all rules, now and before. */
function headlines(found) {
  const against = edit.has_y ? "" : " against the ensemble";
  const lines = [[`${edit.error_name}${against}`, "error", errorText]];
  if (!isClasses) lines.push(["mean absolute error", "mae", amount], ["R\u00b2", "r2", threeDigits]);
  if (edit.has_y) lines.push(["agreement with the ensemble", "fidelity", fidelityText]);
  if (found.cost !== undefined) lines.push(["mean cost", "cost", amount]);
  if (found.precision !== undefined && edit.has_y)
    lines.push([`precision for ${edit.classes[edit.positive]}`, "precision", threeDigits],
      [`recall for ${edit.classes[edit.positive]}`, "recall", threeDigits]);
  if (current.decision !== "partition") lines.push(["coverage", "coverage", rateText]);
  lines.push(["rules", "nRules", count], ["conditions", "nConditions", count]);
  return lines;
}
const status = element("p", { class: "edit-status", role: "status", "aria-live": "polite" });
const figures = element("dl", { class: "edit-figures" });
const list = element("ol", { class: "edit-rules", role: "list" });
const log = element("ol", { class: "edit-log" });
const tradeOff = element("div", { class: "edit-path" });

function showFigures(found) {
  figures.replaceChildren(...headlines(found).map(([label, key, write]) => {
    const now = valueText(found[key], write), then = valueText(before[key], write);
    return element("div", { "data-figure": key },
      element("dt", {}, spelled(label)),
      element("dd", {}, element("b", { class: now === then ? "now" : "now moved" }, now),
        " was ", element("span", { class: "before" }, then)));
  }));
  const cards = [...list.children];
  found.rules.forEach((rule, k) => {
    const place = cards[k] && cards[k].querySelector(".edit-proof");
    if (place) place.textContent = proof(rule);
  });
  showTradeOff(found);
}
/* The evidence of one rule in a sentence. */
function proof(rule) {
  if (!rule.n) return "none of these rows";
  const parts = [`${rateText(rule.share)} of rows (${count(rule.n)})`];
  if (!isClasses) {
    if (edit.has_y) parts.push(`mean ${amount(rule.mean)}, mean absolute error ${amount(rule.miss)}`);
    parts.push(`mean distance ${amount(rule.distance)} to the ensemble`);
    return parts.join("; ");
  }
  const [low, high] = rule.interval.map(rateText);
  const source = edit.has_y ? "" : " (ensemble)";
  parts.push(`rate of ${spelled(edit.classes[rule.shownClass])}${source} ${rateText(rule.rate)} (${low} to ${high})`);
  if (edit.has_y) parts.push(`${rateText(rule.right)} right`);
  parts.push(`the ensemble agrees on ${rateText(rule.agrees)}`);
  return parts.join("; ");
}

/* Error by number of rules: the lists of the path, the rules before, and now. */
function showTradeOff(found) {
  const points = edit.path.map((p) => [p.n_rules, p.error]);
  const all = [...points, [before.nRules, before.error], [found.nRules, found.error]];
  const most = Math.max(...all.map(([n]) => n)), top = Math.max(...all.map(([, e]) => e)) || 1;
  const width = 460, height = 150, left = 12, foot = 22;
  const x = (n) => left + ((n - 0.5) / most) * (width - 2 * left);
  const y = (e) => 8 + (1 - e / (1.1 * top)) * (height - foot - 8);
  const draw = (tag, attributes, text = "") => {
    const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    made.textContent = text;
    return made;
  };
  const words = `${edit.error_name} by number of rules: now ${errorText(found.error)} with ` +
    `${plural(found.nRules, "rule")}, before ${errorText(before.error)} with ${plural(before.nRules, "rule")}`;
  const svg = draw("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": words, class: "trade" });
  svg.append(draw("path", { class: "axis", d: `M${left} ${height - foot}H${width - left}` }));
  for (let n = 1; n <= most; n += Math.ceil(most / 12))
    svg.append(draw("text", { x: x(n), y: height - 7, "text-anchor": "middle" }, String(n)));
  if (points.length)
    svg.append(draw("path", { class: "lists", d: `M${points.map(([n, e]) => `${x(n)} ${y(e)}`).join("L")}` }),
      ...points.map(([n, e]) => draw("circle", { class: "list", r: 3, cx: x(n), cy: y(e) })));
  svg.append(
    draw("circle", { class: "before", r: 8, cx: x(before.nRules), cy: y(before.error) }),
    draw("circle", { class: "now", r: 5, cx: x(found.nRules), cy: y(found.error) }));
  const caption = `${words}.${points.length ? " The line shows the best list of each size on the same rows." : ""}`;
  tradeOff.replaceChildren(svg, element("p", { class: "hint" }, spelled(caption)));
}

/* One condition with its controls. */
function sideControls(k, c, sign) {
  const condition = () => current.rules[k].conditions[c];
  const feature = edit.features[condition().feature];
  const key = `${k}/${c}/${sign}`, value = () => sideValue(condition(), sign);
  const words = `rule ${k + 1}, ${spelled(feature.shown)} ${sign === "=" ? "is" : sign}`;
  const nearest = (v) => feature.steps.reduce((best, s, i) => (Math.abs(s - v) < Math.abs(feature.steps[best] - v) ? i : best), 0);
  const written = (v) => spelled(numberText(feature, v)) + feature.ending;
  const box = feature.texts ? element("output", {}, written(value()))
    : element("input", {
        type: "number", step: condition().integer ? "1" : "any", value: exact(value()),
        "data-key": `${key}/number`, "aria-label": `Threshold of ${words}` });
  const slider = element("input", {
    type: "range", min: 0, max: feature.steps.length - 1, step: 1, value: nearest(value()),
    "data-key": `${key}/slider`, "aria-label": `Slider for the threshold of ${words}`,
    "aria-valuetext": written(value()) });
  const show = (v) => {
    if (feature.texts) box.textContent = written(v);
    else box.value = exact(v);
    slider.setAttribute("aria-valuetext", written(v));
  };
  const asked = (v) => {
    const changed = withSide(condition(), sign, condition().integer ? Math.round(v) : v);
    const [lower, upper] = ends(changed);
    return Number.isFinite(v) && lower < upper ? changed : null;
  };
  const commit = (v) => {
    const changed = asked(v);
    if (!changed) {
      show(value());
      slider.value = nearest(value());
      return announce(`The threshold must be a number that leaves a non-empty interval for ${words}; it stays ${written(value())}.`);
    }
    return done(changes.replace(k, c, changed), false);
  };
  slider.addEventListener("input", () => {
    const v = feature.steps[slider.value], changed = asked(v);
    show(v);
    if (changed) showFigures(tried(k, c, changed));
  });
  slider.addEventListener("change", () => commit(feature.steps[slider.value]));
  if (!feature.texts) box.addEventListener("change", () => commit(box.value.trim() === "" ? NaN : Number(box.value)));
  const shownSign = { "<=": "\u2264", ">=": "\u2265", "=": "is" }[sign] || sign;
  return element("span", { class: "side" }, element("span", { class: "sign" }, shownSign), box, slider,
    feature.texts ? "" : feature.ending);
}
function categoryControls(k, c) {
  const condition = current.rules[k].conditions[c], feature = edit.features[condition.feature];
  const labels = [...feature.shown_categories, "any other"];
  const toggle = (place, isOn) => {
    const places = condition.categories.filter((one) => one !== place).concat(isOn ? [place] : []);
    if (!places.length) {
      render(`${k}/${c}/category/${place}`);
      return announce("A condition must accept at least one category; remove it instead.");
    }
    places.sort((a, b) => a - b);
    return done(changes.replace(k, c, { ...condition, categories: places }), true);
  };
  return element("span", { class: "side" }, ...labels.flatMap((label, place) => {
    const isOn = condition.categories.includes(place);
    if (place === feature.categories.length && !isOn) return [];
    const input = element("input", {
      type: "checkbox", checked: isOn, "data-key": `${k}/${c}/category/${place}`,
      on: { change: (event) => toggle(place, event.target.checked) } });
    return [element("label", { class: "category" }, input, named(label))];
  }));
}
function conditionItem(k, c) {
  const rule = current.rules[k], condition = rule.conditions[c];
  const feature = edit.features[condition.feature], isOnly = rule.conditions.length === 1;
  const remove = button("Remove", `${k}/${c}/remove`, () => done(changes.remove(k, c), true, `${k}/drop`), {
    "aria-label": `Remove from rule ${k + 1} the condition ${shownText(conditionText(condition))}`,
    disabled: isOnly, title: isOnly ? "Drop the rule instead" : false });
  const controls = condition.categories ? [categoryControls(k, c)]
    : sidesOf(condition).map(([sign]) => sideControls(k, c, sign));
  const missing = condition.missing ? " or missing" : "";
  return element("li", {}, element("b", {}, named(feature.shown)), ...controls, missing, remove);
}

/* Controls for the prediction or the points of a rule. */
function predictionControls(k) {
  const rule = everyRule(current)[k], key = `${k}/prediction`;
  if (current.decision === "points")
    return rule.points.map((value, p) => {
      const whose = rule.points.length > 1 ? ` for ${edit.classes[p]}` : "";
      const input = element("input", {
        type: "number", step: "any", value: exact(value), "data-key": `${key}/${p}`,
        "aria-label": `Points of rule ${k + 1}${spelled(whose)}` });
      input.addEventListener("change", () => {
        const points = rule.points.map((old, i) => (i === p ? Number(input.value) : old));
        if (input.value.trim() === "" || !points.every(Number.isFinite)) {
          input.value = exact(value);
          return announce("Points must be numbers.");
        }
        return done(changes.predict(k, { points }), true);
      });
      return element("span", { class: "side" }, spelled(whose), input);
    });
  if (!edit.offers.prediction) return [named(predictionText(current, rule))];
  if (!isClasses) {
    const input = element("input", {
      type: "number", step: "any", value: exact(rule.prediction), "data-key": key,
      "aria-label": `Prediction of rule ${k + 1}` });
    input.addEventListener("change", () => {
      const prediction = Number(input.value);
      if (input.value.trim() === "" || !Number.isFinite(prediction)) {
        input.value = exact(rule.prediction);
        return announce("A prediction must be a number.");
      }
      return done(changes.predict(k, { prediction }), true);
    });
    return [input];
  }
  const options = edit.classes.map((label, place) =>
    element("option", { value: place, selected: place === classPlace(rule.prediction) }, spelled(label)));
  const choice = element("select", { "data-key": key, "aria-label": `Prediction of rule ${k + 1}` }, ...options);
  choice.addEventListener("change", () =>
    done(changes.predict(k, { prediction: edit.rules.classes[choice.value] }), true));
  return [choice];
}
function ruleItem(k) {
  const isLast = k === current.rules.length, number = k + 1;
  const tools = element("span", { class: "tools" });
  if (!isLast && edit.offers.move)
    tools.append(
      button("Up", `${k}/up`, () => done(changes.move(k, k - 1), true, `${k - 1}/up`),
        { disabled: k === 0, "aria-label": `Move rule ${number} up` }),
      button("Down", `${k}/down`, () => done(changes.move(k, k + 1), true, `${k + 1}/down`),
        { disabled: k === current.rules.length - 1, "aria-label": `Move rule ${number} down` }));
  if (!isLast)
    tools.append(button("Drop", `${k}/drop`, () => done(changes.drop(k), true, `${k}/drop`),
      { "aria-label": `Drop rule ${number}` }));
  const lead = isLast ? { points: "base", average: "always" }[current.decision] || "otherwise" : "if";
  const body = [element("h3", {}, element("span", { class: "ordinal" }, String(number)), ` ${lead}`), tools];
  if (!isLast)
    body.push(element("ul", { class: "conditions" }, ...current.rules[k].conditions.map((_, c) => conditionItem(k, c))));
  body.push(
    element("p", { class: "then" }, element("span", { class: "word" }, current.decision === "points" ? "points " : "then "), ...predictionControls(k)),
    element("p", { class: "edit-proof" }));
  return element("li", { class: "edit-rule", "data-rule": number }, ...body);
}

/* Redraw everything; keep the focus, or set it to the given control. */
function render(focus) {
  const active = document.activeElement;
  const key = focus || (holder.contains(active) ? active.dataset.key : "");
  list.replaceChildren(...everyRule(current).map((_, k) => ruleItem(k)));
  refresh();
  if (!key) return;
  const same = [...holder.querySelectorAll("[data-key]")].find((one) => one.dataset.key === key);
  const target = same && !same.disabled ? same : holder.querySelector(steps.length ? '[data-key="undo"]' : "button:enabled");
  if (target) target.focus();
}
function refresh() {
  const texts = (current.edits || []).slice((original.edits || []).length);
  log.replaceChildren(...(texts.length ? texts.map((one) => element("li", {}, shownText(one.text)))
    : [element("li", { class: "none" }, "none yet")]));
  for (const key of ["undo", "restart"])
    holder.querySelector(`[data-key="${key}"]`).disabled = !steps.length;
  showFigures(measure(current));
}
function announce(words) {
  status.textContent = spelled(words);
}
/* After a change: update the figures, and announce it to screen readers. */
function done(text, isAnew, focus) {
  if (isAnew) render(focus);
  else refresh();
  const now = measure(current);
  const sum = `${edit.error_name} ${errorText(now.error)}, before ${errorText(before.error)}.`;
  const words = text === null ? "no change" : shownText(text);
  announce(`${words[0].toUpperCase()}${words.slice(1)}. Now ${sum}`);
}

function open(start) {
  start.remove();
  const title = `Effect of the changes on ${plural(nRows, "row")}`;
  const undo = () => {
    const text = changes.undo();
    if (text !== null) {
      render("undo");
      announce(`Undone: ${shownText(text)}`);
    }
  };
  const restart = () => {
    changes.restart();
    render("0/drop");
    announce("All changes are undone.");
  };
  holder.append(
    element("div", { class: "edit-bar" },
      element("p", { class: "caption" }, title), figures,
      element("div", { class: "edit-deeds" },
        button("Undo", "undo", undo), button("Start over", "restart", restart),
        button("Save as rules.json", "save", save), status)),
    list,
    element("h3", {}, "Error by number of rules"), tradeOff,
    element("h3", {}, "Changes"), log);
  holder.addEventListener("keydown", (event) => {
    const isTyping = event.target.matches('input[type="number"]');
    if (event.key.toLowerCase() === "z" && (event.ctrlKey || event.metaKey) && !isTyping) {
      event.preventDefault();
      undo();
    }
  });
  render("0/drop");
}
const start = button("Start editing", "start", () => open(start), { class: "start" });
holder.append(start);
