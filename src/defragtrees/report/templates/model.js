/* Rules as in the library: conditions, texts, predictions, explanations, measures. */
document.documentElement.classList.add("live");
document.documentElement.dataset.ready = "yes";
const data = JSON.parse(document.getElementById("report-data").textContent).edit;
if (!data) return;

const isClasses = data.classes.length > 0, isBinary = data.positive !== null;
const nRows = data.n_rows, hasModel = data.model_predictions !== null;
const weights = data.weight || new Array(nRows).fill(1);
const totalWeight = weights.reduce((sum, w) => sum + w, 0);
const everyRule = (set) => [...set.rules, set.default];
const usedFeatures = Object.keys(data.features).map(Number);
const rowOf = (i) => Object.fromEntries(usedFeatures.map((j) => [j, data.columns[j][i]]));
const bound = (value, without) => (value === null ? without : Number(value === "inf" ? Infinity : value === "-inf" ? -Infinity : value));
const ends = (condition) => [bound(condition.lower, -Infinity), bound(condition.upper, Infinity)];
const classPlace = (label) => data.rules.classes.indexOf(label);

/* How an interval is written; see Condition.sides of the library. */
const nDigits = (value) => String(Math.abs(Math.trunc(value))).replace(/0+$/, "").length || 1;
const isShorter = (one, other) => exact(one).length < exact(other).length - 3;
const after = (value, isInteger) => (isInteger ? Math.floor(value) + 1 : above(value));
function sidesOf(condition) {
  const [lower, upper] = ends(condition), isInteger = condition.integer, sides = [];
  const low = after(lower, isInteger), high = after(upper, isInteger);
  if (Number.isFinite(lower) && Number.isFinite(upper) && low === upper) return [["=", upper]];
  if (Number.isFinite(lower)) {
    const isRounder = isInteger ? nDigits(low) <= nDigits(Math.floor(lower)) : isShorter(low, lower);
    sides.push(isRounder ? [">=", low] : [">", lower]);
  }
  if (Number.isFinite(upper)) {
    const isRounder = isInteger ? nDigits(high) < nDigits(Math.floor(upper)) : isShorter(high, upper);
    sides.push(isRounder ? ["<", high] : ["<=", upper]);
  }
  return sides;
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
  const under = condition.integer ? value - 1 : below(value), changed = { ...condition };
  if (sign === ">" || sign === ">=" || sign === "=") changed.lower = sign === ">" ? value : under;
  if (sign === "<" || sign === "<=" || sign === "=") changed.upper = sign === "<" ? under : value;
  return changed;
}
/* The value at the side with this sign. */
function sideValue(condition, sign) {
  const value = ends(condition)[sign[0] === ">" ? 0 : 1];
  return sign === ">=" || sign === "<" ? after(value, condition.integer) : value;
}

/* Texts as rules print them: before the name of the feature, the name, after it. Shown ones have
   separators and typographic signs; recorded ones can be read back. */
const flipped = { ">": "<", ">=": "<=" };
const signText = (sign, isShown) => (isShown && typographic[sign]) || sign;
function numberText(feature, value, isShown) {
  const write = feature.kind && Number.isFinite(value) ? kinds[feature.kind] : isShown ? exactGrouped : exact;
  return isShown ? trueMinus(write(value)) : write(value);
}
function intervalParts(feature, condition, isShown) {
  const [lower, upper] = ends(condition);
  if (lower >= upper) return null;
  const sides = sidesOf(condition).map(([sign, value]) => [sign, numberText(feature, value, isShown)]);
  if (!sides.length) return ["", ` is ${condition.missing ? "anything" : "not missing"}`];
  const [[sign, value], other] = sides;
  if (other) return [`${value} ${signText(flipped[sign], isShown)} `, ` ${signText(other[0], isShown)} ${other[1]}${feature.ending}`];
  return ["", ` ${sign === "=" ? "is" : signText(sign, isShown)} ${value}${feature.ending}`];
}
const anyOf = (texts) =>
  texts.length > 1 ? `${texts.slice(0, -1).join(", ")} or ${texts[texts.length - 1]}` : texts[0];
