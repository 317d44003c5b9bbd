// What the mouse, or the keyboard's cursor, is on.

const TIP = el("div.tip", { role: "status", id: "tip", hidden: true });

/** Shows `{head, rows: [[colour or null, name, value]], others: more rows, foot, when}` beside a place on the screen. */
function showTip(content, x, y) {
  fill(
    TIP,
    content.head && el("strong", null, content.head),
    content.rows && tipRows(content.rows),
    content.others?.length > 0 && [el("em", null, "at the same time"), tipRows(content.others)],
    content.foot && el("em", null, content.foot),
    content.when && el("em", null, content.when),
  );
  TIP.hidden = false;
  const box = TIP.getBoundingClientRect();
  const margin = 14;
  const left = x + margin + box.width > innerWidth ? x - margin - box.width : x + margin;
  TIP.style.left = `${Math.max(4, Math.min(left, innerWidth - box.width - 4))}px`;
  TIP.style.top = `${Math.max(4, Math.min(y + margin, innerHeight - box.height - 4))}px`;
}

function tipRows(rows) {
  return el(
    "table",
    null,
    rows.map(([color, name, value]) =>
      el(
        "tr",
        null,
        el("td", null, color && el("i.swatch", { style: { background: color } })),
        el("td", null, name),
        el("td.figure", null, value),
      ),
    ),
  );
}

function hideTip() {
  TIP.hidden = true;
}
