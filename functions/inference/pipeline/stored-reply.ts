import type { UpstreamUsage } from '../../../shared/upstream/chunk.ts';
import type { RequestClaim } from '../idempotency/claim-request.ts';
import { createRecording } from '../idempotency/recording.ts';
import type { StoredResult } from '../idempotency/stored-result.ts';
import type { StreamedReply, WholeReply } from './inference-route.ts';

/** The header of a reply that can't be replayed. */
export const NOT_STORED = { 'x-sluice-idempotency': 'not-stored' };

interface Storing {
  claim: RequestClaim;
  mayStore: boolean;
  ignored: string | undefined;
  /** The number of the fallback that answers; 0: the model that the request names. */
  fallback: number;
}

const factsOf = ({ ignored, fallback }: Pick<Storing, 'ignored' | 'fallback'>): Pick<StoredResult, 'ignored' | 'fallback'> => ({
  ...(ignored && { ignored }),
  ...(fallback > 0 && { fallback }),
});

// Returns where the result can be stored; undefined if it must not be stored.
const storeReply = async ({ store }: StreamedReply | WholeReply, usage: UpstreamUsage): Promise<{ storedAs?: string } | undefined> => {
  if (!store) return {};
  const storedAs = await store(usage);
  return storedAs === undefined ? undefined : { storedAs };
};

/**
 * A stream that is stored before it ends, to be replayed if the request is repeated. It is stored as the shortest
 * stream with the same content.
 * @param again creates the same reply again, to write the whole answer at once
 */
export const storedStream = (
  reply: StreamedReply,
  again: () => StreamedReply,
  contentType: string,
  { claim: { complete }, mayStore, ...facts }: Storing,
): StreamedReply => {
  if (!complete) return reply;
  const recording = mayStore ? createRecording() : undefined;
  return {
    ...reply,
    take: (chunks) => {
      recording?.take(chunks);
      return reply.take(chunks);
    },
    store: async (usage) => {
      const place = await storeReply(reply, usage);
      await complete(() => {
        const chunks = place && recording?.chunks();
        if (!chunks) return undefined;
        const repeated = again();
        const body = repeated.take(chunks) + repeated.usage(usage) + repeated.end();
        return { contentType, body, ...place, ...factsOf(facts) };
      });
      return place?.storedAs;
    },
  };
};

/** A response without streaming that is stored, to be replayed if the request is repeated. */
export const storedWhole = (
  reply: WholeReply,
  { claim: { complete }, mayStore, ...facts }: Storing,
): WholeReply & { isStored: () => boolean } => {
  let isStored = true;
  return {
    ...reply,
    store: async (usage) => {
      const place = await storeReply(reply, usage);
      if (complete)
        isStored = await complete(() =>
          mayStore && place
            ? { contentType: 'application/json', body: JSON.stringify(reply.whole(usage)), ...place, ...factsOf(facts) }
            : undefined,
        );
      return place?.storedAs;
    },
    isStored: () => isStored,
  };
};
