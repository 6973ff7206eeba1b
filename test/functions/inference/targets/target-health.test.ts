import { beforeEach, describe, expect, test } from '@jest/globals';
import { createTargetHealth, type TargetHealth } from '../../../../functions/inference/targets/target-health.ts';
import type { Target } from '../../../../shared/models/model.ts';

const one: Target = { endpoint: 'one', weight: 1 };
const two: Target = { endpoint: 'two', weight: 1 };
const three: Target = { endpoint: 'three', weight: 1 };
const all: [Target, ...Target[]] = [one, two, three];

let nowMs: number;
let health: TargetHealth;
beforeEach(() => {
  nowMs = 1_700_000_000_000;
  health = createTargetHealth(() => nowMs);
});

const order = (): string[] => health.order(all).map(({ endpoint }) => endpoint);
const IN_PLACE = ['one', 'two', 'three'];
const LAST = ['two', 'three', 'one'];

const avoidedSeconds = (): number => {
  let seconds = 0;
  for (; order()[0] !== 'one'; nowMs += 1_000) seconds++;
  return seconds;
};

describe('a target that fails', () => {
  test('is tried last for a while, and the others keep their order', () => {
    health.failed(one);
    expect(order()).toEqual(LAST);
    expect(avoidedSeconds()).toBe(10);
    expect(order()).toEqual(IN_PLACE);
  });

  test('is tried last for longer each time, for five minutes at most', () => {
    const times = Array.from({ length: 8 }, () => {
      health.invoked(one);
      health.failed(one);
      return avoidedSeconds();
    });
    expect(times).toEqual([10, 20, 40, 80, 160, 300, 300, 300]);
  });

  test('is not tried last for longer because several requests saw the same failure', () => {
    for (let request = 0; request < 5; request++) health.failed(one);
    expect(avoidedSeconds()).toBe(10);
  });

  test('is tried by one request at a time after that', () => {
    health.failed(one);
    nowMs += 10_000;
    expect(order()).toEqual(IN_PLACE);
    health.invoked(one);
    expect(order()).toEqual(LAST);
    // A request that was never answered does not keep the target from being tried again.
    expect(avoidedSeconds()).toBe(60);
  });

  test('is forgotten when it answers', () => {
    health.failed(one);
    health.answered(one);
    expect(order()).toEqual(IN_PLACE);
    health.failed(one);
    expect(avoidedSeconds()).toBe(10);
  });

  test('is tried in its place if all others fail too', () => {
    for (const target of all) health.failed(target);
    expect(order()).toEqual(IN_PLACE);
  });

  test('is distinguished from other components and regions of its endpoint', () => {
    const component = { ...one, component: 'c' };
    health.failed(component);
    expect(order()).toEqual(IN_PLACE);
    expect(health.order([component, one])).toEqual([one, component]);
  });
});

describe('createTargetHealth', () => {
  test('remembers a thousand targets at most', () => {
    health.failed(one);
    for (let i = 0; i < 1_000; i++) health.failed({ endpoint: `e${i}`, weight: 1 });
    expect(order()).toEqual(IN_PLACE);
    expect(health.order([{ endpoint: 'e999', weight: 1 }, one])[0]).toEqual(one);
  });
});
