// Sections that are tables: devices, links, what the plan is limited by, transfers, what-ifs, solvers, a run.

function cards(plan) {
  const {facts} = plan, period = facts.objective === 'throughput', single = facts.best_single_ns;
  const name = facts.best_single_device, times = plan.value > 0 ? single / plan.value : 1;
  const ratio = single === null ? 'no single device can run the model' :
      times >= 1.1              ? `${times.toFixed(2)}x as fast as ${name} alone` :
                   times > 1 ? `${percent(times - 1)} faster than ${name} alone` :
                   times === 1 ? `as fast as ${name} alone` :
                                 `${name} alone is faster`;
  const card = (label, value, rest, kind) => element(
      'div', {class: 'card'}, element('div', {class: 'label'}, label), element('b', {class: kind}, value),
      element('div', {class: 'rest'}, rest));
  const used = plan.raw.devices.filter((device) => device.operators > 0).length, copies = facts.copies || 1;
  const proved = facts.outcome === 'optimal' && !facts.guessed, costs = facts.guessed ? ', for guessed costs' : '';
  return element(
      'div', {class: 'cards'},
      card(
          period ? 'period' : 'latency', exactTime(plan.value),
          period && plan.value > 0 ? `${(1e9 * copies / plan.value).toPrecision(6)} inputs a second` : ratio),
      card(
          'best single device', exactTime(single),
          single === null ? 'no single device can run the model' :
              period      ? ratio :
                            facts.best_single_device + ' alone'),
      card(
          'gap to the lower bound', facts.lower_bound_ns > 0 ? percent(facts.gap) : 'unknown',
          facts.lower_bound_ns > 0 ? `none of the ${facts.space} is below ${exactTime(facts.lower_bound_ns)}${costs}` :
                                     'no lower bound',
          proved ? 'good' : null),
      card('devices in use', `${used} of ${plan.raw.devices.length}`, plural(plan.parts.length, 'part')),
      card(
          'hand-overs', grouped(facts.n_handovers),
          facts.n_handovers > 0 && !facts.transfer_bytes ? 'unknown sizes' :
                                                           sizeText(facts.transfer_bytes) + ' in total'),
      facts.beats_single !== undefined ?
          card('chance to beat best single device', percent(facts.beats_single), 'for the given cost uncertainty') :
          null);
}

function summarySection(plan) {
  const shares = plan.facts.critical_path || [], total = shares.reduce((sum, share) => sum + share.time_ns, 0);
  return [
    cards(plan), factList(plan.raw.says.map(([label, words]) => [label, element('span', {}, words)])),
    shares.length ? [element('h3', {}, 'How the time of the critical path divides'), stackedBar(plan, shares, total)] :
                    null,
    plan.facts.reason ? element('p', {}, plan.facts.reason) : null,
    (plan.facts.notes || []).slice(0, 12).map((note) => element('p', {class: 'hint'}, note)),
    plan.raw.explained ?
        element(
            'details', {}, element('summary', {}, 'As ', element('code', {}, 'situ explain'), ' tells it'),
            element('pre', {}, plan.raw.explained)) :
        null,
    plan.raw.placed ? element(
                          'details', {}, element('summary', {}, 'As ', element('code', {}, 'situ place'), ' tells it'),
                          element('pre', {}, plan.raw.placed)) :
                      null
  ];
}

function stackedBar(plan, shares, total) {
  const named = new Map(plan.raw.devices.map((device, d) => [device.name, d]));
  const colour = (share) => share.kind === 'work' ? plan.deviceColour[named.get(share.name)] :
      share.kind === 'transfer'                   ? TRANSFER :
                                                    GREY;
  const bar = element('div', {

    role: 'img',
    'aria-label': shares.map((share) => `${share.name || share.kind} ${percent(share.time_ns / total)}`).join(', ')
  });
  bar.style.cssText = 'display:flex;height:1.15rem;border-radius:5px;overflow:hidden;gap:1px';
  for (const share of shares) {
    const piece = element('i', {title: `${share.name || share.kind}: ${exactTime(share.time_ns)}`});
    piece.style.cssText = `background:${colour(share)};flex:${Math.max(share.time_ns / Math.max(1, total), 0.002)} 0 0`;
    bar.append(piece);
  }
  return element(
      'div', {}, bar,
      element(
          'div', {class: 'legend'},
          shares.map(
              (share) => element(
                  'span', {}, swatch(colour(share)),
                  (share.kind === 'transfer' ? 'transfers ' : '') + (share.name || share.kind) + ' ' +
                      percent(share.time_ns / Math.max(1, total))))));
}