function noneOf(texts) {
  if (texts.length === 1) return `not ${texts[0]}`;
  return texts.length === 2 ? `neither ${texts[0]} nor ${texts[1]}` : `none of ${texts.join(", ")}`;
}
function setParts(feature, condition, isShown) {
  const { categories, quoted = categories } = feature, { length } = categories;
  const places = [...condition.categories].sort((a, b) => a - b);
  /* All that a text names are quoted if one must be. */
  const named = (chosen) => {
    const texts = chosen.some((c) => quoted[c] === categories[c]) ? quoted : categories;
    return chosen.map((c) => (isShown && texts[c].length > 200 ? `${texts[c].slice(0, 200)}\u2026` : texts[c]));
  };
  if (!places.length) return null;
  if (places.some((c) => c >= length)) {
    const out = named([...categories.keys()].filter((c) => !places.includes(c)));
    return ["", ` is ${out.length ? noneOf(out) : condition.missing ? "anything" : "not missing"}`];
  }
  const first = places[0], last = places[places.length - 1];
  if (feature.is_ordered && last - first + 1 === places.length && places.length > 1) {
    const most = signText("<=", isShown);
    if (first === 0) return ["", ` ${most} ${named([last])[0]}`];
    if (last === length - 1) return ["", ` ${signText(">=", isShown)} ${named([first])[0]}`];
    const [low, high] = named([first, last]);
    return [`${low} ${most} `, ` ${most} ${high}`];
  }
  return ["", ` is ${anyOf(named(places))}`];
}
function conditionParts(condition, isShown = true) {
  const feature = data.features[condition.feature];
  const body = (condition.categories ? setParts : intervalParts)(feature, condition, isShown);
  if (body === null) return ["", feature.name, ` is ${condition.missing ? "missing" : "impossible"}`];
  const isLeft = condition.missing && body[1] !== " is anything", isNegated = /^ is (not|neither|none of) /.test(body[1]);
  return [body[0], feature.name, body[1] + (isLeft ? (isNegated ? ", or is missing" : " or missing") : "")];
}
function ruleText(set, k) {
  const parts = printedConditions(set)[k].map((one) => conditionParts(one, false).join(""))
    .map((part, _, all) => (part.includes(" or ") && all.length > 1 ? `(${part})` : part));
  return parts.length ? parts.join(" and ") : "otherwise";
}
function valueText(j, value) {
  const feature = data.features[j];
  if (value === null) return "missing";
  if (feature.categories) return (feature.boxes || feature.categories)[value] ?? "another category";
  return numberText(feature, value, true) + feature.ending;
}

/* A condition less the values that another one of its feature accepts; see Condition.without. */
function without(condition, other) {
  const missing = condition.missing && !other.missing;
  if (condition.categories && other.categories) {
    const categories = condition.categories.filter((c) => !other.categories.includes(c));
    return categories.length || missing ? { ...condition, categories, missing } : condition;
  }
  if (condition.categories || other.categories || condition.integer !== other.integer) return condition;
  let [lower, upper] = ends(condition);
  const [from, to] = ends(other), [first, last] = [lower, upper];
  if (from < to) {
    if (from <= first && first < to) lower = to;
    if (from < last && last <= to) upper = from;
  }
  if (lower >= upper && !missing) return condition;
  if (lower >= upper) [lower, upper] = [Infinity, Infinity];
  const stored = (value, none) => (value === none ? null : Number.isFinite(value) ? value : exact(value));
  return { ...condition, lower: stored(lower, -Infinity), upper: stored(upper, Infinity), missing };
}
/* How many categories a text names; see n_named of the library. */
function nNamed({ feature, categories }) {
  const { categories: texts, is_ordered: isOrdered } = data.features[feature];
  const nInside = categories.filter((c) => c < texts.length).length;
  if (nInside < categories.length) return texts.length - nInside;
  return isOrdered && Math.max(...categories) - Math.min(...categories) + 1 === nInside ? 1 : nInside;
}
/* The conditions of each rule as printed: in a list, the values that can still reach it. */
function printedConditions(set) {
  const taken = [];
  return everyRule(set).map((rule) => {
    const printed = rule.conditions.map((condition) => {
      const before = taken.filter((one) => one.feature === condition.feature);
      const left = before.reduce((some) => before.reduce(without, some), condition);
      const isLonger = left.categories && nNamed(left) > nNamed(condition);
      return isLonger ? { ...condition, missing: left.missing } : left;
    });
    if (form(set).isOrdered && rule.conditions.length === 1) taken.push(...rule.conditions);
    return printed;
  });
}

