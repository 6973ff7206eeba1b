import * as z from 'zod';
import type { DelayQueue } from '../../shared/aws/message-queue.ts';
import { ServiceUnavailable } from '../../shared/http/errors.ts';
import type { SessionDependencies } from '../../shared/identity/sessions.ts';
import type { MessageWork } from '../../shared/middleware/queue-messages.ts';
import type { IdentityProviderStore } from '../../shared/single-sign-on/identity-provider-store.ts';
import { passwordUseOf } from '../../shared/single-sign-on/password-use.ts';
import { userOf } from './log-in.ts';

// The sender has not proved that a user has the address.
const ResetRequest = z.object({ email: z.string() });

/** The queue of requests for codes. */
export const createResetRequests = (queue: DelayQueue) => ({
  /** Queues a code for an address. @throws 503 if the queue can't be reached */
  add: async (email: string): Promise<void> => {
    try {
      await queue.send({ body: JSON.stringify({ email }), delaySeconds: 0 });
    } catch (error) {
      throw new ServiceUnavailable(error);
    }
  },
});
export type ResetRequests = ReturnType<typeof createResetRequests>;

/** Emails the requested codes, each to the active user who has the address and can use a password. */
export const mailResetCodes = (
  deps: Pick<SessionDependencies, 'users' | 'userPool'> & { identityProviders: Pick<IdentityProviderStore, 'passwordRule'> },
): MessageWork<string> => ({
  read: ({ body }) => body,
  handle: async (body) => {
    const { email } = ResetRequest.parse(JSON.parse(body));
    const user = await userOf(deps, email);
    if (user?.status !== 'active' || (await passwordUseOf(deps.identityProviders, user)) === 'refused') return;
    await deps.userPool.startReset(email);
  },
  failure: 'reset_mail_failed',
  factsOf: () => ({}),
});
