/* Rules as in the library: conditions, predictions, texts and measures. */
const holder = document.getElementById("editor");
const everything = JSON.parse(document.getElementById("report-data").textContent);
const edit = everything.edit;
if (!holder || !edit) return;

const isClasses = edit.classes.length > 0;
const nRows = edit.n_rows;
const weights = edit.weight || new Array(nRows).fill(1);
const totalWeight = weights.reduce((sum, w) => sum + w, 0);
const isList = (set) => set.decision === "first" || set.decision === "partition";
const everyRule = (set) => [...set.rules, set.default];
const bound = (value, without) => (value === null ? without : Number(value === "inf" ? Infinity : value === "-inf" ? -Infinity : value));
const ends = (condition) => [bound(condition.lower, -Infinity), bound(condition.upper, Infinity)];

/* How an interval is written; see Condition.sides of the library. */
const nDigits = (value) => String(Math.abs(Math.trunc(value))).replace(/0+$/, "").length || 1;
const isShorter = (one, other) => exact(one).length < exact(other).length - 3;
function lowerSide(lower, isInteger) {
  const after = isInteger ? Math.floor(lower) + 1 : above(lower);
  const isRounder = isInteger ? nDigits(after) <= nDigits(Math.floor(lower)) : isShorter(after, lower);
  return isRounder ? [">=", after] : [">", lower];
}
function upperSide(upper, isInteger) {
  const after = isInteger ? Math.floor(upper) + 1 : above(upper);
  const isRounder = isInteger ? nDigits(after) < nDigits(Math.floor(upper)) : isShorter(after, upper);
  return isRounder ? ["<", after] : ["<=", upper];
}
function sidesOf(condition) {
  const [lower, upper] = ends(condition), isInteger = condition.integer;
  if (Number.isFinite(lower) && Number.isFinite(upper)) {
    const after = isInteger ? Math.floor(lower) + 1 : above(lower);
    if (after === upper) return [["=", upper]];
  }
  return [
    ...(Number.isFinite(lower) ? [lowerSide(lower, isInteger)] : []),
    ...(Number.isFinite(upper) ? [upperSide(upper, isInteger)] : []),
  ];
}
/* The doubles for which lower < x <= upper is equivalent to the printed text. */
function exactBounds(condition) {
  let [lower, upper] = ends(condition);
  if (!condition.integer || lower >= upper) return [lower, upper];
  for (const [sign, value] of sidesOf(condition)) {
    if (sign === ">=" || sign === "=") lower = below(value);
    if (sign === "<=" || sign === "=") upper = value;
    if (sign === "<") upper = below(value);
  }
  return [lower, upper];
}
/* A condition with a new value at the side with this sign. */
function withSide(condition, sign, value) {
  const isInteger = condition.integer, changed = { ...condition };
  if (sign === ">" || sign === "<=") changed[sign === ">" ? "lower" : "upper"] = value;
  else if (sign === ">=") changed.lower = isInteger ? value - 1 : below(value);
  else if (sign === "<") changed.upper = isInteger ? value - 1 : below(value);
  else [changed.lower, changed.upper] = [isInteger ? value - 1 : below(value), value];
  return changed;
}
/* The value at the side with this sign. */
function sideValue(condition, sign) {
  const [lower, upper] = ends(condition), after = condition.integer ? (v) => Math.floor(v) + 1 : above;
  return { ">": lower, ">=": after(lower), "<=": upper, "<": after(upper), "=": upper }[sign];
}

/* Texts as rules print them. */
const flipped = { ">": "<", ">=": "<=" };
function numberText(feature, value) {
  const place = feature.texts ? feature.steps.indexOf(value) : -1;
  return place < 0 ? exact(value) : feature.texts[place];
}
function intervalText(feature, condition) {
  const [lower, upper] = ends(condition), name = feature.name;
  if (lower >= upper) return null;
  const sides = sidesOf(condition).map(([sign, value]) => [sign, numberText(feature, value)]);
  if (!sides.length) return `${name} is ${condition.missing ? "anything" : "not missing"}`;
  const [[sign, value], other] = sides;
  if (other) return `${value} ${flipped[sign]} ${name} ${other[0]} ${other[1]}${feature.ending}`;
  return `${name} ${sign === "=" ? "is" : sign} ${value}${feature.ending}`;
}
const anyOf = (texts) =>
  texts.length > 1 ? `${texts.slice(0, -1).join(", ")} or ${texts[texts.length - 1]}` : texts[0];
