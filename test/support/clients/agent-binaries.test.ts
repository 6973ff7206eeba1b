import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, describe, expect, test } from '@jest/globals';
import { temporaryFolder } from '../temporary-folder.ts';
import { agentBinary } from './agent-binaries.ts';

const before = { ...process.env };
afterEach(() => {
  process.env = { ...before };
});

describe('agentBinary', () => {
  test('finds the program of an agent that is installed', async () => {
    await using folder = temporaryFolder();
    const program = path.join(folder.path, 'claude-code-2.1.331/package/claude');
    mkdirSync(path.dirname(program), { recursive: true });
    writeFileSync(program, '');
    process.env.SLUICE_AGENTS = folder.path;
    expect(await agentBinary('claude-code-2.1.331')).toBe(program);
  });

  test('finds nothing, and leaves nothing behind, where the registry can not be reached', async () => {
    await using folder = temporaryFolder();
    Object.assign(process.env, {
      SLUICE_AGENTS: folder.path,
      CI: 'true',
      npm_config_registry: 'http://127.0.0.1:1',
      npm_config_cache: path.join(folder.path, 'cache'),
      npm_config_fetch_retries: '0',
    });
    expect(await agentBinary('codex-0.169.0')).toBeUndefined();
    expect(readdirSync(folder.path).filter((name) => name.startsWith('codex'))).toEqual([]);
  });
});