function deviceSection(plan) {
  const {raw} = plan,
        order =
            raw.devices.map((device, d) => d).filter((d) => raw.devices.length <= 24 || raw.devices[d].operators > 0);
  const idle = raw.devices.length - order.length, value = Math.max(1, plan.value);
  const table = tableOf(
      [
        ['device', 'tight'], ['class', 'tight'], ['operators', 'n'], ['load', 'n'],
        [plan.pipeline ? 'of the period' : 'of the time', ''], ['memory', 'n'], ['of', 'n']
      ],
      order.map((d) => {
        const device = raw.devices[d];
        return [
          element(
              'span', {}, swatch(plan.deviceColour[d]),
              device.name + (device.replica_of >= 0 ? ' = ' + raw.devices[device.replica_of].name : '')),
          device.class, grouped(device.operators), timeText(device.load_ns),
          metered(device.load_ns / value, device.operators ? plan.deviceColour[d] : null),
          sizeText(device.memory_bytes), sizeText(device.memory_limit_bytes)
        ];
      }),
      (k) => choose({plan, device: order[k]}));
  const links = raw.links.map((link, l) => l)
                    .filter((l) => raw.links[l].busy_ns > 0)
                    .sort((a, b) => raw.links[b].busy_ns - raw.links[a].busy_ns);
  const others = raw.links.length - links.length;
  const carried = new Map();
  for (const sent of plan.pipeline ? [] : plan.sent) {
    const number = plan.lanes[sent.lane] ? plan.lanes[sent.lane].number : -1, sum = carried.get(number) || [0, 0];
    carried.set(number, [sum[0] + 1, sum[1] + plan.size[sent.tensor]]);
  }
  const linkTable = links.length ?
      tableOf(
          [
            ['link', 'tight'], ['rate', 'n'], ['latency', 'n'], ['transfers', 'n'], ['bytes', 'n'], ['load', 'n'],
            [plan.pipeline ? 'of the period' : 'of the time', '']
          ],
          links.slice(0, 60).map(
              (l) =>
                  [plan.linkName(l), sizeText(raw.links[l].bytes_per_s) + '/s', timeText(raw.links[l].latency_ns),
                   carried.has(l) ? grouped(carried.get(l)[0]) : '', carried.has(l) ? sizeText(carried.get(l)[1]) : '',
                   timeText(raw.links[l].busy_ns), metered(raw.links[l].busy_ns / value)]),
          (k) => choose({plan, link: links[k]})) :
      null;
  return [
    element('p', {class: 'lead'}, plan.facts.platform + ', costs: ' + plan.facts.costs), table,
    idle ? element('p', {class: 'hint'}, `and ${plural(idle, 'device')} without an operator`) : null,
    raw.links.length ? element('h3', {}, 'Links') : null, linkTable,
    others ? element(
                 'p', {class: 'hint'},
                 `${links.length ? 'and ' : ''}${plural(others, 'link')} ${others === 1 ? 'carries' : 'carry'} nothing${
                     plan.calls ? ' that is drawn: in calls, transfers are part of the calls' : ''}`) :
             null
  ];
}

function pathSection(plan) {
  const steps = plan.path.map(
      (item) => item >= 0 ? {item, start: plan.opStart[item], end: plan.opEnd[item]} :
                            {item, start: plan.sent[-2 - item].start, end: plan.sent[-2 - item].end});
  const longest = steps.slice().sort((a, b) => (b.end - b.start) - (a.end - a.start)).slice(0, 20),
        value = Math.max(1, plan.value);
  return [
    element(
        'p', {class: 'lead'},
        plural(steps.length, 'step') + ' from start to end, each waiting for the one before: for its data, its device or ' +
            'its link. Shortening only other operators gains nothing. The longest steps:'),
    tableOf(
        [['step', 'name'], ['on', 'tight'], ['start', 'n'], ['takes', 'n'], ['of the time', 'n']],
        longest.map(
            (step) =>
                [step.item >= 0 ? operatorLink(plan, step.item) : transferLink(plan, -2 - step.item),
                 step.item >= 0 ? plan.raw.devices[plan.device[step.item]].name :
                                  plan.lanes[plan.sent[-2 - step.item].lane].name,
                 exactTime(step.start), timeText(step.end - step.start), percent((step.end - step.start) / value)]))
  ];
}

