import { setTimeout as sleep } from 'node:timers/promises';
import { REASONING_MODEL } from '../container.ts';
import type { SampleIds } from './console-pictures.ts';
import { addSampleDeployment, SAMPLE_TYPE } from './sample-deployment.ts';
import type { Login, SampleRun } from './sample-run.ts';

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;

/** When the pictures are taken, and when the sample begins: promises are stated before their month. */
export const NOW_MS = Date.parse('2026-11-24T15:20:00Z');
export const START_MS = Date.parse('2026-09-25T08:00:00Z');
const USE_MS = Date.parse('2026-10-20T08:00:00Z');
const CLOSING_MS = Date.parse('2026-11-01T01:30:00Z');

const TEMPORARY = 'Temporary-Password-1';
const PASSWORD = 'A-Password-of-my-own-2';
const MAX_POLLS = 60;
const POLL_MS = 1_000;

const PROMISED_MONTH = '2026-10';

// A picture shows its screen.
const ALIAS = 'assistant';
const ALIAS_REQUESTS = 20;
const ALIAS_WORDS = 4;
// The advice replays two weeks.
const DEPLOYMENT_DAYS = 14;

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
  member: Login;
  ids: SampleIds;
}

const invite = async ({ call, callAsNobody }: SampleRun, as: Login, user: { email: string; name: string; role: string }, extra = {}) => {
  await call('/v1/users', { login: as, body: { ...user, ...extra, temporary_password: TEMPORARY } });
  const { email } = user;
  const { session } = await callAsNobody<{ session: string }>('/v1/auth/login', { email, password: TEMPORARY });
  await callAsNobody('/v1/auth/challenge', { email, session, new_password: PASSWORD });
  return { email, password: PASSWORD };
};

interface ChatFields {
  stream?: boolean;
  user?: string;
}

