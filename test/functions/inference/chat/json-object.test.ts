import { describe, expect, test } from '@jest/globals';
import { isJsonObject } from '../../../../functions/inference/chat/json-object.ts';
import { MAX_DEPTH } from '../../../../shared/http/json/json-size.ts';

const nested = (levels: number): string => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`;

describe('isJsonObject', () => {
  test.each(['{}', ' {"a":[1.0]} ', nested(MAX_DEPTH)])('accepts %p', (text) => {
    expect(isJsonObject(text)).toBe(true);
  });

  test.each(['', '[]', 'null', '1.0', '"{}"', '{"a":', '{} {}', nested(MAX_DEPTH + 1)])('rejects %p', (text) => {
    expect(isJsonObject(text)).toBe(false);
  });
});
