// The parts of a plan as boxes: a row for each device, from left to right in the order in which data goes through them,
// with what is handed from part to part.

const MAX_NODES = 240, NODE_TALL = 46, NODE_SPACE = 12;

// Bytes from part to part, each tensor once for each part that receives it; and what parts wait for parts.
function partEdges(plan) {
  const edges = new Map();
  for (let v = 0; v < plan.n; v++)
    for (let i = plan.inStart[v]; i < plan.inStart[v + 1]; i++) {
      const t = plan.inTensor[i], from = plan.part[plan.producer[t]], to = plan.part[v];
      if (from === to || plan.everywhere.has(t)) continue;
      const key = from * plan.parts.length + to;
      if (!edges.has(key)) edges.set(key, {from, to, bytes: 0, tensors: 0, seen: new Set()});
      const edge = edges.get(key);
      if (edge.seen.has(t)) continue;
      edge.seen.add(t);
      edge.bytes += plan.size[t];
      edge.tensors++;
    }
  return Array.from(edges.values());
}

// Columns: each part behind all that it reads from. Parts may wait for each other in turn; then the one that comes
// first goes first.
function partColumns(n, edges) {
  const column = new Int32Array(n), waits = new Int32Array(n), out = Array.from({length: n}, () => []),
        done = new Uint8Array(n);
  for (const edge of edges) {
    out[edge.from].push(edge.to);
    waits[edge.to]++;
  }
  const ready = [];
  for (let k = n - 1; k >= 0; k--)
    if (waits[k] === 0) ready.push(k);
  for (let left = n, next = 0; left > 0; left--) {
    while (!ready.length && done[next]) next++;
    const k = ready.length ? ready.pop() : next;
    done[k] = 1;
    for (const to of out[k]) {
      if (done[to]) continue;
      column[to] = Math.max(column[to], column[k] + 1);
      if (--waits[to] === 0) ready.push(to);
    }
  }
  return column;
}

// The parts that are drawn, with column and row in the lane of their device.
function placeParts(plan, edges) {
  let shown = plan.parts.map((part, k) => k);
  if (shown.length > MAX_NODES) {
    shown.sort((a, b) => plan.parts[b].work - plan.parts[a].work);
    shown = shown.slice(0, MAX_NODES).sort((a, b) => a - b);
  }
  const at = new Map(shown.map((k, index) => [k, index])), inside = [];
  for (const edge of edges)
    if (at.has(edge.from) && at.has(edge.to)) inside.push({from: at.get(edge.from), to: at.get(edge.to)});
  const column = partColumns(shown.length, inside), nodes = new Map(), taken = new Map(), lanes = new Map();
  shown.forEach((k, index) => {
    const {device} = plan.parts[k], key = device + '/' + column[index], row = taken.get(key) || 0;
    const lane = lanes.get(device) || {rows: 0, first: column[index]};
    nodes.set(k, {k, column: column[index], row});
    taken.set(key, row + 1);
    lanes.set(device, {rows: Math.max(lane.rows, row + 1), first: Math.min(lane.first, column[index])});
  });
  return {nodes, lanes};
}

function edgePath(a, b, wide) {
  const x0 = a.x + wide, y0 = a.y + NODE_TALL / 2, x1 = b.x, y1 = b.y + NODE_TALL / 2,
        bend = Math.max(24, Math.abs(x1 - x0) / 2);
  return `M${x0} ${y0}C${x0 + bend} ${y0} ${x1 - bend} ${y1} ${x1} ${y1}`;
}

function shorten(text, letters) { return text.length <= letters ? text : text.slice(0, letters - 1) + '…'; }

