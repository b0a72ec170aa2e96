// The head view: which token looks where, in every head. Data stand in the page, in #attention-data.
"use strict";

(() => {
  const holder = document.getElementById("head-view");
  if (!holder) return;
  const views = JSON.parse(document.getElementById("attention-data").textContent);
  const colours = JSON.parse(holder.dataset.colours);
  const ROW = 24, HEAD = 25.6; // pixels: of a token, of a column's title
  const TYPES = { encoder: "encoder self-attention", decoder: "decoder self-attention", cross: "cross-attention" };

  const element = (name, attributes = {}, ...children) => {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) {
      if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
      else made.setAttribute(key, value);
    }
    made.append(...children);
    return made;
  };

  // Weights come as 16-bit numbers in base64; 65535 is one. Heads, queries, keys.
  const decoded = new Map();
  const weightsOf = (map) => {
    if (!decoded.has(map)) {
      const bytes = Uint8Array.from(atob(map.weights), (c) => c.charCodeAt(0));
      const numbers = new Uint16Array(bytes.buffer);
      decoded.set(map, (head, query, key) => numbers[(head * map.queries + query) * map.keys + key] / 65535 * map.scale);
    }
    return decoded.get(map);
  };
  const visible = (map, query, key) => key >= map.visible[query][0] && key < map.visible[query][1];

  const state = { view: 0, sentence: 0, type: "", layer: 0, heads: [], query: null, key: null };
  const view = () => views[state.view];
  const sentence = () => view().sentences[state.sentence];
  const mapAt = (type, layer) => sentence().maps.find((map) => map.type === type && map.layer === layer);
  const map = () => mapAt(state.type, state.layer);
  const tokens = () => {
    const { source, target } = sentence();
    // A decoder whose head pools reads the source.
    if (state.type === "encoder" || target.length === 0) return [source, source, "source", "source"];
    if (state.type === "decoder") return [target, target, "target", "target"];
    return [target, source, "target", "source"];
  };
  const colour = (head) => colours[head % colours.length];

  // ---- controls
  const select = (id, words, onchange) => {
    const made = element("select", { id, onchange: () => onchange(made.value) });
    return [element("label", {}, words, made), made];
  };
  const [viewLabel, viewSelect] = select("view-select", "Checkpoint", (v) => { state.view = +v; settle(); });
  const [sentenceLabel, sentenceSelect] = select("sentence-select", "Sentence", (v) => { state.sentence = +v; settle(); });
  const [typeLabel, typeSelect] = select("type-select", "Attention", (v) => { state.type = v; state.layer = 0; settle(); });
  const [layerLabel, layerSelect] = select("layer-select", "Layer", (v) => { state.layer = +v; settle(); });
  const [headLabel, headSelect] = select("head-select", "Head", (v) => {
    state.heads = v === "all" ? range(map().heads) : [+v];
    draw();
  });
  const headBar = element("div", { class: "heads" });
  const pair = element("div", { class: "pair" });
  const grid = element("div", { class: "grid" });
  const shown = element("p", { class: "shown" }); // on paper, where there are no controls
  holder.append(shown, element("div", { class: "controls" }, viewLabel, sentenceLabel, typeLabel, layerLabel, headLabel), headBar, pair,
    element("p", { class: "soft" }, element("span", { class: "key hatched" }), "hidden by the mask: not visible to this token. ",
      "Small maps: the stronger the colour, the more; click one to choose it."), grid);

  const range = (count) => [...Array(count).keys()];
  const fill = (box, options, chosen) => {
    box.replaceChildren(...options.map(([value, words]) => {
      const option = element("option", { value }, words);
      option.selected = String(value) === String(chosen);
      return option;
    }));
  };
  const short = (list) => { const text = list.join(" "); return text.length > 70 ? text.slice(0, 69) + "…" : text; };

  // Brings the choice back to what there is, then draws.
  function settle() {
    state.sentence = Math.min(state.sentence, view().sentences.length - 1);
    const types = Object.keys(TYPES).filter((type) => sentence().maps.some((m) => m.type === type));
    if (!types.includes(state.type)) state.type = types[0];
    const layers = sentence().maps.filter((m) => m.type === state.type).map((m) => m.layer);
    if (!layers.includes(state.layer)) state.layer = layers[0];
    state.heads = state.heads.filter((head) => head < map().heads);
    if (state.heads.length === 0) state.heads = range(map().heads);
    state.query = state.key = null;
    fill(viewSelect, views.map((v, i) => [i, v.name]), state.view);
    fill(sentenceSelect, view().sentences.map((s, i) => [i, `${i + 1}: ${short(s.source.length ? s.source : s.target)}`]), state.sentence);
    fill(typeSelect, types.map((type) => [type, TYPES[type]]), state.type);
    fill(layerSelect, layers.map((layer) => [layer, layer]), state.layer);
    draw();
  }

  function draw() {
    fill(headSelect, [["all", "all"], ...range(map().heads).map((head) => [head, head])],
      state.heads.length === 1 ? state.heads[0] : "all");
    const heads = state.heads.length === map().heads ? "all heads" : `head ${state.heads.join(", ")}`;
    shown.textContent = `${view().name}; ${TYPES[state.type]}, layer ${state.layer}, ${heads}`;
    drawHeads();
    drawPair();
    drawGrid();
  }

  function drawHeads() {
    headBar.replaceChildren("Heads: ", ...range(map().heads).map((head) => {
      const button = element("button", {
        class: "head", type: "button", "aria-pressed": state.heads.includes(head), title: `head ${head}: click to switch, double-click for it alone`,
        onclick: () => {
          const others = state.heads.filter((h) => h !== head);
          state.heads = others.length === state.heads.length ? [...state.heads, head].sort((a, b) => a - b) : others;
          if (state.heads.length === 0) state.heads = [head];
          draw();
        },
        ondblclick: () => { state.heads = [head]; draw(); },
      }, String(head));
      button.style.background = colour(head);
      return button;
    }), element("button", { type: "button", onclick: () => { state.heads = range(map().heads); draw(); } }, "all"));
  }

  // ---- tokens on two sides, lines between them
  let lines, leftTokens, rightTokens, said, matrixBox;
  function drawPair() {
    const [queries, keys, querySide, keySide] = tokens();
    leftTokens = queries.map((text, i) => token(text, "query", i));
    rightTokens = keys.map((text, i) => token(text, "key", i));
    const height = Math.max(queries.length, keys.length) * ROW;
    lines = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    lines.setAttribute("class", "lines");
    lines.setAttribute("height", height);
    lines.setAttribute("viewBox", `0 0 150 ${height}`);
    const box = element("div", { class: "tokens", onmouseleave: () => point(null, null) },
      element("div", { class: "side left" }, element("h4", {}, `looks (${querySide})`), ...leftTokens), lines,
      element("div", { class: "side right" }, element("h4", {}, `is looked at (${keySide})`), ...rightTokens));
    matrixBox = element("div", { class: "matrix" });
    said = element("p", { class: "said", "aria-live": "polite" });
    pair.replaceChildren(box, element("div", { class: "whole" }, matrixBox, said));
    drawMatrix();
    point(state.query, state.key);
  }

  function token(text, side, index) {
    const shown = text === "" ? "␣" : text;
    const act = () => side === "query" ? point(index, null) : point(null, index);
    return element("div", { class: "token", tabindex: 0, "data-side": side, "data-index": index, onmouseenter: act, onfocus: act }, shown);
  }

  const mean = (query, key) => {
    const weight = weightsOf(map());
    return state.heads.reduce((sum, head) => sum + weight(head, query, key), 0) / state.heads.length;
  };

  // One token is pointed at: its lines alone, its weights on the other side.
  function point(query, key) {
    state.query = query;
    state.key = key;
    const m = map(), weight = weightsOf(m);
    const shapes = [];
    for (const q of query === null ? range(m.queries) : [query])
      for (const k of key === null ? range(m.keys) : [key])
        for (const head of state.heads) {
          const w = weight(head, q, k);
          if (w < (query === null && key === null ? 0.05 : 0.01)) continue;
          const line = document.createElementNS("http://www.w3.org/2000/svg", "line");
          const attributes = { x1: 2, y1: q * ROW + ROW / 2, x2: 148, y2: k * ROW + ROW / 2, stroke: colour(head), "stroke-width": 1.8,
            "stroke-opacity": Math.min(1, w / Math.sqrt(state.heads.length)).toFixed(3) };
          for (const [name, value] of Object.entries(attributes)) line.setAttribute(name, value);
          shapes.push(line);
        }
    lines.replaceChildren(...shapes);
    leftTokens.forEach((node, q) => dress(node, q === query, key !== null ? [mean(q, key), visible(m, q, key)] : null));
    rightTokens.forEach((node, k) => dress(node, k === key, query !== null ? [mean(query, k), visible(m, query, k)] : null));
  }

  function dress(node, chosen, seen) {
    node.classList.toggle("query", chosen);
    node.classList.toggle("hidden", seen !== null && !seen[1]);
    node.style.background = "";
    node.querySelector(".weight")?.remove();
    if (seen === null) return;
    if (!seen[1]) return node.append(element("span", { class: "weight" }, "hidden"));
    const shade = state.heads.length === 1 ? colour(state.heads[0]) : "var(--accent)";
    if (!chosen) node.style.background = `color-mix(in srgb, ${shade} ${Math.round(Math.min(1, Math.abs(seen[0])) * 85)}%, transparent)`;
    node.append(element("span", { class: "weight" }, seen[0].toFixed(2)));
  }

  // ---- maps as pictures
  let printing = false; // paper is white, whatever the screen is
  function paint(canvas, m, value, size) {
    canvas.width = m.keys * size;
    canvas.height = m.queries * size;
    const pen = canvas.getContext("2d");
    const dark = !printing && matchMedia("(prefers-color-scheme: dark)").matches;
    for (let q = 0; q < m.queries; ++q)
      for (let k = 0; k < m.keys; ++k) {
        const x = k * size, y = q * size;
        if (!visible(m, q, k)) {
          pen.fillStyle = dark ? "#23282f" : "#eceef1";
          pen.fillRect(x, y, size, size);
          pen.fillStyle = dark ? "#3a414b" : "#cfd4db";
          for (let i = 0; i < size; ++i) for (let j = (6 - (x + y + i) % 6) % 6; j < size; j += 6) pen.fillRect(x + i, y + j, 1, 1);
          continue;
        }
        const w = Math.min(1, Math.abs(value(q, k))) ** 0.7;
        pen.fillStyle = dark ? `rgb(${21 + w * 214}, ${30 + w * 170}, ${45 + w * 60})` : `rgb(${255 - w * 235}, ${255 - w * 195}, ${255 - w * 135})`;
        pen.fillRect(x, y, size, size);
      }
  }

  function drawMatrix() {
    const m = map(), [queries, keys] = tokens();
    const size = m.keys * ROW <= 460 && m.queries * ROW <= 720 ? ROW : Math.max(5, Math.floor(460 / Math.max(m.keys, m.queries)));
    const canvas = element("canvas", {
      "aria-label": "weights of the chosen heads, mean: rows look, columns are looked at", role: "img",
      onmousemove: (event) => {
        const box = canvas.getBoundingClientRect();
        const k = Math.floor((event.clientX - box.left) / box.width * m.keys), q = Math.floor((event.clientY - box.top) / box.height * m.queries);
        if (q < 0 || k < 0 || q >= m.queries || k >= m.keys) return;
        point(q, null);
        said.textContent = visible(m, q, k) ? `${queries[q]} → ${keys[k]}: ${mean(q, k).toFixed(3)}` : `${queries[q]} → ${keys[k]}: hidden by the mask`;
      },
      onmouseleave: () => { said.textContent = ""; point(null, null); },
    });
    paint(canvas, m, mean, size);
    const mean_of = state.heads.length > 1 ? `mean of ${state.heads.length} heads` : `head ${state.heads[0]}`;
    matrixBox.replaceChildren(element("h4", {}, `${mean_of}: rows look, columns are looked at`), canvas);
  }

  function drawGrid() {
    const maps = sentence().maps.filter((m) => m.type === state.type);
    const most = Math.max(...maps.map((m) => m.heads));
    grid.style.gridTemplateColumns = `auto repeat(${most}, auto)`;
    const cells = [];
    for (const m of maps) {
      cells.push(element("span", { class: "name" }, `layer ${m.layer}`));
      const weight = weightsOf(m), size = Math.max(2, Math.floor(76 / Math.max(m.keys, m.queries)));
      for (const head of range(most)) {
        if (head >= m.heads) { cells.push(element("span")); continue; }
        const chosen = m.layer === state.layer && state.heads.length === 1 && state.heads[0] === head;
        const canvas = element("canvas");
        paint(canvas, m, (q, k) => weight(head, q, k), size);
        cells.push(element("button", {
          class: "small", type: "button", "aria-pressed": chosen, title: `layer ${m.layer}, head ${head}`,
          "data-layer": m.layer, "data-head": head,
          onclick: () => { state.layer = m.layer; state.heads = [head]; settle(); },
        }, canvas));
      }
    }
    grid.replaceChildren(...cells);
  }

  const repaint = () => { drawMatrix(); drawGrid(); };
  addEventListener("beforeprint", () => { printing = true; repaint(); });
  addEventListener("afterprint", () => { printing = false; repaint(); });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", repaint);
  settle();
  holder.dataset.ready = "true";
})();

// On paper, what is folded up would be lost: facts that a reader needs are opened, long tables of numbers are not.
(() => {
  const folded = () => document.querySelectorAll("#config-details details:not([open]), #environment-details details:not([open])");
  let opened = [];
  addEventListener("beforeprint", () => { opened = [...folded()]; for (const one of opened) one.open = true; });
  addEventListener("afterprint", () => { for (const one of opened) one.open = false; });
})();
