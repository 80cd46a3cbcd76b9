// The timeline: a row for each device, a thin one for each link that carries something. Boxes that are narrower than a
// pixel are drawn as one, in the colour that takes most of it; how dense they are shows in its strength.

const ROW = 26, LINK_ROW = 13, ROW_SPACE = 7, AXIS = 22, MAX_ROWS = 12, MAX_LANES = 160;

// Boxes of a lane that overlap, as operators on a host do in calls, go into rows of their own; those of one call are
// one.
function packRows(plan, lane) {
  const rows = [], call = plan.raw.call, callOf = (item) => call && item >= 0 ? call[item] : -1;
  let open = null;  // the box of a call that may grow
  for (let i = 0; i < lane.item.length; i++) {
    const item = lane.item[i], start = lane.start[i], end = lane.end[i];
    if (open && callOf(item) === open.call) {
      open.row.count[open.at]++;
      continue;
    }
    let row = rows.find((other) => other.last <= start);
    if (!row && rows.length === MAX_ROWS) row = rows[MAX_ROWS - 1];
    if (!row) rows.push(row = {start: [], end: [], item: [], count: [], last: 0});
    row.start.push(start);
    row.end.push(end);
    row.item.push(item);
    row.count.push(1);
    row.last = Math.max(row.last, end);
    open = callOf(item) >= 0 ? {call: callOf(item), row, at: row.count.length - 1} : null;
  }
  return rows.length ? rows : [{start: [], end: [], item: [], count: [], last: 0}];
}

// The first box of a row that ends after t.
function firstAfter(row, t) {
  let low = 0, high = row.end.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (row.end[middle] > t)
      high = middle;
    else
      low = middle + 1;
  }
  return low;
}

