import { existsSync, globSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { codeOf } from './pages.ts';

const root = path.join(import.meta.dirname, '../..');
const read = (file: string): string => readFileSync(path.join(root, file), 'utf8');
const { scripts, devDependencies } = JSON.parse(read('package.json')) as Record<'scripts' | 'devDependencies', Record<string, string>>;

const PAGES = ['CONTRIBUTING.md', 'AGENTS.md', 'SECURITY.md', 'CODE_OF_CONDUCT.md', '.github/pull_request_template.md'];
const FOLDERS = 'functions|shared|infra|test|docs|\\.ci|\\.github';

const matchesIn = (page: string, pattern: RegExp): string[] =>
  codeOf(read(page)).flatMap((code) => [...code.matchAll(pattern)].map(([, name = '']) => name));

describe.each(PAGES)('%s names only what exists', (page) => {
  test('npm scripts', () => {
    const named = matchesIn(page, /\bnpm (?:run )?(test\b[\w:-]*|start|(?<=run )[\w:-]+)/g);
    expect(named.filter((name) => !(name in scripts))).toEqual([]);
  });

  test('files and folders', () => {
    const named = matchesIn(page, new RegExp(`(?<![\\w/.@-])((?:${FOLDERS})/[\\w./-]*|[\\w-]+\\.(?:md|json|jsonc))(?![\\w/<-])`, 'g'));
    expect(named.filter((name) => !existsSync(path.join(root, name)))).toEqual([]);
  });

  test('tests, by a part of their paths', () => {
    const tests = globSync('test/**/*.test.ts', { cwd: root });
    const named = matchesIn(page, /\bnpx jest ([^#\n]+)/g).flatMap((list) => list.split(' -t ')[0]?.trim().split(' ') ?? []);
    expect(named.filter((name) => name !== 'PATH' && !tests.some((file) => file.includes(name)))).toEqual([]);
  });

  test('pages that it links to', () => {
    const links = [...read(page).matchAll(/\]\((?!https?:|#)([^)#]+)(?:#[^)]*)?\)/g)].map(([, link = '']) => link);
    expect(links.filter((link) => !existsSync(path.join(root, path.dirname(page), link)))).toEqual([]);
  });
});

test('AGENTS.md is short enough to be read by every agent', () => expect(read('AGENTS.md').split('\n').length).toBeLessThanOrEqual(40));

test('.nvmrc is the version of Node that the install brings', () => expect(read('.nvmrc').trim()).toBe(devDependencies.node));

test('CI runs what a submission must pass, with a token that can only read and a time limit', () => {
  const workflow = read('.github/workflows/ci.yml');
  expect(workflow).toMatch(/^permissions:\n {2}contents: read\n\n/m);
  expect(workflow.match(/permissions:/g)).toHaveLength(1);
  expect(workflow).toContain('- run: .ci/run\n');
  expect(workflow).toMatch(/^ {4}timeout-minutes: \d+$/m);
});

test('the actions of workflows are pinned by commit', () => {
  for (const file of readdirSync(path.join(root, '.github/workflows')))
    for (const [, version] of read(`.github/workflows/${file}`).matchAll(/uses: (?:[\w/-]+)@(.*)$/gm))
      expect([file, version]).toEqual([file, expect.stringMatching(/^[0-9a-f]{40} # v\d+\.\d+\.\d+$/)]);
});
