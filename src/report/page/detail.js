// What was chosen: an operator, a transfer, a device, a link. One thing at a time; every picture marks it.

let chosen = null;
const look = {
  path: true,
  patterns: false,
  found: null,
  views: [],
  chosenBoxes: null
};
const redraw = () => look.views.forEach((view) => view.draw());

look.chosenBoxes = (plan) => {
  if (!chosen || chosen.plan !== plan) return [];
  if (chosen.op !== undefined) {
    const lane = plan.laneOf[plan.device[chosen.op]];
    return lane ? [[lane.index, plan.opStart[chosen.op], plan.opEnd[chosen.op]]] : [];
  }
  if (chosen.transfer === undefined) return [];
  const sent = plan.sent[chosen.transfer];
  return [[sent.lane, sent.start, sent.end]];
};

function choose(what, show) {
  chosen = what;
  const panel = byId('detail');
  panel.replaceChildren();
  panel.hidden = !what;
  for (const node of document.querySelectorAll('.node.on')) node.classList.remove('on');
  redraw();
  if (!what) return;
  if (what.part !== undefined && byId('node-' + what.part)) byId('node-' + what.part).classList.add('on');
  const {plan} = what;
  const made = what.op !== undefined ? operatorDetail(plan, what.op) :
      what.transfer !== undefined    ? transferDetail(plan, what.transfer) :
      what.tensor !== undefined      ? tensorDetail(plan, what.tensor, what.link) :
      what.part !== undefined        ? partDetail(plan, what.part) :
      what.device !== undefined      ? deviceDetail(plan, what.device) :
                                       linkDetail(plan, what.link);
  panel.append(
      element('button', {class: 'close', 'aria-label': 'Close', onclick: () => choose(null)}, '✕'),
      ...made.filter(Boolean));
  panel.scrollTop = 0;
  if (show && plan.view && !plan.pipeline) {
    const [box] = look.chosenBoxes(plan);
    if (box &&
        (box[1] < plan.view.t0 || box[2] > plan.view.t1 || box[2] - box[1] < (plan.view.t1 - plan.view.t0) / 400)) {
      const room = Math.max((box[2] - box[1]) * 12, plan.view.span / 400);
      plan.view.show((box[1] + box[2] - room) / 2, (box[1] + box[2] + room) / 2);
    }
  }
}

const deviceName = (plan, k) => plan.raw.devices[plan.parts[k].device].name;
const deviceLink = (plan, d) => element(
    'button', {class: 'plain', onclick: () => choose({plan, device: d})}, swatch(plan.deviceColour[d]),
    plan.raw.devices[d].name);
const transferLink = (plan, i) => element(
    'button', {class: 'plain', onclick: () => choose({plan, transfer: i}, true)}, 'transfer of ',
    element('span', {class: 'name'}, plan.names[plan.producer[plan.sent[i].tensor]]));

function waitedFor(plan, number, start) {
  if (number === undefined) return null;
  if (number === -1) return start > 0 ? 'nothing: the plan is idle before it' : 'nothing: it is the first';
  return number >= 0 ? operatorLink(plan, number) : transferLink(plan, -2 - number);
}

function neighbours(plan, title, rows) {
  if (!rows.length) return null;
  const list = element(
      'ul', {class: 'list'},
      rows.slice(0, 12).map(
          ([v, bytes, other]) => element(
              'li', {}, operatorLink(plan, v),
              element('span', {}, sizeText(bytes) + (other ? ', ' + plan.raw.devices[plan.device[v]].name : '')))));
  return element(
      'div', {}, element('h3', {}, `${title} (${grouped(rows.length)})`), list,
      rows.length > 12 ? element('p', {class: 'hint'}, `and ${grouped(rows.length - 12)} more`) : null);
}