/* Which values, and which rows of the page, match. */
function accepts(condition) {
  if (condition.categories) {
    const places = new Set(condition.categories);
    return (v) => (v === null ? condition.missing : places.has(v));
  }
  const [lower, upper] = exactBounds(condition);
  return (v) => (v === null ? condition.missing : (lower === -Infinity || v > lower) && v <= upper);
}
const known = new Map();
function matches(rule) {
  const key = JSON.stringify(rule.conditions);
  if (known.size > 200) known.clear();
  if (!known.has(key)) {
    const matched = new Array(nRows).fill(true);
    for (const condition of rule.conditions) {
      const isIn = accepts(condition);
      data.columns[condition.feature].forEach((v, i) => { if (!isIn(v)) matched[i] = false; });
    }
    known.set(key, matched);
  }
  return known.get(key);
}
const heldBy = (set, row) =>
  everyRule(set).map((rule) => rule.conditions.every((one) => accepts(one)(row[one.feature])));

/* From probabilities to the index of a class. */
function logOdds(p, least = 1e-12) {
  const inside = Math.min(Math.max(p, least), 1 - least);
  return Math.log(inside) - Math.log1p(-inside);
}
const ROUNDING = 1e-13; /* of a probability, on the way to log-odds and back */
const isSet = (set) => isKnown(set.threshold);
/* Of two classes, the probability of the second from which it is predicted. */
const cutOf = (set) =>
  isSet(set) ? set.threshold : set.costs ? set.costs[0][1] / (set.costs[0][1] + set.costs[1][0]) : 0.5;
function choose(set, shares) {
  if (isSet(set)) return shares[1] >= set.threshold ? 1 : 0;
  const losses = set.costs
    ? shares.map((_, a) => shares.reduce((sum, p, t) => sum + p * set.costs[t][a], 0))
    : shares.map((p) => -p);
  return losses.indexOf(Math.min(...losses));
}
function softmax(values) {
  const most = Math.max(...values), parts = values.map((v) => Math.exp(v - most));
  const sum = parts.reduce((a, b) => a + b, 0);
  return parts.map((p) => p / sum);
}
const outputsOf = (rule) => (isClasses ? rule.distribution : [rule.prediction]);
const valueOf = (rule) => (isClasses ? classPlace(rule.prediction) : rule.prediction);
function totalsOf(set, held) {
  const totals = [...set.default.points];
  set.rules.forEach((rule, k) => rule.points.forEach((p, c) => { totals[c] += held[k] ? p : 0; }));
  return totals;
}
function heaviest(held, weigh) {
  const found = held.map((isIn, k) => (isIn ? weigh[k] : -1));
  return found.indexOf(Math.max(...found));
}
const matching = (held) => held.flatMap((isIn, k) => (isIn ? [k] : []));

/* What depends on the form: the rules that a row counts for, what they predict together
   (`outputs` are probabilities, or one number), and their words. */