function transferSection(plan) {
  const timed = plan.sent.length > 0,
        rows = timed ?
      plan.sent.map((sent, i) => ({i, bytes: plan.size[sent.tensor], op: plan.producer[sent.tensor], sent})) :
      handovers(plan).map((one) => ({bytes: plan.size[one.tensor], op: plan.producer[one.tensor], one}));
  if (!rows.length) return [element('p', {class: 'lead'}, 'No tensor is sent from one memory to another.')];
  rows.sort((a, b) => b.bytes - a.bytes || a.op - b.op);
  const top = rows.slice(0, 20), name = (d) => plan.raw.devices[d].name;
  return [
    element(
        'p', {class: 'lead'},
        timed ? `The largest of ${plural(rows.length, 'transfer')}, hop by hop.` :
                `The largest of ${plural(rows.length, 'tensor')} sent to another memory.`),
    tableOf(
        [
          ['tensor of', 'name'], ['bytes', 'n'], ['way', 'tight'],
          ...(timed ? [['start', 'n'], ['takes', 'n']] : [['first read by', 'name']])
        ],
        top.map(
            (row) =>
                [operatorLink(plan, row.op), sizeText(row.bytes),
                 timed ? plan.lanes[row.sent.lane].name : `${name(row.one.from)} > ${name(row.one.to)}`,
                 ...(timed ? [exactTime(row.sent.start), timeText(row.sent.end - row.sent.start)] :
                             [operatorLink(plan, row.one.user)])]),
        timed ?
            (k, tr) => {
              if (!tr.contains(document.activeElement) || document.activeElement === tr)
                choose({plan, transfer: top[k].i}, true);
            } :
            null)
  ];
}

function whatIfSection(plan) {
  const rows = plan.facts.what_if;
  return [
    element('p', {class: 'lead'}, 'The problem solved again with one change at a time, each for about a second.'),
    tableOf([['what if', ''], ['value', 'n'], ['for each input', ''], ['', '']], rows.map((row, k) => {
      const share = row.value_ns === null ? null : row.value_ns / row.inputs / Math.max(1, plan.value);
      return [
        row.change, row.value_ns === null ? '-' : timeText(row.value_ns), plan.raw.what_if_words[k],
        share === null ? '' :
                         meter(
                             Math.min(1, share / 2),
                             share < 0.9995     ? COLOURS[2] :
                                 share > 1.0005 ? COLOURS[5] :
                                                  GREY)
      ];
    })),
    element('p', {class: 'hint'}, 'A bar that reaches the middle stands for the present value of the plan.')
  ];
}

function compareSection(plan, data) {
  const {rows} = data.compare, best = rows.length ? rows[0].value_ns : null, single = data.compare.best_single_ns;
  const under = (k, tr) => unfoldRow(tr, 7, () => {
    const uses = (data.compare_uses[rows[k].solver] || [])
                     .map(([operators, load, memory], d) => ({d, operators, load, memory}))
                     .filter((use, d, all) => all.length <= 24 || use.operators);
    if (!uses.length) return element('p', {}, rows[k].reason || 'no plan');
    return tableOf(
        [['device', 'tight'], ['operators', 'n'], ['load', 'n'], ['of the value', ''], ['memory', 'n']],
        uses.map((use) => {
          const share = metered(use.load / Math.max(1, rows[k].value_ns), plan.deviceColour[use.d]);
          return [
            plan.raw.devices[use.d].name, grouped(use.operators), timeText(use.load), share, sizeText(use.memory)
          ];
        }));
  });
  return [
    element(
        'p', {class: 'lead'},
        'Each solver alone on this problem, with the same limits. Open a row to see the loads of its plan.'),
    tableOf(
        [
          ['solver', 'tight'], ['value', 'n'], ['to best', 'n'], ['to single', 'n'], ['bound', 'n'],
          ['outcome', 'tight'], ['seconds', 'n']
        ],
        rows.map(
            (row) =>
                [row.solver, row.value_ns === null ? '-' : exactTime(row.value_ns),
                 row.value_ns === null || !best ? '' :
                     row.value_ns === best      ? 'best' :
                                                  '+' + percent((row.value_ns - best) / best),
                 row.value_ns === null || single === null ? '' : (single / row.value_ns).toFixed(2) + 'x',
                 row.lower_bound_ns > 0 ? exactTime(row.lower_bound_ns) : '-', row.outcome, row.seconds.toFixed(2)]),
        under)
  ];
}

