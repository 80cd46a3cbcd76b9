// Memory: over time where the plan has times, against the limit; else the greatest amount.

function memoryCurve(raw) {
  const at = new Float64Array(raw.at.length);
  for (let i = 0, sum = 0; i < at.length; i++) at[i] = sum += raw.at[i];
  return {at, bytes: raw.bytes};
}

function heldAt(curve, t) {
  let low = 0, high = curve.at.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (curve.at[middle] <= t)
      low = middle + 1;
    else
      high = middle;
  }
  return low ? curve.bytes[low - 1] : 0;
}

function drawMemory(plan, memory, view) {
  const curve = memoryCurve(memory), limit = memory.limit_bytes, tall = 92, top = 8;
  const near = limit !== null && limit <= memory.peak_bytes * 2.5,
        most = Math.max(memory.peak_bytes * 1.12, near ? limit * 1.06 : 0, 1);
  const draw = (context, width) => {
    const left = gutterOf(width), inner = width - left, bottom = tall - 18;
    const yOf = (bytes) => bottom - (bottom - top) * bytes / most;
    context.fillStyle = token('--lane');
    context.fillRect(left, top, inner, bottom - top);
    context.fillStyle = COLOURS[2];
    context.globalAlpha = 0.55;
    context.beginPath();
    context.moveTo(left, bottom);
    // As many points as there are pixels; each the greatest amount of its pixel.
    let i = 0;
    while (i < curve.at.length && curve.at[i] <= view.t0) i++;
    let held = heldAt(curve, view.t0);
    for (let x = 0; x < inner; x++) {
      const until = view.t0 + (x + 1) / inner * (view.t1 - view.t0);
      let high = held;
      while (i < curve.at.length && curve.at[i] < until) high = Math.max(high, held = curve.bytes[i++]);
      context.lineTo(left + x, yOf(high));
      context.lineTo(left + x + 1, yOf(high));
    }
    context.lineTo(width, bottom);
    context.fill();
    context.globalAlpha = 1;
    context.font = fontOf(11);
    context.textBaseline = 'middle';
    context.textAlign = 'right';
    context.fillStyle = token('--dim');
    context.fillText('0', left - 8, bottom - 4);
    context.fillText(sizeText(memory.peak_bytes), left - 8, Math.max(top + 5, yOf(memory.peak_bytes)));
    if (near) {
      context.strokeStyle = token('--accent');
      context.setLineDash([5, 3]);
      context.beginPath();
      context.moveTo(left, yOf(limit));
      context.lineTo(width, yOf(limit));
      context.stroke();
      context.setLineDash([]);
    }
  };
  const canvas = makeCanvas(
      () => tall, draw, view,
      `Memory of ${memory.name} over time: at most ${sizeText(memory.peak_bytes)} of ${sizeText(limit)}`);
  moveByHand(canvas, view, {
    click: () => {},
    step: () => {},
    hover: (event) => {
      if (!event) return showTip(null);
      const left = gutterOf(canvas.clientWidth),
            t = view.t0 + (event.offsetX - left) / (canvas.clientWidth - left) * (view.t1 - view.t0);
      return event.offsetX < left ?
          showTip(null) :
          showWords(event, [['b', sizeText(heldAt(curve, t))], ['span', 'at ' + exactTime(Math.round(t))]]);
    },
  });
  return element(
      'div', {},
      element(
          'p', {class: 'caption'}, memory.name,
          element(
              'small', {},
              `at most ${sizeText(memory.peak_bytes)} of ${sizeText(limit)}${
                  limit ? ' (' + percent(memory.peak_bytes / limit) + ')' :
                          ''}${near ? '; the dashed line is the limit' : ''}`)),
      element('div', {class: 'chart'}, canvas));
}

function memorySection(plan, view) {
  const memories = plan.raw.memories, curves = memories.filter((memory) => memory.at && memory.at.length);
  const table = tableOf(
      [['memory', 'tight'], ['at most', 'n'], ['limit', 'n'], ['of the limit', '']],
      memories.filter((memory) => memory.peak_bytes > 0)
          .map(
              (memory) =>
                  [memory.name, sizeText(memory.peak_bytes), sizeText(memory.limit_bytes),
                   memory.limit_bytes === null ? '' : metered(memory.peak_bytes / memory.limit_bytes)]));
  if (!curves.length) return [table];
  return [
    element(
        'p', {class: 'lead'},
        'Weights, activations, workspace and copies of transferred tensors. Moves with the timeline.'),
    curves.slice(0, 24).map((memory) => drawMemory(plan, memory, view)), curves.length > 24 ? table : null
  ];
}
