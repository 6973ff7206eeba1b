import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { DAY_SECONDS } from '../../../shared/time/units.ts';
import type { Received, Sent } from './send.ts';
import type { Tenant, Tenants } from './tenants.ts';

const USER = '6f9619ff-8b86-4d01-b42d-00cf4fc964ff';
const MEGABYTE = 1_000_000;
const TEXT_BYTES = 300_000;
const PASSWORD = 'Not-the-password-1';

/** The host whose callers notice an attack. */
export type Neighbour = 'serverless' | 'on-demand' | 'control';

/** One way into a function, as an attacker uses it. */
export interface Attack {
  name: string;
  /** The attacker's requests, in words for the page. */
  sends: string;
  neighbour: Neighbour;
  /**
   * How many send at once, and how long each of them waits between two requests at least. So slow that they don't
   * take the CPU of this machine, which the neighbour's environments share here and not on Lambda.
   */
  senders: number;
  everyMs: number;
  /** Prepares the attack. @returns what a sender sends in a turn */
  prepare: (tenants: Tenants) => Promise<(sender: number, turn: number) => Sent>;
  /** Ends what it has changed. */
  end?: (tenants: Tenants) => Promise<void>;
}

const pick = <Item>(items: readonly Item[], number: number): Item => items[number % items.length] as Item;
const everyone = ({ owner, members }: Tenant) => [owner, ...members];

const chat = (run: Tenants['run'], key: string, fields: object): Sent => ({
  method: 'POST',
  url: `${run.base_url}/v1/chat/completions`,
  token: key,
  body: { model: run.model, messages: [{ role: 'user', content: 'Hello' }], max_tokens: 1, temperature: 0, ...fields },
});

