// The parts of a plan as boxes: a row for each device, from left to right in the order in which data goes through them,
// with what is handed from part to part.

const NODE_TALL = 46, NODE_SPACE = 12;

function edgePath(a, b, wide) {
  const x0 = a.x + wide, y0 = a.y + NODE_TALL / 2, x1 = b.x, y1 = b.y + NODE_TALL / 2,
        bend = Math.max(24, Math.abs(x1 - x0) / 2);
  return `M${x0} ${y0}C${x0 + bend} ${y0} ${x1 - bend} ${y1} ${x1} ${y1}`;
}

function shorten(text, letters) { return text.length <= letters ? text : text.slice(0, letters - 1) + '…'; }

function drawParts(plan, pickPart) {
  const {raw} = plan, columns = Math.max(...raw.column) + 1;
  const nodes = new Map(
      raw.column.map((column, k) => [k, {k, column, row: raw.row[k]}]).filter(([, node]) => node.column >= 0));
  const roomy = columns <= 40, wide = roomy ? 150 : 54, gap = roomy ? 62 : 30, left = 92;
  let y = 10;
  const bands = [];
  for (const [device, rows] of raw.bands) {
    const tall = rows * (NODE_TALL + NODE_SPACE) + NODE_SPACE;
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
        'rect', {x: 0, y: band.y, width: 5, height: band.tall, rx: 2, fill: plan.deviceColour[band.device]}));
    svg.append(
        drawing('text', {x: 14, y: band.y + band.tall / 2 + 4}, shorten(plan.raw.devices[band.device].name, 11)));
  }
  for (const node of nodes.values()) {
    node.x = left + node.column * (wide + gap);
    node.y = top.get(plan.parts[node.k].device) + NODE_SPACE + node.row * (NODE_TALL + NODE_SPACE);
  }
  const most = raw.edges.reduce((high, [, , , bytes]) => Math.max(high, bytes), 1);
  if (raw.edges.length > 300) svg.classList.add('crowded');
  for (const [from, to, tensors, bytes] of raw.edges.slice(0, 1500)) {
    const path = drawing('path', {
      class: 'edge',
      d: edgePath(nodes.get(from), nodes.get(to), wide),
      'stroke-width': (1 + 5 * Math.sqrt(bytes / most)).toFixed(1)
    });
    path.append(
        drawing('title', {}, `part ${from + 1} to part ${to + 1}: ${plural(tensors, 'tensor')}, ${sizeText(bytes)}`));
    svg.append(path);
  }
  for (const node of nodes.values()) svg.append(drawPart(plan, node, wide, roomy, pickPart));
  return svg;
}

function drawPart(plan, node, wide, roomy, pickPart) {
  const part = plan.parts[node.k], colour = plan.deviceColour[part.device];
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
      roomy ? shorten(`${node.k + 1}  ${part.name}`, 21) : String(node.k + 1)));
  group.append(drawing(
      'text', {class: 'dim', x: node.x + 9, y: node.y + 36},
      roomy ? `${plural(part.working, 'operator')}, ${timeText(part.work)}` : timeText(part.work)));
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
