import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { banner } from '../../../../infra/local/banner.ts';
import { layOut, RECORDING, Recording, terminalPicture } from '../../../../infra/tools/pictures/terminal/terminal-picture.ts';

const recording = Recording.parse(JSON.parse(readFileSync(RECORDING, 'utf8')));
const shown = recording.map(({ text }) => text).join('');
const IMAGE = path.join(import.meta.dirname, '../../../../docs/images/terminal.svg');

describe('terminalPicture', () => {
  test('is drawn in docs/images as it is now; if not, run npm run synth && npm run pictures', () => {
    expect(readFileSync(IMAGE, 'utf8')).toBe(terminalPicture());
  });

  test('shows what npm start prints now; if not, add --record', () => {
    const hosts = { serverless: 'http://127.0.0.1:4000', ondemand: 'http://127.0.0.1:4001', control: 'http://127.0.0.1:4002' };
    const secrets = { api_key: 'sk-s…', ondemand_api_key: 'sk-o…', admin_password: /Admin login .* (\S+)\n/.exec(shown)?.[1] ?? '' };
    const demo = { model: 'sluice-tiny', ondemand_model: 'demo-deployment', admin_email: 'admin@sluice.local', ...secrets };
    const [start] = banner({ hosts, panelUrl: 'http://127.0.0.1:4003' }, demo).trimStart().split('\nTo try it');
    expect(shown).toContain(start);
  });

  test('shows the cost of the request that it sends', () => {
    expect(shown).toMatch(/\$ node \.sluice\/try\.mjs\n[\s\S]*\$ curl [\s\S]*^cost +\$0\.0000\d+ by price_demo_1:/m);
  });

  test('keeps whole keys out', () => {
    expect(shown).not.toMatch(/sk-[a-z]\w/i);
  });
});

describe('layOut', () => {
  test('continues long lines on the next one, and shortens long pauses', () => {
    const fragments = layOut([
      { ms: 0, text: `$ ${'x'.repeat(100)}\n`, typed: true },
      { ms: 60_000, text: 'a' },
      { ms: 60_100, text: 'b\n\n' },
      { ms: 60_100, text: 'c' },
    ]);
    expect(fragments).toEqual([
      { line: 0, column: 0, text: `$ ${'x'.repeat(98)}`, atMs: 0, typed: true },
      { line: 1, column: 0, text: 'xx', atMs: 0, typed: true },
      { line: 2, column: 0, text: 'a', atMs: 1_200 },
      { line: 2, column: 1, text: 'b', atMs: 1_300 },
      { line: 4, column: 0, text: 'c', atMs: 1_300 },
    ]);
  });
});
