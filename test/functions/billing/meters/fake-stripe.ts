import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { DAY_MS } from '../../../../shared/time/units.ts';

const MAX_PAST_MS = 35 * DAY_MS;
const MAX_FUTURE_MS = 5 * 60_000;

interface CountedEvent {
  identifier: string;
  name: string;
  customer: string;
  value: bigint;
  atMs: number;
}

// As documented, refused for the moment, or done with a lost reply.
type Fate = 'answered' | 'limited' | 'failed' | 'lost';

/**
 * Stripe's `POST /v1/billing/meter_events` as documented: identifiers are unique for a day, timestamps are at most 35
 * days old, unknown meters and customers are rejected (https://docs.stripe.com/api/billing/meter-event/create).
 */
export const startFakeStripe = async (now: () => number) => {
  const counted: CountedEvent[] = [];
  const seen = new Map<string, number>();
  const requests: string[] = [];
  let fates: Fate[] = [];
  const unknownMeters = new Set<string>();

  const reject = (message: string): [number, object] => [400, { error: { type: 'invalid_request_error', message } }];

  const record = (form: URLSearchParams): [number, object] => {
    const [identifier, name, customer, value, timestamp] = [
      'identifier',
      'event_name',
      'payload[stripe_customer_id]',
      'payload[value]',
      'timestamp',
    ].map((field) => form.get(field) ?? '') as [string, string, string, string, string];
    const atMs = Number(timestamp) * 1_000;
    if (identifier.length > 100 || name.length > 100) return reject('A field is too long.');
    if (!/^\d+$/.test(value)) return reject('Invalid value.');
    if (!customer.startsWith('cus_')) return reject('No such customer.');
    if (unknownMeters.has(name)) return reject(`No active meter found for event name ${name}.`);
    if (atMs < now() - MAX_PAST_MS || atMs > now() + MAX_FUTURE_MS) return reject('Invalid timestamp.');
    if (now() - (seen.get(identifier) ?? Number.NEGATIVE_INFINITY) < DAY_MS)
      return reject(`An event already exists with identifier ${identifier}.`);
    seen.set(identifier, now());
    counted.push({ identifier, name, customer, value: BigInt(value), atMs });
    return [200, { object: 'billing.meter_event', identifier }];
  };

  const server = createServer(async (request, response) => {
    const form = new URLSearchParams(await text(request));
    requests.push(form.get('identifier') ?? '');
    const fate = fates.shift() ?? 'answered';
    const reply = ([status, body]: [number, object]): void => void response.writeHead(status).end(JSON.stringify(body));
    if (request.headers.authorization !== 'Bearer sk_test_1') return reply([401, { error: { message: 'Invalid API Key provided.' } }]);
    if (request.method !== 'POST' || request.url !== '/v1/billing/meter_events')
      return reply([404, { error: { message: 'Unrecognized request URL.' } }]);
    if (fate === 'limited') return reply([429, { error: { code: 'rate_limit', message: 'Too many requests.' } }]);
    if (fate === 'failed') return reply([500, { error: { message: 'An error occurred.' } }]);
    const answer = record(form);
    if (fate === 'lost') return void request.socket.destroy();
    return reply(answer);
  });
  server.listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));

  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    counted,
    requests,
    unknownMeters,
    /** The fates of the next requests. */
    plan: (next: Fate[]): void => {
      fates = next;
    },
    /** The counted sums by meter. */
    sums: (): Record<string, bigint> => {
      const sums: Record<string, bigint> = {};
      for (const { name, value } of counted) sums[name] = (sums[name] ?? 0n) + value;
      return sums;
    },
    close: async (): Promise<void> => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
};

export type FakeStripe = Awaited<ReturnType<typeof startFakeStripe>>;
