import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from '@jest/globals';
import { CONSOLE_PICTURES, PICTURES } from '../../../infra/local/console-pictures/console-pictures.ts';

const ROOT = path.join(import.meta.dirname, '../../..');
// The longest answer of the local model makes the playground's picture larger than the others.
const MAX_BYTES = 150_000;
const NAMES = PICTURES.map(({ name }) => name);
const IDS = {
  organization: 'org_1',
  gpuOrganization: 'org_2',
  key: 'key_1',
  request: 'req_1',
  invoice: 'inv_1',
  ticket: 'tkt_1',
  deployment: 'dep_1',
};

const shownIn = (page: string): string[] =>
  [...readFileSync(path.join(ROOT, page), 'utf8').matchAll(/images\/console\/([\w-]+)\.png/g)].map(([, name = '']) => name);

test('docs/console.md shows each picture that npm run pictures -- --console takes, and no other', () => {
  expect(shownIn('docs/console.md')).toEqual(NAMES);
  for (const page of ['README.md', 'docs/economics.md']) expect(NAMES).toEqual(expect.arrayContaining(shownIn(page)));
});

test('docs/images/console has exactly these pictures, each a small PNG', () => {
  expect(readdirSync(CONSOLE_PICTURES).sort()).toEqual(NAMES.map((name) => `${name}.png`).sort());
  for (const name of NAMES) {
    const content = readFileSync(path.join(CONSOLE_PICTURES, `${name}.png`));
    expect(content.subarray(1, 4).toString()).toBe('PNG');
    expect(content.length).toBeLessThan(MAX_BYTES);
  }
});

test('each picture is of a screen that the console has', () => {
  const registered = readFileSync(path.join(ROOT, 'console/app/screens.ts'), 'utf8');
  const screens = new Set([...registered.matchAll(/path: '\/([\w-]*)/g)].map(([, first]) => first));
  for (const picture of PICTURES) expect(screens).toContain(picture.path(IDS).split(/[/?]/)[1]);
});
