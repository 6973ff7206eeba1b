import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { controlOf, type SignedIn } from '../../support/clients/control.ts';
import { shareTestRun } from '../../support/clients/local-run.ts';
import { eventually } from '../../support/eventually.ts';

/** A run with an admin, and an organization with its owner. */
export const startUsers = async () => {
  const run = await shareTestRun();
  const control = controlOf(run);
  const admin = await control.asAdmin();
  const { id: organization } = await control.createOrganization();
  const owner = await control.createUser({ role: 'owner', organization });
  return { run, control, admin, organization, owner };
};
export type Users = Awaited<ReturnType<typeof startUsers>>;

export const TEMPORARY = 'Temporary-Password-1';

/** Calls and look-ups in the run, which can be started later. */
export const callsOf = (users: () => Users) => {
  const invite = (email: string, fields: object = {}, { token } = users().owner) =>
    users().control.call('POST', '/v1/users', { token, body: { email, temporary_password: TEMPORARY, ...fields } });
  const login = (email: string, password: string) => users().control.call('POST', '/v1/auth/login', { body: { email, password } });
  const lastCodeTo = async (email: string): Promise<string | undefined> => {
    // Nothing may have been mailed yet.
    const text = await readFile(path.join(users().run.state, 'logs', 'mail.log'), 'utf8').catch(() => '');
    const mails = text.split('\n').flatMap((line) => (line ? [JSON.parse(line) as { to: string; code: string }] : []));
    return mails.findLast(({ to }) => to === email)?.code;
  };
  const actionsOf = async (of = users().organization): Promise<string[]> => {
    const { data } = await users().control.done('GET', `/v1/audit-log?organization=${of}&limit=100`, { token: users().admin.token });
    return data.map(({ action }: { action: string }) => action);
  };

  /** The response statuses for a user's access token and refresh token. */
  const tokenStatuses = async ({ token, refreshToken }: SignedIn): Promise<number[]> => [
    (await users().control.call('GET', '/v1/me', { token })).status,
    (await users().control.call('POST', '/v1/auth/refresh', { body: { refresh_token: refreshToken } })).status,
  ];
  return { invite, login, lastCodeTo, actionsOf, tokenStatuses };
};

/** Tokens carry only the second of issue: afterwards, earlier tokens are older than whatever happens next. */
export const untilNextSecond = async (): Promise<void> => {
  const second = Math.floor(Date.now() / 1_000);
  await eventually(async () => Math.floor(Date.now() / 1_000) > second, 'the next second');
};
