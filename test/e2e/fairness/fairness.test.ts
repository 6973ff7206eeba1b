import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { isFull, sized } from '../../support/sized.ts';
import { ATTACKS, type Attack, CHANGE_EVERY, countReplies, neighbourRequest } from './attacks.ts';
import { type Finding, ratioOf, waysOfPage, writePage } from './page.ts';
import { testSaturation } from './saturation.ts';
import { attackersAddresses, type Caller, openCaller, type Received } from './send.ts';
import { startTenants, type Tenants } from './tenants.ts';
import { sendSteadily, sendUntil, type Traffic } from './traffic.ts';

const NEIGHBOURS_ADDRESS = '127.0.9.1';
// The small size has one way into each function, and both addresses and organizations that send.
const SOME_WAYS = ['chat', 'count tokens', 'login', 'control change', 'hold'];
const WAYS = sized(
  ATTACKS.filter(({ name }) => SOME_WAYS.includes(name)),
  ATTACKS,
);
const REQUESTS = sized(6, 100);
const UNTIMED = sized(1, 10);
const CHANGES = Math.ceil((REQUESTS + UNTIMED) / CHANGE_EVERY);
const EVERY_MS = 100;
// The small size doesn't measure how long a neighbour waits for the CPU of the machine that an attack takes.
const MOST_RATIO = sized(10, 2);
// Beside other suites, shorter times differ by their work; waits of several seconds for an environment still stand out.
const NOISE_MS = sized(2_000, 0);
const WARM_UP_MS = 3_000;
const MAX_ROUNDS = sized(3, 6);
const SET_UP_MS = 600_000;
const LIMIT_MS = 400_000;

let tenants: Tenants;
// An attack on it takes as much CPU of the machine, but nothing that the neighbour shares on AWS.
let other: Tenants | undefined;
let attackers: Caller[];
let neighbour: Caller;
// The neighbour's keys, whose names it changes: one for each change, because on a slow machine changes overlap.
const keyIds: string[] = [];
const findings: Finding[] = [];
beforeAll(async () => {
  tenants = await startTenants();
  if (isFull) other = await startTenants();
  attackers = attackersAddresses().map(openCaller);
  neighbour = openCaller(NEIGHBOURS_ADDRESS);
  const { control, neighbour: theirs } = tenants;
  const { token } = theirs.owner;
  const { token: admin } = await control.asAdmin();
  const max_api_keys = theirs.serverlessKeys.length + 1 + CHANGES;
  await control.done('PATCH', `/v1/users/${theirs.owner.id}`, { token: admin, body: { max_api_keys } });
  while (keyIds.length < CHANGES) keyIds.push((await control.done('POST', '/v1/api-keys', { token, body: { name: 'steady' } })).id);
}, SET_UP_MS);
afterAll(async () => {
  for (const caller of [...(attackers ?? []), neighbour]) caller?.close();
  await tenants?.close();
  await other?.close();
});

const steadily = (host: Attack['neighbour']): Promise<Traffic> =>
  sendSteadily(UNTIMED + REQUESTS, UNTIMED, EVERY_MS, (number) => neighbour.send(neighbourRequest(tenants, host, keyIds, number)));

// Returns the result of `run`, and the replies to the attacker.
const whileAttacked = async <Result>(attack: Attack, attacked: Tenants, run: () => Promise<Result>) => {
  const next = await attack.prepare(attacked);
  const over = new AbortController();
  let begun = 0;
  const { promise: allBegun, resolve } = Promise.withResolvers<void>();
  const attackOnce = (sender: number, turn: number): Promise<Received> => {
    const reply = attackers[(sender + turn * attack.senders) % attackers.length]?.send(next(sender, turn)) as Promise<Received>;
    begun += 1;
    if (begun === attack.senders) resolve();
    return reply;
  };
  const attacking = sendUntil(over.signal, attack.senders, attack.everyMs, attackOnce);
  await allBegun;
  const result = await run();
  over.abort();
  const replies = countReplies(await attacking);
  await attack.end?.(attacked);
  return { result, replies };
};

const measure = async (attack: Attack): Promise<Finding> => {
  const traffic = () => steadily(attack.neighbour);
  await neighbour.send(neighbourRequest(tenants, attack.neighbour, keyIds, 0));
  const alone = await traffic();
  let elsewhere: Traffic | undefined;
  if (other) {
    // Its functions start during the first attack.
    await whileAttacked(attack, other, () => delay(WARM_UP_MS));
    elsewhere = (await whileAttacked(attack, other, traffic)).result;
  }
  const { result: beside, replies } = await whileAttacked(attack, tenants, traffic);
  return { attack, replies, alone, elsewhere, beside };
};

const isInTime = (finding: Finding): boolean => ratioOf(finding) <= MOST_RATIO || finding.beside.p95Ms <= NOISE_MS;

testSaturation(() => tenants);

describe('one organization with members, keys and 50 addresses, beside another one', () => {
  test.each(WAYS)(
    '$name: the neighbour gets every answer, and does not wait for the attacker',
    async (attack) => {
      let finding = await measure(attack);
      for (let round = 1; round < MAX_ROUNDS && !isInTime(finding); round++) finding = await measure(attack);
      findings.push(finding);
      const { alone, elsewhere, beside } = finding;
      for (const { received } of [alone, elsewhere ?? alone, beside])
        expect(received.filter(({ status }) => status !== 200).map(({ status, text }) => `${status} ${text}`)).toEqual([]);
      expect(isInTime(finding) || [alone.p95Ms, elsewhere?.p95Ms, beside.p95Ms]).toBe(true);
    },
    LIMIT_MS,
  );

  test('docs/fairness.md has each of these ways in', async () => {
    if (process.env.UPDATE_FAIRNESS) await writePage(findings);
    expect(await waysOfPage()).toEqual(ATTACKS.map(({ name, sends }) => [name, sends]));
  });
});