function drawParts(plan, pickPart) {
  const edges = partEdges(plan), {nodes, lanes} = placeParts(plan, edges);
  const columns = Math.max(...Array.from(nodes.values(), (node) => node.column)) + 1;
  const memory_is_free = columns <= 40, wide = memory_is_free ? 150 : 54, gap = memory_is_free ? 62 : 30, left = 92;
  let y = 10;
  const bands = [];
  const order =
      Array.from(lanes.keys()).sort((a, b) => (plan.pipeline ? lanes.get(a).first - lanes.get(b).first : 0) || a - b);
  for (const device of order) {
    const tall = lanes.get(device).rows * (NODE_TALL + NODE_SPACE) + NODE_SPACE;
    bands.push({device, y, tall});
    y += tall + 8;
  }
  const top = new Map(bands.map((band) => [band.device, band.y])), width = left + columns * (wide + gap) + 10;
  const svg = drawing('svg', {
    width,
    height: y,
    viewBox: `0 0 ${width} ${y}`,
    preserveAspectRatio: 'xMinYMin meet',
    role: 'group',
    'aria-label': 'Parts and the tensors between them'
  });
  for (const band of bands) {
    svg.append(drawing('rect', {class: 'band', x: 0, y: band.y, width: width + 4000, height: band.tall, rx: 6}));
    svg.append(drawing(
        'rect', {x: 0, y: band.y, width: 5, height: band.tall, rx: 2, fill: colourOf(plan.deviceColour[band.device])}));
    svg.append(
        drawing('text', {x: 14, y: band.y + band.tall / 2 + 4}, shorten(plan.raw.devices[band.device].name, 11)));
  }
  for (const node of nodes.values()) {
    node.x = left + node.column * (wide + gap);
    node.y = top.get(plan.parts[node.k].device) + NODE_SPACE + node.row * (NODE_TALL + NODE_SPACE);
  }
  const most = edges.reduce((high, edge) => Math.max(high, edge.bytes), 1);
  if (edges.length > 300) svg.classList.add('crowded');
  for (const edge of edges.filter((one) => nodes.has(one.from) && nodes.has(one.to)).slice(0, 1500)) {
    const path = drawing('path', {
      class: 'edge',
      d: edgePath(nodes.get(edge.from), nodes.get(edge.to), wide),
      'stroke-width': (1 + 5 * Math.sqrt(edge.bytes / most)).toFixed(1)
    });
    path.append(drawing(
        'title', {},
        `part ${edge.from + 1} to part ${edge.to + 1}: ${plural(edge.tensors, 'tensor')}, ${sizeText(edge.bytes)}`));
    svg.append(path);
  }
  for (const node of nodes.values()) svg.append(drawPart(plan, node, wide, memory_is_free, pickPart));
  return svg;
}

function drawPart(plan, node, wide, memory_is_free, pickPart) {
  const part = plan.parts[node.k], colour = colourOf(plan.deviceColour[part.device]);
  const group = drawing('g', {
    class: 'node',
    id: 'node-' + node.k,
    tabindex: 0,
    role: 'button',
    'aria-label': `part ${node.k + 1} on ${plan.raw.devices[part.device].name}: ${part.name}, ${
        plural(part.working, 'operator')}, ${timeText(part.work)}`
  });
  group.append(drawing('rect', {class: 'back', x: node.x, y: node.y, width: wide, height: NODE_TALL, rx: 7}));
  group.append(drawing('rect', {
    x: node.x,
    y: node.y,
    width: wide,
    height: NODE_TALL,
    rx: 7,
    fill: colour,
    'fill-opacity': 0.22,
    stroke: colour,
    'stroke-width': 1.5
  }));
  group.append(drawing(
      'text', {x: node.x + 9, y: node.y + 19},
      memory_is_free ? shorten(`${node.k + 1}  ${part.name}`, 21) : String(node.k + 1)));
  group.append(drawing(
      'text', {class: 'dim', x: node.x + 9, y: node.y + 36},
      memory_is_free ? `${plural(part.working, 'operator')}, ${timeText(part.work)}` : timeText(part.work)));
  group.append(drawing('title', {}, `part ${node.k + 1}: ${part.name}`));
  const pick = () => pickPart(node.k);
  group.addEventListener('click', pick);
  group.addEventListener('keydown', (event) => {
    if (event.key !== 'Enter' && event.key !== ' ') return;
    event.preventDefault();
    pick();
  });
  return group;
}

// What a part holds: layers, in them operators; filled when it is opened.
function unfoldPart(plan, k) {
  const groups = new Map();
  for (let v = 0; v < plan.n; v++) {
    if (plan.part[v] !== k) continue;
    const layer = plan.layer ? plan.layer[v] : -1;
    if (!groups.has(layer)) groups.set(layer, []);
    groups.get(layer).push(v);
  }
  if (groups.size === 1) return operatorList(plan, groups.values().next().value);
  return element('div', {}, Array.from(groups, ([layer, operators]) => {
    const work = operators.reduce((sum, v) => sum + plan.raw.time[v], 0);
    const inside = element(
        'details', {},
        element(
            'summary', {}, element('span', {class: 'name'}, layer < 0 ? 'outside of layers' : plan.layers[layer]),
            `  ${plural(operators.length, 'operator')}, ${timeText(work)}`));
    inside.addEventListener('toggle', () => {
      if (inside.open && inside.children.length === 1) inside.append(operatorList(plan, operators));
    });
    return inside;
  }));
}

function operatorList(plan, operators, shown = 60) {
  const list = element('ul', {class: 'list'});
  const more = (from) => {
    for (const v of operators.slice(from, from + shown))
      list.append(element(
          'li', {}, operatorLink(plan, v),
          element('span', {}, plan.raw.kinds[plan.kind[v]] + ', ' + timeText(plan.raw.time[v]))));
    if (operators.length <= from + shown) return;
    const next = element(
        'li', {},
        element(
            'button', {
              onclick: () => {
                next.remove();
                more(from + shown);
              }
            },
            `${grouped(operators.length - from - shown)} more`),
        '');
    list.append(next);
  };
  more(0);
  return list;
}

const operatorLink = (plan, v) =>
    element('button', {class: 'plain name', onclick: () => choose({plan, op: v}, true)}, plan.names[v]);
