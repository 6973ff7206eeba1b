import type { ApiEvent } from '../../../shared/http/api-event.ts';
import { bodyText } from '../../../shared/http/json/json-body.ts';
import type { Reply } from '../../../shared/http/reply.ts';
import { logError } from '../../../shared/logging/log.ts';
import { toErrorReply } from '../../../shared/middleware/error-replies.ts';
import type { UpstreamUsage } from '../../../shared/upstream/chunk.ts';
import type { Admission } from '../admission/admit.ts';
import type { LogPayload, SentExchange } from '../payload-log/payload-log.ts';
import { type CollectedStream, collectStream } from './collect-stream.ts';
import type { StreamedReply, WholeReply } from './inference-route.ts';
import { afterReply, type ReplyBody } from './reply-body.ts';

type SentReply = Reply<string | ReplyBody>;

/** Records the reply to one request, for the payload log. */
export interface Recorder {
  /** Also collects the chunks of a stream as a whole reply, so that redaction finds text that is spread over chunks. */
  recordStream: (reply: StreamedReply, whole: WholeReply, usage: () => UpstreamUsage) => StreamedReply;
  /** Records this content instead of the reply's body. */
  recordContent: (content: () => unknown) => void;
  /** Makes the reply, which is logged after its last byte was sent. */
  recordReply: (makeReply: () => Promise<SentReply>) => Promise<SentReply>;
}

/**
 * Records the reply to an admitted request whose key has a payload log.
 * @param readBody returns the schema of the body, and the fields that have no effect
 * @param loadLog loads the log after the reply was sent
 */
export const createRecorder = (
  event: ApiEvent,
  route: string,
  { organization, keyId, requestId }: Admission,
  readBody: () => Pick<SentExchange, 'schema' | 'ignored'>,
  loadLog: () => Promise<LogPayload>,
): Recorder => {
  let collected: CollectedStream | undefined;
  let replaced: (() => unknown) | undefined;

  // A failure is only logged, because the caller has the reply.
  const log = async (facts: Omit<SentExchange['response'], 'content'>, contentOf: () => unknown): Promise<void> => {
    try {
      const logPayload = await loadLog();
      const response = { ...facts, content: contentOf() };
      const { receivedAtMs } = event;
      await logPayload({ organization, keyId, requestId, route, receivedAtMs, request: bodyText(event), ...readBody(), response });
    } catch (error) {
      logError('payload_log_failed', error, { request_id: requestId, key_id: keyId, org_id: organization });
    }
  };

  const logged = ({ statusCode: status, body }: SentReply): ReplyBody =>
    afterReply(body, () =>
      typeof body === 'string'
        ? log({ status, stream: false, isCut: false }, replaced ?? (() => body))
        : log({ status, stream: !replaced, isCut: collected?.isCut() ?? false }, replaced ?? (() => collected?.content() ?? null)),
    );

  return {
    recordStream: (reply, whole, usage) => {
      const stream = collectStream(whole, usage);
      collected = stream;
      return {
        ...reply,
        take: (chunks) => {
          stream.take(chunks);
          return reply.take(chunks);
        },
      };
    },
    recordContent: (content) => {
      replaced = content;
    },
    recordReply: async (makeReply) => {
      const reply = await makeReply().catch((error: unknown) => toErrorReply(error, event));
      return { ...reply, body: logged(reply) };
    },
  };
};
