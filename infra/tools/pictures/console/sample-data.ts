import { setTimeout as sleep } from 'node:timers/promises';
import { REASONING_MODEL } from '../../../local/container.ts';
import type { SampleIds } from './console-pictures.ts';
import type { Login, SampleRun } from './sample-run.ts';

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;

/** When the pictures are taken, and when the sample's first month began. */
export const NOW_MS = Date.parse('2026-11-24T15:20:00Z');
export const START_MS = Date.parse('2026-11-01T08:00:00Z');

const TEMPORARY = 'Temporary-Password-1';
const PASSWORD = 'A-Password-of-my-own-2';
const MAX_POLLS = 60;
const POLL_MS = 1_000;

const QUESTIONS = [
  'Tell me about rivers.',
  'What is a sluice?',
  'When does the harbour open?',
  'Write a line about the workshop.',
  'Which gate is the oldest?',
];

interface Key {
  id: string;
  secret: string;
}

interface Sample {
  owner: Login;
  ids: SampleIds;
}

const invite = async ({ call, callAsNobody }: SampleRun, as: Login, user: { email: string; name: string; role: string }, extra = {}) => {
  await call('/v1/users', { login: as, body: { ...user, ...extra, temporary_password: TEMPORARY } });
  const { email } = user;
  const { session } = await callAsNobody<{ session: string }>('/v1/auth/login', { email, password: TEMPORARY });
  await callAsNobody('/v1/auth/challenge', { email, session, new_password: PASSWORD });
  return { email, password: PASSWORD };
};

const chat = async (sample: SampleRun, key: Key, model: string, words: number, stream = false): Promise<string> => {
  const content = QUESTIONS[words % QUESTIONS.length];
  const response = await fetch(`${sample.run.hosts.serverless}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key.secret}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model, max_tokens: words, temperature: 0, seed: 1, stream, messages: [{ role: 'user', content }] }),
  });
  await response.text();
  return response.headers.get('x-request-id') as string;
};

// More on workdays, and more at the end of the month.
const requestsOf = (day: number): number => ([0, 6].includes(new Date(START_MS + day * DAY_MS).getUTCDay()) ? 1 : 3 + (day % 4));

const sendMonth = async (sample: SampleRun, { production, batch }: { production: Key; batch: Key }): Promise<void> => {
  const days = Math.floor((NOW_MS - START_MS) / DAY_MS);
  for (let day = 0; day < days; day++) {
    sample.moveTo(START_MS + day * DAY_MS + HOUR_MS);
    for (let i = 0; i < requestsOf(day); i++) await chat(sample, production, sample.model, 12 + ((day * 7 + i * 5) % 30));
    if (day % 3 === 0) await chat(sample, batch, REASONING_MODEL, 40);
  }
};

const untilFound = async ({ call }: SampleRun, login: Login, request: string): Promise<void> => {
  for (let i = 0; i < MAX_POLLS; i++) {
    const { data } = await call<{ data: { id: string }[] }>('/v1/observability/requests?limit=20', { login });
    if (data.some(({ id }) => id === request)) return;
    await sleep(POLL_MS);
  }
  throw new Error('The last request of the sample was not found within a minute. Try again when the machine is less busy.');
};

/** Makes a month of an organization, with names and times that are the same each time. The clock ends at `NOW_MS`. */
export const makeSampleData = async (sample: SampleRun): Promise<Sample> => {
  const { admin, call, model, moveTo } = sample;
  for (const priced of [model, REASONING_MODEL])
    await call('/v1/prices', { login: admin, body: { model: priced, per_million: { prompt: '300', completion: '1200' } } });
  const { id: organization } = await call<{ id: string }>('/v1/organizations', { login: admin, body: { name: 'Acme Robotics' } });
  const owner = await invite(sample, admin, { email: 'ada@acme.example', name: 'Ada Park', role: 'owner' }, { organization });
  const newKey = (body: object): Promise<Key> => call<Key>('/v1/api-keys', { login: owner, body });
  const production = await newKey({ name: 'production', budgets: { month: '40' }, limits: { requests_per_minute: 600 } });
  const batch = await newKey({ name: 'nightly batch', models: [REASONING_MODEL] });
  await invite(sample, owner, { email: 'lin@acme.example', name: 'Lin Ortiz', role: 'member' });
  await invite(sample, owner, { email: 'sam@acme.example', name: 'Sam Kaya', role: 'billing' });
  await sendMonth(sample, { production, batch });

  moveTo(NOW_MS - 5 * HOUR_MS);
  await newKey({ name: 'Lin’s notebook', budgets: { day: '5' }, expires_at: Math.floor(NOW_MS / 1_000) + 4 * 86_400 });
  for (let i = 0; i < 8; i++) {
    moveTo(NOW_MS - (50 - i * 6) * 60_000);
    await chat(sample, production, i === 3 ? 'sluice-large' : model, 10 + i * 4, i % 2 === 0);
  }
  moveTo(NOW_MS - 60_000);
  const request = await chat(sample, production, model, 48, true);
  moveTo(NOW_MS);
  await untilFound(sample, owner, request);
  return { owner, ids: { key: production.id, request } };
};
