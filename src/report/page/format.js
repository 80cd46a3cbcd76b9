// Numbers in the words of situ's tables, and elements without HTML: names never pass through a parser.

const byId = (id) => document.getElementById(id);

// element("td", {class: "n"}, "text", child, ...): attributes that begin with "on" are listeners.
function element(tag, attributes, ...children) {
  const made = document.createElement(tag);
  for (const [key, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (key.startsWith('on'))
      made.addEventListener(key.slice(2), value);
    else
      made.setAttribute(key, value === true ? '' : value);
  }
  made.append(...children.flat(9).filter((child) => child !== null && child !== undefined));
  return made;
}

function drawing(tag, attributes, ...children) {
  const made = document.createElementNS('http://www.w3.org/2000/svg', tag);
  for (const [key, value] of Object.entries(attributes || {})) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

// Three digits, as text_time and text_size of situ have them.
function scaled(value, units, sizes) {
  let k = 0;
  while (k + 1 < units.length && Math.abs(value) >= sizes[k + 1] * 0.9995) k++;
  const part = value / sizes[k];
  const digits = k === 0 || Math.abs(part) >= 100 ? 0 : Math.abs(part) >= 10 ? 1 : 2;
  return part.toFixed(k === 0 ? 0 : digits) + units[k];
}
const TIME_UNITS = [' ns', ' us', ' ms', ' s'], TIME_SIZES = [1, 1e3, 1e6, 1e9];
const timeText = (ns) => ns === null || ns === undefined ? 'none' : scaled(ns, TIME_UNITS, TIME_SIZES);
const sizeText = (bytes) => bytes === null || bytes === undefined ?
    'no limit' :
    scaled(bytes, [' B', ' KB', ' MB', ' GB', ' TB'], [1, 1e3, 1e6, 1e9, 1e12]);
// Six digits.
function exactTime(ns) {
  if (ns === null || ns === undefined) return 'none';
  let k = 0;
  while (k < 3 && ns >= TIME_SIZES[k + 1]) k++;
  return (k === 0 ? String(ns) : (ns / TIME_SIZES[k]).toPrecision(6)) + TIME_UNITS[k];
}
function grouped(n) { return String(n).replace(/\B(?=(\d{3})+$)/g, ','); }
function percent(share) {
  const value = share * 100;
  if (value === 0) return '0 %';
  if (value < 0.01) return '< 0.01 %';
  return value.toFixed(value < 1 ? 2 : value < 99.95 ? 1 : 0) + ' %';
}
const plural = (n, word) => grouped(n) + ' ' + word + (n === 1 ? '' : 's');

const inkOn = (colour) => {
  const [r, g, b] = [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16));
  return 0.299 * r + 0.587 * g + 0.114 * b > 140 ? '#10151f' : '#ffffff';
};
const token = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

// A table: columns [title, class], rows of cells (text or elements); rows may be picked.
function tableOf(columns, rows, pick) {
  const head = element('tr', {}, columns.map(([title, kind]) => element('th', {class: kind, scope: 'col'}, title)));
  const body = rows.map(
      (cells, k) => element(
          'tr',
          pick ? {
            class: 'pick',
            tabindex: 0,
            onclick: (event) => pick(k, event.currentTarget),
            onkeydown: (event) => {
              if (event.target !== event.currentTarget || (event.key !== 'Enter' && event.key !== ' ')) return;
              event.preventDefault();
              pick(k, event.currentTarget);
            },
          } :
                 {},
          cells.map((cell, c) => element('td', {class: columns[c][1]}, cell))));
  return element('div', {class: 'wide'}, element('table', {}, element('thead', {}, head), element('tbody', {}, body)));
}

// Opens what a row holds below it, or closes it again.
function unfoldRow(tr, columns, make) {
  const next = tr.nextElementSibling, open = next && next.classList.contains('uses');
  tr.classList.toggle('on', !open);
  if (open)
    next.remove();
  else
    tr.after(element('tr', {class: 'uses'}, element('td', {colspan: columns}, make())));
}

function meter(share, colour) {
  const fill = element('i', {class: share > 1.0000001 ? 'over' : null});
  fill.style.width = Math.max(0, Math.min(1, share)) * 100 + '%';
  if (colour && share <= 1.0000001) fill.style.background = colour;
  return element('span', {class: 'meter', role: 'img', 'aria-label': percent(share)}, fill);
}

// A bar and its share in figures.
function metered(share, colour) {
  return element('span', {class: 'metered'}, meter(share, colour), element('span', {}, percent(share)));
}

function swatch(colour) {
  const made = element('span', {class: 'swatch', 'aria-hidden': 'true'});
  made.style.background = colour;
  return made;
}

function factList(pairs) {
  return element(
      'dl', {class: 'facts'},
      pairs.filter((pair) => pair && pair[1] !== null)
          .map(([label, words]) => [element('dt', {}, label), element('dd', {}, words)]));
}
