import type { RequestClaim } from '../idempotency/claim-request.ts';
import { createRecording } from '../idempotency/recording.ts';
import type { StreamedReply, WholeReply } from './inference-route.ts';

/** The header of a reply that can't be replayed. */
export const NOT_STORED = { 'x-sluice-idempotency': 'not-stored' };

/**
 * A stream that is stored before it ends, to be replayed when the request is repeated. It is stored as the shortest stream with the same content.
 * @param again creates the same reply anew, to write the whole answer at once
 */
export const keptStream = (
  reply: StreamedReply,
  again: () => StreamedReply,
  claim: RequestClaim,
  contentType: string,
  ignored?: string,
): StreamedReply => {
  if (!claim.complete) return reply;
  const { complete } = claim;
  const recording = claim.isKept ? createRecording() : undefined;
  return {
    ...reply,
    take: (chunks) => {
      recording?.take(chunks);
      return reply.take(chunks);
    },
    keep: async (usage) => {
      await reply.keep?.(usage);
      await complete(() => {
        const chunks = recording?.chunks();
        if (!chunks) return undefined;
        const repeated = again();
        const body = repeated.take(chunks) + repeated.usage(usage) + repeated.end();
        return { contentType, body, ...(ignored && { ignored }) };
      });
    },
  };
};

/** A response without streaming that is stored, to be replayed when the request is repeated. */
export const keptWhole = (reply: WholeReply, claim: RequestClaim, ignored?: string): WholeReply & { isStored: () => boolean } => {
  const { complete } = claim;
  let isStored = true;
  return {
    ...reply,
    keep: async (usage) => {
      await reply.keep?.(usage);
      if (!complete) return;
      isStored = await complete(() => ({
        contentType: 'application/json',
        body: JSON.stringify(reply.whole(usage)),
        ...(ignored && { ignored }),
      }));
    },
    isStored: () => isStored,
  };
};
