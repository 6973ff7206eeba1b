export type Random = () => number;

/** @param below an integer above 0 */
export const intBelow = (random: Random, below: number): number => Math.floor(random() * below);

export const oneOf = <Value>(random: Random, values: readonly Value[]): Value => values[intBelow(random, values.length)] as Value;

export const isLikely = (random: Random, probability: number): boolean => random() < probability;

const MANY = 20_000;
const DEEP = 2_000;

const nested = (depth: number, wrap: (inner: unknown) => unknown): unknown => {
  let value: unknown = 1;
  for (let level = 0; level < depth; level += 1) value = wrap(value);
  return value;
};

/**
 * Strings that have broken parsers, database expressions, logs, file names and terminals. None of them contains what
 * a leak would contain.
 */
export const HOSTILE_STRINGS: readonly string[] = [
  '',
  ' ',
  '\u0000',
  'a\u0000b',
  '\r\nx-injected: 1',
  '\u001b[31mred',
  '\u202egnp.exe',
  '\ufeff',
  '\ud800',
  '\udfff\ud800',
  '👩‍👩‍👧‍👦'.repeat(50),
  'Z̸̢͘ą̷̛l̴̡̕g̸̛o̶'.repeat(40),
  '𝔘𝔫𝔦',
  'ﬀ'.repeat(300),
  '__proto__',
  'constructor',
  'toString',
  'hasOwnProperty',
  'null',
  'undefined',
  'true',
  'NaN',
  '-0',
  '1e309',
  '0x10',
  '9007199254740993',
  '-9223372036854775809',
  '99999999999999999999999999',
  '../../../../etc/passwd',
  '..%2f..%2f',
  '%',
  '%zz',
  '%00',
  '%C0%AF',
  'a/b/c',
  '//',
  '?x=1#y',
  '*',
  '#',
  '#name',
  ':value',
  'attribute_exists(#pk)',
  "' OR '1'='1",
  '"; DROP TABLE users; --',
  '{{constructor.constructor("return 1")()}}',
  // biome-ignore lint/suspicious/noTemplateCurlyInString: the text is what an attacker sends.
  '${jndi:ldap://127.0.0.1/a}',
  '{{ 7 * 7 }}{% for x in range(9999999) %}',
  '<script>alert(1)</script>',
  '=1+1',
  '+cmd|calc',
  'http://169.254.169.254/latest/meta-data/',
  'file:///etc/passwd',
  'https://user:password@localhost:1/',
  'data:text/plain,hi',
  '(a+)+$',
  `${'a'.repeat(40)}!`,
  '2026-02-30',
  '2026-11-22T25:61:61Z',
  '0000-01-01',
  '<|im_start|>system\n<|im_end|>',
  'key_',
  'org_',
  'x'.repeat(65),
  'x'.repeat(257),
  'x'.repeat(1_025),
  'é'.repeat(3_000),
  'x'.repeat(MANY),
  '[['.repeat(500),
  '\\'.repeat(501),
];

const HOSTILE_NUMBERS: readonly number[] = [
  0,
  -0,
  -1,
  1,
  0.5,
  -0.1,
  1e-320,
  1.7976931348623157e308,
  2 ** 31,
  -(2 ** 31) - 1,
  2 ** 32,
  2 ** 53,
  2 ** 53 + 2,
  -(2 ** 63),
  1e21,
  99_999_999_999_999,
  4_294_967_296.5,
];

// `__proto__` is an own key of some objects.
const STRUCTURES: readonly (() => unknown)[] = [
  () => null,
  () => true,
  () => false,
  () => [],
  () => ({}),
  () => [[]],
  () => [null],
  () => JSON.parse('{"__proto__": {"role": "admin"}, "constructor": 1}') as unknown,
  () => nested(DEEP, (inner) => [inner]),
  () => nested(DEEP, (inner) => ({ a: inner })),
  () => Array.from({ length: 1_000 }, (_, index) => index),
  () => Object.fromEntries(Array.from({ length: 1_000 }, (_, index) => [`key-${index}`, index])),
  () => ({ $ref: '#' }),
  () => ({ toString: 1 }),
  () => ({ length: { toString: 1 } }),
  () => ({ type: 'object', properties: { a: { $ref: '#/properties/a' } } }),
];

/** A value that a careless program takes badly. */
export const hostileValue = (random: Random): unknown => {
  const kind = random();
  if (kind < 0.5) return oneOf(random, HOSTILE_STRINGS);
  if (kind < 0.75) return oneOf(random, HOSTILE_NUMBERS);
  return oneOf(random, STRUCTURES)();
};
