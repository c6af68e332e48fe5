// Which pages come first in a search: guides before stories, stories before the
// reference, and pages about the project itself last. Otherwise as Sphinx scores.
const PROJECT = /^(architecture|assistants|changelog|contributing|reliability|reproduction|security)$/;
var Scorer = {
  score: ([page, , , , score]) => {
    if (PROJECT.test(page)) return score - 40;
    if (page.startsWith("api/")) return score - 10;
    if (page.startsWith("gallery/")) return score - 5;
    return score;
  },
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