function noneOf(texts) {
  if (texts.length === 1) return `not ${texts[0]}`;
  return texts.length === 2 ? `neither ${texts[0]} nor ${texts[1]}` : `none of ${texts.join(", ")}`;
}
function setText(feature, condition) {
  const texts = feature.categories, places = [...condition.categories].sort((a, b) => a - b);
  if (!places.length) return null;
  if (places.some((c) => c >= texts.length)) {
    const out = texts.filter((_, c) => !places.includes(c));
    return `${feature.name} is ${out.length ? noneOf(out) : condition.missing ? "anything" : "not missing"}`;
  }
  const first = places[0], last = places[places.length - 1];
  if (feature.is_ordered && last - first + 1 === places.length && places.length > 1) {
    if (first === 0) return `${feature.name} <= ${texts[last]}`;
    if (last === texts.length - 1) return `${feature.name} >= ${texts[first]}`;
    return `${texts[first]} <= ${feature.name} <= ${texts[last]}`;
  }
  return `${feature.name} is ${anyOf(places.map((c) => texts[c]))}`;
}
function conditionText(condition) {
  const feature = edit.features[condition.feature];
  const body = (condition.categories ? setText : intervalText)(feature, condition);
  if (body === null) return `${feature.name} is ${condition.missing ? "missing" : "impossible"}`;
  return condition.missing ? `${body} or missing` : body;
}
function ruleText(rule) {
  const parts = rule.conditions.map(conditionText)
    .map((part, _, all) => (part.includes(" or ") && all.length > 1 ? `(${part})` : part));
  return parts.length ? parts.join(" and ") : "otherwise";
}
const classPlace = (label) => edit.rules.classes.indexOf(label);
function predictionText(set, rule) {
  if (set.decision === "points")
    return rule.points.length === 1 ? signed(rule.points[0])
      : rule.points.map((value, c) => `${edit.class_words[c]} ${signed(value)}`).join(", ");
  if (set.decision === "average" && isClasses)
    return rule.distribution.map((share, c) => (share ? `${edit.class_words[c]}: ${exact(share)}` : ""))
      .filter(Boolean).join(", ");
  return isClasses ? edit.classes[classPlace(rule.prediction)] : exactGrouped(rule.prediction);
}

/* The rows that a condition or a rule matches. */
function covers(condition) {
  const column = edit.columns[condition.feature];
  if (condition.categories) {
    const places = new Set(condition.categories);
    return column.map((v) => (v === null ? condition.missing : places.has(v)));
  }
  const [lower, upper] = exactBounds(condition);
  return column.map((v) =>
    v === null ? condition.missing : (lower === -Infinity || v > lower) && v <= upper);
}
function matches(rule) {
  const matched = new Array(nRows).fill(true);
  for (const condition of rule.conditions)
    covers(condition).forEach((isIn, i) => { if (!isIn) matched[i] = false; });
  return matched;
}

/* From probabilities to the index of a class, as in the library. */
function choose(set, shares) {
  if (set.threshold !== null && set.threshold !== undefined) return shares[1] >= set.threshold ? 1 : 0;
  const losses = set.costs
    ? shares.map((_, a) => shares.reduce((sum, p, t) => sum + p * set.costs[t][a], 0))
    : shares.map((p) => -p);
  return losses.indexOf(Math.min(...losses));
}
const edge = (p) => Math.min(Math.max(p, 1e-12), 1 - 1e-12);
const logOdds = (p) => Math.log(edge(p)) - Math.log1p(-edge(p));
function chooseLogOdds(set, value) {
  if (set.threshold !== null && set.threshold !== undefined) return value >= logOdds(set.threshold) ? 1 : 0;
  const cut = set.costs ? set.costs[0][1] / (set.costs[0][1] + set.costs[1][0]) : 0.5;
  return value > logOdds(cut) ? 1 : 0;
}
function decidePoints(set, totals) {
  const values = totals.map((total) => (total - set.origin) * set.unit);
  if (!isClasses) return values[0];
  if (values.length === 1) return chooseLogOdds(set, values[0]);
  if (!set.costs) return values.indexOf(Math.max(...values));
  const most = Math.max(...values), parts = values.map((v) => Math.exp(v - most));
  const sum = parts.reduce((a, b) => a + b, 0);
  return choose(set, parts.map((p) => p / sum));
}
function decideTogether(set, held, i) {
  const rules = everyRule(set);
  if (set.decision === "points") {
    const totals = [...set.default.points];
    set.rules.forEach((rule, k) => rule.points.forEach((p, c) => { totals[c] += held[k][i] ? p : 0; }));
    return decidePoints(set, totals);
  }
  const outputs = (rule) => (isClasses ? rule.distribution : [rule.prediction]);
  const last = outputs(set.default);
  let sums = last.map(() => 0), weight = 0;
  rules.forEach((rule, k) => {
    const own = held[k][i] ? rule.weight : 0;
    outputs(rule).forEach((value, c) => { sums[c] += own * value; });
    weight += own;
  });
  if (weight <= 0) [sums, weight] = [[...last], 1];
  const means = sums.map((value) => value / weight);
  return isClasses ? choose(set, means) : means[0];
}
/* Predictions of a rule model as class indices or numbers, and the rows of each rule. */
function predict(set) {
  const held = everyRule(set).map(matches), n = held.length;
  const deciding = Array.from({ length: nRows }, (_, i) => held.findIndex((some) => some[i]));
  if (isList(set)) {
    const values = everyRule(set).map((rule) => (isClasses ? classPlace(rule.prediction) : rule.prediction));
    const members = held.map((_, k) => deciding.map((a) => a === k));
    return { held, members, predicted: deciding.map((k) => values[k]), covered: deciding.map((k) => k < n - 1) };
  }
  const covered = deciding.map((k) => k < n - 1);
  const members = held.map((some, k) => (set.decision === "standalone" && k === n - 1 ? covered.map((c) => !c) : some));
  return { held, members, covered, predicted: covered.map((_, i) => decideTogether(set, held, i)) };
}

