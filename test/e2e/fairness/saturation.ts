import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { eventually } from '../../support/eventually.ts';
import { INFERENCE, SHARE, type Tenants } from './tenants.ts';

const STREAMS = 3 * INFERENCE;
const NEIGHBOURS_REQUESTS = 20;
// Longer than all of the neighbour's requests take, on a busy machine too.
const LONG = { max_tokens: 1_000, min_tokens: 1_000, ignore_eos: true, stream: true };
const TOKEN_DELAY_MS = 50;
const messages = [{ role: 'user', content: 'Tell me about weirs.' }];

// The organization has no limits of its own, and its keys have the default limits.
const newOrganization = async ({ control }: Tenants, keys: number) => {
  const { token } = await control.asAdmin();
  const { id, limits } = await control.done('POST', '/v1/organizations', { token, body: { name: 'Acme' } });
  const secrets: string[] = [];
  for (let key = 0; key < keys; key++) {
    const body = { name: `key ${key}`, organization: id };
    secrets.push((await control.done('POST', '/v1/api-keys', { token, body })).secret);
  }
  return { concurrency: limits.concurrency as number, secrets };
};

/** The test of an organization that opens as many streams as it can. */
export const testSaturation = (tenantsOf: () => Tenants): void =>
  test('an organization with as many long streams as it can have causes no 503 and no 429 of another one', async () => {
    const tenants = tenantsOf();
    const { run } = tenants;
    const send = (path: string, secret: string, body: object, signal?: AbortSignal): Promise<Response> =>
      fetch(`${run.base_url}${path}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'sluice-tiny', ...body }),
        ...(signal && { signal }),
      });
    await run.control('container', { token_delay_ms: TOKEN_DELAY_MS });
    const [one, neighbour] = [await newOrganization(tenants, 3), await newOrganization(tenants, 1)];
    expect([one.concurrency, neighbour.concurrency]).toEqual([SHARE, SHARE]);
    const end = new AbortController();
    const statuses: number[] = [];
    const refusals = new Set<string>();
    let open = 0;
    let mostOpen = 0;
    // Tries again as its official client does.
    const stream = async (secret: string): Promise<void> => {
      while (!end.signal.aborted) {
        const response = await send('/v1/chat/completions', secret, { messages, ...LONG }, end.signal);
        statuses.push(response.status);
        if (response.status === 200) {
          mostOpen = Math.max(mostOpen, ++open);
          await response.text().finally(() => open--);
        } else {
          refusals.add(((await response.json()) as { error: { message: string } }).error.message);
          await delay(Number(response.headers.get('retry-after-ms') ?? 1_000), undefined, { signal: end.signal });
        }
      }
    };
    const streams = Array.from({ length: STREAMS }, (_, i) =>
      stream(one.secrets[i % one.secrets.length] as string).catch((error: unknown) => {
        if (!end.signal.aborted) throw error;
      }),
    );
    await eventually(async () => mostOpen >= SHARE, 'as many streams are open as can be');

    const [secret = ''] = neighbour.secrets;
    const answers: number[] = [];
    for (let request = 0; request < NEIGHBOURS_REQUESTS; request += 2)
      answers.push(
        ...(await Promise.all([
          send('/v1/chat/completions', secret, { messages, max_tokens: 2 }).then(({ status }) => status),
          send('/tokenize', secret, { prompt: 'Tell me about weirs.' }).then(({ status }) => status),
        ])),
      );
    // The tokenizer's environments are within the same limit.
    const tokenized = await Promise.all(
      one.secrets.map((each) => send('/tokenize', each, { prompt: 'Tell me about weirs.' }).then(({ status }) => status)),
    );
    end.abort();
    await Promise.all(streams);
    await run.control('container');
    expect(tokenized).toEqual([429, 429, 429]);

    expect(answers).toEqual(answers.map(() => 200));
    expect(mostOpen).toBe(SHARE);
    expect(new Set(statuses)).toEqual(new Set([200, 429]));
    expect([...refusals]).toEqual([
      expect.stringContaining(`The organization's limit of ${SHARE} concurrent requests has been reached. Try again in 1 s.`),
    ]);
  });
