import { describe, expect, test } from '@jest/globals';
import { orderTargets, sessionOf } from '../../../../functions/inference/targets/order-targets.ts';
import type { ApiEvent } from '../../../../shared/http/api-event.ts';
import type { Target } from '../../../../shared/models/model.ts';

const target = (endpoint: string, weight: number): Target => ({ endpoint, weight });
const three: [Target, ...Target[]] = [target('a', 1), target('b', 2), target('c', 3)];
const keys = Array.from({ length: 6_000 }, (_, i) => `req_${i}`);
const firsts = (targets: [Target, ...Target[]]): Map<string, string> =>
  new Map(keys.map((key) => [key, orderTargets({ targets }, key)[0].endpoint]));

describe('orderTargets', () => {
  test('spreads requests over a model’s targets by weight', () => {
    const counts = Object.groupBy(firsts(three).values(), (endpoint) => endpoint);
    for (const { endpoint, weight } of three) {
      const share = (counts[endpoint]?.length ?? 0) / keys.length;
      expect(share / (weight / 6)).toBeGreaterThan(0.9);
      expect(share / (weight / 6)).toBeLessThan(1.1);
    }
  });

  test('gives the same key always the same order of all targets', () => {
    for (const key of keys.slice(0, 50)) {
      const order = orderTargets({ targets: three }, key);
      expect(orderTargets({ targets: [three[2] as Target, three[0], three[1] as Target] }, key)).toEqual(order);
      expect(order.map(({ endpoint }) => endpoint).sort()).toEqual(['a', 'b', 'c']);
    }
  });

  test('moves only the keys of a removed target', () => {
    const before = firsts(three);
    const after = firsts([three[0], three[1] as Target]);
    for (const key of keys) if (before.get(key) !== 'c') expect(after.get(key)).toBe(before.get(key));
  });
});

describe('the session of a coding agent', () => {
  const sessionIn = (headers: Record<string, string>) => sessionOf({ headers } as unknown as ApiEvent);

  test('is read from its header', () => {
    expect(sessionIn({ 'X-Claude-Code-Session-Id': '5f0c-11' })).toBe('5f0c-11');
  });

  test.each([
    ['is empty', ''],
    ['is long', 'x'.repeat(129)],
    ['is not visible ASCII', 'a b'],
  ])('is left out if it %s', (_, session) => {
    expect(sessionIn({ 'x-claude-code-session-id': session })).toBeUndefined();
  });
});
