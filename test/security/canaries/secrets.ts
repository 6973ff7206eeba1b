import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from '@jest/globals';
import { MESSAGES_PATH } from '../../../shared/http/messages-path.ts';
import { type Control, controlOf } from '../../support/clients/control.ts';
import type { TestRun } from '../../support/clients/local-run.ts';
import { totpOf } from '../../support/clients/totp.ts';
import { eventually } from '../../support/eventually.ts';

// The emails of the local run contain codes and temporary passwords by design.
const MAIL = 'mail.log';

let run: TestRun;
let control: Control;

// By their description.
const secrets = new Map<string, string>();
const secret = <Text extends string>(what: string, text: Text): Text => {
  secrets.set(what, text);
  return text;
};

const PROMPT = 'The password of the harbour master is pelican-barometer-1847';
const REFUSED_PROMPT = 'Nobody may know of the walrus-lantern-2203';

const chat = (key: string, body: object) =>
  fetch(`${run.base_url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', 'idempotency-key': `${Math.random()}` },
    body: JSON.stringify({ model: run.model, max_tokens: 8, ...body }),
  });

const statusOfMessage = async (key: string, max_tokens: number): Promise<number> => {
  const response = await fetch(`${run.base_url}${MESSAGES_PATH}`, {
    method: 'POST',
    headers: { 'x-api-key': key, 'content-type': 'application/json' },
    body: JSON.stringify({ model: run.model, max_tokens, messages: [{ role: 'user', content: PROMPT }] }),
  });
  return response.status;
};

const lastCodeTo = async (email: string): Promise<string> => {
  const lines = (await readFile(path.join(run.state, 'logs', MAIL), 'utf8')).trim().split('\n');
  const mails = lines.map((line) => JSON.parse(line) as { to: string; code: string }).filter(({ to }) => to === email);
  return mails.at(-1)?.code as string;
};

// Correct and incorrect secrets of every kind.
const useEverySecret = async (): Promise<void> => {
  const { call, done } = control;
  const admin = await control.asAdmin();
  secret('the admin’s password', run.admin_password);
  secret('the admin’s access token', admin.token);
  const { id: organization } = await control.createOrganization();
  const email = 'ada@example.com';

  await done('POST', '/v1/users', { token: admin.token, body: { email, role: 'owner', organization } });
  const invited = secret('an invitation', await lastCodeTo(email));
  const { session } = await done('POST', '/v1/auth/login', { body: { email, password: invited } });
  secret('the session of a challenge', session);
  const password = secret('a password', 'Pelican-umbrella-7731');
  const answer = await done('POST', '/v1/auth/challenge', { body: { email, session, new_password: password } });
  const token = secret('an access token', answer.access_token as string);
  const refreshToken = secret('a refresh token', answer.refresh_token as string);
  await call('POST', '/v1/auth/login', { body: { email, password: secret('a wrong password', 'Wrong-guess-of-mine-99') } });
  await call('POST', '/v1/auth/login', { body: { email, passwort: secret('a misplaced password', 'Misplaced-secret-55') } });
  await call('POST', '/v1/auth/login', {
    body: `{"email": "${email}", "password": "${secret('a password in broken JSON', 'Broken-json-secret-3')}`,
  });
  secret('a refreshed token', (await done('POST', '/v1/auth/refresh', { body: { refresh_token: refreshToken } })).access_token as string);
  await call('POST', '/v1/auth/password', {
    token,
    body: { current_password: password, new_password: secret('a weak password', 'weak-unicorn') },
  });

  const totp = await done('POST', '/v1/auth/totp', { token, body: { current_password: password } });
  secret('the secret of an authenticator', totp.secret as string);
  await done('POST', '/v1/auth/totp/verify', { token, body: { code: totpOf(totp.secret) } });
  await done('POST', '/v1/auth/forgot', { body: { email } });
  await eventually(async () => (await lastCodeTo(email)) !== invited, 'the code of a reset');
  const code = secret('the code of a reset', await lastCodeTo(email));
  await done('POST', '/v1/auth/reset', { body: { email, code, new_password: secret('a new password', 'Walrus-lantern-4410') } });

  // The user has a second factor now, so a password alone logs nobody in.
  const again = await control.logIn(email, 'Walrus-lantern-4410').catch(() => undefined);
  expect(again).toBeUndefined();
  const owner = await control.createUser({ role: 'owner', organization });
  const { token: ownToken } = owner;
  secret('the password of another', owner.password);
  secret('the access token of another', ownToken);
  const key = await done('POST', '/v1/api-keys', { token: ownToken, body: { name: 'key' } });
  secret('an API key', key.secret);
  const other = await done('POST', '/v1/api-keys', { token: ownToken, body: { name: 'other' } });
  const rotated = await done('POST', `/v1/api-keys/${key.id}/rotate`, { token: ownToken, body: { overlap_seconds: 600 } });
  secret('a rotated API key', rotated.secret);
  const answered = await chat(rotated.secret, {
    messages: [{ role: 'user', content: secret('a prompt', PROMPT) }],
    metadata: { of: 'a test' },
  });
  expect(answered.status).toBe(200);
  await chat(key.secret, { messages: [{ role: 'user', content: secret('a refused prompt', REFUSED_PROMPT) }], temperature: 9 });
  await chat(key.secret, { messages: [{ role: REFUSED_PROMPT, content: 3 }] });
  expect(await statusOfMessage(secret('an API key in x-api-key', other.secret), 8)).toBe(200);
  expect(await statusOfMessage(secret('a wrong API key in x-api-key', `${other.secret.slice(0, -4)}zzzz`), 8)).toBe(401);
  expect(await statusOfMessage(other.secret, 0)).toBe(400);
  await chat(rotated.secret, { model: 'no-such-model', messages: [{ role: 'user', content: PROMPT }] });
  await call('GET', '/v1/me', { token: `${token}x` });
  await call('DELETE', `/v1/api-keys/${key.id}`, { token: ownToken });
  await call('POST', '/v1/auth/logout', { body: { refresh_token: refreshToken } });
};

