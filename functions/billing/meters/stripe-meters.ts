import { logInfo } from '../../../shared/logging/log.ts';
import { unixSeconds } from '../../../shared/time/units.ts';
import type { MeterEvent, MeterExport, MeterResult } from './meter-export.ts';

const API = 'https://api.stripe.com';
// https://docs.stripe.com/api/billing/meter-event/create
const API_VERSION = '2024-06-20';
const MAX_SEND_ATTEMPTS = 5;
const FIRST_WAIT_MS = 500;
const TIMEOUT_MS = 10_000;
const MAX_REASON_CHARACTERS = 300;

// The deployer creates the meters in Stripe, with event names that begin with this.
const EVENT_PREFIX = 'sluice_';

// The event has arrived before, and the reply was lost.
const DUPLICATE = /identifier/i;

const UNAUTHORIZED = new Set([401, 403]);
const isRetryable = (status: number): boolean => status === 409 || status === 429 || status >= 500;

interface StripeOptions {
  /** A secret or restricted key that can create meter events. Read at the first call. */
  apiKey: () => Promise<string>;
  wait: (ms: number) => Promise<unknown>;
  /** Default: Stripe's. */
  url?: string;
}

const formOf = ({ meter, identifier, customer, atMs, value }: MeterEvent): URLSearchParams =>
  new URLSearchParams({
    event_name: EVENT_PREFIX + meter,
    identifier,
    timestamp: String(unixSeconds(atMs)),
    'payload[stripe_customer_id]': customer,
    'payload[value]': String(value),
  });

const messageOf = (text: string): string => {
  try {
    const { error } = JSON.parse(text) as { error?: { message?: unknown } };
    return String(error?.message ?? text).slice(0, MAX_REASON_CHARACTERS);
  } catch {
    return text.slice(0, MAX_REASON_CHARACTERS);
  }
};

/** Sends usage to Stripe's meters. A repeated event has the same identifier within a day, so Stripe counts it once. */
export const createStripeMeters = ({ apiKey, wait, url = API }: StripeOptions): MeterExport => {
  const attempt = async (event: MeterEvent): Promise<MeterResult | undefined> => {
    let response: Response;
    let text: string;
    try {
      response = await fetch(`${url}/v1/billing/meter_events`, {
        method: 'POST',
        headers: { authorization: `Bearer ${await apiKey()}`, 'stripe-version': API_VERSION },
        body: formOf(event),
        redirect: 'error',
        signal: AbortSignal.timeout(TIMEOUT_MS),
      });
      text = await response.text();
    } catch (error) {
      logInfo('stripe_unreachable', { identifier: event.identifier, reason: String(error) });
      return undefined;
    }
    if (response.ok) return { accepted: true };
    const reason = messageOf(text);
    if (UNAUTHORIZED.has(response.status)) throw new Error(`Stripe rejects the API key (${response.status}): ${reason}`);
    if (isRetryable(response.status)) return undefined;
    return DUPLICATE.test(reason) ? { accepted: true } : { accepted: false, reason: `${response.status}: ${reason}` };
  };

  const sendOne = async (event: MeterEvent): Promise<MeterResult> => {
    for (let number = 0; number < MAX_SEND_ATTEMPTS; number++) {
      if (number > 0) await wait(FIRST_WAIT_MS * 2 ** (number - 1) * (0.5 + Math.random()));
      const result = await attempt(event);
      if (result) return result;
    }
    throw new Error(`Stripe did not accept the event ${event.identifier} in ${MAX_SEND_ATTEMPTS} attempts.`);
  };

  return {
    // One after another: far below Stripe's limit, even with many organizations at once.
    send: async (events) => {
      const results: MeterResult[] = [];
      for (const event of events) results.push(await sendOne(event));
      return results;
    },
  };
};
