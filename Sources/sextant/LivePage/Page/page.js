// SPDX-License-Identifier: Apache-2.0
// The page of `sextant view`: events of the stream change the state below, and views draw it at most four times a second, none
// while the page is hidden. Everything that grows is a ring of a fixed size.
"use strict";

const find = (selector, root = document) => root.querySelector(selector);
const findAll = (selector, root = document) => [...root.querySelectorAll(selector)];

/** An element with attributes and children; text is never read as HTML. */
function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children.filter((child) => child !== undefined));
  return element;
}

/** Sets a text only if it differs, so that a selection survives. */
function setText(element, text) {
  if (element && element.textContent !== text) element.textContent = text;
}
const fields = Object.fromEntries(findAll("[data-field]").map((element) => [element.dataset.field, element]));
const show = (name, text) => setText(fields[name], text);

/** A number with fixed digits, or a dash if it is unknown. */
const digits = (value, count) => (Number.isFinite(value) ? value.toFixed(count).replace("-", "−") : "–");
const group = (value) => (Number.isFinite(value) ? Math.round(value).toLocaleString("en").replaceAll(",", "\u202F") : "–");
const clock = (seconds) => new Date(seconds * 1000).toISOString().slice(11, 19);
const plain = (value) => (typeof value === "object" && value !== null ? JSON.stringify(value) : String(value));

// MARK: State

const token = new URLSearchParams(location.search).get("token") ?? sessionStorage.getItem("token");
if (token) sessionStorage.setItem("token", token);

const nothing = () => ({ fix: {}, sky: { satellites: [] }, messages: { messages: [] }, settings: { items: [] }, power: {}, rf: { blocks: [] }, trust: { trust: "unknown", reasons: [] }, fusion: { sensors: [] } });
const state = { hello: {}, ...nothing() };
const opened = new Map(); // The opened messages of the console: the last frame of each, or nothing yet.
const openedLimit = 8;
let isPaused = false;
let picked; // The id of the satellite under the pointer.

/** Quantities by second, for an hour. A second that was never set is NaN. */
const capacity = 3600;
class Column {
  least = new Float32Array(capacity).fill(NaN);
  last = new Float32Array(capacity).fill(NaN);
  greatest = new Float32Array(capacity).fill(NaN);
  clear(slot) { this.least[slot] = this.last[slot] = this.greatest[slot] = NaN; }
  add(slot, value) {
    if (!Number.isFinite(value)) return;
    this.last[slot] = value;
    if (!(this.least[slot] <= value)) this.least[slot] = value;
    if (!(this.greatest[slot] >= value)) this.greatest[slot] = value;
  }
}

const statuses = ["none", "time only", "outside limits", "simulated", "surveyed", "dead reckoning", "2D", "3D", "DGPS", "RTK float", "RTK fixed"];
const statusLevels = ["bad", "warn", "bad", "warn", "good", "warn", "warn", "good", "good", "accent", "accent"];
const history = {
  newest: -1, // The newest second, since 1970.
  offset: 0, // The receiver's time less this computer's, s: for events without a time.
  columns: Object.fromEntries(
    ["status", "altitudeMSL", "horizontalAccuracy", "verticalAccuracy", "speed", "course", "pdop", "hdop", "vdop", "satellitesUsed"]
      .map((name) => [name, new Column()])),
  signals: new Map(), // C/N0 by signal: a byte for each second.

  /** The slot of a time. Seconds between the newest and it are emptied; after a jump of an hour, or back, all are. */
  slot(time) {
    const at = time ? Date.parse(time) / 1000 : Date.now() / 1000 + this.offset;
    if (time) this.offset = at - Date.now() / 1000;
    const second = Math.floor(at);
    if (!Number.isFinite(second)) return Math.max(0, this.newest) % capacity;
    if (Math.abs(second - this.newest) >= capacity || second < this.newest - 10) {
      this.reset();
      this.newest = second;
    }
    while (this.newest < second) this.clear(++this.newest % capacity);
    return this.newest % capacity;
  },
  clear(slot) {
    for (const name in this.columns) this.columns[name].clear(slot);
    for (const values of this.signals.values()) values[slot] = 0;
  },
  reset() {
    for (let slot = 0; slot < capacity; slot++) this.clear(slot);
    this.newest = -1;
  },
  /** Seconds from the oldest C/N0 that is kept to now. */
  signalAge() {
    for (let back = capacity - 1; back > 0; back--) {
      const slot = (this.newest - back + capacity) % capacity;
      for (const values of this.signals.values()) if (values[slot]) return back + 1;
    }
    return 1;
  },
  /** The C/N0 of a signal at a slot. */
  addSignal(key, slot, cn0) {
    if (!this.signals.has(key)) {
      if (this.signals.size >= 256) this.signals.delete(this.signals.keys().next().value);
      this.signals.set(key, new Uint8Array(capacity));
    }
    this.signals.get(key)[slot] = cn0;
  },
};

/** Positions in metres from the first one, the oldest overwritten. */
const track = {
  limit: 6000, count: 0, next: 0, time: undefined, origin: undefined,
  east: new Float64Array(6000), north: new Float64Array(6000), up: new Float64Array(6000), speed: new Float32Array(6000),
  add(fix) {
    if (!this.origin) this.start(fix);
    let [east, north] = this.metres(fix.lat, fix.lon);
    if (Math.hypot(east, north) > 2e5) { // Too far for a plane: a new one.
      this.start(fix);
      [east, north] = [0, 0];
    }
    const isSame = fix.time !== undefined && fix.time === this.time;
    const index = isSame ? (this.next + this.limit - 1) % this.limit : this.next;
    this.east[index] = east;
    this.north[index] = north;
    this.up[index] = fix.height ?? fix.altitudeMSL ?? NaN;
    this.speed[index] = fix.speed ?? NaN;
    this.time = fix.time;
    if (isSame) return;
    this.next = (this.next + 1) % this.limit;
    this.count = Math.min(this.limit, this.count + 1);
  },
  clear() { [this.count, this.next, this.time, this.origin] = [0, 0, undefined, undefined]; },
  /** A plane that touches the ellipsoid (WGS 84) at a position. */
  start({ lat, lon }) {
    const sine = Math.sin((lat * Math.PI) / 180);
    const bend = 1 - 0.00669437999014 * sine * sine;
    const degree = (Math.PI / 180) * (6378137 / Math.sqrt(bend));
    this.origin = { lat, lon, east: degree * Math.sqrt(1 - sine * sine), north: (degree * (1 - 0.00669437999014)) / bend };
    this.count = this.next = 0;
  },
  metres(lat, lon) {
    const turn = ((lon - this.origin.lon + 540) % 360) - 180;
    return [turn * this.origin.east, (lat - this.origin.lat) * this.origin.north];
  },
  /** The index of the position that is this many places after the oldest. */
  index(place) { return (this.next + this.limit - this.count + place) % this.limit; },
  statistics() {
    const n = this.count;
    const mean = (values) => values.subarray(0, n).reduce((sum, value) => sum + value, 0) / n;
    const [east, north, up] = [mean(this.east), mean(this.north), mean(this.up)];
    const distances = Float64Array.from({ length: n }, (_, i) => Math.hypot(this.east[i] - east, this.north[i] - north)).sort();
    const heights = Float64Array.from({ length: n }, (_, i) => Math.abs(this.up[i] - up)).sort();
    const quantile = (sorted, share) => sorted[Math.max(0, Math.ceil(n * share) - 1)];
    return {
      east, north, cep50: quantile(distances, 0.5), cep95: quantile(distances, 0.95), farthest: distances[n - 1],
      height95: quantile(heights, 0.95), speed: mean(this.speed),
      lat: this.origin.lat + north / this.origin.north, lon: this.origin.lon + east / this.origin.east,
    };
  },
};

