// A view: heading, how to read it, which part of the selection it follows, controls, body.

const sections = [];

/**
 * `follows`: which kinds of selection the view can show, of time, targets, clients, objects, direction. `missing()`: why there
 * is nothing at all, or null. `build(body, controls)` returns what to do when something else is selected.
 */
function section({ id, title, plots = [], lead, how, follows, missing, build, wide = false }) {
  const note = el("p.follows", { hidden: true });
  const controls = el("div.controls");
  const body = el("div.body");
  const node = el(`section${wide ? ".wide" : ""}`, { id, "aria-labelledby": `${id}-title` },
    el("header", null,
      el("h2", { id: `${id}-title`, tabindex: "-1" }, title),
      how && el("details.how", null, el("summary", null, "How to read this"), el("p", null, how))),
    lead && el("p.lead", null, lead),
    controls, note, body);
  const reason = missing?.();
  const it = { id, title, plots, node, empty: Boolean(reason) };
  sections.push(it);
  if (reason) {
    node.classList.add("without");
    body.append(el("p.empty", null, reason));
  } else {
    it.update = build(body, controls);
    it.note = () => {
      const text = ignored(selection, follows);
      note.hidden = !text;
      note.textContent = text ?? "";
    };
  }
  return it;
}

const KINDS = { time: "time", targets: "targets", clients: "clients", objects: "objects", direction: "reads or writes" };

/** What of a selection a view does not follow, as a sentence. */
function ignored(it, follows) {
  const selected = Object.keys(KINDS).filter((kind) => (kind === "time" ? it.time : kind === "direction" ? it.direction !== "rw" : it[kind].length));
  const not = selected.filter((kind) => !follows.includes(kind)).map((kind) => KINDS[kind]);
  return not.length ? `Not narrowed to the selected ${not.join(", ")}: the analysis does not hold these figures by ${not.length > 1 ? "them" : "it"}.` : null;
}
