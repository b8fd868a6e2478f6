// The dashboard reads /data every second, and colors one square per user.

const palette = 6;
const fresh = 3000; // ms for which a change is marked
const flags = document.querySelector('#flags');
const problem = document.querySelector('#problem');
const stop = document.querySelector('#origin');
const cards = new Map(); // by the name of the flag

const copy = (id) => document.querySelector(id).content.firstElementChild.cloneNode(true);

/** color is the color of an answer: variants have theirs in the order of their names. */
function color(answer, variants) {
  if (answer === '') return 'var(--off)';
  return answer === 'on' ? 'var(--on)' : `var(--v${variants.indexOf(answer) % palette})`;
}

function showApplication(card, { language, sdk, answers }, variants) {
  let box = card.boxes.get(language);
  if (!box) {
    box = copy('#application');
    box.querySelector('strong').textContent = language;
    box.querySelector('.sdk').textContent = sdk;
    card.boxes.set(language, box);
    card.section.querySelector('.applications').append(box);
  }
  const on = answers.filter((answer) => answer !== '').length;
  box.querySelector('.count').textContent = `${on} of ${answers.length} on`;
  const users = box.querySelector('.users');
  users.setAttribute('aria-label', `${on} of ${answers.length} users have the flag`);
  answers.forEach((answer, i) => {
    const square = users.children[i] ?? users.appendChild(Object.assign(document.createElement('span'), { className: 'user' }));
    square.style.backgroundColor = color(answer, variants);
    square.title = `user-${i + 1}: ${answer || 'off'}`;
  });
  box.querySelector('.legend').replaceChildren(...[...variants, 'on', ''].flatMap((answer) => {
    const count = answers.filter((other) => other === answer).length;
    if (count === 0) return [];
    const item = document.createElement('li');
    const mark = document.createElement('i');
    mark.style.backgroundColor = color(answer, variants);
    item.append(mark, `${answer || 'off'} ${count}`);
    return [item];
  }));
}

function showFlag(name, { type, description }, applications, console) {
  let card = cards.get(name);
  if (!card) {
    card = { section: copy('#flag'), boxes: new Map(), last: undefined, changed: 0 };
    card.section.querySelector('h2').textContent = name;
    cards.set(name, card);
  }
  const section = card.section;
  section.querySelector('.type').textContent = type ?? '';
  section.querySelector('.description').textContent = description ?? '';
  section.querySelector('.edit').href = `${console}/projects/default/flags/${encodeURIComponent(name)}`;
  const variants = [...new Set(applications.flatMap((a) => a.answers))].filter((v) => v !== '' && v !== 'on').sort();
  for (const application of applications) showApplication(card, application, variants);
  card.on = applications.some((a) => a.answers.some((answer) => answer !== ''));
  const now = JSON.stringify(applications.map((a) => a.answers));
  if (card.last !== undefined && card.last !== now) card.changed = Date.now();
  card.last = now;
  const marked = Date.now() - card.changed < fresh;
  section.classList.toggle('fresh', marked);
  section.querySelector('.changed').hidden = !marked;
  return section;
}

/** showHealth shows the error rate of the bad release, what the signal says, and what to do next. */
function showHealth({ flag, errors, most, firing, fired }) {
  const card = cards.get(flag);
  if (!card) return;
  const line = card.section.querySelector('.health');
  line.hidden = false;
  line.classList.toggle('firing', firing);
  const stopped = fired && !card.on && `At ${new Date(fired).toLocaleTimeString()} there were too many errors: the signal demo-errors fired, and the safeguard `
    + 'of the release plan switched the flag off for everybody. Its history in the console says so. Switch it on to see that again.';
  const quiet = `Errors: ${errors} %. More than ${most} % make the signal demo-errors fire: start the next milestone to see it.`;
  line.textContent = firing ? `Errors: ${errors} %. The signal demo-errors is firing.` : stopped || quiet;
}

function show({ console, origin, health, applications }) {
  document.querySelector('#console').href = console;
  stop.hidden = origin === '';
  stop.textContent = origin === 'stopped' ? 'Let Guidon go on' : 'Stop Guidon';
  document.querySelector('#stopped').hidden = origin !== 'stopped';
  const reached = applications.filter((a) => a.flags);
  const known = new Map(reached.flatMap((a) => a.flags).map((flag) => [flag.name, flag]));
  const sections = [...known.keys()].sort().map((name) => showFlag(name, known.get(name), reached.flatMap(({ language, sdk, flags }) => {
    const flag = flags.find((f) => f.name === name);
    return flag ? [{ language, sdk, answers: flag.answers }] : [];
  }), console));
  if (sections.length !== flags.children.length || sections.some((s, i) => s !== flags.children[i])) flags.replaceChildren(...sections);
  if (health) showHealth(health);
  return applications.find((a) => a.error)?.error ?? (sections.length ? '' : 'There is no flag yet.');
}

async function poll() {
  let message;
  try {
    const response = await fetch('/data', { signal: AbortSignal.timeout(5000) });
    message = response.ok ? show(await response.json()) : `the dashboard answers ${response.status}`;
  } catch {
    message = 'The dashboard does not answer: is the demo still running?';
  }
  problem.textContent = message;
  problem.hidden = message === '';
  setTimeout(poll, 1000);
}
stop.addEventListener('click', () => fetch('/origin', { method: 'POST' }));
poll();