const trails = new Map(); // Azimuth and elevation of each satellite, a place for each degree.

// MARK: Stream

/** The values of a row of the history, after its second. */
const rowFields = ["status", "lat", "lon", "altitudeMSL", "height", "horizontalAccuracy", "verticalAccuracy", "speed", "course", "pdop", "hdop", "vdop", "satellitesUsed"];
const skyInterval = 10; // Seconds between two rows of satellites.

let session; // The source and the start of the session that is shown.
const on = {
  hello(hello) {
    // Another session: what is shown is not of now. The history of the same source continues.
    if (session && session.started !== hello.started) Object.assign(state, nothing(), { line: undefined, receiver: undefined, spectrum: undefined });
    if (session && session.source !== hello.source) {
      history.reset();
      track.clear();
      trails.clear();
    }
    if (session?.started !== hello.started) {
      notify();
      find("#uplink").hidden = true;
      for (const one of views) one.isDue = true;
    }
    session = hello;
    const kinds = { simulated: "SIMULATED", recording: "RECORDING", service: "LOCATION SERVICE" };
    setText(find("#kind"), kinds[hello.kind] ?? "");
    find("#kind").hidden = !kinds[hello.kind];
    setText(find("#source"), hello.source ?? "");
    document.title = `${hello.source ?? ""} – Sextant`;
  },
  /** The seconds that the page has missed, or that precede its load. */
  history({ fixes, skies }) {
    const newest = history.newest;
    const events = [
      ...fixes.map(([second, ...values]) => ({ second, kind: "fix", event: Object.fromEntries(rowFields.map((name, i) => [name, values[i] ?? undefined])) })),
      ...skies.map(([second, satellites]) => ({ second, kind: "sky", satellites })),
    ].filter(({ second }) => second > newest).sort((a, b) => a.second - b.second);
    for (const { second, kind, event, satellites } of events) {
      const time = new Date(second * 1000).toISOString();
      if (kind === "fix") { on.fix({ ...event, mode: event.lat === undefined ? 0 : 3, time }); continue; }
      history.slot(time);
      for (const [id, azimuth, elevation, ...signals] of satellites) {
        addTrail(id, azimuth, elevation);
        // A row counts for the seconds since the one before it.
        for (let i = 0; i < signals.length; i += 2) {
          for (let back = 0; back < skyInterval && second - back > newest; back++) {
            history.addSignal(`${id} ${signals[i]}`, (second - back + capacity) % capacity, signals[i + 1]);
          }
        }
      }
    }
    changed("fix");
    changed("sky");
  },
  fix(fix) {
    const slot = history.slot(fix.time);
    for (const name in history.columns) history.columns[name].add(slot, fix[name]);
    history.columns.status.add(slot, Math.max(0, statuses.indexOf(fix.status)));
    if (fix.mode >= 2 && Number.isFinite(fix.lat) && Number.isFinite(fix.lon)) track.add(fix);
  },
  sky({ time, satellites }) {
    const slot = history.slot(time);
    for (const satellite of satellites) {
      for (const signal of satellite.signals ?? []) history.addSignal(`${satellite.id} ${signal.name}`, slot, signal.cn0 ?? 0);
      addTrail(satellite.id, satellite.azimuth, satellite.elevation);
    }
  },
  /** Positions to a server: an empty object after the end of the program. */
  uplink(status) { find("#uplink").hidden = !("connected" in status); },
  message(message) { if (opened.has(message.name)) opened.set(message.name, message); },
  notice({ text }) { notify(text); },
  // The stream stays open: the next recording, or another session, can follow.
  end({ reason }) { connection("ended", reason ?? "the recording is over"); },
};

function addTrail(id, azimuth, elevation) {
  if (!Number.isFinite(azimuth) || !Number.isFinite(elevation)) return;
  const trail = trails.get(id) ?? [];
  const last = trail.at(-1);
  if (last && Math.hypot(last[0] - azimuth, last[1] - elevation) < 1) return;
  trail.push([azimuth, elevation]);
  if (trail.length > 120) trail.shift();
  if (trails.size < 256) trails.set(id, trail);
}

let stream;
let heard = 0; // The time of the last event, ms.
let again; // The timer of the next attempt.
function connect() {
  clearTimeout(again);
  stream?.close();
  heard = Date.now();
  const query = new URLSearchParams();
  if (opened.size) query.set("open", [...opened.keys()].join(","));
  if (history.newest >= 0) query.set("since", history.newest);
  if (token) query.set("token", token);
  const address = `events${query.size ? `?${query}` : ""}`;
  stream = new EventSource(address);
  stream.onopen = () => connection("live", "live");
  stream.onerror = ({ target }) => {
    connection("lost", "connection lost");
    if (target.readyState === EventSource.CLOSED) refused(address);
  };
  for (const name of ["hello", "history", "receiver", "fix", "sky", "messages", "message", "line", "trust", "fusion", "rf", "spectrum", "power", "settings", "uplink", "notice", "end"]) {
    stream.addEventListener(name, ({ data }) => {
      const value = JSON.parse(data);
      heard = Date.now();
      if (connected[0] !== "live" && name !== "notice") connection("live", "live");
      if (name !== "history") state[name] = value;
      on[name]?.(value);
      changed(name);
    });
  }
}

/** Shows why the server refused the stream: an EventSource does not have the reason. */
async function refused(address) {
  const abort = new AbortController();
  try {
    const reply = await fetch(address, { signal: abort.signal });
    if (!reply.ok) notify((await reply.text()).trim());
    // Other pages may have been closed meanwhile; a token does not become valid.
    if (reply.ok || reply.status === 503) again = setTimeout(connect, 2000);
  } catch {
    again = setTimeout(connect, 5000);
  }
  abort.abort();
}

/** Connects again if the connection is dead without an error, as after the sleep of a computer or of a tab. A source that is read
 * has events each second. */
function revive(limit) {
  if (document.hidden || connected[0] !== "live" || Date.now() - heard < limit) return;
  connection("lost", "connection lost");
  connect();
}
setInterval(revive, 5000, 20_000);
document.addEventListener("visibilitychange", () => revive(5000));
document.addEventListener("resume", () => revive(5000));
window.addEventListener("online", () => revive(5000));
window.addEventListener("pageshow", ({ persisted }) => { if (persisted) connect(); });

let connected = ["", "connecting"];
function connection(kind, text) {
  connected = [kind, text];
  const element = find("#connection");
  element.dataset.state = isPaused ? "paused" : kind;
  setText(element, isPaused ? "paused" : text);
}

function notify(text) {
  setText(find("#notice"), text ?? "");
  find("#notice").hidden = !text;
}

// MARK: Drawing

const views = []; // {element, needs, draw, isDue, isVisible}
const byElement = new Map();
const observer = new IntersectionObserver((entries) => {
  for (const entry of entries) byElement.get(entry.target).isVisible = entry.isIntersecting;
  schedule();
}, { rootMargin: "100px" });

/** Draws a view when one of these events has come and it is in the window. */
function view(selector, needs, draw) {
  const one = { element: find(selector), needs, draw, isDue: true, isVisible: false };
  views.push(one);
  byElement.set(one.element, one);
  observer.observe(one.element);
}

function changed(name) {
  for (const one of views) if (one.needs.includes(name)) one.isDue = true;
  schedule();
}

