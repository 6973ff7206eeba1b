import { expect, test } from '@jest/globals';
import { seededRandom } from '../../infra/local/sagemaker/seeded-random.ts';
import { controlOf } from '../support/clients/control.ts';
import { startTestRun, type TestRun } from '../support/clients/local-run.ts';
import { residentMiB } from '../support/resident-memory.ts';
import { sized } from '../support/sized.ts';
import { directedFaults, directedRequests } from './fuzz/directed.ts';
import { createFixtures, type FuzzedHosts } from './fuzz/fixtures.ts';
import { createJudge } from './fuzz/judge.ts';
import { createRequests } from './fuzz/requests.ts';
import { createSender, type FuzzedReply, toCurl } from './fuzz/send.ts';

const REQUESTS = Number(process.env.FUZZED_REQUESTS ?? sized(350, 4_500));
const SEED = Number(process.env.FUZZ_SEED ?? 1);
// After as many requests everything that they may have changed or deleted is created anew.
const REQUESTS_A_ROUND = sized(350, 1_500);
// A control plane accepts a bounded number of invitations, so that many rounds need several.
const ROUNDS_A_RUN = 10;
// The control plane has most of the operations.
const SHARES = { serverless: 0.25, 'on-demand': 0.2, control: 0.55 } as const;
const HOSTS = ['serverless', 'on-demand', 'control'] as const;
const CALLERS_AT_ONCE = 12;
const MAX_FAULTS = 20;
// If an operation gets at least this many requests, some of them are authenticated.
const ENOUGH_REQUESTS = 20;
const MAX_MS = 300_000 + REQUESTS * 20;

const faults: unknown[] = [];
const statuses = new Map<string, number>();
const operations = new Map<string, { requests: number; authenticated: number; successes: number }>();
const count = <Key>(counts: Map<Key, number>, key: Key): void => void counts.set(key, (counts.get(key) ?? 0) + 1);

// Most errors have a code.
const codeOf = ({ text }: FuzzedReply): string => /"(?:error_)?code":"(\w+)"/.exec(text)?.[0] ?? '';

const fuzzHost = async (
  name: string,
  host: FuzzedHosts['hosts']['control'],
  entitled: ReadonlySet<string>,
  seed: number,
  requests: number,
) => {
  const random = seededRandom(seed);
  const next = createRequests(host);
  const judge = await createJudge(host, entitled);
  const sender = createSender(CALLERS_AT_ONCE);
  let left = requests;
  const call = async (): Promise<void> => {
    while (left > 0 && faults.length < MAX_FAULTS) {
      left -= 1;
      const request = next(random);
      try {
        const reply = await sender.send(host.baseUrl, request);
        count(statuses, `${name} ${reply.status}${codeOf(reply)}`);
        const operation = `${name} ${request.operation}`;
        const seen = operations.get(operation) ?? { requests: 0, authenticated: 0, successes: 0 };
        const authenticated = seen.authenticated + (reply.status === 401 ? 0 : 1);
        operations.set(operation, { requests: seen.requests + 1, authenticated, successes: seen.successes + (reply.status < 300 ? 1 : 0) });
        const found = await judge(request, reply);
        if (found.length > 0)
          faults.push({ found, curl: toCurl(host.baseUrl, request), reply: `${reply.status} ${reply.text.slice(0, 1_000)}` });
      } catch (error) {
        faults.push({ found: String(error), curl: toCurl(host.baseUrl, request) });
      }
    }
  };
  await Promise.all(Array.from({ length: CALLERS_AT_ONCE }, call));
  sender.close();
};

// The requests that are the same in each run.
const sendDirected = async ({ hosts, entitled }: Pick<FuzzedHosts, 'hosts' | 'entitled'>): Promise<void> => {
  const sender = createSender(CALLERS_AT_ONCE);
  const judges = Object.fromEntries(
    await Promise.all(HOSTS.map(async (name) => [name, await createJudge(hosts[name], entitled)] as const)),
  );
  for (const { host, request, ...expected } of directedRequests(hosts)) {
    const reply = await sender.send(hosts[host].baseUrl, request);
    const found = [...directedFaults(expected, reply), ...((await judges[host]?.(request, reply)) ?? [])];
    if (found.length > 0) faults.push({ found, operation: request.operation, reply: `${reply.status} ${reply.text.slice(0, 1_000)}` });
  }
  sender.close();
};

// Nothing stays reserved, and the keys have spent the sum of their usage events.
const checkLedger = async (run: TestRun, keyIds: readonly string[]): Promise<void> => {
  for (const keyId of keyIds) {
    const item = await run.limiters.whole(keyId);
    const cost = (await run.eventsOf(keyId)).reduce((sum, { cost_nanos }) => sum + cost_nanos, 0n);
    expect({ keyId, inFlight: item?.fl, spent: BigInt(item?.spent ?? 0) }).toEqual({ keyId, inFlight: {}, spent: cost });
  }
};

const residents: number[] = [];

const fuzzRun = async (rounds: readonly number[]): Promise<void> => {
  await using run = await startTestRun();
  const control = controlOf(run);
  for (const round of rounds) {
    if (faults.length > 0) return;
    const { hosts, keyIds, entitled } = await createFixtures(run, control);
    if (round === 0) await sendDirected({ hosts, entitled });
    const requests = Math.min(REQUESTS_A_ROUND, REQUESTS - round * REQUESTS_A_ROUND);
    for (const [index, name] of HOSTS.entries())
      await fuzzHost(name, hosts[name], entitled, SEED * 1_000_003 + round * HOSTS.length + index, Math.ceil(requests * SHARES[name]));
    if (faults.length === 0) await checkLedger(run, keyIds);
    const [pid] = (await run.facts()).pids.functions.inference ?? [];
    if (pid) residents.push(Math.round(residentMiB(pid).now));
  }
};

test(
  `answers ${REQUESTS} hostile requests as documented and in time, and reserves or leaks nothing`,
  async () => {
    const rounds = Math.ceil(REQUESTS / REQUESTS_A_ROUND);
    for (let first = 0; first < rounds && faults.length === 0; first += ROUNDS_A_RUN)
      await fuzzRun(Array.from({ length: Math.min(ROUNDS_A_RUN, rounds - first) }, (_, index) => first + index));
    expect(faults).toEqual([]);
    const table = [...statuses].sort(([a], [b]) => (a < b ? -1 : 1)).map(([status, replies]) => `${status}: ${replies}`);
    console.log(
      `Seed ${SEED}. Replies by host and status:\n${table.join('\n')}\nMiB resident of inference by round: ${residents.join(', ')}`,
    );
    if (process.env.FUZZ_OPERATIONS) console.log([...operations].map(([name, seen]) => `${name} ${JSON.stringify(seen)}`).join('\n'));
    const unreached = [...operations].filter(([, { requests, authenticated }]) => requests >= ENOUGH_REQUESTS && authenticated === 0);
    expect(unreached).toEqual([]);
  },
  MAX_MS,
);
