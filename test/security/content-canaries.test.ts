import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { controlOperations } from '../../infra/tools/reference/control-operations.ts';
import { type Control, controlOf } from '../support/clients/control.ts';
import { startTestRun, type TestRun } from '../support/clients/local-run.ts';
import { eventually } from '../support/eventually.ts';
import { createCanaries, type Place, type Planted } from './canaries/canaries.ts';
import { ACTIONS_WITH_TEXTS, writeCustomerTexts } from './canaries/customer-texts.ts';
import { testInternalNotes } from './canaries/internal-notes.ts';
import { areWritten, readBucket, readPlaces } from './canaries/places.ts';
import { canaryRoutes, generatingRoutes, poolingRoutes } from './canaries/requests.ts';
import { testSecrets } from './canaries/secrets.ts';

// Models without an endpoint, and with that of the run's own model.
const GONE = 'gone';
const LAST = 'last';
const USER_ID = '3f1c2f0e-0d0f-4a57-9a57-3f5a4f3c9b11';

let run: TestRun;
let control: Control;
let organization: string;
let token: string;
// The keys of an organization with an owner, who can switch its payload log on.
let serverlessKey: string;
let ondemandKey: string;
let silentKey: string;
const canaries = createCanaries();

beforeAll(async () => {
  run = await startTestRun('--batch-window-ms', '4000', '--queue-delay-ms', '300');
  // The role allows nothing of an endpoint that does not exist.
  run.expectDenial('sagemaker:InvokeEndpoint');
  control = controlOf(run);
  ({ id: organization } = await control.createOrganization());
  ({ token } = await control.createUser({ role: 'owner', organization }));
  const models = await run.models.list('serverless');
  for (const model of models.values()) await run.models.put(organization, model);
  const tiny = models.get(run.model);
  if (!tiny) throw new Error('The local run has no model.');
  await run.models.put('serverless', { ...tiny, name: GONE, targets: [{ endpoint: 'deleted' }] });
  await run.models.put('serverless', { ...tiny, name: LAST });
  const limits = { requests_per_minute: 20_000, tokens_per_minute: 100_000_000, concurrency: 64 };
  const keyOf = async (fields: object): Promise<string> =>
    (await control.done('POST', '/v1/api-keys', { token, body: { name: 'key', limits, ...fields } })).secret;
  serverlessKey = await keyOf({});
  ondemandKey = await keyOf({ scope: 'on_demand' });
  silentKey = await keyOf({ no_content: true });
});
afterAll(async () => {
  await run.close();
});

interface Sending {
  key?: string;
  url?: string;
  headers?: Record<string, string>;
  change?: (planted: Planted) => Record<string, unknown>;
}

// The canaries are in the body, the query string and the headers.
const send = async (route: string, planted: Planted, { key = serverlessKey, url = run.base_url, headers = {}, change }: Sending = {}) => {
  const { path, body } = (canaryRoutes[route] as (typeof canaryRoutes)[string])(planted);
  const response = await fetch(`${url}${path}?${planted.secret('query name')}=${planted.secret('query value')}`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      'user-agent': planted.secret('user agent'),
      'x-request-id': planted.secret('request id'),
      tracestate: planted.secret('trace state'),
      traceparent: planted.secret('trace parent'),
      [planted.secret('header name')]: planted.secret('header value'),
      ...headers,
    },
    body: JSON.stringify({ model: run.model, ...body, ...change?.(planted) }),
  });
  return { status: response.status, text: await response.text() };
};