const interval = 250; // ms
let timer, drawn = 0;
function schedule() {
  if (timer || document.hidden || isPaused) return;
  timer = setTimeout(() => requestAnimationFrame(draw), Math.max(0, interval - (performance.now() - drawn)));
}
function draw() {
  timer = undefined;
  if (isPaused) return;
  drawn = performance.now();
  for (const one of views) {
    if (!one.isDue || !one.isVisible) continue;
    one.isDue = false;
    one.draw(one.element);
  }
}
function drawAll() {
  for (const one of views) one.isDue = true;
  schedule();
}
document.addEventListener("visibilitychange", schedule);
window.addEventListener("resize", drawAll);

/** Colours of the style by name, as they are in the theme. */
let palette = {};
function color(name) {
  if (palette[name]) return palette[name];
  const probe = document.body.appendChild(make("i"));
  probe.style.color = `var(--${name}, var(--soft))`;
  palette[name] = getComputedStyle(probe).color;
  probe.remove();
  return palette[name];
}
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { palette = {}; drawAll(); });

/** The context of a canvas in CSS pixels, cleared; its size follows the screen's resolution. */
function canvas(element) {
  const { clientWidth: width, clientHeight: height } = element;
  const scale = Math.min(2, devicePixelRatio || 1);
  const [w, h] = [Math.round(width * scale), Math.round(height * scale)];
  if (element.width !== w || element.height !== h) [element.width, element.height] = [w, h];
  const context = element.getContext("2d");
  context.setTransform(scale, 0, 0, scale, 0, 0);
  context.clearRect(0, 0, width, height);
  context.font = `11px ${getComputedStyle(document.body).fontFamily}`;
  context.textBaseline = "middle";
  context.lineWidth = 1;
  return { context, width, height };
}

function write(context, text, x, y, align = "left", fill = "soft") {
  context.fillStyle = color(fill);
  context.textAlign = align;
  context.fillText(text, x, y);
}

function path(context, points, stroke, width = 1) {
  context.strokeStyle = stroke;
  context.lineWidth = width;
  context.beginPath();
  points.forEach(([x, y], i) => (i ? context.lineTo(x, y) : context.moveTo(x, y)));
  context.stroke();
}

function circle(context, x, y, radius, stroke, fill) {
  context.beginPath();
  context.arc(x, y, radius, 0, 2 * Math.PI);
  if (fill) { context.fillStyle = fill; context.fill(); }
  if (stroke) { context.strokeStyle = stroke; context.stroke(); }
}

/** Makes the rows of a table's body those of a list: rows are kept, cells change only where their text does. */
function fill(body, rows) {
  while (body.rows.length > rows.length) body.lastElementChild.remove();
  rows.forEach((cells, i) => {
    const row = body.rows[i] ?? body.insertRow();
    cells.forEach((cell, j) => {
      const td = row.cells[j] ?? row.insertCell();
      const { text, n, key } = typeof cell === "object" ? cell : { text: String(cell) };
      if (n !== undefined) td.className = "n";
      if (key && td.dataset.key !== key) {
        td.dataset.key = key;
        td.replaceChildren(make("span", { class: "key" }), make("span"));
        td.firstElementChild.style.background = `var(--${key}, var(--soft))`;
      }
      setText(key ? td.lastElementChild : td, text ?? String(n));
    });
  });
}

function pairs(list, items) {
  const known = items.filter(([, value]) => value !== undefined && value !== "");
  while (list.children.length > known.length) list.lastElementChild.remove();
  known.forEach(([name, value], i) => {
    const row = list.children[i] ?? list.appendChild(make("div", {}, make("dt"), make("dd")));
    setText(row.firstElementChild, name);
    setText(row.lastElementChild, String(value));
  });
}

// MARK: Fix

view("#now", ["fix"], () => {
  const { fix } = state;
  const level = statusLevels[statuses.indexOf(fix.status)] ?? "bad";
  show("status", !fix.status || fix.status === "none" ? "no fix" : fix.status);
  find("#status").dataset.level = level;
  const count = fix.horizontalAccuracy < 0.1 ? 9 : 7;
  const angle = (value, signs) => (Number.isFinite(value) ? `${Math.abs(value).toFixed(count)}° ${signs[value < 0 ? 1 : 0]}` : "–");
  show("lat", angle(fix.lat, "NS"));
  show("lon", angle(fix.lon, "EW"));
  show("time", fix.time ? `${fix.time.slice(0, 10)} ${fix.time.slice(11).replace("Z", "")} UTC` : "–");
  const fine = fix.horizontalAccuracy < 1 ? 3 : 1;
  for (const [name, places] of Object.entries({
    altitudeMSL: fine, height: fine, horizontalAccuracy: fine + 1, verticalAccuracy: fine + 1, speed: 2, course: 1, climb: 2,
    satellitesUsed: 0, satellitesVisible: 0, pdop: 2, latencySeconds: 3,
  })) show(name, digits(fix[name], places));
});

// MARK: Sky

const systems = ["GPS", "SBAS", "Galileo", "BeiDou", "QZSS", "GLONASS", "NavIC"];
const strength = (satellite) => Math.max(0, ...(satellite.signals ?? []).map((signal) => signal.cn0 ?? 0));
let skyPlaces = [];

view("#sky", ["sky"], (element) => {
  const { context, width, height } = canvas(find("canvas", element));
  const { satellites } = state.sky;
  const [x0, y0, radius] = [width / 2, height / 2, Math.min(width, height) / 2 - 16];
  const spot = ([azimuth, elevation]) => {
    const distance = (radius * (90 - elevation)) / 90;
    const turn = (azimuth * Math.PI) / 180;
    return [x0 + distance * Math.sin(turn), y0 - distance * Math.cos(turn)];
  };
  for (const elevation of [0, 30, 60]) circle(context, x0, y0, (radius * (90 - elevation)) / 90, color("edge"));
  for (const azimuth of [0, 45, 90, 135]) path(context, [spot([azimuth, 0]), spot([azimuth + 180, 0])], color("edge"));
  ["N", "E", "S", "W"].forEach((name, i) => {
    const turn = (i * Math.PI) / 2;
    write(context, name, x0 + (radius + 9) * Math.sin(turn), y0 - (radius + 9) * Math.cos(turn), "center");
  });
  for (const elevation of [30, 60]) write(context, `${elevation}°`, x0 + 3, y0 - (radius * (90 - elevation)) / 90 + 8);
  skyPlaces = [];
  for (const satellite of satellites) {
    if (satellite.azimuth === undefined || satellite.elevation === undefined) continue;
    const [x, y] = spot([satellite.azimuth, satellite.elevation]);
    const [hue, cn0] = [color(satellite.gnss), strength(satellite)];
    const trail = (trails.get(satellite.id) ?? []).map(spot);
    context.globalAlpha = 0.35;
    if (trail.length > 1) path(context, [...trail, [x, y]], hue);
    context.globalAlpha = satellite.used || cn0 > 0 ? 1 : 0.45;
    const size = 4 + Math.min(50, cn0) / 9;
    context.lineWidth = 1.6;
    circle(context, x, y, size, hue, satellite.used ? hue : color("card"));
    if (satellite.id === picked) circle(context, x, y, size + 4, color("text"));
    context.globalAlpha = 1;
    skyPlaces.push({ x, y, size, id: satellite.id, order: (satellite.used ? 100 : 0) + cn0, isFaint: !satellite.used && cn0 === 0 });
  }
  labelSky(context, width, height, [x0, y0, radius]);
  const used = satellites.filter((satellite) => satellite.used).length;
  find("canvas", element).setAttribute("aria-label", `Sky plot: ${used} of ${satellites.length} satellites are used; numbers by system in the table`);
  const rows = [];
  for (const system of [...systems, ...new Set(satellites.map((one) => one.gnss).filter((name) => !systems.includes(name)))]) {
    const all = satellites.filter((satellite) => satellite.gnss === system);
    const heard = all.map(strength).filter((cn0) => cn0 > 0);
    if (!all.length) continue;
    rows.push([{ text: system, key: system }, { n: all.filter((satellite) => satellite.used).length }, { n: all.length },
      { n: heard.length ? digits(heard.reduce((a, b) => a + b) / heard.length, 1) : "–" }, { n: heard.length ? digits(Math.max(...heard), 0) : "–" }]);
  }
  fill(find("tbody", element), rows);
  const one = satellites.find((satellite) => satellite.id === picked);
  setText(find(".picked", element), one
    ? `${one.id} ${one.gnss}, elevation ${one.elevation ?? "–"}°, azimuth ${one.azimuth ?? "–"}°, ${describe(one)} dBHz, ${one.used ? "used" : "not used"}${one.quality !== undefined ? `, quality ${one.quality}` : ""}`
    : "Filled: used. Larger: stronger.");
});

