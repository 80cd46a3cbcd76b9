// The stretch of time that is shown, shared by all pictures of time: they draw again when it changes.

function makeView(span) {
  const view = {t0: 0, t1: Math.max(span, 1), span: Math.max(span, 1), pictures: [], wanted: false};
  view.draw = () => {
    if (view.wanted) return;
    view.wanted = true;
    requestAnimationFrame(() => {
      view.wanted = false;
      for (const picture of view.pictures) picture();
    });
  };
  view.show = (t0, t1) => {
    const wide = Math.min(view.span, Math.max(t1 - t0, Math.min(view.span, 20)));
    const from = Math.min(Math.max(0, t0), view.span - wide);
    view.t0 = from;
    view.t1 = from + wide;
    view.draw();
  };
  view.middle = () => (view.t0 + view.t1) / 2;
  view.zoom = (factor, at) => {
    const middle = at === undefined ? view.middle() : at;
    view.show(middle - (middle - view.t0) * factor, middle + (view.t1 - middle) * factor);
  };
  view.pan = (share) => view.show(view.t0 + (view.t1 - view.t0) * share, view.t1 + (view.t1 - view.t0) * share);
  view.fit = () => view.show(0, view.span);
  return view;
}

// A canvas as wide as its place, sharp on every screen; draw(context, width, height) in CSS pixels.
function makeCanvas(height, draw, view, label) {
  const canvas = element('canvas', {role: 'img', 'aria-label': label});
  const picture = () => {
    const ratio = Math.min(window.devicePixelRatio || 1, 3), width = canvas.clientWidth, tall = height();
    if (!width) return;
    if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(tall * ratio)) {
      canvas.width = Math.round(width * ratio);
      canvas.height = Math.round(tall * ratio);
      canvas.style.height = tall + 'px';
    }
    const context = canvas.getContext('2d');
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, width, tall);
    draw(context, width, tall);
  };
  canvas.style.height = height() + 'px';
  view.pictures.push(picture);
  new ResizeObserver(() => view.draw()).observe(canvas);
  return canvas;
}

const gutterOf = (width) => width < 560 ? 82 : 128;
const fontOf = (px) => px + 'px system-ui, -apple-system, \'Segoe UI\', \'DejaVu Sans\', sans-serif';

// The beginning of a text, as much as a width holds.
function fitted(context, text, width) {
  if (context.measureText(text).width <= width) return text;
  let keep = text.length;
  while (keep > 1 && context.measureText(text.slice(0, keep) + '…').width > width)
    keep = keep > 24 ? keep - 8 : keep - 1;
  return keep > 1 ? text.slice(0, keep) + '…' : '';
}

function tickStep(wide, pixels) {
  const rough = wide / Math.max(2, pixels / 95);
  let step = 1;
  while (step < rough) step *= step * 2 >= rough ? 2 : step * 5 >= rough ? 5 : 10;
  return step;
}

// A time on the axis: in the unit of the last one, with as many digits as tell one tick from the next.
function tickText(ns, step, most) {
  let k = 0;
  while (k < 3 && most >= TIME_SIZES[k + 1]) k++;
  const digits = Math.max(0, Math.min(9, Math.ceil(-Math.log10(step / TIME_SIZES[k]) - 1e-9)));
  return (ns / TIME_SIZES[k]).toFixed(digits) + TIME_UNITS[k];
}

function drawAxis(context, view, left, width, top, bottom) {
  const scale = (width - left) / (view.t1 - view.t0), step = tickStep(view.t1 - view.t0, width - left);
  context.font = fontOf(11);
  context.textAlign = 'center';
  context.textBaseline = 'alphabetic';
  for (let at = Math.ceil(view.t0 / step) * step; at <= view.t1; at += step) {
    const x = left + (at - view.t0) * scale;
    context.fillStyle = token('--line');
    context.fillRect(Math.round(x), top, 1, bottom - top);
    context.fillStyle = token('--dim');
    const text = tickText(at, step, view.t1), half = context.measureText(text).width / 2;
    context.fillText(text, Math.min(Math.max(x, left + half), width - half - 1), top - 5);
  }
}

// Dragging, pinching, the wheel and keys move the view. `hooks`: click(x, y), hover(event or null), step(by).
function moveByHand(canvas, view, hooks) {
  const fingers = new Map();
  let moved = 0, apart = 0;
  const timeAt = (x) => {
    const left = gutterOf(canvas.clientWidth);
    return view.t0 + (x - left) / (canvas.clientWidth - left) * (view.t1 - view.t0);
  };
  canvas.tabIndex = 0;
  canvas.addEventListener('pointerdown', (event) => {
    canvas.setPointerCapture(event.pointerId);
    fingers.set(event.pointerId, event.offsetX);
    moved = 0;
    apart = 0;
  });
  canvas.addEventListener('pointermove', (event) => {
    if (!fingers.has(event.pointerId)) return hooks.hover(event);
    const before = fingers.get(event.pointerId), inner = canvas.clientWidth - gutterOf(canvas.clientWidth);
    fingers.set(event.pointerId, event.offsetX);
    if (fingers.size === 1) {
      moved += Math.abs(event.offsetX - before);
      if (moved > 3) view.pan((before - event.offsetX) / inner);
      return undefined;
    }
    const [one, other] = fingers.values(), now = Math.max(8, Math.abs(one - other));
    if (apart) view.zoom(apart / now, timeAt((one + other) / 2));
    apart = now;
    moved = 9;
    return undefined;
  });
  const lift = (event) => {
    if (fingers.delete(event.pointerId) && moved <= 3 && event.type === 'pointerup')
      hooks.click(event.offsetX, event.offsetY);
    apart = 0;
  };
  canvas.addEventListener('pointerup', lift);
  canvas.addEventListener('pointercancel', lift);
  canvas.addEventListener('pointerleave', () => hooks.hover(null));
  canvas.addEventListener('dblclick', (event) => view.zoom(0.35, timeAt(event.offsetX)));
  canvas.addEventListener('wheel', (event) => {
    const sideways = Math.abs(event.deltaX) > Math.abs(event.deltaY);
    if (!sideways && !event.ctrlKey && !event.metaKey && !event.shiftKey) return;  // the page scrolls
    event.preventDefault();
    if (sideways)
      view.pan(event.deltaX / canvas.clientWidth);
    else
      view.zoom(Math.exp(Math.max(-60, Math.min(60, event.deltaY)) * 0.006), timeAt(event.offsetX));
  }, {passive: false});
  canvas.addEventListener('keydown', (event) => {
    const moves = {
      ArrowLeft: () => view.pan(-0.2),
      ArrowRight: () => view.pan(0.2),
      ArrowUp: () => view.zoom(0.6),
      ArrowDown: () => view.zoom(1 / 0.6),
      '+': () => view.zoom(0.6),
      '=': () => view.zoom(0.6),
      '-': () => view.zoom(1 / 0.6),
      '0': () => view.fit(),
      Home: () => view.fit(),
      '.': () => hooks.step(1),
      ',': () => hooks.step(-1),
      n: () => hooks.step(1),
      p: () => hooks.step(-1),
    };
    if (!moves[event.key] || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    moves[event.key]();
  });
}
