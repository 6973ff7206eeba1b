import type { Turn } from '../idempotency/answer-once.ts';
import { createRecording } from '../idempotency/recording.ts';
import type { StreamedReply, WholeReply } from './inference-route.ts';

/** Says that a repeated request will not be given this reply. */
export const NOT_STORED = { 'x-sluice-idempotency': 'not-stored' };

/**
 * A stream that is kept, before its end, for those who repeat its request: as the shortest stream that says the same.
 * @param again the same reply, to be made of the whole answer at once
 */
export const keptStream = (
  reply: StreamedReply,
  again: () => StreamedReply,
  turn: Turn,
  contentType: string,
  ignored?: string,
): StreamedReply => {
  if (!turn.complete) return reply;
  const { complete } = turn;
  const recording = turn.isKept ? createRecording() : undefined;
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

/** A reply in one piece that is kept for those who repeat its request; `isStored` says afterwards whether it was. */
export const keptWhole = (reply: WholeReply, turn: Turn, ignored?: string): WholeReply & { isStored: () => boolean } => {
  const { complete } = turn;
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