const alone = {
  isExclusive: true, isOrdered: false, isComplete: false, isWhole: () => false, takesRows: () => true, word: "then",
  apply: (set, held) => held.indexOf(true),
  members: (held) => [held.indexOf(true)],
  outputs: (set, held) => outputsOf(everyRule(set)[held.indexOf(true)]),
  decide: (set, held) => valueOf(everyRule(set)[held.indexOf(true)]),
  combined: () => [],
  contribution: () => [],
  predictionText: (rule) => (isClasses ? data.classes[classPlace(rule.prediction)] : exactGrouped(rule.prediction)),
  answerText: exactGrouped,
  hasOwnPrediction: () => true,
};
const averaged = {
  ...alone, isExclusive: false, takesRows: () => false,
  apply: (set, held) => heaviest(held, everyRule(set).map((rule) => rule.weight)),
  members: matching,
  outputs: (set, held) => {
    const last = outputsOf(set.default);
    let sums = last.map(() => 0), weight = 0;
    everyRule(set).forEach((rule, k) => {
      const own = held[k] ? rule.weight : 0;
      outputsOf(rule).forEach((value, c) => { sums[c] += own * value; });
      weight += own;
    });
    if (weight <= 0) [sums, weight] = [last, 1];
    return sums.map((value) => value / weight);
  },
  decide: (set, held) => {
    const means = averaged.outputs(set, held);
    return isClasses ? choose(set, means) : means[0];
  },
  combined: matching,
  contribution: (rule) => [[isClasses ? rateTitle() : data.then_title, shareOf(rule)], ["weight", rounded(rule.weight)]],
  hasOwnPrediction: () => !isClasses,
};
const forms = {
  list: { ...alone, isOrdered: true },
  tree: { ...alone, isComplete: true, afterEdit: "list" },
  average: {
    ...averaged,
    predictionText: (rule) => (!isClasses ? exactGrouped(rule.prediction)
      : rule.distribution.map((share, c) => (share ? `${data.class_words[c]}: ${exact(share)}` : "")).filter(Boolean).join(", ")),
  },
  standalone: {
    ...averaged, takesRows: (isDefault) => isDefault,
    members: (held) => (matching(held).length > 1 ? matching(held).slice(0, -1) : matching(held)),
    combined: (held) => (matching(held).length > 2 ? matching(held).slice(0, -1) : []),
    contribution: (rule) => [averaged.contribution(rule)[0], ["rows", rowCount(rule.n_rows)],
      ...(data.has_weights ? [averaged.contribution(rule)[1]] : [])],
  },
  points: {
    ...alone, isExclusive: false, takesRows: () => false, word: "points",
    isWhole: (set) => everyRule(set).every((rule) => rule.points.every(Number.isInteger)),
    apply: (set, held) => heaviest(held, [...set.rules.map((r) => Math.max(...r.points.map(Math.abs))), 0]),
    members: matching,
    values: (set, held) => totalsOf(set, held).map((total) => {
      const value = (total - set.origin) * set.unit;
      const tail = (set.tails || []).find(([end], k) => (k ? value > end : value < end));
      return tail ? tail[0] + (value - tail[0]) * tail[1] : value;
    }),
    outputs: (set, held) => {
      const values = forms.points.values(set, held);
      if (!isClasses || values.length > 1) return isClasses ? softmax(values) : values;
      const [, second] = softmax([0, values[0]]);
      return [1 - second, second];
    },
    decide: (set, held) => {
      const values = forms.points.values(set, held);
      if (!isClasses) return values[0];
      if (values.length > 1) return set.costs ? choose(set, softmax(values)) : values.indexOf(Math.max(...values));
      const cut = logOdds(cutOf(set) - (isSet(set) ? ROUNDING : 0));
      return (isSet(set) ? values[0] >= cut : values[0] > cut) ? 1 : 0;
    },
    combined: matching,
    contribution: (rule) => rule.points.map((p, c) => [rule.points.length > 1 ? data.class_words[c] : "points", signed(p)]),
    predictionText: (rule) => (rule.points.length === 1 ? signed(rule.points[0])
      : rule.points.map((value, c) => `${data.class_words[c]} ${signed(value)}`).join(", ")),
    answerText: (value) => rounded(value, 9),
    hasOwnPrediction: () => false,
  },
};
const form = (set) => forms[set.form];

