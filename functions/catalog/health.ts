import { ApiError } from '../../shared/http/errors.ts';
import { jsonReply, type Reply } from '../../shared/http/reply.ts';
import { logError } from '../../shared/logging/log.ts';
import type { Handle } from './router.ts';

/** A dependency that takes longer than this is as good as down. */
const PROBE_MS = 2_000;

class Unhealthy extends ApiError {
  constructor(failed: string[]) {
    super({
      status: 503,
      type: 'server_error',
      code: 'service_unavailable',
      message: `Not ready to serve: ${failed.join(', ')} does not answer.`,
      headers: { 'retry-after': '5' },
    });
  }
}

const answers = async (name: string, probe: () => Promise<unknown>): Promise<boolean> => {
  let timer: NodeJS.Timeout | undefined;
  try {
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new Error(`no answer within ${PROBE_MS} ms`)), PROBE_MS);
    });
    await Promise.race([probe(), late]);
    return true;
  } catch (error) {
    logError('health_probe_failed', error, { probe: name });
    return false;
  } finally {
    clearTimeout(timer);
  }
};

/** Nobody needs to know better than this, and anybody may ask: the probes run at most once in this time. */
const REMEMBERED_MS = 2_000;

/** GET /health: 200 when what every request needs answers in time, else 503 naming what does not. */
export const health = (probes: Record<string, () => Promise<unknown>>, now: () => number): Handle => {
  let last: { atMs: number; failed: Promise<string[]> } | undefined;
  const probeAll = async (): Promise<string[]> => {
    const names = Object.keys(probes);
    const up = await Promise.all(names.map((name) => answers(name, probes[name] as () => Promise<unknown>)));
    return names.filter((_, i) => !up[i]);
  };
  return async ({ requestId }): Promise<Reply> => {
    if (!last || now() - last.atMs >= REMEMBERED_MS) last = { atMs: now(), failed: probeAll() };
    const failed = await last.failed;
    if (failed.length > 0) throw new Unhealthy(failed);
    return jsonReply(requestId, 200, { status: 'ok' });
  };
};
