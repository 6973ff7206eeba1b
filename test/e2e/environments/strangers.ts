import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { beforeAll, expect, test } from '@jest/globals';
import { type Control, controlOf, type SignedIn } from '../../support/clients/control.ts';
import type { TestRun } from '../../support/clients/local-run.ts';
import { eventually } from '../../support/eventually.ts';
import { ENVIRONMENTS, environments } from './run.ts';

// Each environment rejects as many logins.
const ROUNDS = 4;
// As long as a rejected login takes.
const WAITED_MS = 800;
const OUTAGE_DELAY_MS = 2_000;

let run: TestRun;
let control: Control;
let admin: SignedIn;
beforeAll(async () => {
  run = await environments.start();
  control = controlOf(run);
  admin = await control.asAdmin();
});

// The local run logs its emails.
const lastMailTo = async (email: string): Promise<string | undefined> => {
  const text = await readFile(path.join(run.state, 'logs', 'mail.log'), 'utf8').catch(() => '');
  return text.split('\n').findLast((line) => line.includes(email));
};

test('nobody who is logged in waits behind strangers with wrong passwords', async () => {
  const callSignedIn = () => control.done('GET', '/v1/me', { token: admin.token });
  await callSignedIn();
  let answered = 0;
  const attempts = Array.from({ length: ROUNDS * ENVIRONMENTS }, async (_, i) => {
    const body = { email: `stranger-${i}@example.com`, password: 'Wrong-password-1' };
    const { status } = await control.call('POST', '/v1/auth/login', { body });
    answered++;
    return status;
  });
  let isOver = false;
  const over = Promise.all(attempts).finally(() => {
    isOver = true;
  });
  // How many strangers were answered after each call.
  const before: number[] = [];
  while (!isOver) {
    await callSignedIn();
    before.push(answered);
  }
  expect(await over).toContain(401);
  // Behind them, the first call would wait until the last of them had begun, and the next ones as well.
  expect(before[0]).toBeLessThan((ROUNDS - 1) * ENVIRONMENTS);
  expect(before.length).toBeGreaterThan(ROUNDS);
});

test('the reply to a password reset takes equally long for unknown addresses, and the code is mailed later', async () => {
  const { id: organization } = await control.createOrganization();
  const user = await control.createUser({ role: 'member', organization });
  // A reply that waited for the identity provider would take longer than this.
  await run.control('cognito', { kind: 'unavailable', delay_ms: OUTAGE_DELAY_MS });
  const times = new Map<string, number[]>([
    [user.email, []],
    ['nobody@example.com', []],
  ]);
  for (let round = 0; round < 4; round++)
    for (const [email, ofEmail] of times) {
      const startMs = performance.now();
      const { status, body } = await control.call('POST', '/v1/auth/forgot', { body: { email } });
      ofEmail.push(performance.now() - startMs);
      expect([status, body]).toEqual([202, undefined]);
    }
  await run.control('cognito');
  for (const ofEmail of times.values()) expect(Math.min(...ofEmail)).toBeLessThan(WAITED_MS);
  await eventually(async () => (await lastMailTo(user.email)) !== undefined, 'the code');
  expect(await lastMailTo('nobody@example.com')).toBeUndefined();
});

test('a code that was requested while the identity provider was out of reach is mailed afterwards', async () => {
  const { id: organization } = await control.createOrganization();
  const { email } = await control.createUser({ role: 'member', organization });
  // The queue gives a message up after five failed deliveries, which are quick when the provider refuses at once.
  await run.control('cognito', { kind: 'unavailable', delay_ms: OUTAGE_DELAY_MS });
  expect((await control.call('POST', '/v1/auth/forgot', { body: { email } })).status).toBe(202);
  await eventually(async () => (await run.logOf('sign-in')).includes('reset_mail_failed'), 'a failed attempt');
  await run.control('cognito');
  await eventually(async () => (await lastMailTo(email)) !== undefined, 'the code');
});