/* The class whose rate a rule reports, its probability and interval. */
const rateIndex = (prediction) => (isBinary ? data.positive : prediction);
const rateTitle = (prediction) =>
  `P(${isBinary || prediction !== undefined ? data.class_words[rateIndex(prediction)] : data.then_title})`;
function ruleInterval(rule, k) {
  if (!rule.rates || !(rule.n_rows > 0)) return null;
  const [low, high] = wilson(rule.rates[k], rule.n_effective > 0 ? rule.n_effective : rule.n_rows);
  const p = (rule.distribution || rule.rates)[k];
  return [Math.min(low, p), Math.max(high, p)];
}
function shareOf(rule) {
  if (!isClasses) return exactGrouped(rule.prediction);
  const k = rateIndex(classPlace(rule.prediction)), interval = ruleInterval(rule, k);
  return percent(rule.distribution[k], interval ? percentDigits(interval) : 0);
}
const PRIOR_ROWS = 3.84;
function bandInterval(set, shares, k) {
  if (!set.rate_bands) return null;
  const { rates, n_effective: n, means = rates } = set.rate_bands;
  const odds = (p) => logOdds(p, 1e-6), at = odds(isBinary ? shares[1] : shares[k]), places = means.map(odds);
  const ends = rates.map((rate, b) => {
    const total = n[b] + PRIOR_ROWS;
    return wilson((n[b] * rate + PRIOR_ROWS * means[b]) / total, total).map(odds);
  });
  const found = [0, 1].map((side) => {
    const own = ends.map((pair) => pair[side]);
    const levels = own.map((_, b) => (Math.max(...own.slice(0, b + 1)) + Math.min(...own.slice(b))) / 2);
    const beyond = side ? Math.max(at - places.at(-1), 0) : Math.min(at - places[0], 0);
    return 1 / (1 + Math.exp(-interpolate(at, places, levels) - beyond));
  });
  return isBinary && data.positive === 0 ? [1 - found[1], 1 - found[0]] : found;
}
/* A row's prediction and why; see RuleModel.explain. */
function explain(set, row) {
  const held = heldBy(set, row), how = form(set), every = everyRule(set), printed = printedConditions(set);
  const place = how.apply(set, held), prediction = how.decide(set, held), combined = how.combined(held);
  const lines = [], rule = combined.length ? {} : every[place];
  const line = (k, condition, ...rest) =>
    lines.push([k, conditionParts(condition), valueText(condition.feature, row[condition.feature]), ...rest]);
  for (const k of combined.length ? combined : [place]) {
    const added = how.contribution(every[k]).map(([, text]) => trueMinus(text));
    if (k === set.rules.length) lines.push([k + 1, ["", "", data.default_text], "", ...added]);
    printed[k].forEach((one, c) => line(c ? "" : k + 1, one, ...added.map((text) => (c ? "" : text))));
  }
  const total = how.values ? totalsOf(set, held) : null;
  if (total) lines.push(["", ["", "", "total"], "", ...total.map((t) => trueMinus(exactGrouped(roundTo(t, 9))))]);
  const header = ["rule", "condition", "value", ...how.contribution(every[place]).map(([title]) => title)];
  if (how.isExclusive) {
    header.push("match");
    lines.forEach((one) => one.push("yes"));
    for (let k = 0; how.isOrdered && k < place; k += 1) {
      const failing = every[k].conditions.findIndex((one) => !accepts(one)(row[one.feature]));
      line(k + 1, printed[k][failing], "no");
    }
  }
  return { prediction, shares: data.has_shares ? how.outputs(set, held) : null, rule, header, lines, held };
}
/* Probability, interval and rows of a prediction, as text. */
function basis(set, found) {
  const { rule, shares, prediction } = found;
  if (!isClasses)
    return rule.quantiles && rule.n_rows > 0
      ? `80% of ${rowCount(rule.n_rows)} rows in ${rule.quantiles.map(amount).join(rule.quantiles[0] >= 0 ? "–" : " to ")}` : "";
  if (!shares) return "";
  const k = rateIndex(rule.conditions ? classPlace(rule.prediction) : prediction);
  const interval = ruleInterval(rule, k) || (form(set).isExclusive ? null : bandInterval(set, shares, k));
  return [`${rateTitle(k)} = ${percent(shares[k], interval ? percentDigits(interval) : 0)}`,
    interval ? `95% interval ${percentRange(interval)}` : "",
    rule.n_rows > 0 ? `${rowCount(rule.n_rows)} rows` : ""].filter(Boolean).join(", ");
}
const answerText = (set, prediction) => (isClasses ? data.classes[prediction] : trueMinus(form(set).answerText(prediction)));