/** Writes the names of the satellites so that they cover neither each other nor a dot; the used and strong ones first. */
function labelSky(context, width, height, [x0, y0, radius]) {
  const boxes = skyPlaces.map(({ x, y, size }) => [x - size, y - size, x + size, y + size]);
  for (const [x, y] of [[0, -1], [1, 0], [0, 1], [-1, 0]].map(([x, y]) => [x0 + x * (radius + 9), y0 + y * (radius + 9)])) {
    boxes.push([x - 6, y - 7, x + 6, y + 7]);
  }
  for (const place of [...skyPlaces].sort((a, b) => (b.id === picked) - (a.id === picked) || b.order - a.order)) {
    const { x, y, size, id } = place;
    const [w, h, gap, near] = [context.measureText(id).width + 1, 11, size + 3, size * 0.7 + 2];
    const corners = [[x + gap, y - h / 2], [x - gap - w, y - h / 2], [x - w / 2, y - gap - h], [x - w / 2, y + gap],
      [x + near, y - near - h], [x + near, y + near], [x - near - w, y - near - h], [x - near - w, y + near]];
    const free = corners.map(([left, top]) => [left, top, left + w, top + h]).find((box) => box[0] >= 0 && box[1] >= 0 && box[2] <= width && box[3] <= height
      && !boxes.some((other) => box[0] < other[2] && other[0] < box[2] && box[1] < other[3] && other[1] < box[3]));
    place.label = free;
    if (!free) continue; // Its dot shows the name under the pointer, and the table has it.
    boxes.push(free);
    context.globalAlpha = place.isFaint ? 0.6 : 1;
    write(context, id, free[0], free[1] + h / 2, "left", id === picked ? "text" : "soft");
  }
  context.globalAlpha = 1;
}
const describe = (satellite) => (satellite.signals ?? []).map((signal) => `${signal.name} ${signal.cn0 ?? "–"}`).join(", ") || "–";

function pick(id) {
  if (id === picked) return;
  picked = id;
  changed("sky");
}
find("#sky canvas").addEventListener("pointermove", ({ offsetX, offsetY }) => {
  const distance = (place) => Math.hypot(place.x - offsetX, place.y - offsetY);
  pick(skyPlaces.filter((place) => distance(place) < 16).sort((a, b) => distance(a) - distance(b))[0]?.id);
});
for (const one of ["#sky canvas", "#signals canvas"]) find(one).addEventListener("pointerleave", () => pick());

// MARK: C/N0

let signalColumns = [];
view("#signals", ["sky"], (element) => {
  const order = (satellite) => systems.indexOf(satellite.gnss) * 1000 + Number(satellite.id.slice(1));
  const satellites = [...state.sky.satellites].sort((a, b) => order(a) - order(b));
  const signals = satellites.flatMap((satellite) => (satellite.signals ?? [])
    .filter((signal) => signal.cn0 > 0).map((signal) => ({ satellite, ...signal })));
  const picture = find("canvas", element);
  const left = 26;
  picture.style.minWidth = `${left + signals.length * 10}px`;
  const { context, width, height } = canvas(picture);
  const [top, bars, history0] = [8, 170, 216];
  const rowCount = 120;
  const step = Math.min(34, (width - left) / Math.max(1, signals.length));
  const y = (cn0) => top + bars * (1 - Math.min(55, cn0) / 55);
  for (const cn0 of [0, 10, 20, 30, 40, 50]) {
    path(context, [[left, y(cn0) + 0.5], [width, y(cn0) + 0.5]], color("edge"));
    write(context, String(cn0), left - 5, y(cn0), "right");
  }
  signalColumns = [];
  signals.forEach(({ satellite, name, cn0, used }, i) => {
    const x = left + i * step;
    const bar = Math.max(2, step - Math.max(1, step * 0.22));
    const hue = color(satellite.gnss);
    context.lineWidth = 1.2;
    if (used ?? satellite.used) {
      context.fillStyle = hue;
      context.fillRect(x, y(cn0), bar, y(0) - y(cn0));
    } else {
      context.strokeStyle = hue;
      context.strokeRect(x + 0.6, y(cn0), bar - 1.2, y(0) - y(cn0));
    }
    if (satellite.id === picked) {
      context.strokeStyle = color("text");
      context.strokeRect(x - 0.5, y(cn0) - 1, bar + 1, y(0) - y(cn0) + 1);
    }
    if (step >= 17) write(context, digits(cn0, 0), x + bar / 2, y(cn0) - 6, "center");
    // The satellite's id below its first signal, upright: ids do not fit beside each other.
    if (signals[i - 1]?.satellite !== satellite || step >= 17) {
      context.save();
      context.translate(x + bar / 2, y(0) + 4);
      context.rotate(-Math.PI / 2);
      write(context, satellite.id, 0, 0, "right", satellite.id === picked ? "text" : "soft");
      context.restore();
    }
    signalColumns.push({ x, id: satellite.id });
  });
  // History: a column below each bar, the newest second on top, in the colour of its system; a stronger signal is denser.
  const rowHeight = (height - history0 - 14) / rowCount;
  // The axis is as long as the history, rounded up, and not longer than the axis of the charts: the picture is never
  // mostly empty.
  const age = history.signalAge();
  const shown = [60, 120, 300, 600, 1200, 1800, 3600].find((seconds) => seconds >= Math.min(age, span)) ?? span;
  const perRow = shown / rowCount;
  signals.forEach(({ satellite, name }, i) => {
    const values = history.signals.get(`${satellite.id} ${name}`);
    if (!values) return;
    context.fillStyle = color(satellite.gnss);
    for (let row = 0; row < rowCount; row++) {
      const second = history.newest - Math.floor(row * perRow);
      let cn0 = 0;
      for (let back = 0; back < Math.max(1, Math.min(perRow, 10)) && !cn0; back++) cn0 = values[(second - back + capacity) % capacity];
      if (!cn0) continue;
      context.globalAlpha = Math.min(1, Math.max(0.06, (cn0 - 12) / 38));
      context.fillRect(left + i * step, history0 + row * rowHeight, Math.max(2, step * 0.86), rowHeight + 0.4);
    }
  });
  context.globalAlpha = 1;
  write(context, "now", left - 5, history0 + 4, "right");
  write(context, `−${Math.min(shown, span) / 60}`, left - 5, height - 24, "right");
  write(context, "min", left - 5, height - 12, "right");
  const mean = signals.reduce((sum, signal) => sum + signal.cn0, 0) / signals.length;
  picture.setAttribute("aria-label", signals.length
    ? `C/N0 of ${signals.length} signals, mean ${digits(mean, 1)} dBHz; numbers in the table below` : "No signal is received");
  if (find("details", element).open) {
    fill(find("tbody", element), satellites.map((one) => [{ text: one.id, key: one.gnss }, { n: one.elevation ?? "–" }, { n: one.azimuth ?? "–" },
      describe(one), one.used ? "used" : ""]));
  }
});
find("#signals canvas").addEventListener("pointermove", ({ offsetX }) => pick(signalColumns.findLast((one) => one.x <= offsetX)?.id));
find("#signals details").addEventListener("toggle", () => changed("sky"));

