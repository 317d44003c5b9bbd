// Whom findings name: marked wherever it is shown, and shown first. The link of a finding marks those of that one, beside their peers.

const ACCUSED = RULES.accused;

/** How many there are of a kind: who names them all names nobody, and nor does a list that ends at its limit with most of them. */
const OF_ALL = { targets: DATA.totals.osts, clients: DATA.totals.clients, nodes: DATA.totals.servers };

const accusedOf = new WeakMap();

/** Targets, clients and objects by number, jobs and nodes by name: of the finding that is looked at, else of all that are no mere facts. */
function accusedNow() {
  if (!accusedOf.has(selection)) {
    const one = DATA.findings[selection.finding];
    const findings = one ? [one] : DATA.findings.filter((it) => it.severity !== "info");
    const named = (kind) => {
      const of = OF_ALL[kind] ?? Infinity;
      const tellsApart = ({ length }) => length < Math.min(of, RULES.max_names) || 2 * length < of;
      const all = findings.filter((it) => tellsApart(it[kind])).flatMap((it) => it[kind]);
      return new Set(all);
    };
    const found = Object.fromEntries(["targets", "clients", "objects", "jobs", "nodes"].map((kind) => [kind, named(kind)]));
    const names = [...found.targets].map((it) => DATA.names.targets[it]);
    found.names = new Set([...names, ...[...found.clients].map(clientName), ...found.nodes]);
    accusedOf.set(selection, found);
  }
  return accusedOf.get(selection);
}

/** Whether findings name it; of the kind `names`: a target, client or server by its name. */
function isAccused(kind, it) {
  return accusedNow()[kind].has(it);
}

/** Whom findings name first, the others in the order that they have. */
function accusedFirst(kind, list, of = (it) => it) {
  return [...list].sort((a, b) => isAccused(kind, of(b)) - isAccused(kind, of(a)));
}

/** A name with its mark. */
function marked(kind, it, text) {
  return isAccused(kind, it) ? `${ACCUSED} ${text}` : text;
}