/* Predictions on the rows of the page, with the rules that each row counts for. */
function predict(set) {
  const matched = everyRule(set).map(matches), how = form(set), last = matched.length - 1;
  const found = { held: [], predicted: [], covered: [], members: matched.map(() => new Array(nRows).fill(false)) };
  for (let i = 0; i < nRows; i += 1) {
    const held = matched.map((some) => some[i]);
    found.held.push(held);
    found.predicted.push(how.decide(set, held));
    found.covered.push(held.indexOf(true) < last);
    for (const k of how.members(held)) found.members[k][i] = true;
  }
  return found;
}
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
function measureRule(rule, members, predicted) {
  const n = members.reduce((sum, isIn) => sum + isIn, 0);
  const weight = weights.reduce((sum, w, i) => sum + (members[i] ? w : 0), 0);
  const found = { n, share: weight / totalWeight };
  if (!n || !(weight > 0)) return found;
  const { expected, model_predictions: model } = data;
  if (!isClasses) {
    found.mean = mean((i) => expected[i], members);
    found.miss = mean((i) => Math.abs(predicted[i] - expected[i]), members);
    if (hasModel) found.distance = mean((i) => Math.abs(predicted[i] - model[i]), members);
    return found;
  }
  found.shownClass = rateIndex(classPlace(rule.prediction));
  found.rate = mean((i) => expected[i] === found.shownClass, members);
  found.interval = wilson(found.rate, weight);
  found.right = mean((i) => predicted[i] === expected[i], members);
  if (hasModel) found.agrees = mean((i) => predicted[i] === model[i], members);
  return found;
}
function measure(set) {
  const { members, predicted, covered } = predict(set), { expected, model_predictions: model } = data;
  const found = {
    predicted,
    nRules: set.rules.length + 1,
    nConditions: set.rules.reduce((sum, rule) => sum + rule.conditions.reduce((s, c) => s + (c.categories ? 1 : Math.max(1, sidesOf(c).length)), 0), 0),
    coverage: mean((i) => covered[i]),
    rules: everyRule(set).map((rule, k) => measureRule(rule, members[k], predicted)),
  };
  if (!isClasses) {
    found.error = Math.sqrt(mean((i) => (predicted[i] - expected[i]) ** 2));
    found.mae = mean((i) => Math.abs(predicted[i] - expected[i]));
    found.r2 = explained(predicted, expected);
    if (hasModel) found.fidelity = explained(predicted, model);
    return found;
  }
  found.error = mean((i) => predicted[i] !== expected[i]);
  if (hasModel) found.fidelity = 1 - mean((i) => predicted[i] !== model[i]);
  const isLabelled = expected.map((label) => label >= 0);
  found.cost = mean((i) => (isLabelled[i] ? costs[expected[i]][predicted[i]] : 0), isLabelled);
  if (isBinary) {
    const isPositive = (values) => values.map((v) => v === data.positive);
    const flagged = isPositive(predicted);
    found.flagged = flagged.reduce((sum, isIn) => sum + isIn, 0);
    found.flaggedShare = mean((i) => flagged[i]);
    found.precision = mean((i) => expected[i] === data.positive, flagged);
    found.recall = mean((i) => predicted[i] === data.positive, isPositive(expected));
  }
  return found;
}
/* What each mistake costs: a row for each true class. */
let costs = data.rules.costs || data.classes.map((_, t) => data.classes.map((__, a) => Number(t !== a)));
