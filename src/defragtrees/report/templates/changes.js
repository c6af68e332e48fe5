/* Changes: each makes a new rule model that records it, as edits in the library do. */

const swapped = (all, place, one) => all.map((old, i) => (i === place ? one : old));
const copy = (value) => JSON.parse(JSON.stringify(value));
const original = data.rules;
let current = copy(original);
let steps = []; /* of { set, key }, where set is the model before the change */
const panels = []; /* functions that show the current model, called after each change */
const shownAgain = (...about) => panels.forEach((show) => show(...about));

const unmeasured = (rule) => ({
  ...rule, share: null, error: null, n_rows: null, rates: null, model_mean: null,
  n_effective: null, quantiles: null, spread: null,
});
function withConditions(rule, conditions) {
  const { alone: _, ...rest } = unmeasured(rule);
  return { ...rest, coverage: null, conditions };
}
/* The conditions of each rule, and of the rules that take rows from it. */
function countedAmong(set, rules) {
  const every = rules.map((rule) => JSON.stringify(rule.conditions));
  return every.map((own, k) => {
    const takes = form(set).takesRows(k === every.length - 1);
    return [own, takes ? [...new Set(every.slice(0, k))].sort().join("|") : ""];
  });
}
function stillMeasured(before, rules) {
  const counted = new Map(countedAmong(before, everyRule(before)));
  return countedAmong(before, rules).map(([own, others], k) =>
    counted.get(own) === others ? rules[k] : unmeasured(rules[k]));
}
const recorded = (set, change) => ({
  ...set, ...(set.training ? { training: { ...set.training, error: null, agreement: null } } : {}),
  edits: [...(set.edits || []), change],
});
function edited(rules, change) {
  const made = stillMeasured(current, rules);
  return recorded({
    ...current, rules: made.slice(0, -1), default: made[made.length - 1],
    form: form(current).afterEdit || current.form,
    residuals: null, rate_bands: null,
  }, change);
}
const state = (set) => JSON.stringify([set.threshold, set.costs, ...everyRule(set).map((r) => [r.conditions, r.prediction, r.points])]);

/* One more step; repeated moves of one threshold are one step. */
function step(key, make) {
  const last = steps[steps.length - 1];
  if (key && last && last.key === key) {
    current = last.set;
    steps.pop();
  }
  const before = current, made = make();
  if (state(before) === state(made)) return null;
  steps.push({ set: before, key });
  current = made;
  return made.edits[made.edits.length - 1].text;
}
function thenText(k) {
  const rule = everyRule(current)[k];
  return `${rule.conditions.length ? `if ${ruleText(current, k)} then` : "otherwise"} ${form(current).predictionText(rule)}`;
}

const changes = {
  drop(k) {
    const rules = everyRule(current), text = `dropped rule ${k + 1}: ${thenText(k)}`;
    rules.splice(k, 1);
    return step("", () => edited(rules, { action: "drop", rule: k + 1, text }));
  },
  move(k, to) {
    const rules = everyRule(current), [rule] = rules.splice(k, 1);
    rules.splice(to, 0, rule);
    const text = `moved rule ${k + 1} to ${to + 1}: ${thenText(k)}`;
    return step("", () => edited(rules, { action: "move", rule: k + 1, text }));
  },
  conditions(k, make, action, key) {
    return step(key, () => {
      const rules = everyRule(current), before = rules[k];
      rules[k] = withConditions(before, make(before.conditions));
      const made = { ...current, rules: rules.slice(0, -1), default: rules[rules.length - 1] };
      const text = `rule ${k + 1}: ${ruleText(current, k)} became ${ruleText(made, k)}`;
      return edited(rules, { action, rule: k + 1, text });
    });
  },
  remove(k, c) {
    return changes.conditions(k, (all) => all.filter((_, i) => i !== c), "remove", "");
  },
  replace(k, c, condition) {
    return changes.conditions(k, (all) => swapped(all, c, condition), "replace", `${k}/${condition.feature}`);
  },
  predict(k, values) {
    return step(`${k}/prediction`, () => {
      const rules = everyRule(current), before = rules[k];
      rules[k] = { ...before, ...values };
      if (!values.points && isClasses && (isSet(current) || current.costs)) rules[k].override = true;
      if (!values.points) rules[k].error = null;
      if (!values.points && !isClasses) rules[k].spread = null;
      const where = `${rules[k].conditions.length ? "if " : ""}${ruleText(current, k)}`;
      const text = `rule ${k + 1} predicts ${form(current).predictionText(rules[k])}, not ${form(current).predictionText(before)}: ${where}`;
      return edited(rules, { action: "prediction", rule: k + 1, text });
    });
  },
  threshold(least) {
    return step("threshold", () => {
      const name = data.class_words[data.positive];
      const text = `predicts ${name} if P(${name}) >= ${exact(least)}`;
      return recorded(withThreshold(current, least), { action: "threshold", rule: null, text });
    });
  },
  undo() {
    const last = steps.pop();
    if (!last) return null;
    const undone = current.edits[current.edits.length - 1].text;
    current = last.set;
    return undone;
  },
  restart() {
    steps = [];
    current = copy(original);
  },
};
/* The model that predicts the positive class from this probability on; it replaces costs. */
const mirrored = (p) => (data.positive === 1 ? p : Number((1 - p).toFixed(11)));
function withThreshold(set, least) {
  /* The second class is predicted where the first is less likely, by more than rounding. */
  const threshold = data.positive === 1 ? least : Math.min(1 - least + 1e-12, 1 - 1e-12);
  const made = { ...set, threshold, costs: null };
  const follow = (rule) => {
    const prediction = original.classes[choose(made, rule.distribution)];
    return rule.override || prediction === rule.prediction ? rule : { ...rule, prediction, error: null };
  };
  return { ...made, rules: set.rules.map(follow), default: follow(set.default) };
}

function save() {
  const text = `${JSON.stringify(current, null, 2)}\n`;
  const link = element("a", { href: URL.createObjectURL(new Blob([text], { type: "application/json" })), download: "rules.json" });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}