const chat = async (sample: SampleRun, key: Key, model: string, words: number, fields: ChatFields = {}): Promise<string> => {
  const content = QUESTIONS[words % QUESTIONS.length];
  const response = await fetch(`${sample.run.hosts.serverless}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key.secret}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model, max_tokens: words, temperature: 0, seed: 1, messages: [{ role: 'user', content }], ...fields }),
  });
  await response.text();
  return response.headers.get('x-request-id') as string;
};

// More on workdays.
const requestsOf = (day: number): number => ([0, 6].includes(new Date(USE_MS + day * DAY_MS).getUTCDay()) ? 1 : 3 + (day % 4));

interface Days {
  first: number;
  end: number;
}

const sendDays = async (sample: SampleRun, { production, batch }: { production: Key; batch: Key }, { first, end }: Days): Promise<void> => {
  for (let day = first; day < end; day++) {
    sample.moveTo(USE_MS + day * DAY_MS + HOUR_MS);
    for (let i = 0; i < requestsOf(day); i++) await chat(sample, production, sample.model, 12 + ((day * 7 + i * 5) % 30));
    if (day % 3 === 0) await chat(sample, batch, REASONING_MODEL, 40, { stream: true });
  }
};

const eventually = async <Found>(look: () => Promise<Found | undefined>, missing: string): Promise<Found> => {
  for (let i = 0; i < MAX_POLLS; i++) {
    const found = await look();
    if (found !== undefined) return found;
    await sleep(POLL_MS);
  }
  throw new Error(`${missing} did not appear within a minute. Try again when the machine is less busy.`);
};

// As the hourly job does it, on the first of the next month.
const issueInvoice = async ({ run, admin, call, moveTo }: SampleRun, organization: string): Promise<string> => {
  moveTo(CLOSING_MS);
  await run.invoke('billing', { source: 'aws.events', 'detail-type': 'Scheduled Event', detail: {} });
  const list = `/v1/billing/invoices?organization=${organization}`;
  const { id } = await eventually(
    async () => (await call<{ data: { id: string }[] }>(list, { login: admin })).data[0],
    'The draft of the sample’s invoice',
  );
  const address = { lines: ['1 Harbor Street', 'Portland, OR 97201'], country: 'US' };
  const seller = { legal_name: 'Example Inference, Inc.', address, email: 'billing@example.com' };
  await call('/v1/billing/seller', { login: admin, method: 'PUT', body: seller });
  await call(`/v1/billing/invoices/${id}/issue`, { login: admin, method: 'POST', body: {} });
  return id;
};

// The reasoning model is too slow for its promise, so that the picture shows what a miss credits.
const statePromises = async ({ admin, call, model }: SampleRun): Promise<void> => {
  const availability = { tiers: [{ below: '0.999', credit_percent: 10 }] };
  const first_token_p95_ms = { tiers: [{ above: 10, credit_percent: 5 }] };
  for (const figures of [
    { model, availability },
    { model: REASONING_MODEL, availability, first_token_p95_ms },
  ])
    await call('/v1/service-promises', { login: admin, body: { ...figures, from_month: PROMISED_MONTH } });
};

// A split of the callers between two models, with the requests of a morning.
const splitCallers = async (sample: SampleRun, owner: Login, key: Key): Promise<void> => {
  const split = { model: REASONING_MODEL, percent: 25, max_error_percent: 5 };
  sample.moveTo(NOW_MS - 5 * HOUR_MS);
  const body = { model: sample.model, fallbacks: [REASONING_MODEL], split };
  await sample.call(`/v1/model-aliases/${ALIAS}`, { login: owner, method: 'PUT', body });
  for (let i = 0; i < ALIAS_REQUESTS; i++) {
    sample.moveTo(NOW_MS - 4 * HOUR_MS + i * 60_000);
    await chat(sample, key, ALIAS, ALIAS_WORDS, { stream: true, user: `user-${i}` });
  }
};

const openTicket = async ({ admin, call }: SampleRun, owner: Login): Promise<string> => {
  const { id } = await call<{ id: string }>('/v1/tickets', {
    login: owner,
    body: {
      subject: 'Answers are slower since this morning',
      body: 'The first token came after about 200 ms until yesterday, and now takes twice as long. Has something changed?',
      category: 'api',
      severity: 'normal',
    },
  });
  await call(`/v1/tickets/${id}/messages`, {
    login: admin,
    body: { body: 'Thank you. We see it too, and are adding a copy of the model.' },
  });
  return id;
};

const untilFound = async ({ call }: SampleRun, login: Login, request: string): Promise<void> => {
  await eventually(async () => {
    const { data } = await call<{ data: { id: string }[] }>('/v1/observability/requests?limit=20', { login });
    return data.find(({ id }) => id === request);
  }, 'The last request of the sample');
};

/** Makes a month of an organization, with names and times that are the same each time. The clock ends at `NOW_MS`. */
export const makeSampleData = async (sample: SampleRun): Promise<Sample> => {
  const { admin, call, model, moveTo } = sample;
  await statePromises(sample);
  moveTo(USE_MS);
  for (const priced of [model, REASONING_MODEL])
    await call('/v1/prices', { login: admin, body: { model: priced, per_million: { prompt: '30', completion: '120' } } });
  await call(`/v1/instance-types/${SAMPLE_TYPE}/prices`, { login: admin, body: { per_hour: '2.88' } });
  await call(`/v1/instance-types/${SAMPLE_TYPE}/costs`, { login: admin, body: { per_hour: '1.8' } });
  const { id: organization } = await call<{ id: string }>('/v1/organizations', { login: admin, body: { name: 'Acme Robotics' } });
  const owner = await invite(sample, admin, { email: 'ada@acme.example', name: 'Ada Park', role: 'owner' }, { organization });
  const newKey = (body: object): Promise<Key> => call<Key>('/v1/api-keys', { login: owner, body });
  const newProject = (body: object) => call<{ id: string }>('/v1/projects', { login: owner, body });
  const { id: project_id } = await newProject({ name: 'Search', budgets: { day: '5', month: '60' } });
  await newProject({ name: 'Support assistant', budgets: { month: '25' } });
  const production = await newKey({ name: 'production', project_id, budgets: { month: '40' }, limits: { requests_per_minute: 600 } });
  const batch = await newKey({ name: 'nightly batch', models: [REASONING_MODEL] });
  const member = await invite(sample, owner, { email: 'lin@acme.example', name: 'Lin Ortiz', role: 'member' });
  await invite(sample, owner, { email: 'sam@acme.example', name: 'Sam Kaya', role: 'billing' });
  const [closing, today] = [CLOSING_MS, NOW_MS].map((ms) => Math.floor((ms - USE_MS) / DAY_MS)) as [number, number];
  await sendDays(sample, { production, batch }, { first: 0, end: closing });
  const invoice = await issueInvoice(sample, organization);
  await sendDays(sample, { production, batch }, { first: closing + 1, end: today });

  moveTo(NOW_MS - 5 * HOUR_MS);
  await newKey({ name: 'Lin’s notebook', budgets: { day: '5' }, expires_at: Math.floor(NOW_MS / 1_000) + 4 * 86_400 });
  const ticket = await openTicket(sample, owner);
  await splitCallers(sample, owner, production);
  for (let i = 0; i < 8; i++) {
    moveTo(NOW_MS - (50 - i * 6) * 60_000);
    await chat(sample, production, i === 3 ? 'sluice-large' : model, 10 + i * 4, { stream: i % 2 === 0 });
  }
  moveTo(NOW_MS - 60_000);
  const request = await chat(sample, production, model, 48, { stream: true });
  moveTo(NOW_MS);
  const midnight = Math.floor(NOW_MS / DAY_MS) * DAY_MS;
  const { id: gpuOrganization } = await call<{ id: string }>('/v1/organizations', { login: admin, body: { name: 'Riverside Research' } });
  const deployment = await addSampleDeployment(sample.run, gpuOrganization, { end: midnight, days: DEPLOYMENT_DAYS });
  await untilFound(sample, owner, request);
  return { owner, member, ids: { organization, gpuOrganization, key: production.id, request, invoice, ticket, deployment } };
};