// The same requests to every route, which end in all kinds of ways. `isLogged`: the payload log is on.
const sendAll = async (phase: string, isLogged: boolean): Promise<void> => {
  const plantIn = (name: string, logged = isLogged): Planted => canaries.inRequest(`${name} with the log ${phase}`, logged);
  const expectAll = async (
    routes: readonly string[],
    name: string,
    status: number | RegExp,
    sending?: Sending,
    logged?: boolean,
  ): Promise<void> => {
    const replies = await Promise.all(routes.map((route) => send(route, plantIn(`${route}, ${name},`, logged), sending)));
    const wrong = replies.filter((reply) => (typeof status === 'number' ? reply.status !== status : !status.test(reply.text)));
    expect([name, wrong]).toEqual([name, []]);
  };
  const all = Object.keys(canaryRoutes);
  const stream = () => ({ stream: true });
  await expectAll(all, 'whole', 200);
  await expectAll(generatingRoutes, 'streamed', 200, { change: stream });
  const calling = [...generatingRoutes, ...poolingRoutes];
  for (const route of calling) {
    const planted = plantIn(`${route}, repeated,`);
    const headers = { 'idempotency-key': planted.secret('idempotency key') };
    // The result of an idempotency key is the reply, which can repeat the documents.
    const change = () => (route === 'rerank' ? { return_documents: false } : {});
    expect((await send(route, planted, { headers, change })).status).toBe(200);
    // Clients of the Messages API know no 422.
    expect((await send(route, planted, { headers })).status).toBe(route === 'messages' ? 400 : 422);
  }
  const ondemand = { url: run.ondemand_url as string, key: ondemandKey, headers: { 'x-user-id': USER_ID } };
  await expectAll(['chat', 'responses', 'codex', 'messages', 'count-tokens', ...poolingRoutes], 'on demand', 200, ondemand);
  await expectAll(all, 'opted out', 200, { headers: { 'x-sluice-log': 'off' } }, false);
  await expectAll(
    all.filter((route) => route !== 'stored-responses'),
    'of a key without content',
    200,
    { key: silentKey },
    false,
  );
  await expectAll(calling, 'with a wrong header', 400, { headers: { 'x-sluice-log': 'canary' } }, false);
  await expectAll(
    all,
    'of a wrong type',
    400,
    {
      change: ({ secret }) =>
        Object.fromEntries(
          ['messages', 'prompt', 'input', 'query', 'tokens', 'temperature'].map((name) => [name, { [secret(name)]: secret(name) }]),
        ),
    },
    false,
  );
  await expectAll(all, 'to an unknown model', 404, { change: ({ secret }) => ({ model: secret('model') }) }, false);
  await expectAll(all, 'without a valid key', 401, { key: canaries.plant('an invalid key') }, false);
  const { secret: limitedKey } = await run.createKey({ requests_per_minute: 0 });
  const limited = all.filter((route) => route !== 'count-tokens');
  await expectAll(limited, 'over a limit', 429, { key: limitedKey }, false);

  const failing = async (server: 'container' | 'sagemaker', fault: object, name: string, status: number | RegExp, sending?: Sending) => {
    await run.control(server, { fault });
    await expectAll(typeof status === 'number' ? calling : generatingRoutes, name, status, sending);
    await run.control(server);
  };
  const quoted = plantIn('the runtime').content('the error');
  const error = { error: { message: quoted, type: quoted, code: quoted } };
  await failing('container', { kind: 'error', status: 400, body: error }, 'rejected', 400);
  await failing('container', { kind: 'error', status: 400, body: error }, 'rejected, streamed,', /error/, { change: stream });
  await failing('container', { kind: 'error', status: 500, body: error }, 'crashing the runtime', 503);
  await failing('container', { kind: 'error_event', after_tokens: 2, body: error }, 'broken off', /error/, { change: stream });
  await failing('sagemaker', { kind: 'throttling' }, 'without capacity', 503);

  // The first model doesn't exist, and the second one rejects the request in the runtime's words.
  for (const route of generatingRoutes) {
    await run.control('container', { fault: { kind: 'error', status: 400, body: error, times: 1 } });
    const fallbacks = route === 'messages' ? { fallbacks: [{ model: run.model }, { model: LAST }] } : { models: [run.model, LAST] };
    await expectAll([route], 'by its third model', 200, { change: () => ({ model: GONE, ...fallbacks }) });
  }
};

const attemptsOf = async (): Promise<string> => {
  const { data } = await control.done('GET', `/v1/observability/requests?model=${LAST}`, { token });
  return (await control.done('GET', `/v1/observability/requests/${data[0].id}?format=text`, { token })).match(/^failed .*\n.*$/m)[0];
};