const everyRow = async (table: string): Promise<string> => {
  const { Items = [], LastEvaluatedKey } = await run.database.scan({ TableName: table });
  expect(LastEvaluatedKey).toBeUndefined();
  return JSON.stringify(Items, (_, value: unknown) => {
    if (typeof value === 'bigint') return value.toString();
    return value instanceof Uint8Array ? `${Buffer.from(value).toString('latin1')} ${Buffer.from(value).toString('hex')}` : value;
  });
};

const formsOf = (text: string): string[] => [
  text,
  Buffer.from(text).toString('base64').replace(/=+$/, ''),
  Buffer.from(text).toString('hex'),
  encodeURIComponent(text),
];

// A hash or an id can have the digits of a code by chance.
const ID_LENGTH = 16;

// In any encoding. A secret of digits must not be part of a longer number.
const isIn = (text: string, hidden: string): boolean => {
  if (!/^\d+$/.test(hidden)) return formsOf(hidden).some((form) => text.includes(form));
  const words = text.match(new RegExp(`\\w*(?<!\\d)${hidden}(?!\\d)\\w*`, 'g')) ?? [];
  return words.some((word) => word.length < ID_LENGTH);
};

/** Uses every kind of secret of a run, and expects that no table and no log has one. */
export const testSecrets = (runOf: () => TestRun): void => {
  test('stores no secret, token, password or prompt in a table, a log or an audit entry', async () => {
    run = runOf();
    control = controlOf(run);
    await useEverySecret();
    expect(secrets.size).toBeGreaterThan(18);
    const places = new Map<string, string>();
    for (const [name, table] of Object.entries(run.tables)) places.set(`the table ${name}`, await everyRow(table));
    const logs = path.join(run.state, 'logs');
    for (const file of await readdir(logs)) if (file !== MAIL) places.set(`the log ${file}`, await readFile(path.join(logs, file), 'utf8'));
    places.set('the output', run.output.replaceAll(run.admin_password, ''));
    // Make sure that these places have content.
    for (const name of [
      'the table Accounts',
      'the table Keys',
      'the table Usage',
      'the table Responses',
      'the log control.log',
      'the log inference.log',
    ])
      expect([name, places.get(name)?.length ?? 0]).toEqual([name, expect.any(Number)]);
    expect(places.get('the table Audit')).toContain('session.refused');
    expect(places.get('the log sign-in.log')).toContain('login_refused');
    const found = [...places].flatMap(([place, text]) =>
      [...secrets].filter(([, hidden]) => isIn(text, hidden)).map(([what]) => `${what} is in ${place}`),
    );
    expect(found).toEqual([]);
  });
};
