import type { Writable } from 'node:stream';
import { finished } from 'node:stream/promises';
import type { ApiEvent } from '../../../shared/http/api-event.ts';
import { toErrorReply } from '../../../shared/http/error-replies.ts';
import type { Reply } from '../../../shared/http/reply.ts';
import type { UpstreamUsage } from '../../../shared/upstream/chunk.ts';
import type { Admission } from '../admission/admit.ts';
import type { StreamedReply, WholeReply } from '../pipeline/inference-route.ts';
import type { ReplyBody } from '../pipeline/reply-body.ts';
import { isLogOff } from './log-header.ts';
import type { Exchange, LogPayload } from './payload-log.ts';

type SentReply = Reply<string | ReplyBody>;

/** Records the reply to one request, for the payload log. */
export interface Recorder {
  /** Also collects the chunks of a stream as a whole reply, so that what is spread over chunks is found in it. */
  recordStream: (reply: StreamedReply, whole: WholeReply, usage: () => UpstreamUsage) => StreamedReply;
  /** Makes the reply, and has it logged after its last byte was sent. */
  recordReply: (makeReply: () => Promise<SentReply>) => Promise<SentReply>;
}

/** Whether the content of an admitted request is logged. @throws 400 for a wrong header */
export const isLogged = ({ isPayloadLogged }: Admission, event: ApiEvent): boolean => isPayloadLogged && !isLogOff(event);

/** A body that is sent as a whole, and then logged. */
const sendWhole = async (caller: Writable, body: string): Promise<void> => {
  caller.end(body);
  // The caller can have left, which is no failure.
  await finished(caller, { readable: false }).catch(() => undefined);
};

const bodyOf = ({ body, isBase64Encoded }: ApiEvent): string =>
  isBase64Encoded ? Buffer.from(body ?? '', 'base64').toString() : (body ?? '');

/**
 * Records the reply to an admitted request whose key has a payload log.
 * @param loadLog loads the log, after the reply was sent
 */
export const createRecorder = (
  event: ApiEvent,
  route: string,
  { organization, keyId, requestId }: Admission,
  loadLog: () => Promise<LogPayload>,
): Recorder => {
  let contentOfStream: (() => unknown) | undefined;

  const log = async (response: Exchange['response']): Promise<void> => {
    const logPayload = await loadLog();
    await logPayload({ organization, keyId, requestId, route, receivedAtMs: event.receivedAtMs, request: bodyOf(event), response });
  };

  /** The body of a reply, which is logged when it was sent. */
  const logged = ({ statusCode: status, body }: SentReply): ReplyBody =>
    typeof body === 'string'
      ? {
          writeTo: async (caller) => {
            await sendWhole(caller, body);
            await log({ status, stream: false, content: body });
          },
          destroy: () => undefined,
        }
      : {
          ...body,
          writeTo: async (caller) => {
            try {
              await body.writeTo(caller);
            } finally {
              await log({ status, stream: true, content: contentOfStream?.() ?? null });
            }
          },
        };

  return {
    recordStream: (reply, whole, usage) => {
      contentOfStream = () => whole.whole(usage());
      return {
        ...reply,
        take: (chunks) => {
          whole.take(chunks);
          return reply.take(chunks);
        },
      };
    },
    recordReply: async (makeReply) => {
      const reply = await makeReply().catch((error: unknown) => toErrorReply(error, event));
      return { ...reply, body: logged(reply) };
    },
  };
};
