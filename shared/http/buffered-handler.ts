import { type ApiEvent, identify } from './api-event.ts';
import { toErrorReply } from './error-replies.ts';
import type { Reply } from './reply.ts';
import type { Handle } from './router.ts';

/** The handler of a Lambda function whose replies API Gateway sends as a whole. What `handle` throws becomes a reply. */
export const bufferedHandler =
  (handle: Handle) =>
  async (event: ApiEvent): Promise<Reply> => {
    identify(event);
    try {
      return await handle(event);
    } catch (error) {
      return toErrorReply(error, event);
    }
  };