// MARK: Position

// The picture that was chosen; without a choice the track of a receiver that moves, and the deviation of a stationary
// one.
let plane;
let shownPlane = "deviation";
const tiles = new Map(); // Images of the tile server by address, the least recent first.

/** A round length near a number: 1, 2 or 5 times a power of ten. */
function round(length) {
  const power = 10 ** Math.floor(Math.log10(length));
  return power * [1, 2, 5, 10].find((factor) => factor * power >= length * 0.999);
}
function metres(length) {
  if (length >= 1000) return `${+(length / 1000).toPrecision(3)} km`;
  return length >= 1 ? `${+length.toPrecision(3)} m` : length >= 0.01 ? `${+(length * 100).toPrecision(3)} cm` : `${+(length * 1000).toPrecision(3)} mm`;
}

view("#place", ["fix"], (element) => {
  const picture = find("canvas", element);
  const { context, width, height } = canvas(picture);
  show("positions", group(track.count));
  if (!track.count) {
    write(context, "No position so far", width / 2, height / 2, "center");
    picture.setAttribute("aria-label", "No position so far");
    return;
  }
  const result = track.statistics();
  for (const name of ["cep50", "cep95", "farthest", "height95"]) show(name, digits(result[name], result.cep95 < 1 ? 3 : 2));
  show("mean", `${digits(result.lat, 8)}, ${digits(result.lon, 8)}`);
  const hasMoved = result.speed > 0.5;
  showPlane(plane ?? (hasMoved ? "track" : "deviation"));
  const isTrack = shownPlane === "track";
  find("#moved").hidden = !hasMoved || isTrack;
  let [east, north, extent] = [result.east, result.north, result.farthest];
  if (isTrack) {
    const range = (values) => values.subarray(0, track.count).reduce(([a, b], v) => [Math.min(a, v), Math.max(b, v)], [Infinity, -Infinity]);
    const [[west, eastmost], [south, northmost]] = [range(track.east), range(track.north)];
    [east, north, extent] = [(west + eastmost) / 2, (south + northmost) / 2, Math.max(eastmost - west, northmost - south) / 2];
  }
  extent = Math.max(extent * 1.1, state.hello.tiles && isTrack ? 60 : 0.005);
  const scale = Math.min(width, height) / 2 / extent;
  const spot = (e, n) => [width / 2 + (e - east) * scale, height / 2 - (n - north) * scale];
  if (isTrack && state.hello.tiles) drawTiles(context, spot, scale, width, height, result);
  const ring = round(extent / 3);
  const [x0, y0] = [width / 2, height / 2];
  if (!isTrack) {
    for (let length = ring; length * scale < Math.hypot(width, height) / 2; length += ring) circle(context, x0, y0, length * scale, color("edge"));
    path(context, [[x0, 0], [x0, height]], color("edge"));
    path(context, [[0, y0], [width, y0]], color("edge"));
  }
  // Older positions are paler: a quarter of them at a time.
  context.fillStyle = color("accent");
  const size = track.count > 1500 ? 1.6 : 2.4;
  if (isTrack) {
    path(context, Array.from({ length: track.count }, (_, i) => spot(track.east[track.index(i)], track.north[track.index(i)])), color("accent"), 1.6);
  } else {
    for (let i = 0; i < track.count; i++) {
      const [x, y] = spot(track.east[track.index(i)], track.north[track.index(i)]);
      context.globalAlpha = 0.25 + 0.15 * Math.floor((4 * i) / track.count);
      context.fillRect(x - size / 2, y - size / 2, size, size);
    }
    context.globalAlpha = 1;
    context.setLineDash([5, 4]);
    context.lineWidth = 1.4;
    circle(context, x0, y0, result.cep50 * scale, color("warn"));
    circle(context, x0, y0, result.cep95 * scale, color("warn"));
    context.setLineDash([]);
    if (result.cep50 * scale > 14) write(context, "50 %", x0, y0 - result.cep50 * scale - 7, "center", "warn");
    if (result.cep95 * scale > 30) write(context, "95 %", x0, y0 - result.cep95 * scale - 7, "center", "warn");
  }
  const newest = track.index(track.count - 1);
  context.lineWidth = 1.5;
  circle(context, ...spot(track.east[newest], track.north[newest]), 4, color("card"), color("bad"));
  // The scale.
  path(context, [[10, height - 16], [10, height - 11], [10 + ring * scale, height - 11], [10 + ring * scale, height - 16]], color("text"), 1.2);
  write(context, metres(ring), 10 + (ring * scale) / 2, height - 21, "center", "text");
  write(context, "N ↑", width - 8, 10, "right");
  picture.setAttribute("aria-label", isTrack ? `Track of ${track.count} positions, ${metres(2 * extent)} across`
    : `Deviation of ${track.count} positions from their mean; half are within ${metres(result.cep50)}, 95 % within ${metres(result.cep95)}`);
});

/** The tiles (Web Mercator, 256 pixels) behind a track. They are loaded only if the server's `--tiles` names where from. */
function drawTiles(context, spot, scale, width, height, centre) {
  const cosine = Math.cos((centre.lat * Math.PI) / 180);
  const zoom = Math.max(0, Math.min(19, Math.round(Math.log2((40075016.7 * cosine * scale) / 256))));
  const count = 2 ** zoom;
  const size = (40075016.7 * cosine) / count; // Metres on the ground.
  const mercator = (lat) => (1 - Math.asinh(Math.tan((lat * Math.PI) / 180)) / Math.PI) / 2;
  const [x0, y0] = [((track.origin.lon + 180) / 360) * count, mercator(track.origin.lat) * count];
  const origin = spot(0, 0);
  const pixels = size * scale;
  const from = [Math.floor(x0 - origin[0] / pixels), Math.floor(y0 - origin[1] / pixels)];
  const to = [Math.floor(x0 + (width - origin[0]) / pixels), Math.floor(y0 + (height - origin[1]) / pixels)];
  for (let x = from[0]; x <= to[0]; x++) {
    for (let y = Math.max(0, from[1]); y <= Math.min(count - 1, to[1]); y++) {
      const column = ((x % count) + count) % count;
      const address = state.hello.tiles.replace("{z}", zoom).replace("{x}", column).replace("{y}", y);
      let image = tiles.get(address);
      if (!image) {
        image = new Image();
        image.onload = () => changed("fix");
        image.src = address;
      }
      tiles.delete(address);
      tiles.set(address, image);
      if (tiles.size > 64) tiles.delete(tiles.keys().next().value);
      if (image.complete && image.naturalWidth) context.drawImage(image, origin[0] + (x - x0) * pixels, origin[1] + (y - y0) * pixels, pixels, pixels);
    }
  }
}

// MARK: Charts