/* Measures of a rule model on the rows of the page. */
function mean(values, members) {
  let sum = 0, weight = 0;
  for (let i = 0; i < nRows; i += 1)
    if (!members || members[i]) {
      sum += weights[i] * Number(values(i));
      weight += weights[i];
    }
  return weight > 0 ? sum / weight : null;
}
function explained(predicted, expected) {
  const center = mean((i) => expected[i]);
  const variance = mean((i) => (expected[i] - center) ** 2);
  const loss = mean((i) => (expected[i] - predicted[i]) ** 2);
  const noise = (1e-12 * Math.max(...expected.map(Math.abs))) ** 2;
  if (variance <= noise) return loss <= noise ? 1 : 0;
  return 1 - loss / variance;
}
function measureRule(set, rule, members, predicted) {
  const n = members.reduce((sum, isIn) => sum + isIn, 0);
  const weight = weights.reduce((sum, w, i) => sum + (members[i] ? w : 0), 0);
  const found = { n, share: weight / totalWeight };
  if (!n || !(weight > 0)) return found;
  if (!isClasses) {
    found.mean = mean((i) => edit.expected[i], members);
    found.miss = mean((i) => Math.abs(predicted[i] - edit.expected[i]), members);
    found.distance = mean((i) => Math.abs(predicted[i] - edit.model_predictions[i]), members);
    return found;
  }
  found.shownClass = edit.classes.length === 2 ? edit.positive : classPlace(rule.prediction);
  found.rate = mean((i) => edit.expected[i] === found.shownClass, members);
  found.interval = wilson(found.rate, weight);
  found.right = mean((i) => predicted[i] === edit.expected[i], members);
  found.agrees = mean((i) => predicted[i] === edit.model_predictions[i], members);
  return found;
}
function measure(set) {
  const { members, predicted, covered } = predict(set);
  const found = {
    nRules: set.rules.length + 1,
    nConditions: set.rules.reduce((sum, rule) => sum + rule.conditions.reduce((s, c) => s + (c.categories ? 1 : Math.max(1, sidesOf(c).length)), 0), 0),
    coverage: mean((i) => covered[i]),
    rules: everyRule(set).map((rule, k) => measureRule(set, rule, members[k], predicted)),
  };
  if (!isClasses) {
    found.error = Math.sqrt(mean((i) => (predicted[i] - edit.expected[i]) ** 2));
    found.mae = mean((i) => Math.abs(predicted[i] - edit.expected[i]));
    found.r2 = explained(predicted, edit.expected);
    found.fidelity = explained(predicted, edit.model_predictions);
    return found;
  }
  found.error = mean((i) => predicted[i] !== edit.expected[i]);
  found.fidelity = 1 - mean((i) => predicted[i] !== edit.model_predictions[i]);
  if (set.costs) found.cost = mean((i) => set.costs[edit.expected[i]][predicted[i]]);
  if (edit.classes.length === 2) {
    const isPositive = (values) => values.map((v) => v === edit.positive);
    found.precision = mean((i) => edit.expected[i] === edit.positive, isPositive(predicted));
    found.recall = mean((i) => predicted[i] === edit.positive, isPositive(edit.expected));
    /* Without positive predictions the precision is 0, as in scikit-learn. */
    if (found.precision === null && found.recall !== null) found.precision = 0;
  }
  return found;
}
