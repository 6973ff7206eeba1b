import type { ApiEvent } from '../../shared/http/api-event.ts';
import type { Reply } from '../../shared/http/reply.ts';
import { callerOf } from '../../shared/identity/request-origin.ts';
import type { SsoLogin, SsoTestResult } from '../../shared/single-sign-on/sso-logins.ts';
import { unixSeconds } from '../../shared/time/units.ts';
import { shownClaims } from './claims/shown-claims.ts';
import { shownIdentity } from './claims/shown-identity.ts';
import { type Answered, ConnectionLoginFailed, type FinishDependencies, finishLogin, readAnswer } from './finish-login.ts';
import { LOGIN_FAULTS, LoginFailed } from './login-fault.ts';
import { pageReply, redirectReply } from './pages.ts';
import { withCode } from './redirect-uri.ts';
import { resolveUser } from './resolve-user.ts';
import { signInPageOf } from './return-to.ts';
import { roleAfter } from './sign-in-as.ts';

/** A refused login, for the owners of the organization. */
export interface RefusedLogin {
  organization: string;
  provider: string;
  reason: string;
}

export interface CallbackDependencies extends FinishDependencies {
  recordRefusal: (refused: RefusedLogin, event: ApiEvent) => Promise<void>;
}

const refusedResult = (provider: string, { reason }: LoginFailed, nowMs: number): SsoTestResult => ({
  provider,
  outcome: 'refused',
  reason,
  subject: null,
  email: null,
  role: null,
  claims: {},
  finished_at: unixSeconds(nowMs),
});

// The claims are of use above all if they give no role.
const dryRun = async (deps: CallbackDependencies, { provider, claims }: Answered, nowMs: number): Promise<SsoTestResult> => {
  const shown = { claims: shownClaims(claims), subject: claims.sub };
  try {
    const resolved = await resolveUser(deps, provider, claims);
    const email = resolved.kind === 'provisions' ? resolved.email : resolved.user.email;
    const role = await roleAfter(deps, provider, resolved);
    return { provider: provider.id, outcome: resolved.kind, reason: null, ...shown, email, role, finished_at: unixSeconds(nowMs) };
  } catch (error) {
    if (!(error instanceof LoginFailed)) throw error;
    return { ...refusedResult(provider.id, error, nowMs), ...shown };
  }
};

const TEST_PAGE = {
  status: 200,
  title: 'The test is finished',
  texts: ['Nothing was changed, and nobody was signed in. Its result is at the address of the test, for an hour. You can close this page.'],
};

const finishTest = async (deps: CallbackDependencies, event: ApiEvent, test: string, result: SsoTestResult): Promise<Reply> => {
  await deps.logins.saveTest(test, result, event.receivedAtMs);
  return pageReply(event.requestId, TEST_PAGE);
};

const showCode = (event: ApiEvent, code: string): Reply =>
  pageReply(event.requestId, {
    status: 200,
    title: 'Your sign-in code',
    texts: [
      'Enter this code where you started to sign in, within a minute.',
      'If you did not start this yourself, close this page and give the code to nobody.',
    ],
    code,
  });

type PersonalLogin = Extract<SsoLogin, { kind: 'login' }>;

const handOver = (event: ApiEvent, { redirectUri, returnTo }: PersonalLogin, code: string, controlUrl: string): Reply => {
  if (returnTo !== null) return redirectReply(event.requestId, signInPageOf(controlUrl, code));
  return redirectUri === null ? showCode(event, code) : redirectReply(event.requestId, withCode(redirectUri, code));
};

const reportFailure = async (deps: CallbackDependencies, event: ApiEvent, error: ConnectionLoginFailed): Promise<Reply> => {
  const { login, provider, identity, reason } = error;
  if (login.kind === 'test') return finishTest(deps, event, login.test, refusedResult(provider.id, error, event.receivedAtMs));
  await deps.recordEvent(event, provider, { outcome: 'refused', reason, identity });
  if (LOGIN_FAULTS[error.fault].status !== 503)
    await deps.recordRefusal({ organization: provider.organization, provider: provider.id, reason }, event);
  throw error;
};

const OUTCOMES = { signs_in: 'signed_in', links: 'linked', provisions: 'provisioned' } as const;

const finish = async (deps: CallbackDependencies, event: ApiEvent, answered: Answered, login: PersonalLogin): Promise<Reply> => {
  const { provider, claims } = answered;
  const identity = shownIdentity(provider, claims);
  try {
    const { code, user, resolved } = await finishLogin(deps, callerOf(event), answered, login);
    await deps.recordEvent(event, provider, { outcome: OUTCOMES[resolved.kind], user, role: resolved.role, identity });
    return handOver(event, login, code, deps.controlUrl);
  } catch (error) {
    throw error instanceof LoginFailed ? new ConnectionLoginFailed(error, { login, provider, identity }) : error;
  }
};

/**
 * Answers a browser that an identity provider has sent back: with a redirect or a page that has a code, or with the end
 * of a test. @throws LoginFailed, 429
 */
export const callback = async (deps: CallbackDependencies, event: ApiEvent): Promise<Reply> => {
  try {
    const answered = await readAnswer(deps, event);
    const { login } = answered;
    if (login.kind === 'test') return await finishTest(deps, event, login.test, await dryRun(deps, answered, event.receivedAtMs));
    return await finish(deps, event, answered, login);
  } catch (error) {
    if (error instanceof ConnectionLoginFailed) return reportFailure(deps, event, error);
    throw error;
  }
};
