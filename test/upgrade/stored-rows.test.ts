import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { version } from '../../infra/config/release.ts';
import type { LimiterItem } from '../../shared/admission/item/limiter-item.ts';
import { type Control, controlOf } from '../support/clients/control.ts';
import { shareTestRun, type TestRun } from '../support/clients/local-run.ts';
import { allStoredRows, putRows, sendAs } from './stored-rows.ts';

const stored = allStoredRows();

let run: TestRun;
let control: Control;
let token: string;
beforeAll(async () => {
  run = await shareTestRun();
  for (const rows of stored) await putRows(run, rows);
  control = controlOf(run);
  ({ token } = await control.asAdmin());
});
afterAll(async () => {
  await run.close();
});

test('has rows of the last release', () => {
  expect(stored.map((rows) => rows.version)).toContain(version);
});

describe.each(stored)('rows of release $version', ({ secret, ids, repeatable }) => {
  test('are read by the control plane', async () => {
    const { organization, key, user, webhook, ticket } = ids;
    for (const [path, id] of [
      [`/v1/organizations/${organization}`, organization],
      [`/v1/users/${user}`, user],
      [`/v1/api-keys/${key}`, key],
      [`/v1/tickets/${ticket}`, ticket],
      [`/v1/api-keys?organization=${organization}`, key],
      [`/v1/users?organization=${organization}`, user],
      [`/v1/webhooks?organization=${organization}`, webhook],
      [`/v1/audit-log?organization=${organization}`, key],
    ] as const) {
      const { status, body } = await control.call('GET', path, { token });
      expect({ path, status, text: JSON.stringify(body) }).toEqual({ path, status: 200, text: expect.stringContaining(id) });
    }
  });

  test('let the key work, with the amount that it had spent', async () => {
    const before = BigInt(((await run.limiters.whole(ids.key)) as LimiterItem).spent ?? 0);
    expect(before).toBeGreaterThan(0n);
    await sendAs(run, secret, '/v1/chat/completions', { ...repeatable.body, seed: 1 });
    const after = BigInt(((await run.limiters.whole(ids.key)) as LimiterItem).spent ?? 0);
    const [event] = (await run.eventsOf(ids.key)).slice(-1);
    expect(event?.cost_nanos).toBeGreaterThan(0n);
    expect(after - before).toBe(event?.cost_nanos);
  });

  test('replay a repeated request, and give back a stored response and continue it', async () => {
    expect(await sendAs(run, secret, '/v1/chat/completions', repeatable.body, repeatable.key)).toBe(repeatable.reply);
    expect(JSON.parse(await sendAs(run, secret, `/v1/responses/${ids.response}`))).toMatchObject({
      id: ids.response,
    });
    const next = { model: run.model, input: 'Go on.', max_output_tokens: 16, previous_response_id: ids.response };
    expect(JSON.parse(await sendAs(run, secret, '/v1/responses', next))).toMatchObject({ previous_response_id: ids.response });
  });
});
