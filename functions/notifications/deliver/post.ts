import { createGuardedRequest, type GuardedRequestDependencies } from '../../../shared/network/guarded-request.ts';
import type { AttemptError } from '../../../shared/notifications/delivery.ts';

// It includes DNS, connection, TLS and response.
const TOTAL_MS = 10_000;

/** The status of a response, or the error if there was none. */
export type PostResult = { status: number; error: null } | { status: null; error: AttemptError };

export type PostDependencies = Omit<GuardedRequestDependencies, 'totalMs'> & { totalMs?: number };

interface Message {
  headers: Readonly<Record<string, string>>;
  body: string;
}

/** Sends a message to the URL of a webhook. Only the status of the response is used. */
export const createPost = ({ totalMs = TOTAL_MS, ...dependencies }: PostDependencies) => {
  const request = createGuardedRequest({ ...dependencies, totalMs });
  return async (target: string, message: Message): Promise<PostResult> => {
    const reply = await request(target, { method: 'POST', ...message });
    return reply.error === null ? { status: reply.status, error: null } : { status: null, error: reply.error };
  };
};

export type Post = ReturnType<typeof createPost>;
