import { ApiError } from '../../shared/http/errors.ts';
import { jsonReply, type Reply } from '../../shared/http/reply.ts';
import type { Handle } from '../../shared/http/router.ts';
import { logError } from '../../shared/logging/log.ts';
import type { Model } from '../../shared/models/model.ts';
import { availabilityOf, type Health } from './model-health.ts';

// A dependency that takes longer than this counts as unavailable.
const PROBE_MS = 2_000;

class Unhealthy extends ApiError {
  constructor(failed: string[]) {
    super({
      status: 503,
      type: 'server_error',
      code: 'service_unavailable',
      message: `The service is not ready. These dependencies do not respond: ${failed.join(', ')}. Try again shortly.`,
      headers: { 'retry-after': '5' },
    });
  }
}

const answerOf = async <Answer>(name: string, probe: () => Promise<Answer>): Promise<{ answer: Answer } | undefined> => {
  let timer: NodeJS.Timeout | undefined;
  try {
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new Error(`no response within ${PROBE_MS} ms`)), PROBE_MS);
    });
    return { answer: await Promise.race([probe(), late]) };
  } catch (error) {
    logError('health_probe_failed', error, { probe: name });
    return undefined;
  } finally {
    clearTimeout(timer);
  }
};

// The endpoint is public, so the probes run at most once in this time.
const REMEMBERED_MS = 2_000;

// Every request needs these dependencies.
interface Probes {
  inventory: () => Promise<ReadonlyMap<string, Model>>;
  keys: () => Promise<unknown>;
}

/**
 * GET /health: 200 with each model's availability if all dependencies respond in time, otherwise 503 with the names
 * of those that don't.
 */
export const health = (probes: Probes, now: () => number): Handle => {
  let last: { atMs: number; found: ReturnType<typeof probeAll> } | undefined;
  const probeAll = async () => {
    const [inventory, keys] = await Promise.all([answerOf('inventory', probes.inventory), answerOf('keys', probes.keys)]);
    return { models: inventory?.answer, failed: [...(inventory ? [] : ['inventory']), ...(keys ? [] : ['keys'])] };
  };
  return async ({ requestId }): Promise<Reply> => {
    if (!last || now() - last.atMs >= REMEMBERED_MS) last = { atMs: now(), found: probeAll() };
    const { models, failed } = await last.found;
    if (!models || failed.length > 0) throw new Unhealthy(failed);
    const body: Health = { status: 'ok', models: availabilityOf([...models.values()], now()) };
    return jsonReply(requestId, 200, body);
  };
};