let span = 600; // Seconds that the charts show.
let cursor; // Seconds before the newest, at which the charts are read.
const charts = [
  { name: "Fix", columns: ["status"], unit: "" },
  { name: "Altitude", columns: ["altitudeMSL"], unit: "m", places: 2 },
  { name: "Accuracy ±", columns: ["horizontalAccuracy", "verticalAccuracy"], legend: ["h", "v"], unit: "m", places: 2, from: 0 },
  { name: "Speed", columns: ["speed"], unit: "m/s", places: 2, from: 0 },
  { name: "Course", columns: ["course"], unit: "°", places: 1, range: [0, 360] },
  { name: "DOP", columns: ["pdop", "hdop", "vdop"], legend: ["p", "h", "v"], unit: "", places: 2, from: 0 },
  { name: "Satellites used", columns: ["satellitesUsed"], unit: "", places: 0, from: 0 },
];
const hues = ["accent", "GLONASS", "Galileo"];
for (const chart of charts) {
  chart.label = make("small", { "data-chart": chart.columns[0] }, "–");
  chart.canvas = make("canvas", { role: "img", class: chart.name === "Fix" ? "thin" : "" });
  find("#rows").append(make("span", {}, make("b", {}, chart.name), chart.label), chart.canvas);
}

view("#charts", ["fix"], () => {
  for (const chart of charts) drawChart(chart);
  const newest = history.newest;
  setText(find("#chart-from"), newest < 0 ? "" : clock(newest - span));
  setText(find("#chart-to"), newest < 0 ? "" : `${clock(newest)} UTC`);
  setText(find("#chart-at"), cursor === undefined ? "" : `at ${clock(newest - cursor)}`);
});

function drawChart(chart) {
  const { context, width, height } = canvas(chart.canvas);
  const columns = chart.columns.map((name) => history.columns[name]);
  const { newest } = history;
  const x = (back) => width - 40 - ((width - 40) * back) / span;
  const readAt = (newest - (cursor ?? 0) + capacity) % capacity;
  const values = columns.map((column) => column.last[newest < 0 ? 0 : readAt]);
  if (chart.name === "Fix") {
    for (let back = span - 1; back >= 0; back--) {
      const status = columns[0].last[(newest - back + capacity) % capacity];
      if (newest < 0 || Number.isNaN(status)) continue;
      context.fillStyle = color(statusLevels[status]);
      context.fillRect(x(back + 1), 5, Math.max(1, (width - 40) / span + 0.5), height - 10);
    }
    setText(chart.label, Number.isNaN(values[0]) ? "–" : statuses[values[0]] === "none" ? "no fix" : statuses[values[0]]);
  } else {
    let [low, high] = [chart.from ?? Infinity, -Infinity];
    for (const column of columns) {
      for (let back = 0; back < span; back++) {
        const slot = (newest - back + capacity) % capacity;
        if (column.least[slot] < low) low = column.least[slot];
        if (column.greatest[slot] > high) high = column.greatest[slot];
      }
    }
    if (chart.range) [low, high] = chart.range;
    const places = high - low < 0.5 && chart.places ? chart.places + 1 : chart.places;
    setText(chart.label, values.map((value, i) => `${chart.legend ? `${chart.legend[i]} ` : ""}${digits(value, places)}`).join("  ") + ` ${chart.unit}`);
    if (high >= low && newest >= 0) {
      if (high - low < 1e-6) [low, high] = [chart.from ?? low - 1, high + 1];
      const y = (value) => height - 5 - ((height - 10) * (value - low)) / (high - low);
      path(context, [[0, height - 4.5], [width - 40, height - 4.5]], color("edge"));
      write(context, digits(high, high < 10 ? 1 : 0), width - 36, 8);
      write(context, digits(low, low && low < 10 ? 1 : 0), width - 36, height - 8);
      columns.forEach((column, i) => {
        if (columns.length === 1) {
          context.strokeStyle = color("band");
          context.lineWidth = 1.5;
          context.beginPath();
          for (let back = span - 1; back >= 0; back--) {
            const slot = (newest - back + capacity) % capacity;
            if (!(column.greatest[slot] > column.least[slot])) continue;
            context.moveTo(x(back), y(column.least[slot]));
            context.lineTo(x(back), y(column.greatest[slot]));
          }
          context.stroke();
        }
        context.strokeStyle = color(hues[i]);
        context.lineWidth = 1.4;
        context.beginPath();
        let before = -Infinity; // A gap of more than five seconds, and a course over north, is not bridged.
        let value0;
        for (let back = span - 1; back >= 0; back--) {
          const value = column.last[(newest - back + capacity) % capacity];
          if (Number.isNaN(value)) continue;
          const isJoined = before - back <= 5 && !(chart.range && Math.abs(value - value0) > 180);
          if (isJoined) context.lineTo(x(back), y(value));
          else { context.moveTo(x(back) - 1, y(value)); context.lineTo(x(back), y(value)); }
          [before, value0] = [back, value];
        }
        context.stroke();
      });
    }
  }
  if (cursor !== undefined) path(context, [[x(cursor), 0], [x(cursor), height]], color("soft"));
  chart.canvas.setAttribute("aria-label", `${chart.name} against time: ${chart.label.textContent}`);
}

function moveCursor(back) {
  cursor = back === undefined || history.newest < 0 ? undefined : Math.max(0, Math.min(span - 1, Math.round(back)));
  if (isPaused) views.find((one) => one.element.id === "charts").draw();
  else changed("fix");
}
find("#rows").addEventListener("pointermove", ({ target, offsetX }) => {
  if (target.tagName === "CANVAS") moveCursor(((target.clientWidth - 40 - offsetX) / (target.clientWidth - 40)) * span);
});
find("#rows").addEventListener("pointerleave", () => moveCursor());
find("#rows").addEventListener("blur", () => moveCursor());
find("#rows").addEventListener("keydown", (event) => {
  const step = { ArrowLeft: 1, ArrowRight: -1 }[event.key];
  if (!step) return;
  event.preventDefault();
  moveCursor((cursor ?? 0) + step * (event.shiftKey ? 10 : 1) * (span / 60));
});

// MARK: Messages

const messageBody = find("#console tbody");
const messageRows = new Map(); // Rows by name: the row, and the one below it with its fields while it is open.

view("#console", ["messages", "message"], drawConsole);
function drawConsole() {
  const { messages, bytesPerSecond, total } = state.messages;
  show("messageRate", group(bytesPerSecond));
  show("messageTotal", group(total ?? 0));
  const words = find("#filter").value.toLowerCase().split(/\s+/).filter(Boolean);
  const shown = messages.filter(({ name }) => words.every((word) => name.toLowerCase().includes(word)))
    .sort((a, b) => (a.name < b.name ? -1 : 1)).slice(0, 256);
  const names = new Set(shown.map(({ name }) => name));
  for (const [name, one] of messageRows) {
    if (names.has(name)) continue;
    one.row.remove();
    one.detail?.remove();
    messageRows.delete(name);
  }
  let after; // The row that the next one follows.
  for (const message of shown) {
    let one = messageRows.get(message.name);
    if (!one) {
      one = { row: make("tr", { "data-name": message.name, tabindex: messageRows.size ? -1 : 0 }) };
      for (const kind of ["", "n", "n", "n", "n", ""]) one.row.append(make("td", kind ? { class: kind } : {}));
      messageRows.set(message.name, one);
    }
    place(one.row, after);
    after = one.row;
    const cells = [message.name, digits(message.rate, 1), group(message.count), group(message.bytes), digits(message.age, 1), message.last ?? ""];
    cells.forEach((text, i) => setText(one.row.cells[i], text));
    const isOpen = opened.has(message.name);
    one.row.setAttribute("aria-expanded", isOpen);
    if (!isOpen) {
      one.detail?.remove();
      one.detail = undefined;
      continue;
    }
    one.detail ??= make("tr", { class: "detail", "data-detail": message.name }, make("td", { colspan: 6 }));
    place(one.detail, after);
    after = one.detail;
    const frame = opened.get(message.name);
    if (one.frame === frame && one.detail.firstElementChild.hasChildNodes()) continue;
    one.frame = frame;
    one.detail.firstElementChild.replaceChildren(...(frame ? detail(frame) : ["waiting for the next one"]));
  }
}
function place(row, after) {
  const next = after ? after.nextElementSibling : messageBody.firstElementChild;
  if (next !== row) messageBody.insertBefore(row, next);
}