function operatorDetail(plan, v) {
  const inputs = [], readers = [], here = plan.device[v], part = plan.parts[plan.part[v]];
  for (let i = plan.inStart[v]; i < plan.inStart[v + 1]; i++) {
    const t = plan.inTensor[i], from = plan.producer[t];
    inputs.push([from, plan.size[t], plan.device[from] !== here]);
  }
  for (let t = plan.outStart[v]; t < plan.outStart[v + 1]; t++)
    for (const user of usersOf(plan, t)) readers.push([user, plan.size[t], plan.device[user] !== here]);
  const timed = !plan.pipeline;
  return [
    element('h2', {class: 'name'}, plan.names[v]), factList([
      ['kind', plan.raw.kinds[plan.kind[v]]], ['device', deviceLink(plan, here)],
      ['part', `${plan.part[v] + 1}: ${part.name}`],
      plan.layer && plan.layer[v] >= 0 ? ['layer', element('span', {class: 'name'}, plan.layers[plan.layer[v]])] : null,
      plan.calls && plan.raw.call && plan.raw.call[v] >= 0 ? ['call', grouped(plan.raw.call[v])] : null,
      timed ? ['start', exactTime(plan.opStart[v])] : null, timed ? ['finish', exactTime(plan.opEnd[v])] : null,
      ['takes', exactTime(plan.raw.time[v])], ['makes', sizeText(outputBytes(plan, v))],
      plan.raw.weights[v] ? ['weights', sizeText(plan.raw.weights[v])] : null,
      plan.raw.waited ? ['waited for', waitedFor(plan, plan.raw.waited[v], plan.opStart[v])] : null,
      plan.onPath.has(v) ? ['critical', 'on the critical path'] : null
    ]),
    neighbours(plan, 'Reads from', inputs), neighbours(plan, 'Read by', readers)
  ];
}

function transferDetail(plan, i) {
  const sent = plan.sent[i], v = plan.producer[sent.tensor];
  return [
    element('h2', {}, 'Transfer'), factList([
      ['tensor of', operatorLink(plan, v)], ['bytes', sizeText(plan.size[sent.tensor])],
      ['over', plan.lanes[sent.lane] ? plan.lanes[sent.lane].name : ''],
      ['bound for', plan.raw.memories[sent.memory].name], ['start', exactTime(sent.start)],
      ['finish', exactTime(sent.end)], ['takes', exactTime(sent.end - sent.start)],
      plan.raw.transfer_waited ? ['waited for', waitedFor(plan, plan.raw.transfer_waited[i], sent.start)] : null,
      plan.onPath.has(-2 - i) ? ['critical', 'on the critical path'] : null
    ]),
    neighbours(
        plan, 'Read by',
        Array.from(
            usersOf(plan, sent.tensor), (user) => [user, plan.size[sent.tensor], plan.device[user] !== plan.device[v]]))
  ];
}

function tensorDetail(plan, t, link) {
  return [
    element('h2', {}, 'Tensor on a link'), factList([
      ['made by', operatorLink(plan, plan.producer[t])], ['bytes', sizeText(plan.size[t])],
      ['over', plan.linkName(link)]
    ]),
    neighbours(
        plan, 'Read by',
        Array.from(
            usersOf(plan, t), (user) => [user, plan.size[t], plan.device[user] !== plan.device[plan.producer[t]]]))
  ];
}

function partDetail(plan, k) {
  const part = plan.parts[k];
  return [
    element('h2', {}, `part ${k + 1}: ${part.name}`), factList([
      ['device', deviceLink(plan, part.device)],
      ['operators', `${grouped(part.operators)}, ${grouped(part.working)} with work`], ['work', exactTime(part.work)],
      ['first', operatorLink(plan, part.first)], ['last', operatorLink(plan, part.last)]
    ]),
    unfoldPart(plan, k)
  ];
}