function runSection(run) {
  const off = (predicted, measured) => predicted === null || !(measured > 0) ?
      '' :
      (predicted >= measured ? '+' : '') + ((predicted - measured) / measured * 100).toFixed(1) + ' %';
  const most = Math.max(1, ...run.stages.flatMap((stage) => [stage.predicted_ns, stage.measured_ns]));
  return [
    factList([
      [
        run.kind,
        `predicted ${exactTime(run.predicted_ns)}, measured ${exactTime(run.measured_ns)} (${
            off(run.predicted_ns, run.measured_ns)})`
      ],
      ['engine', `${run.engine}, ${plural(run.items, 'input')}`],
      [
        'outputs',
        run.outputs_equal ? 'equal to those of the whole model' :
                            element('span', {class: 'bad'}, 'DIFFER from those of the whole model')
      ]
    ]),
    tableOf(
        [['part', 'n'], ['device', 'tight'], ['predicted', 'n'], ['', ''], ['measured', 'n'], ['', ''], ['off', 'n']],
        run.stages.map(
            (stage, k) =>
                [k, stage.device, timeText(stage.predicted_ns), meter(stage.predicted_ns / most, COLOURS[4]),
                 timeText(stage.measured_ns), meter(stage.measured_ns / most, COLOURS[0]),
                 off(stage.predicted_ns, stage.measured_ns)]))
  ];
}

function partSection(plan) {
  const rows = plan.parts.slice(0, 1000), drawn = plan.raw.column.filter((column) => column >= 0).length;
  const table = tableOf(
      [['part', 'n'], ['device', 'tight'], ['operators', 'n'], ['work', 'n'], ['holds', 'words']],
      rows.map((part, k) => {
        const device = element('span', {}, swatch(plan.deviceColour[part.device]), deviceName(plan, k));
        return [String(k + 1), device, grouped(part.working), timeText(part.work), part.name];
      }),
      (k, tr) => unfoldRow(tr, 5, () => unfoldPart(plan, k)));
  const words = plan.pipeline ? 'Stages of the pipeline: each input passes through them from left to right, while ' +
          'other inputs are in the other stages.' :
                                'The parts of the plan, each of which runs as one piece on one device, from left to ' +
          'right in the order of the data flow.';
  return [
    element('p', {class: 'lead'}, words + ' Open a row to see its layers and operators.'),
    drawn < plan.parts.length ? element('p', {class: 'hint'}, `Only the ${drawn} parts with the most work are drawn.`) :
                                null,
    element('div', {class: 'scroll'}, drawParts(plan, (k) => choose({plan, part: k}))),
    element('div', {class: rows.length > 16 ? 'scroll rows' : null}, table),
    plan.parts.length > rows.length ?
        element('p', {class: 'hint'}, `and ${plural(plan.parts.length - rows.length, 'more part')}`) :
        null
  ];
}

function searchSection(plan) {
  const results = element('div', {'aria-live': 'polite'}), field = element('input', {
                                                             type: 'search',
                                                             placeholder: 'name, kind or device',
                                                             'aria-label': 'Find operators',
                                                             id: 'find',
                                                             autocomplete: 'off',
                                                             spellcheck: 'false'
                                                           });
  let pause = 0;
  const search = () => {
    const words = field.value.toLowerCase().split(/\s+/).filter(Boolean), found = [];
    for (let v = 0; words.length && v < plan.n; v++) {
      const text = (plan.names[v] + ' ' + plan.raw.kinds[plan.kind[v]] + ' ' + plan.raw.devices[plan.device[v]].name)
                       .toLowerCase();
      if (words.every((word) => text.includes(word))) found.push(v);
    }
    look.found = words.length ? new Set(found) : null;
    redraw();
    const time = found.reduce((sum, v) => sum + plan.raw.time[v], 0);
    results.replaceChildren(element(
        'p', {class: 'hint'},
        words.length ? `${plural(found.length, 'operator')}, ${timeText(time)} in total, shown alone in the timeline` :
                       `${plural(plan.n, 'operator')}`));
    const shown =
        (words.length ? found :
                        Array.from({length: plan.n}, (_, v) => v).sort((a, b) => plan.raw.time[b] - plan.raw.time[a]))
            .slice(0, words.length ? 100 : 12);
    if (shown.length)
      results.append(tableOf(
          [
            ['operator', 'name'], ['kind', 'tight'], ['device', 'tight'], ...(plan.pipeline ? [] : [['start', 'n']]),
            ['takes', 'n'], ['output', 'n']
          ],
          shown.map(
              (v) =>
                  [operatorLink(plan, v), plan.raw.kinds[plan.kind[v]], plan.raw.devices[plan.device[v]].name,
                   ...(plan.pipeline ? [] : [exactTime(plan.opStart[v])]), timeText(plan.raw.time[v]),
                   sizeText(outputBytes(plan, v))])));
    if (found.length > 100) results.append(element('p', {class: 'hint'}, `and ${grouped(found.length - 100)} more`));
  };
  field.addEventListener('input', () => {
    clearTimeout(pause);
    pause = setTimeout(search, plan.n > 5000 ? 180 : 60);
  });
  search();
  return [element('div', {class: 'bar'}, field), results];
}
