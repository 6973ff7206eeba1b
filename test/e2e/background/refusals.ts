import { beforeAll, describe, expect, test } from '@jest/globals';
import { createRefusalStore } from '../../../shared/observability/refusal-store.ts';
import { MINUTE_MS } from '../../../shared/time/units.ts';
import type { TestRun } from '../../support/clients/local-run.ts';
import { eventually } from '../../support/eventually.ts';
import { background } from './run.ts';

let run: TestRun;
beforeAll(async () => {
  run = await background.start();
});

// By code, for requests without an authenticated key.
const refusals = async (): Promise<Record<string, number>> => {
  const store = createRefusalStore(run.database, run.tables.Observability as string);
  const counts: Record<string, number> = {};
  const nowMs = Date.now();
  for await (const { code, count, keyId } of store.list({ organization: null, fromMs: nowMs - 10 * MINUTE_MS, toMs: nowMs + MINUTE_MS }))
    if (keyId === null) counts[code] = (counts[code] ?? 0) + count;
  return counts;
};

describe('refused requests', () => {
  test('are counted by code from the logs of all functions, for both hosts', async () => {
    const secret = `sk-s${'x'.repeat(52)}`;
    const headers = { authorization: `Bearer ${secret}`, 'content-type': 'application/json' };
    const refused = async (url: string, init: RequestInit = { headers }): Promise<string> => {
      const body = (await (await fetch(url, init)).json()) as { code?: string; error: { code?: string } };
      // The interface has the code of a 401 beside the error.
      return String(body.code ?? body.error.code);
    };
    const [host, ondemandHost] = [run.base_url, run.ondemand_url as string];
    const chat = { method: 'POST', headers, body: '{}' };
    const codes = [
      await refused(`${host}/v1/chat/completions`, chat),
      await refused(`${host}/v1/chat/completions`, chat),
      await refused(`${host}/v1/key`),
      await refused(`${ondemandHost}/v1/chat/completions`, chat),
      await refused(`${host}/v1/nothing`),
    ];
    const expected: Record<string, number> = {};
    for (const code of codes) expected[code] = (expected[code] ?? 0) + 1;
    expect(expected).toMatchObject({ invalid_api_key: 4 });
    await eventually(
      async () => Object.values(await refusals()).reduce((sum, n) => sum + n, 0) >= codes.length,
      'five refusals are counted',
    );
    expect(await refusals()).toEqual(expected);
  });
});