function makeGantt(plan, view, look) {
  const lanes = plan.lanes.slice(0, MAX_LANES);
  let bottom = AXIS;
  for (const lane of lanes) {
    lane.rows = lane.rows || packRows(plan, lane);
    lane.top = bottom;
    lane.tall = lane.link ? LINK_ROW : lane.rows.length > 1 ? Math.max(9, ROW / 2) : ROW;
    bottom += lane.tall * lane.rows.length + ROW_SPACE;
  }
  const height = () => bottom + 4;
  const colourIndex = (item) => {
    if (item < 0) return OTHER + 1;
    return plan.kinds.length < 2 ? plan.raw.devices[plan.device[item]].colour : plan.raw.kind_colour[plan.kind[item]];
  };
  const busy = new Float64Array(10);

  function drawRow(context, row, top, tall, left, width) {
    const scale = (width - left) / (view.t1 - view.t0), n = row.start.length;
    let pixel = -1;
    const flush = () => {
      if (pixel < 0) return;
      let most = 0, all = 0;
      for (let k = 0; k < 10; k++) {
        all += busy[k];
        if (busy[k] > busy[most]) most = k;
      }
      context.globalAlpha = 0.3 + 0.7 * Math.min(1, all);
      context.fillStyle = COLOURS[most];
      context.fillRect(pixel, top, 1, tall);
      context.globalAlpha = 1;
      busy.fill(0);
      pixel = -1;
    };
    for (let i = firstAfter(row, view.t0); i < n && row.start[i] < view.t1; i++) {
      const a = left + (row.start[i] - view.t0) * scale, b = left + (row.end[i] - view.t0) * scale;
      const from = Math.max(left, a), to = Math.min(width, b);
      if (b - a < 1.5) {
        const at = Math.max(left, Math.floor((a + b) / 2));
        if (at !== pixel) flush();
        pixel = at;
        busy[look.found && !look.found.has(row.item[i]) ? 8 : colourIndex(row.item[i])] += Math.max(b - a, 1e-6);
        continue;
      }
      flush();
      drawBox(context, row, i, from, to, top, tall);
    }
    flush();
  }

  function drawBox(context, row, i, from, to, top, tall) {
    const item = row.item[i], whole = row.count[i] > 1 || (plan.calls && item >= 0 && plan.raw.call[item] >= 0);
    const k = whole ? plan.raw.devices[plan.device[item]].colour : colourIndex(item),
          wide = to - from - (to - from > 4 ? 0.7 : 0);
    const dimmed = look.found && row.count[i] === 1 && !look.found.has(item);
    context.globalAlpha = dimmed ? 0.18 : 1;
    context.fillStyle = COLOURS[k];
    context.fillRect(from, top, wide, tall);
    if (look.patterns && k < 9 && wide > 3) drawPattern(context, k, from, top, wide, tall);
    if (wide > 26 && tall > 12) {
      context.fillStyle = inkOn(COLOURS[k]);
      context.font = fontOf(11);
      context.textAlign = 'left';
      context.textBaseline = 'middle';
      const words = item === -1 ? 'transfers' :
          item < -1             ? '' :
          row.count[i] > 1      ? 'call ' + plan.raw.call[item] + ': ' + plural(row.count[i], 'operator') :
                                  plan.names[item];
      context.fillText(fitted(context, words, wide - 8), from + 4, top + tall / 2 + 0.5);
    }
    context.globalAlpha = 1;
  }

  function drawPattern(context, k, x, y, wide, tall) {
    context.save();
    context.beginPath();
    context.rect(x, y, wide, tall);
    context.clip();
    context.strokeStyle = inkOn(COLOURS[k]);
    context.globalAlpha *= 0.35;
    context.beginPath();
    const gap = 5 + (k >> 2) * 4, slant = [1, -1, 0, 2][k & 3];
    for (let at = Math.floor(x / gap) * gap - tall; at < x + wide + tall; at += gap) {
      if (slant === 2) {
        const line = y + ((at - x) % tall + tall) % tall;
        context.moveTo(x, line);
        context.lineTo(x + wide, line);
      } else {
        context.moveTo(at, y);
        context.lineTo(at + slant * tall, y + tall);
      }
    }
    context.stroke();
    context.restore();
  }

  // A strong line under what is on the critical path, and steps from lane to lane.
  function drawPath(context, left, width) {
    const scale = (width - left) / (view.t1 - view.t0);
    context.fillStyle = context.strokeStyle = token('--accent');
    let before = null, drawn = 0;
    for (const item of plan.path) {
      const lane = item >= 0 ? plan.laneOf[plan.device[item]] : lanes[plan.sent[-2 - item].lane];
      const start = item >= 0 ? plan.opStart[item] : plan.sent[-2 - item].start,
            end = item >= 0 ? plan.opEnd[item] : plan.sent[-2 - item].end;
      if (!lane) continue;
      const y = lane.top + lane.tall, x = left + (start - view.t0) * scale;
      if (end >= view.t0 && start <= view.t1) {
        const from = Math.max(left, x), to = Math.min(width, left + (end - view.t0) * scale);
        context.fillRect(from, y + 1, Math.max(to - from, 1), 3);
        if (before !== null && before !== y && x >= left && drawn++ < 600)
          context.fillRect(Math.round(x) - 0.5, Math.min(before, y) + 1, 1.5, Math.abs(before - y) + 3);
      }
      before = y;
    }
  }

  function drawChosen(context, left, width) {
    const boxes = look.chosenBoxes ? look.chosenBoxes(plan) : [], scale = (width - left) / (view.t1 - view.t0);
    for (const [laneIndex, start, end] of boxes) {
      const lane = lanes[laneIndex];
      if (!lane || end < view.t0 || start > view.t1) continue;
      const from = Math.max(left, left + (start - view.t0) * scale),
            to = Math.min(width, left + (end - view.t0) * scale);
      context.strokeStyle = token('--ink');
      context.lineWidth = 2;
      context.strokeRect(from - 1, lane.top - 1, Math.max(to - from, 2) + 2, lane.tall * lane.rows.length + 2);
    }
  }

  function draw(context, width) {
    const left = gutterOf(width);
    drawAxis(context, view, left, width, AXIS - 4, bottom);
    for (const lane of lanes) {
      const tall = lane.tall * lane.rows.length;
      context.fillStyle = token('--lane');
      context.fillRect(left, lane.top, width - left, tall);
      context.save();
      context.beginPath();
      context.rect(left, lane.top - 2, width - left, tall + 4);
      context.clip();
      lane.rows.forEach(
          (row, k) =>
              drawRow(context, row, lane.top + k * lane.tall, lane.tall - (lane.rows.length > 1 ? 1 : 0), left, width));
      context.restore();
      context.fillStyle = token(lane.link ? '--dim' : '--ink');
      context.font = fontOf(lane.link ? (left < 100 ? 9.5 : 10.5) : 12.5);
      context.textAlign = 'right';
      context.textBaseline = 'middle';
      context.fillText(fitted(context, lane.name, left - 10), left - 8, lane.top + tall / 2 + 0.5);
    }
    if (look.path && plan.path.length) drawPath(context, left, width);
    const bound = plan.facts.lower_bound_ns;
    if (bound > view.t0 && bound < view.t1) {
      context.strokeStyle = token('--accent');
      context.lineWidth = 1;
      context.setLineDash([4, 3]);
      context.beginPath();
      const x = left + (bound - view.t0) / (view.t1 - view.t0) * (width - left);
      context.moveTo(x, AXIS - 4);
      context.lineTo(x, bottom);
      context.stroke();
      context.setLineDash([]);
    }
    drawChosen(context, left, width);
  }

  const canvas = makeCanvas(height, draw, view, ganttLabel(plan));
  canvas.setAttribute('role', 'application');
  const boxAt = (x, y) => {
    const left = gutterOf(canvas.clientWidth),
          lane = lanes.find((one) => y >= one.top - 3 && y < one.top + one.tall * one.rows.length + 4);
    if (!lane) return null;
    if (x < left) return {lane, item: null};
    const row = lane.rows[Math.max(0, Math.min(lane.rows.length - 1, Math.floor((y - lane.top) / lane.tall)))];
    const scale = (view.t1 - view.t0) / (canvas.clientWidth - left), t = view.t0 + (x - left) * scale;
    let i = firstAfter(row, t - 1.5 * scale), best = null;
    for (; i < row.start.length && row.start[i] <= t + 1.5 * scale; i++) {
      const away = Math.max(row.start[i] - t, t - row.end[i], 0);
      if (!best || away < best.away || (away === best.away && row.end[i] - row.start[i] > best.end - best.start))
        best = {lane, item: row.item[i], count: row.count[i], start: row.start[i], end: row.end[i], away};
    }
    return best || {lane, item: null};
  };
  moveByHand(canvas, view, {
    click: (x, y) => {
      const box = boxAt(x, y);
      if (!box) return choose(null);
      if (box.item === null || box.item === -1)
        return box.lane.link ? choose({plan, link: box.lane.number}) : choose({plan, device: box.lane.device});
      if (box.item >= 0) return choose({plan, op: box.item});
      return choose(
          plan.pipeline ? {plan, tensor: -2 - box.item, link: box.lane.number} : {plan, transfer: -2 - box.item});
    },
    hover: (event) => showTip(event, event && boxAt(event.offsetX, event.offsetY), plan),
    step: (by) => stepOnLane(plan, by),
  });
  return element('div', {class: 'chart gantt' + (bottom > 560 ? ' tall' : '')}, canvas);
}

