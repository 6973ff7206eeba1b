const REFRESH_MS = 2_000;
const SECOND_MS = 1_000;

const PURPOSES = {
  metering: 'settle requests whose function crashed',
  deployments: 'start, stop and watch deployments',
  support: 'watch the clocks of tickets',
  billing: 'close months that are over, and expire credit',
};
const UNITS = [
  [86_400, 'day'],
  [3_600, 'hour'],
  [60, 'minute'],
  [1, 'second'],
];

const find = (id) => document.getElementById(id);
const create = (name, text, className = '') => Object.assign(document.createElement(name), { textContent: text, className });

const inWords = (milliseconds) => {
  const seconds = Math.round(Math.abs(milliseconds) / SECOND_MS);
  const [size, unit] = UNITS.find(([length]) => seconds >= length) ?? [1, 'second'];
  const count = Math.round(seconds / size);
  return `${count} ${unit}${count === 1 ? '' : 's'}`;
};

let offsetMs = 0;

const showTime = () => {
  const text = new Date(Date.now() + offsetMs).toISOString();
  find('now').textContent = `${text.slice(0, 10)} ${text.slice(11, 19)} UTC`;
};

const lastRun = ({ isRunning, last }) => {
  if (isRunning) return create('td', 'running…');
  if (!last) return create('td', '–');
  if (last.error) return create('td', last.error, 'bad');
  return create('td', `done in ${last.tookMs} ms`, 'good');
};

const jobRow = (job) => {
  const row = document.createElement('tr');
  const [period, purpose] = [`every ${inWords(job.periodMs)}`, PURPOSES[job.name] ?? ''];
  row.append(create('td', job.name), create('td', period), create('td', purpose), lastRun(job));
  return row;
};

const mailItem = (mail) => {
  const item = document.createElement('li');
  item.append(`To ${mail.to}: `);
  if (mail.kind === 'message') item.append(create('strong', mail.subject), create('pre', mail.text));
  else
    item.append(
      mail.kind === 'invitation' ? 'an invitation with the password ' : 'a code to reset the password ',
      create('code', mail.code),
    );
  return item;
};

const linkTo = (href, text) => Object.assign(create('a', text), { href });

let shown = '';

const show = (state) => {
  offsetMs = state.now_ms - Date.now();
  showTime();
  find('offset').textContent = state.offset_ms === 0 ? 'the present' : `${inWords(state.offset_ms)} ahead`;
  for (const button of document.querySelectorAll('button'))
    button.disabled = state.is_moving || (button.dataset.move === 'present' && state.offset_ms === 0);
  const { jobs, mails, links } = state;
  const next = JSON.stringify({ jobs, mails, links });
  // So that what somebody has selected stays selected.
  if (next === shown) return;
  shown = next;
  find('jobs').replaceChildren(...jobs.map(jobRow));
  find('mails').replaceChildren(...(mails.length > 0 ? mails.map(mailItem) : [create('li', 'None yet.', 'soft')]));
  if (links) find('links').replaceChildren(linkTo(links.console, 'Open the console'), ' · ', linkTo(links.reference, 'API reference'));
};

const say = (text, className = '') => {
  find('message').textContent = text;
  find('message').className = className;
};

const call = async (path, options) => {
  const response = await fetch(path, options);
  const body = await response.json();
  if (!response.ok) throw new Error(body.message);
  return body;
};

const refresh = async () => {
  try {
    show(await call('state'));
  } catch {
    say('The local run has ended. Start it again with npm start.', 'bad');
  }
};

const move = async (name) => {
  say('Running the jobs that were due…');
  const headers = { 'content-type': 'application/json', 'x-sluice-panel': '1' };
  try {
    const moving = call('clock', { method: 'POST', headers, body: JSON.stringify({ move: name }) });
    void refresh();
    show(await moving);
    say(name === 'next_month' ? 'Done. The drafts of the month’s invoices appear in the console within a minute.' : 'Done.');
  } catch (error) {
    say(error.message, 'bad');
  }
};

for (const button of document.querySelectorAll('button')) button.addEventListener('click', () => void move(button.dataset.move));
setInterval(showTime, SECOND_MS);
setInterval(() => {
  if (!document.hidden) void refresh();
}, REFRESH_MS);
void refresh();
