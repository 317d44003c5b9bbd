// Elements. Whatever comes out of a log becomes text here, never markup.

/** `el("button.small", {type: "button", onclick}, "text", child)`; children may be nested lists, null is left out. */
function el(spec, attributes, ...children) {
  const [tag, ...classes] = spec.split(".");
  const node = document.createElement(tag);
  if (classes.length) node.className = classes.join(" ");
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (name === "style") Object.assign(node.style, value);
    else node.setAttribute(name, value === true ? "" : value);
  }
  fill(node, children);
  return node;
}

/** Puts these in place of what a node holds. */
function fill(node, ...children) {
  node.replaceChildren(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return node;
}

/** Hands a file to the reader. */
function save(name, ending, blob) {
  const link = el("a", { href: URL.createObjectURL(blob), download: `${name.toLowerCase().replace(/[^a-z0-9]+/g, "-")}.${ending}` });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

/** A button that is on or off. */
function toggle(text, pressed, onclick, title) {
  return el("button.toggle", { type: "button", "aria-pressed": String(pressed), onclick, title }, text);
}

/** A choice of one: `options` are `[value, text]`. */
function choice(label, options, value, onchange) {
  const select = el(
    "select",
    { onchange: () => onchange(select.value) },
    options.map(([it, text]) => el("option", { value: it, selected: it === value }, text)),
  );
  return el("label.choice", null, el("span", null, label), select);
}