// It accepts a webhook's request and never replies.
const silentServer = createServer(() => undefined).unref();
const silentUrl = async (): Promise<string> => {
  if (!silentServer.listening) await new Promise<void>((resolve) => silentServer.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(silentServer.address() as AddressInfo).port}/events`;
};

export const ATTACKS: readonly Attack[] = [
  {
    name: 'chat',
    sends: 'long streams with every key',
    neighbour: 'serverless',
    senders: 32,
    everyMs: 4_000,
    prepare: async ({ run, attacker }) => {
      await run.control('container', { token_delay_ms: 20 });
      return (sender) => chat(run, pick(attacker.serverlessKeys, sender), { stream: true, max_tokens: 300, temperature: 1, seed: sender });
    },
    end: ({ run }) => run.control('container'),
  },
  {
    name: 'tokenize',
    sends: 'texts of 300 kB',
    neighbour: 'serverless',
    senders: 8,
    everyMs: 2_000,
    prepare: async ({ run, attacker }) => {
      const prompt = 'river '.repeat(TEXT_BYTES / 6);
      return (sender) => ({
        method: 'POST',
        url: `${run.base_url}/tokenize`,
        token: pick(attacker.serverlessKeys, sender),
        body: { model: run.model, prompt },
      });
    },
  },
  {
    name: 'count tokens',
    sends: 'messages of 300 kB to count',
    neighbour: 'serverless',
    senders: 24,
    everyMs: 4_000,
    prepare: async ({ run, attacker }) => {
      const messages = [{ role: 'user', content: 'river '.repeat(TEXT_BYTES / 6) }];
      return (sender) => ({
        method: 'POST',
        url: `${run.base_url}/v1/messages/count_tokens`,
        token: pick(attacker.serverlessKeys, sender),
        body: { model: run.model, messages },
      });
    },
  },
  {
    name: 'payload log',
    sends: '1 MB of `AA11 ` in a field that has no effect, with the payload log switched on',
    neighbour: 'serverless',
    senders: 4,
    everyMs: 3_000,
    prepare: async ({ run, control, attacker }) => {
      await control.done('PUT', '/v1/observability/payload-log', { token: attacker.owner.token, body: { enabled: true } });
      const junk = 'AA11 '.repeat(MEGABYTE / 5);
      return (sender) => chat(run, pick(attacker.serverlessKeys, sender), { junk });
    },
    end: async ({ control, attacker }) => {
      await control.done('PUT', '/v1/observability/payload-log', { token: attacker.owner.token, body: { enabled: false } });
    },
  },
  {
    name: 'login',
    sends: 'wrong passwords for addresses that nobody has',
    neighbour: 'control',
    senders: 50,
    everyMs: 1_000,
    prepare:
      async ({ run }) =>
      (sender, turn) => ({
        method: 'POST',
        url: `${run.control_url}/v1/auth/login`,
        body: { email: `nobody-${sender}-${turn}@example.com`, password: PASSWORD },
      }),
  },
  {
    name: 'reset',
    sends: 'forgotten passwords of addresses that nobody has',
    neighbour: 'control',
    senders: 50,
    everyMs: 1_000,
    prepare:
      async ({ run }) =>
      (sender, turn) => ({
        method: 'POST',
        url: `${run.control_url}/v1/auth/forgot`,
        body: { email: `nobody-${sender}-${turn}@example.com` },
      }),
  },
  {
    name: 'control change',
    sends: 'new names for a key, by an owner and members',
    neighbour: 'control',
    senders: 8,
    everyMs: 500,
    prepare: async ({ run, control, attacker }) => {
      const keys: { id: string; token: string }[] = [];
      for (const { token } of everyone(attacker)) {
        const { id } = await control.done('POST', '/v1/api-keys', { token, body: { name: 'changing' } });
        keys.push({ id, token });
      }
      return (sender, turn) => {
        const { id, token } = pick(keys, sender);
        return { method: 'PATCH', url: `${run.control_url}/v1/api-keys/${id}`, token, body: { name: `changing ${sender} ${turn}` } };
      };
    },
  },
  {
    name: 'webhook',
    sends: 'test events to a server that never replies',
    neighbour: 'control',
    senders: 8,
    everyMs: 200,
    prepare: async ({ run, control, attacker }) => {
      const { token } = attacker.owner;
      const { id } = await control.done('POST', '/v1/webhooks', { token, body: { url: await silentUrl() } });
      return () => ({ method: 'POST', url: `${run.control_url}/v1/webhooks/${id}/test`, token });
    },
    end: async () => {
      silentServer.closeAllConnections();
      silentServer.close();
    },
  },
  {
    name: 'export',
    sends: 'exports of 31 days',
    neighbour: 'control',
    senders: 8,
    everyMs: 200,
    prepare: async ({ run, attacker }) => {
      const end_time = Math.floor(Date.now() / 1_000);
      const body = { format: 'jsonl', start_time: end_time - 31 * DAY_SECONDS, end_time };
      return () => ({ method: 'POST', url: `${run.control_url}/v1/billing/exports`, token: attacker.owner.token, body });
    },
  },
  {
    name: 'search',
    sends: 'searches of 30 days and metrics, by an owner and members',
    neighbour: 'control',
    senders: 8,
    everyMs: 250,
    prepare: async ({ run, attacker }) => {
      const now = Math.floor(Date.now() / 1_000);
      const range = `start_time=${now - 30 * DAY_SECONDS + 60}&end_time=${now}`;
      const paths = [`/v1/observability/requests/export?${range}&format=jsonl`, `/v1/observability/requests?${range}&limit=100`];
      return (sender, turn) => ({
        method: 'GET',
        url: `${run.control_url}${pick(paths, turn)}`,
        token: pick(everyone(attacker), sender).token,
      });
    },
  },
  {
    name: 'ticket',
    sends: 'messages of one ticket',
    neighbour: 'control',
    senders: 8,
    everyMs: 200,
    prepare: async ({ run, control, attacker }) => {
      const { token } = attacker.owner;
      const { id } = await control.done('POST', '/v1/tickets', {
        token,
        body: { subject: 'A question', body: 'What is this?', severity: 'low', category: 'other' },
      });
      return (sender, turn) => ({
        method: 'POST',
        url: `${run.control_url}/v1/tickets/${id}/messages`,
        token,
        body: { body: `And this? ${sender} ${turn}` },
      });
    },
  },
  // The last one, because deployments that wake are looked at until they have woken.
  {
    name: 'hold',
    sends: 'requests with `X-Wait-For-Capacity: 10` for four deployments that sleep',
    neighbour: 'on-demand',
    senders: 48,
    everyMs: 5_000,
    prepare:
      async ({ run, attacker, sleeping }) =>
      (sender) => ({
        ...chat(run, attacker.ondemandKey, { model: pick(sleeping, sender) }),
        url: `${run.ondemand_url}/v1/chat/completions`,
        headers: { 'x-user-id': USER, 'x-wait-for-capacity': '10' },
      }),
  },
];

const READS = ['/v1/me', '/v1/api-keys', '/v1/billing/profile'];

/** The neighbour changes a key with one of so many requests to the control plane. */
export const CHANGE_EVERY = READS.length + 1;

/** The request that a neighbour sends to a host again and again. @param keyIds its keys, which it changes in turn */
export const neighbourRequest = ({ run, neighbour }: Tenants, host: Neighbour, keyIds: readonly string[], number: number): Sent => {
  if (host === 'serverless') return chat(run, pick(neighbour.serverlessKeys, 0), {});
  if (host === 'on-demand')
    return {
      ...chat(run, neighbour.ondemandKey, {}),
      url: `${run.ondemand_url}/v1/chat/completions`,
      headers: { 'x-user-id': USER },
    };
  const { token } = neighbour.owner;
  const read = READS[number % CHANGE_EVERY];
  if (read !== undefined) return { method: 'GET', url: `${run.control_url}${read}`, token };
  const keyId = pick(keyIds, Math.floor(number / CHANGE_EVERY));
  return { method: 'PATCH', url: `${run.control_url}/v1/api-keys/${keyId}`, token, body: { name: `steady ${number}` } };
};

/** The replies of an attack, counted by status and code: `429 rate_limit_exceeded`. */
export const countReplies = (received: readonly Received[]): Map<string, number> => {
  const counts = new Map<string, number>();
  for (const { status, code } of received) {
    const name = code === undefined ? String(status) : `${status} ${code}`;
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return counts;
};
