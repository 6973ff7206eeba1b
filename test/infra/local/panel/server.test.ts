import { request } from 'node:http';
import { afterAll, beforeEach, describe, expect, test } from '@jest/globals';
import { createLocalClock } from '../../../../infra/local/clock/local-clock.ts';
import { createMailbox } from '../../../../infra/local/mail/mailbox.ts';
import { startPanel } from '../../../../infra/local/panel/server.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

const NOW_MS = Date.parse('2026-10-15T12:00:00Z');
const OWN = { 'x-sluice-panel': '1', 'content-type': 'application/json' };

const folder = temporaryFolder();
const clock = createLocalClock(() => NOW_MS);
const skipped: number[] = [];
let finish: Promise<void> | undefined;
const panel = await startPanel({
  clock,
  schedules: {
    jobs: () => [],
    catchUp: async (skippedMs) => {
      skipped.push(skippedMs);
      await finish;
    },
  },
  logFolder: folder.path,
  controlUrl: 'http://control',
  port: 0,
});
const { host } = new URL(panel.url);

beforeEach(() => {
  clock.moveTo(0);
  skipped.length = 0;
});
afterAll(async () => {
  await panel.close();
  await folder[Symbol.asyncDispose]();
});

// Unlike fetch, it sends any Host.
const call = (method: string, path: string, headers: Record<string, string> = {}, body = ''): Promise<{ status: number; text: string }> =>
  new Promise((resolve, reject) => {
    const sent = request(panel.url + path, { method, headers }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (part: string) => {
        text += part;
      });
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text }));
    });
    sent.on('error', reject).end(body);
  });

const move = async (name: string) => {
  const { status, text } = await call('POST', '/clock', OWN, JSON.stringify({ move: name }));
  return { status, ...(JSON.parse(text) as { now_ms: number; offset_ms: number; message?: string }) };
};
const isoOf = (ms: number): string => new Date(ms).toISOString();

describe('the clock of the developer panel', () => {
  test('moves by an hour and a day, to the closing of the month, and back, and has the due jobs run', async () => {
    expect(isoOf((await move('hour')).now_ms)).toBe('2026-10-15T13:00:00.000Z');
    expect(isoOf((await move('day')).now_ms)).toBe('2026-10-16T13:00:00.000Z');
    expect(isoOf((await move('next_month')).now_ms)).toBe('2026-11-01T01:30:00.000Z');
    expect(isoOf((await move('next_month')).now_ms)).toBe('2026-12-01T01:30:00.000Z');
    expect(await move('present')).toMatchObject({ status: 200, offset_ms: 0 });
    expect(skipped.slice(0, 2)).toEqual([3_600_000, 86_400_000]);
    expect(skipped.at(-1)).toBeLessThan(0);
  });

  test('takes one move at a time', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    finish = promise;
    const first = move('hour');
    while (skipped.length === 0) await new Promise((next) => setImmediate(next));
    expect(await move('hour')).toMatchObject({ status: 409, message: expect.stringMatching(/Wait/) });
    resolve();
    expect(await first).toMatchObject({ status: 200, offset_ms: 3_600_000 });
  });

  test('goes no further than 400 days, and takes no other moves', async () => {
    clock.moveTo(400 * 86_400_000);
    expect(await move('hour')).toMatchObject({ status: 409, message: expect.stringMatching(/400 days/) });
    expect((await move('year')).status).toBe(400);
    expect(skipped).toEqual([]);
  });
});

describe('the developer panel', () => {
  test('serves a page that loads only its own files', async () => {
    const { text } = await call('GET', '/');
    const files = [...text.matchAll(/(?:src|href)="([a-z][\w./-]+)"/g)].map(([, file = '']) => file);
    expect(files).toEqual(['tokens.css', 'page.css', 'page.js']);
    for (const file of files) expect((await call('GET', `/${file}`)).status).toBe(200);
    expect((await call('GET', '/../server.ts')).status).toBe(404);
  });

  test('shows the newest emails first', async () => {
    expect(JSON.parse((await call('GET', '/state')).text)).toMatchObject({ mails: [] });
    const { send } = createMailbox(folder.path);
    for (let i = 0; i < 7; i++) await send({ to: `person-${i}@example.com`, kind: 'invitation', code: 'x'.repeat(20_000) });
    const { mails } = JSON.parse((await call('GET', '/state')).text) as { mails: { to: string }[] };
    expect(mails.map(({ to }) => to)).toEqual(['person-6@example.com', 'person-5@example.com', 'person-4@example.com']);
  });

  test.each([
    ['another name for this machine', { host: 'attacker.example' }],
    ['another origin', { origin: 'https://attacker.example' }],
    ['a form', { 'content-type': 'text/plain' }],
    ['a page that can’t add headers', { 'x-sluice-panel': '' }],
  ])('takes no moves from %s', async (_name, headers) => {
    const { status } = await call('POST', '/clock', { ...OWN, host, ...headers }, '{"move":"day"}');
    expect(status).toBe(403);
    expect(clock.offsetMs()).toBe(0);
  });

  test('shows nothing under another name, to which an attacker can lead', async () => {
    for (const path of ['/', '/state']) expect((await call('GET', path, { host: 'attacker.example' })).status).toBe(403);
  });
});
