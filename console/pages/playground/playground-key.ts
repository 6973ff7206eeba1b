import { request } from '../../client/request.ts';
import type { ReplyBody } from '../../client/routes.ts';
import { beforeLogOut, sessionState, subscribe } from '../../client/session.ts';

/** The requests that a key is for. */
export interface KeyPlace {
  userId: string;
  scope: ReplyBody<'POST /v1/api-keys'>['scope'];
  /** For users of the platform: the organization that pays. */
  organization: string | undefined;
}

interface PlaygroundKey {
  id: string;
  secret: string;
}

interface Held {
  key: Promise<PlaygroundKey>;
  /** Milliseconds since the epoch. */
  renewedAtMs: number;
}

// A tab that crashes leaves its keys, of which a user can have five at a time.
const LIFETIME_SECONDS = 1_800;
const RENEWED_BEFORE_MS = 60_000;
const REVOKED_WITHIN_MS = 2_000;

// Only in memory, one for each place.
const keys = new Map<string, Held>();

const nameOf = ({ userId, scope, organization = '' }: KeyPlace): string => [userId, scope, organization].join(' ');

const create = async ({ scope, organization }: KeyPlace): Promise<PlaygroundKey> => {
  const { id, secret } = await request('POST /v1/api-keys', {
    body: {
      name: 'Playground',
      purpose: 'playground',
      scope,
      expires_in_seconds: LIFETIME_SECONDS,
      ...(organization !== undefined && { organization }),
    },
  });
  return { id, secret };
};

/** Forgets a key, such as one that somebody has revoked: the next request gets another one. */
export const forgetKey = (place: KeyPlace): void => {
  keys.delete(nameOf(place));
};

/**
 * The temporary key of this tab for a place: made for the first request, and anew before it ends.
 * @throws ApiFailure
 */
export const playgroundKey = (place: KeyPlace): Promise<PlaygroundKey> => {
  const name = nameOf(place);
  const known = keys.get(name);
  if (known && Date.now() < known.renewedAtMs) return known.key;
  const made: Held = { key: create(place), renewedAtMs: Date.now() + LIFETIME_SECONDS * 1_000 - RENEWED_BEFORE_MS };
  keys.set(name, made);
  made.key.catch(() => keys.get(name) === made && keys.delete(name));
  return made.key;
};

// Revokes the keys of this tab and forgets them. Those that can't be revoked end by themselves.
const revokeKeys = async (): Promise<void> => {
  const ended = [...keys.values()];
  keys.clear();
  await Promise.allSettled(
    ended.map(async ({ key }) => {
      const { id } = await key;
      await request('DELETE /v1/api-keys/{id}', { parameters: { id }, keepalive: true, signal: AbortSignal.timeout(REVOKED_WITHIN_MS) });
    }),
  );
};

beforeLogOut(revokeKeys);
window.addEventListener('pagehide', () => void revokeKeys());
subscribe(() => {
  if (sessionState() === 'signed-out') keys.clear();
});
