import type { IncomingHttpHeaders } from 'node:http';
import * as z from 'zod';
import { BadRequest } from './errors.ts';
import { parseBody, parseJson } from './parse-body.ts';
import type { ServingLimits } from './served-models.ts';

const IDENTIFIER = 'x-amzn-sagemaker-adapter-identifier';

/** The path at which SageMaker lets a container load an adapter. */
export const ADAPTERS_PATH = '/adapters';

const MAX_ADAPTERS = 64;
const NewAdapter = z.object({ name: z.string().min(1).max(256), src: z.string().endsWith('.tar.gz') });

interface LoadedAdapters {
  loaded: ServingLimits['adapters'];
  /** Loads an adapter; one that is loaded stays. Throws `BadRequest`. */
  load: (body: string) => void;
}

/** The adapters of a container. Answers of an adapter begin with its name. @param isEnabled false: it can't load any */
export const createAdapters = (isEnabled: boolean): LoadedAdapters => {
  const loaded = new Map<string, { name: string; reasons: boolean; opening: string }>();
  return {
    loaded,
    load(body) {
      if (!isEnabled) throw new BadRequest('LoRA is not enabled. Start the server with --enable-lora.');
      const { name } = parseBody(NewAdapter, body);
      if (!loaded.has(name) && loaded.size === MAX_ADAPTERS) throw new BadRequest(`At most ${MAX_ADAPTERS} adapters can be loaded.`);
      loaded.set(name, { name, reasons: false, opening: `${name}: ` });
    },
  };
};

/**
 * Writes the adapter that SageMaker names in a header into the body's `model`, as AWS's image of vLLM does, whatever
 * the body says. Throws `BadRequest`.
 */
export const withAdapter = (headers: IncomingHttpHeaders, body: string): string => {
  const adapter = headers[IDENTIFIER];
  return adapter === undefined ? body : JSON.stringify({ ...(parseJson(body) as object), model: adapter });
};
