// The page: sections in order, and the bar above them.

const data = JSON.parse(byId('data').textContent);
const COLOURS = data.colours, OTHER = 8, GREY = COLOURS[OTHER], TRANSFER = COLOURS[9];
const plans = data.plans.map(readPlan), letters = ['A', 'B'];
const ONE_VIEW = makeView(Math.max(...plans.map((plan) => plan.span)));
for (const plan of plans) plan.view = ONE_VIEW;
// Buttons and keys zoom to what is chosen, where it is to be seen.
ONE_VIEW.middle = () => {
  const [box] = chosen ? look.chosenBoxes(chosen.plan) : [], middle = box ? (box[1] + box[2]) / 2 : -1;
  return middle >= ONE_VIEW.t0 && middle <= ONE_VIEW.t1 ? middle : (ONE_VIEW.t0 + ONE_VIEW.t1) / 2;
};

function timelineSection() {
  const tools = element('div', {class: 'bar', role: 'toolbar', 'aria-label': 'Timeline'}), plan = plans[0];
  const press = (label, words, act) => element('button', {onclick: act, 'aria-label': words, title: words}, label);
  const toggle = (label, words, key) => {
    const made = element(
        'button', {
          'aria-pressed': String(look[key]),
          title: words,
          onclick: () => {
            look[key] = !look[key];
            made.setAttribute('aria-pressed', String(look[key]));
            redraw();
          }
        },
        label);
    return made;
  };
  tools.append(
      press('−', 'Zoom out', () => ONE_VIEW.zoom(1 / 0.6)),
      press('+', 'Zoom in', () => ONE_VIEW.zoom(0.6)), press('all', 'Show everything', ONE_VIEW.fit));
  if (plans.some((one) => one.path.length))
    tools.append(toggle('critical path', 'Highlight the critical path', 'path'));
  tools.append(toggle('patterns', 'Distinguish kinds by patterns too', 'patterns'));
  const words = plan.pipeline ?
      'How each device and link fills one period: its operators in the order of the model. This is not the timeline ' +
          'of one input: each input passes through all stages, and a new one enters every period.' :
      plan.calls ? 'Each call on an accelerator is one box, including its transfers; hosts run operators in parallel.' :
                   'The schedule of every device and link. The line under the boxes is the critical path.';
  return [
    element('p', {class: 'lead'}, words), tools,
    plans.map(
        (one, k) =>
            [plans.length > 1 ?
                 element('p', {class: 'caption'}, 'plan ' + letters[k], element('small', {}, exactTime(one.value))) :
                 null,
             makeGantt(one, ONE_VIEW, look), ganttLegend(one),
             one.lanes.length > MAX_LANES ? element('p', {class: 'hint'}, `Drawn: the first ${MAX_LANES} lanes.`) :
                                             null]),
    element(
        'p', {class: 'hint'},
        'Drag to move; Ctrl and the wheel, two fingers or a double click to zoom; click for details. With the ' +
            'keyboard: arrows to move, + and − to zoom, 0 for all, comma and full stop to step through operators.',
        plans.some((one) => one.facts.lower_bound_ns > 0 && one.facts.lower_bound_ns < one.span) ?
            ' The dashed line is the lower bound.' :
            '')
  ];
}

function sectionsOf(plan) {
  const path = plan.path.length > 0;
  return [
    ['summary', 'Summary', () => summarySection(plan)],
    plans.length > 1 ? ['difference', 'Difference', () => differenceSection(plans[0], plans[1])] : null,
    ['timeline', plan.pipeline ? 'Period' : 'Timeline', timelineSection],
    ['parts', plan.pipeline ? 'Stages' : 'Parts', () => partSection(plan)],
    ['memory', 'Memory', () => memorySection(plan, ONE_VIEW)],
    ['devices', 'Devices and links', () => deviceSection(plan)],
    path ? ['path', 'Critical path', () => pathSection(plan)] : null,
    ['transfers', plan.sent.length ? 'Transfers' : 'Hand-overs', () => transferSection(plan)],
    plan.facts.what_if && plan.facts.what_if.length ? ['what-if', 'What if', () => whatIfSection(plan)] : null,
    data.compare ? ['solvers', 'Solvers', () => compareSection(plan, data)] : null,
    data.run ? ['run', 'Measured', () => runSection(data.run)] : null,
    ['operators', 'Operators', () => searchSection(plan)]
  ].filter(Boolean);
}

// Sections at the top are drawn at once, the others as soon as the page stands.
function render(plan) {
  const {facts} = plan, main = byId('main'), nav = byId('nav'), sections = sectionsOf(plan);
  ONE_VIEW.pictures.length = 0;
  look.found = null;
  choose(null);
  document.title = `${facts.model} on ${facts.platform}: situ report`;
  byId('title').replaceChildren(
      element('span', {}, facts.model), element('small', {}, ' on '), element('span', {}, facts.platform));
  byId('subtitle').textContent =
      `${facts.objective}, ${facts.execution}; ${plural(plan.n, 'operator')}; found by ${facts.solver || 'no solver'}`;
  nav.replaceChildren(...sections.map(([id, title]) => element('a', {href: '#' + id}, title)));
  const shells = sections.map(
      ([id, title]) =>
          element('section', {id, 'aria-labelledby': id + '-title'}, element('h2', {id: id + '-title'}, title)));
  main.replaceChildren(...shells);
  const fill = (k) => {
    if (k < sections.length && shells[k].isConnected) shells[k].append(...sections[k][2]().flat(9).filter(Boolean));
  };
  const first = sections.findIndex(([id]) => id === 'timeline') + 1;
  for (let k = 0; k < first; k++) fill(k);
  requestAnimationFrame(() => setTimeout(() => {
                          for (let k = first; k < sections.length; k++) fill(k);
                          document.documentElement.dataset.ready = 'yes';
                          watchSections(shells, nav);
                          if (location.hash && byId(location.hash.slice(1)))
                            byId(location.hash.slice(1)).scrollIntoView();
                        }));
}

let watcher = null;
function watchSections(shells, nav) {
  if (watcher) watcher.disconnect();
  watcher = new IntersectionObserver((entries) => {
    for (const entry of entries)
      if (entry.isIntersecting)
        for (const link of nav.children) link.classList.toggle('here', link.hash === '#' + entry.target.id);
  }, {rootMargin: '-15% 0px -75% 0px'});
  for (const shell of shells) watcher.observe(shell);
}

if (plans.length > 1) {
  const chooser = byId('choose');
  chooser.className = 'bar';
  chooser.hidden = false;
  chooser.append(...plans.map(
      (plan, k) => element(
          'button', {
            role: 'radio',
            'aria-checked': String(k === 0),
            onclick: (event) => {
              for (const other of chooser.children)
                other.setAttribute('aria-checked', String(other === event.currentTarget));
              render(plan);
            }
          },
          `plan ${letters[k]}: ${exactTime(plan.value)}`)));
}
addEventListener('keydown', (event) => {
  if (event.key === 'Escape') choose(null);
  if (event.key === '/' && !(event.target instanceof HTMLInputElement)) {
    event.preventDefault();
    byId('find').focus();
  }
});
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', redraw);
// A printer does not wait for the next frame.
matchMedia('print').addEventListener('change', () => ONE_VIEW.pictures.forEach((picture) => picture()));
look.views.push(ONE_VIEW);
render(plans[0]);