function deviceDetail(plan, d) {
  const device = plan.raw.devices[d], time = new Map(), longest = [];
  for (let v = 0; v < plan.n; v++) {
    if (plan.device[v] !== d) continue;
    time.set(plan.kind[v], (time.get(plan.kind[v]) || 0) + plan.raw.time[v]);
    longest.push(v);
  }
  longest.sort((a, b) => plan.raw.time[b] - plan.raw.time[a]);
  const kinds = Array.from(time).sort((a, b) => b[1] - a[1]).filter((pair) => pair[1] > 0).slice(0, 8);
  return [
    element('h2', {}, swatch(plan.deviceColour[d]), device.name), factList([
      ['class', device.class], ['operators', grouped(device.operators)],
      [
        'load',
        `${exactTime(device.load_ns)}, ${percent(device.load_ns / Math.max(1, plan.value))}`
      ],
      ['memory', `${sizeText(device.memory_bytes)} of ${sizeText(device.memory_limit_bytes)}`],
      ['parts', grouped(plan.parts.filter((part) => part.device === d).length)],
      device.replica_of >= 0 ? ['replica of', deviceLink(plan, device.replica_of)] : null
    ]),
    kinds.length ? element('h3', {}, 'Time by kind') : null,
    kinds.length ?
        element(
            'ul', {class: 'list'},
            kinds.map(
                ([kind, ns]) => element(
                    'li', {}, element('span', {}, swatch(plan.kindColour[kind]), plan.raw.kinds[kind]),
                    element('span', {}, timeText(ns))))) :
        null,
    longest.length ? element('h3', {}, 'Longest operators') : null,
    longest.length ? operatorList(plan, longest.slice(0, 10)) : null
  ];
}

function linkDetail(plan, l) {
  const link = plan.raw.links[l];
  return [
    element('h2', {}, plan.linkName(l)), factList([
      ['carries', sizeText(link.bytes_per_s) + ' a second'], ['latency', exactTime(link.latency_ns)],
      ['load', `${exactTime(link.busy_ns)}, ${percent(link.busy_ns / Math.max(1, plan.value))}`]
    ])
  ];
}

// ---- words at the pointer ----

function showWords(event, words) {
  const tip = byId('tip');
  tip.replaceChildren(...words.map(([tag, text]) => element(tag, {}, text)));
  tip.hidden = false;
  const width = tip.offsetWidth, tall = tip.offsetHeight;
  tip.style.left = Math.max(6, Math.min(event.clientX + 14, innerWidth - width - 8)) + 'px';
  tip.style.top = (event.clientY + 18 + tall > innerHeight ? event.clientY - tall - 12 : event.clientY + 18) + 'px';
}

function showTip(event, box, plan) {
  if (!event || !box || event.pointerType === 'touch') {
    byId('tip').hidden = true;
    return;
  }
  const {item, lane} = box;
  if (item === null)
    return lane.link ?
        showWords(
            event, [['b', lane.name], ['span', 'a link, load ' + percent(lane.busy / Math.max(1, plan.value))]]) :
        showWords(event, [
          ['b', lane.name],
          [
            'span',
            plural(plan.raw.devices[lane.device].operators, 'operator') + ', load ' +
                percent(plan.raw.devices[lane.device].load_ns / Math.max(1, plan.value))
          ]
        ]);
  const span = `${plan.pipeline ? '' : exactTime(box.start) + ' to ' + exactTime(box.end) + ', '}${
      timeText(box.end - box.start)}`;
  if (item === -1) return showWords(event, [['b', 'transfers'], ['span', span]]);
  if (item < -1) {
    const t = plan.pipeline ? -2 - item : plan.sent[-2 - item].tensor;
    return showWords(event, [
      ['b', plan.names[plan.producer[t]]], ['span', `transfer of ${sizeText(plan.size[t])}, ${lane.name}, ${span}`]
    ]);
  }
  if (box.count > 1)
    return showWords(
        event,
        [['b', `call ${plan.raw.call[item]} on ${lane.name}`], ['span', `${plural(box.count, 'operator')}, ${span}`]]);
  return showWords(event, [
    ['b', plan.names[item]],
    ['span', `${plan.raw.kinds[plan.kind[item]]} on ${lane.name}, ${span}, makes ${sizeText(outputBytes(plan, item))}`]
  ]);
}
