import { describe, expect, test } from '@jest/globals';
import { findDynoxide } from '../../../infra/local/dynamodb/dynoxide.ts';
import { explain } from '../../../infra/local/explain.ts';

const withCode = (message: string, facts: object): Error => Object.assign(new Error(message), facts);

describe('an error of npm start', () => {
  test('about a full disk says so, wherever it was noticed', () => {
    const full = withCode('ENOSPC: no space left on device, write', { code: 'ENOSPC', path: '.sluice/local.json' });
    const line =
      'The disk is full: .sluice/local.json cannot be written. Free some space, or choose a folder on another disk with --state.';
    expect(explain(full)).toBe(line);
    expect(explain(new Error('The state folder cannot be written (ENOSPC).', { cause: full }))).toBe(line);
    expect(explain(new Error('The CDK app failed to synthesize:\nError: ENOSPC: no space left on device, open'))).toBe(
      'The disk is full. Free some space, or choose a folder on another disk with --state.',
    );
  });

  test('about a busy port names the port', () => {
    expect(explain(withCode('listen EADDRINUSE', { code: 'EADDRINUSE', port: 4_001 }))).toBe(
      'Port 4001 is in use. Choose another one with --port, or use --port 0 for any free port.',
    );
  });

  test('about a missing program says how to install it', () => {
    const missing = withCode('spawn esbuild ENOENT', { code: 'ENOENT', syscall: 'spawn esbuild', path: 'esbuild' });
    expect(explain(missing)).toBe("The program esbuild is missing. Install this project's packages again with 'npm ci'.");
  });

  test('about a machine without dynoxide is one line with both ways out', () => {
    expect(() => findDynoxide('plan9-mips', '/nowhere')).toThrow(
      /^No local DynamoDB for plan9-mips found\. Put dynoxide on PATH \(.+\), or start DynamoDB Local and set DYNAMODB_ENDPOINT=\S+\.$/,
    );
  });

  test('explains any other error by its message, with its cause unless that is a sentence', () => {
    const cause = new Error('fetch failed');
    expect(explain(new Error('The server did not respond', { cause }))).toBe('The server did not respond: fetch failed');
    expect(explain(new Error('Choose another.', { cause }))).toBe('Choose another.');
    expect(explain('text')).toBe('text');
  });
});
