import { readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { DOCUMENT, toDocument } from './document.ts';

describe('docs/roles.md', () => {
  test('shows each role, each permission and the operations that require it', () => {
    if (process.env.WRITE_ROLES) writeFileSync(DOCUMENT, toDocument());
    expect(readFileSync(DOCUMENT, 'utf8')).toBe(toDocument());
  });
});
