import type * as z from 'zod';
import { logInfo } from '../../../shared/logging/log.ts';
import type { EffectiveFields } from '../../../shared/payload-log/effective-fields.ts';
import { type Exchange, writeExchange } from '../../../shared/payload-log/exchange.ts';
import type { PayloadPlaces } from '../../../shared/payload-log/payload-places.ts';
import type { PutObject } from '../../../shared/payload-log/put-object.ts';
import type { PayloadLogStore } from '../../../shared/payload-log/settings-store.ts';
import { type SendPayload, unredactedKeyOf } from '../../../shared/payload-log/waiting-payloads.ts';
import type { WritePayload } from '../../../shared/payload-log/write-payload.ts';
import { knownFieldsOf } from './known-fields.ts';

// Characters of both directions together. Larger payloads are redacted by another function.
const MAX_OWN_CHARACTERS = 64 * 1024;
// For each direction: a few milliseconds of CPU. Ordinary texts of that size take a third.
const MAX_OWN_STEPS = 500_000;
// The marker of content that was left out, because too many payloads of its organization wait.
const LIMIT = 'limit';

/** A request and its reply, as the pipeline has them. */
export interface SentExchange extends Omit<Exchange, 'fields' | 'response'> {
  /** The schema of the body, and the names of fields that had no effect. */
  schema: z.ZodType;
  ignored: readonly string[];
  /** The content of a stream is the whole reply that its chunks make; null if that is not known. */
  response: Omit<Exchange['response'], 'content'> & { content: unknown };
}

/**
 * Writes the content of a request to the payload log, or queues it for redaction, if its owner still wants that.
 * @throws if AWS rejects it
 */
export type LogPayload = (exchange: SentExchange) => Promise<void>;

interface PayloadLogDependencies {
  settings: PayloadLogStore;
  write: WritePayload;
  put: PutObject;
  waiting: PayloadPlaces;
  send: SendPayload;
  now: () => number;
}

// Names that the schema doesn't know aren't needed, because those fields are left out anyway.
const effectiveFields = (schema: z.ZodType, ignored: readonly string[]): EffectiveFields => {
  const known = knownFieldsOf(schema);
  const isKnown = (name: string): boolean => Object.hasOwn(known.fields ?? {}, name.replace(/\..*$/s, ''));
  return { known, ignored: ignored.filter(isKnown) };
};

// False if too many payloads of the organization wait.
const sendAway = async ({ put, waiting, send, now }: PayloadLogDependencies, exchange: Exchange): Promise<boolean> => {
  const { organization, requestId } = exchange;
  const sentAtMs = now();
  if (!(await waiting.take(organization, sentAtMs))) return false;
  try {
    const key = unredactedKeyOf({ organization, requestId });
    await put({ key, body: writeExchange(exchange), contentType: 'application/octet-stream' });
    await send({ organization, requestId, sentAtMs });
  } catch (error) {
    await waiting.release({ organization, sentAtMs });
    throw error;
  }
  return true;
};

/**
 * Creates the payload log. It reads the settings for each payload, so that nothing is written once an owner has
 * switched the log off, even before the key's item says so.
 */
export const createPayloadLog =
  (deps: PayloadLogDependencies): LogPayload =>
  async ({ response, schema, ignored, ...facts }) => {
    const { organization, keyId, requestId } = facts;
    const settings = await deps.settings.ofKey(organization, keyId);
    if (!settings?.enabled) return;
    const { content } = response;
    const fields = effectiveFields(schema, ignored);
    const exchange = {
      ...facts,
      fields,
      response: { ...response, content: typeof content === 'string' ? content : JSON.stringify(content) },
    };
    if (exchange.request.length + exchange.response.content.length <= MAX_OWN_CHARACTERS) {
      await deps.write.redacted(exchange, settings, MAX_OWN_STEPS);
      return;
    }
    if (await sendAway(deps, exchange)) return;
    logInfo('payload_limited', { request_id: requestId, key_id: keyId, org_id: organization });
    await deps.write.withoutContent(exchange, settings, LIMIT);
  };