/** The fields of a frame, its groups as tables, and its bytes. */
function detail(frame) {
  const single = [], parts = [];
  for (const [name, value] of Object.entries(frame.fields ?? {})) {
    if (Array.isArray(value) && typeof value[0] === "object" && value[0] !== null) {
      const keys = Object.keys(value[0]);
      const table = make("table", {}, make("thead", {}, make("tr", {}, ...keys.map((key) => make("th", {}, key)))));
      const body = table.createTBody();
      for (const item of value.slice(0, 64)) body.append(make("tr", {}, ...keys.map((key) => make("td", {}, plain(item[key] ?? "")))));
      parts.push(make("div", { class: "scroll" }, table));
    } else {
      single.push(make("div", {}, make("dt", {}, name), make("dd", { "data-name": name }, plain(value))));
    }
  }
  const bytes = (frame.hex ?? "").match(/../g) ?? [];
  const lines = [];
  for (let at = 0; at < Math.min(bytes.length, 2048); at += 16) {
    const line = bytes.slice(at, at + 16);
    const text = line.map((byte) => String.fromCharCode(parseInt(byte, 16)).replace(/[^ -~]/, "·")).join("");
    lines.push(`${at.toString(16).padStart(4, "0")}  ${line.join(" ").padEnd(47)}  ${text}`);
  }
  return [make("dl", { class: "fields" }, ...single), ...parts, make("pre", { "aria-label": "Bytes" }, lines.join("\n"))];
}

function toggleMessage(name) {
  if (opened.has(name)) opened.delete(name);
  else {
    if (opened.size >= openedLimit) opened.delete(opened.keys().next().value);
    opened.set(name, undefined);
  }
  drawConsole();
  connect();
}
messageBody.addEventListener("click", ({ target }) => {
  const row = target.closest("tr[data-name]");
  if (row) { focusRow(row); toggleMessage(row.dataset.name); }
});
messageBody.addEventListener("keydown", (event) => {
  const row = event.target.closest("tr[data-name]");
  if (!row) return;
  const rows = findAll("tr[data-name]", messageBody);
  const at = rows.indexOf(row);
  const target = { ArrowDown: rows[at + 1], ArrowUp: rows[at - 1], Home: rows[0], End: rows.at(-1) }[event.key];
  if (target) focusRow(target);
  else if (event.key === "Enter" || event.key === " ") toggleMessage(row.dataset.name);
  else return;
  event.preventDefault();
});
function focusRow(row) {
  for (const other of findAll("tr[tabindex='0']", messageBody)) other.tabIndex = -1;
  row.tabIndex = 0;
  row.focus();
}
find("#filter").addEventListener("input", drawConsole);
find("#filter").addEventListener("keydown", ({ key, target }) => {
  if (key === "Escape") { target.value = ""; target.blur(); drawConsole(); }
  if (key === "ArrowDown" || key === "Enter") { const row = find("tr[data-name]", messageBody); if (row) focusRow(row); }
});

// MARK: Power

const powerHue = (word = "") => /sleep|backup|off/i.test(word) ? "band" : /saving|batch|cyclic/i.test(word) ? "NavIC"
  : /waking|acquisition|search/i.test(word) ? "warn" : /awake|tracking|continuous/i.test(word) ? "accent" : "edge";

view("#power", ["power"], (element) => {
  const { power } = state;
  show("powerState", power.state ?? "unknown");
  fields.powerState.dataset.level = power.awake === undefined ? "" : power.awake ? "accent" : "good";
  show("powerReason", power.reason ?? "");
  const charge = (value) => (Number.isFinite(value) ? `${digits(value / 3600, 3)} mAh` : "–");
  const [used, always] = [power.chargeMilliampereSeconds, power.alwaysOnChargeMilliampereSeconds];
  show("charge", charge(used) + (always > 0 && used !== undefined ? `, ${digits((100 * used) / always, 0)} %` : ""));
  show("alwaysOnCharge", charge(always));
  find("#charge").value = always > 0 ? used / always : 0;
  find("#always-on").value = always > 0 ? 1 : 0;
  find("#estimated").hidden = !power.estimated;
  fill(find("tbody", element), (power.demands ?? []).map((demand) => [demand.who ?? "", demand.what ?? ""]));
  find("table", element).hidden = !power.demands?.length;

  const picture = find("canvas", element);
  const { context, width, height } = canvas(picture);
  const parts = power.timeline ?? [];
  const at = (text) => (typeof text === "number" ? text : Date.parse(text) / 1000);
  const end = Math.max(...parts.map((part) => at(part.to ?? part.from)), parts.some((part) => part.to === undefined) ? Date.now() / 1000 + (state.hello.kind === "recording" ? history.offset : 0) : 0);
  if (!parts.length) {
    write(context, "No state so far", 0, height / 2);
    picture.setAttribute("aria-label", "No power state so far");
    return;
  }
  const start = at(parts[0].from);
  const x = (seconds) => (width * (seconds - start)) / Math.max(1, end - start);
  const sums = new Map();
  for (const part of parts) {
    const [from, to] = [at(part.from), part.to === undefined ? end : at(part.to)];
    sums.set(part.state, (sums.get(part.state) ?? 0) + to - from);
    context.fillStyle = color(powerHue(part.state));
    context.fillRect(x(from), 2, Math.max(1, x(to) - x(from) - 0.5), height - 4);
    if (x(to) - x(from) > 9 * part.state.length) write(context, part.state, x(from) + 7, height / 2, "left", powerHue(part.state) === "accent" ? "card" : "text");
  }
  picture.setAttribute("aria-label", `Power: ${[...sums].map(([name, seconds]) => `${name} ${Math.round(seconds)} s`).join(", ")}`);
  setText(find("#power-from"), clock(start));
  setText(find("#power-to"), [...sums].map(([name, seconds]) => `${name} ${digits((100 * seconds) / Math.max(1, end - start), 0)} %`).join(", "));
});

// MARK: Radio

view("#fusion", ["fusion"], (element) => {
  const { mode, sensors } = state.fusion;
  element.hidden = !mode;
  setText(find(".badge", element), mode ?? "");
  fill(find("tbody", element), sensors.map((sensor) => [sensor]));
});

view("#rf", ["rf", "spectrum", "trust"], (element) => {
  const { blocks } = state.rf;
  const { trust, reasons } = state.trust;
  setText(find("#trust"), trust === "unknown" ? "" : `Signals: ${[trust, ...reasons].join("; ")}`);
  find(".empty", element).hidden = blocks.length > 0;
  find("table", element).hidden = !blocks.length;
  fill(find("tbody", element), blocks.map((block) => [block.id ?? "–", block.jamming ?? "–", { n: block.jammingIndicator ?? "–" }, { n: block.noise ?? "–" },
    { n: block.agc ?? "–" }, block.antenna ?? "–", block.antennaPower ?? "–"]));
  const spectra = state.spectrum?.blocks ?? [];
  const parent = find("#spectra");
  while (parent.children.length > spectra.length) parent.lastElementChild.remove();
  spectra.forEach((block, i) => {
    const figure = parent.children[i] ?? parent.appendChild(make("div", {}, make("p", { class: "note" }), make("canvas", { class: "spectrum", role: "img" })));
    const [caption, picture] = figure.children;
    const { context, width, height } = canvas(picture);
    const { bins = [] } = block;
    if (bins.length < 2) return;
    const [low, high] = [Math.min(...bins), Math.max(...bins, Math.min(...bins) + 10)];
    const peak = bins.indexOf(Math.max(...bins));
    const frequency = (bin) => (block.centerHz + (block.spanHz * (bin - bins.length / 2)) / bins.length) / 1e6;
    const x = (bin) => (width * bin) / (bins.length - 1);
    const y = (value) => height - 16 - ((height - 24) * (value - low)) / (high - low);
    for (const bin of [0, bins.length / 4, bins.length / 2, (3 * bins.length) / 4]) {
      path(context, [[x(bin) + 0.5, 4], [x(bin) + 0.5, height - 14]], color("edge"));
      write(context, digits(frequency(bin), 0), x(bin) + 3, height - 6);
    }
    path(context, bins.map((value, bin) => [x(bin), y(value)]), color("accent"), 1.3);
    const text = `Spectrum ${i}: ${digits(frequency(0), 1)}–${digits(frequency(bins.length), 1)} MHz, greatest ${bins[peak]} dB at ${digits(frequency(peak), 2)} MHz${block.pgaDB !== undefined ? `, gain ${block.pgaDB} dB` : ""}`;
    setText(caption, text);
    picture.setAttribute("aria-label", text);
  });
});

