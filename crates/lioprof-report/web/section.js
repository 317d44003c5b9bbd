// A view: heading, how to read it, which part of the selection it follows, controls, body.

const sections = [];

/**
 * `follows`: which kinds of selection the view can show, of time, targets, clients, objects, direction. `missing()`: why there
 * is nothing at all, or null. `build(body, controls)` returns what to do when something else is selected.
 */
function section({ id, title, plots = [], lead, how, follows, missing, build, wide = false }) {
  const reason = missing?.();
  const note = el("p.follows", { hidden: true });
  const controls = el("div.controls");
  const body = el("div.body");
  const node = el(
    `section${wide ? ".wide" : ""}`,
    { id, "aria-labelledby": `${id}-title` },
    el(
      "header",
      null,
      el("h2", { id: `${id}-title`, tabindex: "-1" }, title),
      how && !reason && el("details.how", null, el("summary", null, "How to read this"), el("p", null, how)),
    ),
    lead && el("p.lead", null, lead),
    controls,
    note,
    body,
  );
  const it = { id, title, plots, node, empty: Boolean(reason), built: false };
  sections.push(it);
  if (reason) {
    node.classList.add("without");
    body.append(el("p.empty", null, reason));
  }
  it.build = () => {
    if (it.built || reason) return;
    it.built = true;
    node.classList.remove("unbuilt");
    it.update = build(body, controls);
    it.follow();
  };
  it.follow = () => {
    if (!it.built) return;
    const text = ignored(selection, follows);
    note.hidden = !text;
    note.textContent = text ?? "";
    it.update();
  };
  if (!reason) node.classList.add("unbuilt");
  return it;
}

/** Builds the first `n` views. */
function buildUpTo(n) {
  sections.slice(0, n).forEach((it) => it.build());
}

/**
 * Views are built when they come near the screen, and the others one by one when there is nothing else to do: the first ones of a
 * page with a thousand OSTs are there at once.
 */
function watchSections() {
  const near = new IntersectionObserver(
    (entries) =>
      entries.forEach((entry) => {
        if (!entry.isIntersecting) return;
        near.unobserve(entry.target);
        sections.find((it) => it.node === entry.target).build();
      }),
    { rootMargin: "400px 0px" },
  );
  sections.filter((it) => !it.empty).forEach((it) => near.observe(it.node));
  const idle = window.requestIdleCallback ?? ((callback) => setTimeout(callback, 30));
  const next = () => {
    const one = sections.find((it) => !it.built && !it.empty);
    if (!one) {
      document.documentElement.dataset.complete = "true";
      return;
    }
    // Not by what is pointed at: a view that is built above what is on the screen must not push it away. Those without anything to show
    // stand at the end of the page, whatever their place among the views.
    inPlace(() => one.build(), sections.find((it) => !it.empty && it.node.getBoundingClientRect().bottom > 0)?.node);
    idle(next);
  };
  idle(next);
}

const KINDS = { time: "time", targets: "targets", clients: "clients", objects: "objects", direction: "reads or writes" };

/** What of a selection a view does not follow. */
function unfollowed(it, follows) {
  const selected = Object.keys(KINDS).filter((kind) =>
    kind === "time" ? it.time : kind === "direction" ? it.direction !== "rw" : it[kind].length,
  );
  return selected.filter((kind) => !follows.includes(kind)).map((kind) => KINDS[kind]);
}

/** The same as a sentence. */
function ignored(it, follows) {
  const not = unfollowed(it, follows);
  return not.length
    ? `Not narrowed to the selected ${not.join(", ")}: the analysis does not hold these figures by ${not.length > 1 ? "them" : "it"}.`
    : null;
}

/** Where a part of a view follows less than the rest of it: says so above the part, whenever the function that it returns is called. */
function partNote(parent, what) {
  const note = el("p.follows", { hidden: true });
  parent.append(note);
  return (follows) => {
    const not = unfollowed(selection, follows);
    note.hidden = !not.length;
    note.textContent = not.length ? `${what} not narrowed to the selected ${not.join(", ")}.` : "";
  };
}
