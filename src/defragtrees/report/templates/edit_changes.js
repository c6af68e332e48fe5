/* Changes: each makes a new rule set that says so, as the library's own edits do. */

const copy = (value) => JSON.parse(JSON.stringify(value));
const original = edit.rules;
let current = copy(original);
let steps = []; /* of { set, edit, key }, where set is what was before */

const unmeasured = (rule) => ({
  ...rule, share: null, error: null, n_rows: null, rates: null, ensemble_mean: null,
  n_effective: null, quantiles: null, spread: null,
});
function withConditions(rule, conditions) {
  const { alone, ...rest } = unmeasured(rule);
  return { ...rest, coverage: null, conditions };
}
/* What takes rows from each rule: in a list all before it. */
function countedAmong(set, rules) {
  const every = rules.map((rule) => JSON.stringify(rule.conditions));
  return every.map((own, k) => {
    const takes = isList(set) || (set.decision === "standalone" && k === every.length - 1);
    return [own, takes ? [...new Set(every.slice(0, k))].sort().join("|") : ""];
  });
}
function stillMeasured(before, rules) {
  const counted = new Map(countedAmong(before, everyRule(before)));
  return countedAmong(before, rules).map(([own, others], k) =>
    counted.get(own) === others ? rules[k] : unmeasured(rules[k]));
}
function edited(rules, change) {
  const made = stillMeasured(current, rules);
  return {
    ...current, rules: made.slice(0, -1), default: made[made.length - 1],
    decision: current.decision === "partition" ? "first" : current.decision,
    ...(current.training ? { training: { ...current.training, error: null } } : {}),
    residuals: null, rate_bands: null, edits: [...(current.edits || []), change],
  };
}
const isSame = (one, two) => JSON.stringify(everyRule(one).map((r) => [r.conditions, r.prediction, r.points]))
  === JSON.stringify(everyRule(two).map((r) => [r.conditions, r.prediction, r.points]));

/* One more step; a second move of one cut in a row is part of the first. */
function step(key, make) {
  const last = steps[steps.length - 1];
  if (key && last && last.key === key) {
    current = last.set;
    steps.pop();
  }
  const before = current, made = make();
  if (isSame(before, made)) return null;
  steps.push({ set: before, key });
  current = made;
  const texts = made.edits;
  return texts[texts.length - 1].text;
}
const wholeText = (set, rule) =>
  `${rule.conditions.length ? `if ${ruleText(rule)} then` : "otherwise"} ${answerText(set, rule)}`;

const changes = {
  drop(k) {
    const rules = everyRule(current), [rule] = rules.splice(k, 1);
    const text = `dropped rule ${k + 1}: ${wholeText(current, rule)}`;
    return step("", () => edited(rules, { action: "drop", rule: k + 1, text }));
  },
  move(k, to) {
    const rules = everyRule(current), [rule] = rules.splice(k, 1);
    rules.splice(to, 0, rule);
    const text = `moved rule ${k + 1} to ${to + 1}: ${wholeText(current, rule)}`;
    return step("", () => edited(rules, { action: "move", rule: k + 1, text }));
  },
  conditions(k, make, action, key) {
    return step(key, () => {
      const rules = everyRule(current), before = rules[k];
      rules[k] = withConditions(before, make(before.conditions));
      const text = `rule ${k + 1}: ${ruleText(before)} became ${ruleText(rules[k])}`;
      return edited(rules, { action, rule: k + 1, text });
    });
  },
  remove(k, c) {
    return changes.conditions(k, (all) => all.filter((_, i) => i !== c), "remove", "");
  },
  replace(k, c, condition) {
    const make = (all) => all.map((one, i) => (i === c ? condition : one));
    return changes.conditions(k, make, "replace", `${k}/${condition.feature}`);
  },
  answer(k, values) {
    return step(`${k}/answer`, () => {
      const rules = everyRule(current), before = rules[k];
      rules[k] = { ...before, ...values };
      if (!values.points) rules[k].error = null;
      if (!values.points && !isClasses) rules[k].spread = null;
      const where = `${rules[k].conditions.length ? "if " : ""}${ruleText(rules[k])}`;
      const text = `rule ${k + 1} predicts ${answerText(current, rules[k])}, not ${answerText(current, before)}: ${where}`;
      return edited(rules, { action: "prediction", rule: k + 1, text });
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

/* The measures of a set that is only tried, while a slider moves. */
function tried(k, c, condition) {
  const rules = current.rules.map((rule, i) => (i !== k ? rule : {
    ...rule, conditions: rule.conditions.map((one, j) => (j === c ? condition : one)),
  }));
  return measure({ ...current, rules });
}

function save() {
  const text = `${JSON.stringify(current, null, 2)}\n`;
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type: "application/json" }));
  link.download = "rules.json";
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}
