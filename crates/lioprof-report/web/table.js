// Tables: sortable by their headers, first rows first, a row can select what it is about; long ones can be searched, all saved as CSV.

/**
 * `columns`: `{name, title, value(row), text(row), number, cell(row)}`; a value sorts (within its
 * `group(row)`, where a column has values of several units), a text is shown, a cell is an element; `unit`: of the value, for CSV.
 * `rows(selection)`: the rows; `others(selection)`: a last row that never moves, or null. `pick(row)`: what a click selects; `picked(row)`.
 * `accused(row)`: whether a finding names it; such rows are marked, and come first until a column is chosen.
 */
function table(parent, { label, columns, rows, others, first = 10, pick, picked, accused, sort }) {
  let order = sort ? { column: columns.findIndex((it) => it.name === sort), down: true } : null;
  let chosen = false;
  let all = false;
  const head = el(
    "tr",
    null,
    columns.map((column, i) =>
      el(
        "th",
        { scope: "col", class: column.number ? "figure" : null },
        el(
          "button",
          {
            type: "button",
            title: column.title,
            onclick: () => {
              chosen = true;
              order = { column: i, down: order?.column === i ? !order.down : Boolean(column.number) };
              show();
            },
          },
          column.name,
        ),
      ),
    ),
  );
  const body = el("tbody");
  const more = el("button.more", {
    type: "button",
    onclick: () => {
      all = !all;
      show();
    },
  });
  const empty = el("p.empty", { hidden: true });
  const searched = `find:${label}`;
  const search = el("input", {
    type: "search",
    placeholder: "search",
    "aria-label": `Search in ${label}`,
    oninput: () => {
      keepSetting(searched, search.value.trim());
      show();
    },
  });
  const saveRows = () => saveTable(label, columns, rowsToShow().list);
  const csv = el("button", { type: "button", title: `Save “${label}” as CSV`, onclick: saveRows }, "CSV");
  const frame = el(
    "div.table",
    { role: "region", "aria-label": label, tabindex: "0" },
    el("table", null, el("caption.hidden", null, label), el("thead", null, head), body),
  );
  const above = el("div.table-search", null, search);
  parent.append(above, frame, empty, el("div.table-foot", null, more, csv));

  /** Rows as selected, searched and sorted; of how many, or why there are none. */
  function rowsToShow() {
    const found = rows(selection);
    const every = Array.isArray(found) ? found : [];
    const words = setting(searched).toLowerCase().split(/\s+/).filter(Boolean);
    const has = (row) => {
      const text = columns.map((column) => cellText(column, row)).join(" ").toLowerCase();
      return words.every((word) => text.includes(word));
    };
    return { list: sorted(words.length ? every.filter(has) : [...every]), of: every.length, why: Array.isArray(found) ? null : found };
  }

  function sorted(list) {
    if (order) list.sort(byColumn());
    return accused && !chosen ? list.sort((a, b) => accused(b) - accused(a)) : list;
  }

  function byColumn() {
    const { value, group = () => "" } = columns[order.column];
    const missing = (it) => it === null || it === undefined || Number.isNaN(it);
    // What is unknown is last, whichever way.
    return (a, b) => {
      if (group(a) !== group(b)) return group(a) < group(b) ? -1 : 1;
      const [x, y] = [value(a), value(b)];
      if (missing(x) || missing(y)) return missing(x) - missing(y);
      return (x < y ? -1 : x > y ? 1 : 0) * (order.down ? -1 : 1);
    };
  }

  function cells(row) {
    return columns.map((column, i) => {
      const content = column.cell ? column.cell(row) : column.text ? column.text(row) : column.value(row);
      const shown = content === null || content === undefined ? UNKNOWN : content;
      const button =
        i === 0 && pick && pick(row)
          ? el("button.link", { type: "button", onclick: pick(row), "aria-pressed": String(Boolean(picked?.(row))) }, shown)
          : shown;
      return el(
        i === 0 ? "th" : "td",
        {
          class: [column.number && "figure", column.wrap && "wrap"].filter(Boolean).join(" ") || null,
          scope: i === 0 ? "row" : null,
          title: column.hint?.(row),
        },
        button,
      );
    });
  }

  function show() {
    const { list, of, why } = rowsToShow();
    const isSearched = Boolean(setting(searched));
    empty.hidden = list.length > 0;
    frame.hidden = csv.hidden = list.length === 0;
    const none = isSearched && of ? `none of ${plural(of, "row")} has “${setting(searched)}”` : "nothing of what is selected";
    empty.textContent = why ?? none;
    above.hidden = of <= first && !isSearched;
    if (search.value.trim() !== setting(searched)) search.value = setting(searched);
    [...head.children].forEach((th, i) => {
      if (order?.column === i) th.setAttribute("aria-sort", order.down ? "descending" : "ascending");
      else th.removeAttribute("aria-sort");
    });
    const visibleRows = all ? list : list.slice(0, first);
    fill(
      body,
      visibleRows.map((row) => {
        const kinds = [picked?.(row) && "picked", accused?.(row) && "accused"].filter(Boolean);
        return el("tr", { class: kinds.join(" ") || null }, cells(row));
      }),
      others?.(selection) && list.length > 0 && !isSearched && el("tr.others", null, others(selection)),
    );
    more.hidden = list.length <= first;
    more.textContent = all ? "Show fewer" : `Show all ${count(list.length)}`;
  }
  return { show };
}