// MARK: Line, receiver, settings

/** Words of a key: `checksumErrors` is "Checksum errors". */
const spelled = (key) => key.replace(/([a-z])([A-Z])/g, "$1 $2").toLowerCase().replace(/^./, (first) => first.toUpperCase());
const listed = (object = {}) => Object.entries(object).map(([key, value]) => [spelled(key),
  Array.isArray(value) ? value.join(", ") : typeof value === "number" ? (Number.isInteger(value) ? group(value) : digits(value, 1)) : plain(value)]);

view("#line", ["line", "messages"], (element) => {
  const rate = state.messages.bytesPerSecond;
  const baud = state.line?.baud ?? state.receiver?.baud;
  pairs(find("dl", element), [...listed(state.line),
    ["Load", baud && Number.isFinite(rate) ? `${digits((1000 * rate) / baud, 0)} % of ${group(baud / 10)} bytes/s` : undefined]]);
});
view("#identity", ["receiver", "hello"], (element) => {
  if (state.receiver) pairs(find("dl", element), [...listed(state.receiver), ["Sextant", state.hello.version]]);
});
view("#uplink", ["uplink"], (element) => {
  const status = state.uplink;
  if (!status || !("connected" in status)) return;
  show("uplinkState", status.connected ? "connected" : "not connected");
  fields.uplinkState.dataset.level = status.connected ? "good" : "warn";
  show("uplinkError", status.lastError ?? "");
  pairs(find("dl", element), [
    ["Waiting", `${group(status.queued)}${status.queued ? `, the oldest ${group(status.oldestSeconds)} s old` : ""}`],
    ["Acknowledged", `${group(status.acknowledged)} of ${group(status.sent)} sent`],
    ["Lost", `${group(status.thinned)} thinned, ${group(status.dropped)} dropped`],
    ["Bytes today", group(status.bytesToday)],
    ["Last success", status.lastSuccess ? status.lastSuccess.slice(11, 19) : undefined],
  ]);
});

let controlToken = token;
view("#settings", ["settings", "hello"], drawSettings);
function drawSettings() {
  const element = find("#settings");
  const words = find("#setting-filter").value.toLowerCase().split(/\s+/).filter(Boolean);
  const items = state.settings.items.filter(({ name }) => words.every((word) => name.toLowerCase().includes(word)));
  const isEditable = Boolean(state.hello.control && controlToken);
  find("#token-form").hidden = !state.hello.control || isEditable;
  const rest = items.length > 200 ? ` ${items.length - 200} more: narrow the filter.` : "";
  setText(find(".note", element), state.settings.items.length
    ? (isEditable ? "A value is set by Enter." : state.hello.control ? "The token is needed for changes." : "Read only; --control permits changes.") + rest
    : "No setting has been read from the receiver.");
  const body = find("tbody", element);
  if (body.contains(document.activeElement)) return; // A value is being typed.
  if (isEditable) {
    body.replaceChildren(...items.slice(0, 200).map(({ name, value, layer }) => {
      const input = make("input", { value: plain(value), "aria-label": name, spellcheck: "false" });
      const reply = make("td", {}, layer ?? "");
      input.addEventListener("keydown", async ({ key }) => {
        if (key === "Escape") { input.value = plain(value); input.blur(); }
        if (key === "Enter") setText(reply, await control({ set: { [name]: parsed(input.value) } }));
      });
      return make("tr", {}, make("td", {}, name), make("td", {}, input), reply);
    }));
  } else {
    fill(body, items.slice(0, 200).map(({ name, value, layer }) => [name, plain(value), layer ?? ""]));
  }
}
/** A number or a truth value if the text is one, else the text. */
const parsed = (text) => (text === "true" || text === "false" ? text === "true" : text.trim() !== "" && Number.isFinite(Number(text)) ? Number(text) : text);

async function control(body) {
  try {
    const reply = await fetch("control", { method: "POST", headers: { "Content-Type": "application/json", "X-Sextant-Token": controlToken }, body: JSON.stringify(body) });
    return (await reply.text()).trim() || (reply.ok ? "applied" : `refused (${reply.status})`);
  } catch {
    return "no connection";
  }
}
find("#setting-filter").addEventListener("input", () => { find("#settings tbody").replaceChildren(); drawSettings(); });
find("#token-form").addEventListener("submit", (event) => {
  event.preventDefault();
  controlToken = find("#token").value.trim();
  sessionStorage.setItem("token", controlToken);
  find("#settings tbody").replaceChildren();
  drawSettings();
});

// MARK: Keys and buttons

const actions = {
  p() {
    isPaused = !isPaused;
    find("#pause").setAttribute("aria-pressed", isPaused);
    setText(find("#pause"), isPaused ? "Continue" : "Pause");
    connection(...connected);
    drawAll();
  },
  t() {
    const themes = ["auto", "light", "dark"];
    setTheme(themes[(themes.indexOf(document.documentElement.dataset.theme ?? "auto") + 1) % 3]);
  },
  "/"() { find("#filter").focus(); },
  "?"() { find("#keys").open ? find("#keys").close() : find("#keys").showModal(); },
  d() { setPlane(shownPlane === "track" ? "deviation" : "track"); },
  w() { setSpan({ 60: 600, 600: 3600, 3600: 60 }[span]); },
};
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.tagName === "INPUT") return;
  if (!actions[event.key]) return;
  event.preventDefault();
  actions[event.key]();
});
find("#pause").addEventListener("click", actions.p);
find("#theme").addEventListener("click", actions.t);
find("#help").addEventListener("click", actions["?"]);

function setTheme(theme) {
  document.documentElement.dataset.theme = theme;
  setText(find("#theme"), { auto: "Theme", light: "Light", dark: "Dark" }[theme]);
  localStorage.setItem("theme", theme);
  palette = {};
  drawAll();
}
function choose(name, value) {
  for (const button of findAll(`[data-${name}]`)) button.setAttribute("aria-pressed", button.dataset[name] === String(value));
  drawAll();
}
function setPlane(name) {
  plane = name;
  showPlane(name);
  drawAll();
}
function showPlane(name) {
  shownPlane = name;
  for (const button of findAll("[data-plane]")) button.setAttribute("aria-pressed", button.dataset.plane === name);
}
function setSpan(seconds) { span = seconds; cursor = undefined; choose("window", seconds); }
for (const button of findAll("[data-plane]")) button.addEventListener("click", () => setPlane(button.dataset.plane));
for (const button of findAll("[data-window]")) button.addEventListener("click", () => setSpan(Number(button.dataset.window)));

setTheme(localStorage.getItem("theme") ?? "auto");
connect();