function ganttLabel(plan) {
  const loads = plan.raw.devices.filter((device) => device.operators > 0)
                      .map((device) => device.name + ' ' + percent(device.load_ns / Math.max(1, plan.value)))
                      .slice(0, 12)
                      .join(', ');
  return (plan.pipeline ? 'How each device and link fills the period of ' : 'Timeline of ') + exactTime(plan.value) +
      '. Loads: ' + loads +
      '. Arrow keys move and zoom, comma and full stop go from operator to operator, 0 shows all.';
}

// The operator before or after the chosen one on its device.
function stepOnLane(plan, by) {
  const now = chosen && chosen.plan === plan && chosen.op !== undefined ? chosen.op : -1;
  const lane = now >= 0 ? plan.laneOf[plan.device[now]] : plan.lanes[0];
  if (!lane) return;
  const at = now >= 0 ? lane.item.indexOf(now) : -1;
  const next = lane.item[Math.max(0, Math.min(lane.item.length - 1, at + by))];
  if (next >= 0) choose({plan, op: next}, true);
}

function ganttLegend(plan) {
  const rows = plan.kinds.length < 2 ? [] :
                                       plan.kinds.sort((a, b) => plan.raw.kind_colour[a] - plan.raw.kind_colour[b])
                                           .map((k) => element('span', {}, swatch(plan.kindColour[k]), plan.raw.kinds[k]));
  if (plan.raw.time.some((time, v) => time > 0 && plan.raw.kind_colour[plan.kind[v]] === OTHER))
    rows.push(element('span', {}, swatch(GREY), 'other kinds'));
  if (plan.lanes.some((lane) => lane.link || lane.item.includes(-1)))
    rows.push(element('span', {}, swatch(TRANSFER), 'transfers'));
  return element('div', {class: 'legend', 'aria-label': 'Colours of operator kinds'}, rows);
}
