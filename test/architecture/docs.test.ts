import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { USAGE } from '../../infra/local/options.ts';
import { anchorsOf, codeOf, linksOf, readPage, readPages, tableOf } from './pages.ts';

const root = path.join(import.meta.dirname, '../..');
const pages = readPages();
const { scripts } = JSON.parse(readPage('package.json')) as { scripts: Record<string, string> };
const admin = spawnSync(process.execPath, [path.join(root, scripts.admin?.split(' ').at(-1) ?? ''), '--help'], { encoding: 'utf8' });
const MAX_ARCHITECTURE_WORDS = 1_500;
const MAX_README_LINES = 90;

const namedIn = (text: string, pattern: RegExp): string[] =>
  codeOf(text).flatMap((code) => [...code.matchAll(pattern)].map(([, name = '']) => name));

describe.each(pages)('%s', (page, text) => {
  test('names only files that exist', () => {
    // The change log names files of the releases that it describes.
    if (page === 'CHANGELOG.md') return;
    const named = [...text.matchAll(/`((?:functions|shared|infra|test)\/[\w./-]+)`/g)].map(([, file = '']) => file);
    expect(named.filter((file) => !existsSync(path.join(root, file)))).toEqual([]);
  });

  test('links only to pages, files and headings that exist', () => {
    const isBroken = (link: string): boolean => {
      const [file = '', anchor] = link.split('#');
      const target = file === '' ? page : path.join(path.dirname(page), file);
      if (!existsSync(path.join(root, target))) return true;
      return anchor !== undefined && !anchorsOf(readPage(target)).includes(anchor);
    };
    expect(linksOf(text).filter(isBroken)).toEqual([]);
  });

  test('names only npm scripts that exist', () => {
    const named = namedIn(text, /\bnpm (?:run )?(?:-s )?(test\b[\w:-]*|start\b|(?<=run (?:-s )?)[a-z][\w:-]*)/g);
    expect(named.filter((name) => !(name in scripts))).toEqual([]);
  });

  test('names only commands of the admin program and flags of the local run that exist', () => {
    const commands = namedIn(text, /\bnpm run (?:-s )?admin -- (?:--local )?([a-z][\w-]*)/g);
    expect(commands.filter((name) => !`${admin.stdout}${admin.stderr}`.includes(`\n  ${name} `))).toEqual([]);
    const flags = namedIn(text, /\bnpm start -- ([^#\n]*)/g).flatMap((line) => line.match(/--[a-z-]+/g) ?? []);
    expect(flags.filter((flag) => !USAGE.includes(`  ${flag} `))).toEqual([]);
  });
});

describe('README.md', () => {
  const readme = readPage('README.md');

  test('fits on a screen or two', () => {
    expect(readme.trimEnd().split('\n').length).toBeLessThanOrEqual(MAX_README_LINES);
  });

  test('prints only cells of the comparison whose source docs/comparison.md has', () => {
    const comparison = readPage('docs/comparison.md');
    const [[, ...products] = [], ...rows] = tableOf(readme, 'Is Sluice a fit\\?');
    expect([products.length, rows.length]).toEqual([6, 6]);
    for (const [title = '', ...cells] of rows) {
      const sources = tableOf(comparison, title).slice(1);
      const printed = products.flatMap((product, i) => (cells[i] === '' ? [] : [[product, cells[i]]]));
      expect([title, sources.map(([product, cell]) => [product, cell])]).toEqual([title, printed]);
      for (const [product, , source] of sources) expect(source).toMatch(product === 'Sluice' ? /\]\([\w#.-]+\)/ : /\]\(https:\/\//);
    }
  });

  test('says what docs/cost.md computes', () => {
    const cost = readPage('docs/cost.md');
    const [idle, chats] = [/^\| \*\*Sluice\*\*.*\*\*\$([\d.]+)\*\* \|$/m, /^\| What a million more requests add +\| +\$([\d.]+)/m].map(
      (row) => Math.round(Number(row.exec(cost)?.[1])),
    );
    expect(readme).toContain(`costs about $${idle} a month when idle, and about $${chats} for a million short chats`);
    expect(readPage('docs/comparison.md')).toContain(`about $${idle} a month when idle`);
  });
});

describe('docs/README.md', () => {
  test('leads to each page of docs/', () => {
    const linked = linksOf(readPage('docs/README.md')).map((link) => path.join('docs', link.split('#')[0] ?? ''));
    const flat = pages.map(([name]) => name).filter((name) => name.startsWith('docs/') && !name.startsWith('docs/decisions/'));
    expect(flat.filter((name) => name !== 'docs/README.md' && !linked.includes(name))).toEqual([]);
  });
});

describe('docs/operations.md', () => {
  test('only says where its parts went', () => {
    expect(readPage('docs/operations.md').split('\n').length).toBeLessThanOrEqual(30);
  });
});

describe('docs/local-run.md', () => {
  test('lists the flags that npm start has', () => {
    const listed = tableOf(readPage('docs/local-run.md'), 'Flags').slice(1);
    expect(listed.map(([flag = '']) => flag.replaceAll('`', '')).toSorted()).toEqual(
      (USAGE.match(/(?<=^ {2})--[a-z-]+(?: [A-Z]+)?/gm) ?? []).toSorted(),
    );
  });
});

describe('docs/architecture.md', () => {
  test('is short enough to be read in one go', () => {
    expect(readPage('docs/architecture.md').split(/\s+/).length).toBeLessThanOrEqual(MAX_ARCHITECTURE_WORDS);
  });

  test('shows the folders of the code, which keeps to the plan', () => {
    const check = execFileSync(process.execPath, [path.join(import.meta.dirname, 'main.ts')], { encoding: 'utf8' });
    expect(check).toContain(', 0 departures');
  });
});

describe('anchorsOf', () => {
  test('follows GitHub: lower case, hyphens for spaces, no punctuation, and a number for a repeated heading', () => {
    const page = '# What it `costs`?\n## Key, then [organization](x.md)\n```sh\n# no heading\n```\n## Errors\n### Errors\n';
    expect(anchorsOf(page)).toEqual(['what-it-costs', 'key-then-organization', 'errors', 'errors-1']);
  });
});