// Canaries are mostly wrong in requests to the control plane, and are the free text of some resources.
const useControlPlane = async (): Promise<void> => {
  const admin = (await control.asAdmin()).token;
  const { done, call } = control;
  const texts: readonly Place[] = ['table Accounts', 'table Billing', 'table Notifications', 'table Observability', 'table Tickets'];
  await writeCustomerTexts(
    control,
    { admin, owner: token, support: await control.createUser({ role: 'support' }), organization },
    (what) => canaries.plant(what, 'table Audit', ...texts),
    (what) => canaries.plant(what, ...texts),
  );
  const search = new URLSearchParams({
    user: canaries.plant('a user in a search'),
    [`metadata[${canaries.plant('a key in a search')}]`]: canaries.plant('a value in a search'),
  });
  await done('GET', `/v1/observability/requests?${search}`, { token });
  for (const { method, path } of controlOperations) {
    const plant = (what: string): string => canaries.plant(`${what} of ${method} ${path}`);
    const body = { [plant('a field')]: plant('a value'), email: plant('an email'), name: { [plant('a name')]: 1 } };
    const url = `${path.replace(/\{\w+\+?\}/g, () => plant('an id'))}?${plant('a query name')}=${plant('a query value')}`;
    const headers = { 'idempotency-key': plant('an idempotency key'), 'if-match': plant('a version'), 'user-agent': plant('a user agent') };
    for (const caller of [token, admin])
      expect((await call(method, url, { token: caller, headers, ...(method !== 'GET' && { body }) })).status).not.toBe(500);
    if (method !== 'GET') await call(method, url, { token, headers, body: `{"${plant('broken JSON')}` });
  }
};

// Rows and payload objects are written after the reply.
const untilWritten = (): Promise<void> => eventually(() => areWritten(run), 'the rows and the payloads of all requests are written');

// Secrets come first: a code of six digits can be a number that more requests store.
testSecrets(() => run);
testInternalNotes(() => run);

test('keeps content only in the payload log, while that is on, and in stored responses', async () => {
  await sendAll('off', false);
  await untilWritten();
  expect(await readBucket(run, 'Payloads')).toBe('');
  await control.done('PUT', '/v1/observability/payload-log', { token, body: { enabled: true, retention_days: 7 } });
  await sendAll('on', true);
  await untilWritten();
  await useControlPlane();
  const places = await readPlaces(run);
  const foundIn = (place: string): string[] => canaries.foundIn(places.get(place) ?? '');

  // Allowed content is found, so the search works.
  expect(foundIn('bucket Payloads')).toEqual(
    expect.arrayContaining([
      'user message of chat, whole, with the log on',
      'prompt of completions, streamed, with the log on',
      'input of responses, whole, with the log on',
      'request of codex, streamed, with the log on',
      'thinking of messages, whole, with the log on',
      'document of messages, streamed, with the log on',
      'first input of embeddings, whole, with the log on',
      'document in an object of rerank, whole, with the log on',
    ]),
  );
  for (const place of ['table Usage', 'table Observability'])
    expect(foundIn(place)).toEqual(
      expect.arrayContaining(['metadata value of chat, whole, with the log off', 'user of messages, whole, with the log on']),
    );
  expect(foundIn('table Responses')).toContain('input of stored-responses, whole, with the log off');
  expect(foundIn('table Audit')).toContain('the name of an organization');
  for (const action of ACTIONS_WITH_TEXTS) expect(places.get('table Audit')).toContain(action);
  for (const place of ['file logs/inference.log', 'file logs/ondemand-inference.log', 'file logs/control.log', 'telemetry'])
    expect([place, places.get(place)]).toEqual([place, expect.stringMatching(/req_/)]);

  // The tries of a request have the names of its models and codes of errors, and nothing that a runtime said.
  const attempts = await attemptsOf();
  expect(attempts).toMatch(new RegExp(`^failed +${GONE}: model_not_ready after .* ms\\n +${run.model}: invalid_value after .* ms$`));
  expect(places.get('table Usage')).toContain('"code":"invalid_value"');

  expect(canaries.leaksIn(places)).toEqual([]);
});
