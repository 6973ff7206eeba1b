import type { ApiEvent } from '../../shared/http/api-event.ts';
import type { Reply } from '../../shared/http/reply.ts';
import { logInfo } from '../../shared/logging/log.ts';
import { toCallerError } from '../../shared/middleware/error-replies.ts';
import { LOGIN_FAULTS, LoginFailed } from './login-fault.ts';
import { pageReply } from './pages.ts';

const TITLE = 'Sign-in failed';

const pageOfFailure = (error: unknown, event: ApiEvent): Reply => {
  if (error instanceof LoginFailed) {
    const { status, text } = LOGIN_FAULTS[error.fault];
    logInfo('login_failed', { request_id: event.requestId, fault: error.fault, detail: error.detail });
    return pageReply(event.requestId, { status, title: TITLE, texts: [text] });
  }
  const { status, message, headers } = toCallerError(error, event);
  return pageReply(event.requestId, { status, title: TITLE, texts: [message] }, headers);
};

/** Converts what the handler of a page throws to a page, because a person sees it and not a program. */
export const orPage =
  (load: (event: ApiEvent) => Promise<Reply>) =>
  async (event: ApiEvent): Promise<Reply> => {
    try {
      return await load(event);
    } catch (error) {
      return pageOfFailure(error, event);
    }
  };
