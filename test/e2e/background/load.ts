import { beforeAll, expect, test } from '@jest/globals';
import { SERVERLESS_POOL } from '../../../shared/models/model-store.ts';
import type { Price } from '../../../shared/prices/price.ts';
import type { UsageEvent } from '../../../shared/usage/event.ts';
import { checkLedger } from '../../load/check-ledger.ts';
import type { Sent } from '../../load/check-reply.ts';
import type { AccountLedger } from '../../load/ledger.ts';
import { toReport } from '../../load/report.ts';
import { type LoadFindings, runLoad } from '../../load/run-load.ts';
import type { TestRun } from '../../support/clients/local-run.ts';
import { sized } from '../../support/sized.ts';
import { background } from './run.ts';

const CALLERS = 40;
const REQUESTS = Number(process.env.SLUICE_LOAD_REQUESTS ?? sized(100, 400));
const MODEL_REQUESTS = sized(25, 100);

let run: TestRun;
let findings: LoadFindings;
let price: Price;
beforeAll(async () => {
  run = await background.start();
  findings = await runLoad(run, {
    callers: CALLERS,
    bound: { requests: REQUESTS },
    rampMs: 0,
    modelBound: { requests: MODEL_REQUESTS },
    maxTokens: 16,
    tokenDelayMs: 5,
    settleMs: 120_000,
    progress: () => undefined,
  });
  price = (await run.models.list(SERVERLESS_POOL)).get(run.model)?.prices[0] as Price;
});

test(`no reply of ${REQUESTS} requests by ${CALLERS} callers is lost, swapped or unbilled; ledger is exact`, () => {
  expect(findings.faults).toEqual([]);
  const { sent } = findings.load;
  expect(sent.length).toBeGreaterThanOrEqual(REQUESTS);
  for (const ending of ['served', 'cut', 'repeated', 'refused'] as const)
    expect(sent.filter((one) => one.ending === ending).length).toBeGreaterThan(0);
  for (const route of ['chat', 'completions', 'responses', 'tokenize', 'models'] as const)
    expect(sent.filter((one) => one.route === route && one.ending === 'served').length).toBeGreaterThan(0);
  expect(findings.ledgers.flatMap(({ events }) => events)).toHaveLength(sent.filter(({ isAdmitted }) => isAdmitted).length);
});

test('reports the ratios to the model alone, the accounts, and a count of each fault', () => {
  const report = toReport({ ...findings, faults: [{ kind: 'unbilled', detail: 'req_1 has no event' }] });
  expect(report).toMatch(/\| tokens a second +\| +\d+ \| +\d+ \| [\d.]+× \|/);
  for (const { account } of findings.ledgers) expect(report).toContain(account.label);
  expect(report).toContain('| 0    |       0 |          0 |        1 |');
  expect(report).toContain('- unbilled: req_1 has no event');
});

interface State {
  sent: Sent[];
  ledgers: AccountLedger[];
}

// A copy, so that a test can change it.
const state = (): State => structuredClone({ sent: findings.load.sent, ledgers: findings.ledgers });
const kindsOf = ({ sent, ledgers }: State): string[] => [...new Set(checkLedger(price, sent, ledgers).map(({ kind }) => kind))].sort();

const prepaid = ({ ledgers }: State): AccountLedger => ledgers.find(({ account }) => account.label === 'prepaid') as AccountLedger;
const servedBy = ({ sent }: State, { account }: AccountLedger): [Sent, Sent] =>
  sent.filter(({ keyId, ending, route }) => keyId === account.keyId && ending === 'served' && route === 'chat') as [Sent, Sent];
const paidEvent = (ledger: AccountLedger): UsageEvent => ledger.events.find(({ cost_nanos }) => cost_nanos > 0n) as UsageEvent;

test.each<[string, string[], (changed: State) => void]>([
  ['nothing', [], () => undefined],
  [
    'an event is missing',
    ['unbalanced', 'unbilled'],
    (changed) => {
      prepaid(changed).events.splice(prepaid(changed).events.indexOf(paidEvent(prepaid(changed))), 1);
    },
  ],
  [
    'an event has no request',
    ['unbalanced', 'unexplained'],
    (changed) => {
      prepaid(changed).events.push({ ...paidEvent(prepaid(changed)), request_id: 'req_unknown' });
    },
  ],
  [
    'an event costs a nano-dollar too much',
    ['mischarged', 'unbalanced'],
    (changed) => {
      paidEvent(prepaid(changed)).cost_nanos += 1n;
    },
  ],
  [
    'an event counts other tokens than its reply',
    ['mischarged'],
    (changed) => {
      const [one] = servedBy(changed, prepaid(changed));
      one.tokens = { prompt: 1, completion: 1 };
    },
  ],
  [
    'two replies are swapped',
    ['crossed'],
    (changed) => {
      const [one, other] = servedBy(changed, prepaid(changed));
      [one.requestId, other.requestId] = [other.requestId, one.requestId];
    },
  ],
  [
    'two replies have the same id',
    ['crossed', 'unexplained'],
    (changed) => {
      const [one, other] = servedBy(changed, prepaid(changed));
      one.requestId = other.requestId;
    },
  ],
  [
    'a stored reply goes to another request',
    ['crossed'],
    (changed) => {
      (changed.sent.find(({ ending }) => ending === 'repeated') as Sent).nonce = 'another';
    },
  ],
  [
    'a request stays in flight',
    ['unbalanced'],
    (changed) => {
      prepaid(changed).key.fl = { req_1: [0, 0, 0] as never };
    },
  ],
  [
    'a key has spent a nano-dollar more',
    ['unbalanced'],
    (changed) => {
      prepaid(changed).key.spent = BigInt(prepaid(changed).key.spent ?? 0) + 1n;
    },
  ],
  [
    'an organization has a nano-dollar less',
    ['unbalanced'],
    (changed) => {
      const { organization } = prepaid(changed);
      if (organization) organization.avail = BigInt(organization.avail ?? 0) - 1n;
    },
  ],
  [
    "the limiter of a limited organization doesn't exist",
    ['unbalanced'],
    (changed) => {
      prepaid(changed).organization = undefined;
    },
  ],
  [
    'a total of a key misses a token',
    ['unbalanced'],
    (changed) => {
      prepaid(changed).totals.ofKey.completion_tokens -= 1n;
    },
  ],
  [
    'a total of an organization misses a request',
    ['unbalanced'],
    (changed) => {
      prepaid(changed).totals.ofOrganization.requests -= 1;
    },
  ],
])('finds where %s: %j', (_, kinds, change) => {
  const changed = state();
  change(changed);
  expect(kindsOf(changed)).toEqual(kinds);
});
