import { execFile, spawnSync } from 'node:child_process';
import { readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { shareWalk, type Walk } from '../../support/clients/walk-through.ts';

const root = path.join(import.meta.dirname, '../../..');
const blocksOf = (page: string, language: string): string[] =>
  [...readFileSync(path.join(root, page), 'utf8').matchAll(new RegExp(`^\`\`\`${language}\n([\\s\\S]*?)^\`\`\`$`, 'gm'))].map(
    ([, text = '']) => text,
  );
// `npm start` has its own tests, and its install is under them.
const commandsOf = (page: string): string[] => blocksOf(page, 'sh').filter((block) => !block.startsWith('npm '));

// As much of OpenAI's Python client as the pages use, because the tests install no Python packages.
const PYTHON_CLIENT = `
import json, urllib.request
from types import SimpleNamespace

class Fields(SimpleNamespace):
    __getattr__ = lambda self, name: None

read = lambda text: json.loads(text, object_hook=lambda fields: Fields(**fields))

class OpenAI:
    def __init__(self, base_url, api_key):
        def create(stream=False, **body):
            headers = {"authorization": "Bearer " + api_key, "content-type": "application/json"}
            request = urllib.request.Request(base_url + "/chat/completions", json.dumps({**body, "stream": stream}).encode(), headers)
            text = urllib.request.urlopen(request).read().decode()
            return [read(line[6:]) for line in text.splitlines() if line.startswith("data: {")] if stream else read(text)
        self.chat = SimpleNamespace(completions=SimpleNamespace(create=create))
`;
const testWithPython = spawnSync('python3', ['--version']).status === 0 ? test : test.skip;

let walk: Walk;
beforeAll(async () => {
  walk = await shareWalk();
  symlinkSync(path.join(root, 'node_modules'), path.join(walk.folder, 'node_modules'));
  writeFileSync(path.join(walk.folder, 'openai.py'), PYTHON_CLIENT);
});
afterAll(() => walk.close());

describe('docs/local-run.md', () => {
  test('has commands that work as pasted', async () => {
    const [chat = '', clock = '', ...others] = commandsOf('docs/local-run.md');
    expect(others).toEqual([]);
    expect(await walk.shell(chat)).toMatch(/data: \[DONE\]$/m);
    expect(JSON.parse(/\{.*\}/.exec(await walk.shell(clock))?.[0] ?? '')).toMatchObject({ offset_seconds: -2_592_000 });
    await walk.run.controlFunctions('clock');
  });

  test('has a JavaScript program that works as saved', async () => {
    const [program = '', ...others] = blocksOf('docs/local-run.md', 'js');
    expect(others).toEqual([]);
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', program], { cwd: walk.folder });
    expect(stdout).toMatch(/\w.*\n$/);
  });

  testWithPython('has a Python program that works as saved', async () => {
    const [program = '', ...others] = blocksOf('docs/local-run.md', 'python');
    expect(others).toEqual([]);
    expect(await walk.shell(`python3 - <<'EOF'\n${program}EOF`, { PYTHONPATH: walk.folder })).toMatch(/\w.*\n$/);
  });
});

describe('README.md', () => {
  testWithPython('has a Python program that works as pasted', async () => {
    const [program = '', ...others] = commandsOf('README.md');
    expect(others).toEqual([]);
    expect(await walk.shell(program, { PYTHONPATH: walk.folder })).toMatch(/\w.*\n$/);
  });

  test('needs no program that neither the install nor the system brings', () => {
    for (const page of ['README.md', 'docs/local-run.md', 'docs/api.md']) expect(blocksOf(page, 'sh').join()).not.toMatch(/\bjq\b/);
  });
});