/** What a cell shows, as a text. */
function cellText(column, row) {
  const shown = column.text ? column.text(row) : column.cell ? column.cell(row) : column.value(row);
  return shown instanceof Node ? shown.textContent : String(shown ?? "");
}

/** A table as CSV: values in the unit that the column's name says, else what is shown; bars are left out. */
function saveTable(label, columns, rows) {
  const quoted = (text) => (/[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  const key = ({ name, unit }) => [name.toLowerCase().replace(/[^a-z0-9]+/g, "_").replace(/^_|_$/g, ""), unit].filter(Boolean).join("_");
  const value = (column, row) => (column.unit === undefined ? cellText(column, row).replaceAll("\u202f", " ") : (column.value(row) ?? ""));
  const drawn = (column) => column.unit === undefined && column.cell && !rows.some((row) => cellText(column, row));
  const kept = columns.filter((column) => !drawn(column));
  const lines = [kept.map(key), ...rows.map((row) => kept.map((column) => value(column, row)))];
  save(label, "csv", new Blob([lines.map((line) => `${line.map((it) => quoted(String(it))).join(",")}\n`).join("")], { type: "text/csv" }));
}

/** The last row of a table whose rows are not all in the page: reads, writes, RPCs of the others. */
function otherCells(table_, what, cells) {
  const n = table_.of - table_.rows.length;
  return n > 0 ? () => [el("th", { scope: "row" }, `${plural(n, what)} more`), ...cells(table_.others)] : null;
}

/** A column of bytes. */
function bytesColumn(name, io) {
  return {
    name,
    number: true,
    unit: "bytes",
    value: (row) => (io(row).bytes === null ? null : Number(io(row).bytes)),
    text: (row) => ioBytes(io(row)),
    hint: (row) => ioExactly(io(row)),
  };
}

function countColumn(name, value, title) {
  return { name, title, number: true, unit: "", value: (row) => Number(value(row)), text: (row) => count(value(row)) };
}

/** How long servers' threads handled the RPCs of a row. */
function serverTimeColumn() {
  return {
    name: "server time",
    title: "time in which threads of servers handled its RPCs, added up",
    number: true,
    unit: "us",
    value: (row) => (row.server_us === null ? null : Number(row.server_us)),
    text: (row) => (row.server_us === null ? UNKNOWN : micros(Number(row.server_us))),
  };
}

/** A percentile or such of `Times` in Rust: `[count, mean, p50, p90, p99, max]`; `null`: unknown. */
function timeColumn(name, times, at, title) {
  return {
    name,
    title,
    number: true,
    unit: "us",
    value: (row) => times(row)?.[at],
    text: (row) => (!times(row) ? UNKNOWN : times(row)[0] ? micros(times(row)[at]) : "–"),
    hint: (row) => times(row) && timesHint(times(row)),
  };
}

function timesHint([n, mean, p50, p90, p99, max]) {
  return n
    ? `${plural(n, "RPC")}: mean ${micros(mean)}, p50 ${micros(p50)}, p90 ${micros(p90)}, p99 ${micros(p99)}, max ${micros(max)}`
    : "no RPC";
}
