/** The characters of a text. */
export const SIZE = 1_000_000;

const PLAIN = 'The quick brown fox jumps over the lazy dog, and nobody by the river says why it does so every day. ';

// Each text is repeated to the whole size and makes redaction work.
const UNITS = [
  'a',
  'y',
  'bB',
  '1',
  '1 ',
  '1-',
  '4 ',
  '4111 ',
  '4111 1111 1111 1111 ',
  '4111-1111 1',
  'AA11 ',
  'DE89 ',
  'DE89',
  'DE89 3704 0044 0532 0130 00 ',
  'GB11A B ',
  'QA11ABCD ',
  'LC11ABCDEFGHIJKLMNOPQRSTUVWXYZABCD ',
  'a1 b2 c3 d4 ',
  '@',
  'a@',
  'a@a.',
  'a@b.example ',
  'a.b.c.d.e.f.g@',
  ':',
  '1:',
  '::1 ',
  'a:b:c ',
  '1::1:',
  '1.',
  '1.1.1.1 ',
  '255.255.255. ',
  '+1',
  '+1 23 ',
  '+49 30 901820 ',
  '(555) ',
  '555-123 ',
  '-',
  'sk-',
  'sk-sk-sk-sk-sk-sk ',
  'whsec_',
  'whsec_aaaaaaaaaaaaaaa ',
  'bearer ',
  'Bearer aaaaaaaaaaaaaaaaaaa ',
  'basic ',
  'basic aaaaaaaa ',
  'Basic YTpiYTpi ',
  'eyJ',
  'eyJaaaaaaaa.',
  'eyJaaaaaaaa.eyJa.',
  'AKIA',
  'AKIAAAAAAAAAAAAAAAAA',
  'secret_access_key=',
  '\\"SecretAccessKey\\": ',
  '-----BEGIN ',
  '-----BEGIN A B C D ',
  '-----BEGIN PRIVATE KEY-----',
  '-----END PRIVATE KEY-----',
  '\\',
  '\\n4111',
  '\\u0034',
  '\\\\u00a01',
  '\u00a04111',
  '\u20094 ',
  '4\u200b1',
  '\u200b',
  '４１１１ ',
  '＠',
  'ａ＠ｂ.ｃｄ ',
  'é@',
  '\ud83d\ude00',
  '\ud800',
  '2026-11-24 10:01:02 203.0.113.7 GET /v1/x?id=12&y=7 200 ',
] as const;

const repeated = (unit: string, size: number): string => unit.repeat(Math.ceil(size / unit.length)).slice(0, size);

// No body that is accepted has wider objects.
const WIDTH = 4_096;

const objects = (nameOf: (i: number) => string, valueAt: (i: number) => unknown, bytes: number, size: number): unknown[] =>
  Array.from({ length: Math.ceil(size / bytes / WIDTH) }, (_, object) =>
    Object.fromEntries(Array.from({ length: WIDTH }, (__, i) => [nameOf(object * WIDTH + i), valueAt(i)])),
  );

const jsonInJson = (size: number): string => {
  let text = '{"card":"4111 1111"}';
  while (text.length < size / 2) text = JSON.stringify({ text, more: text.slice(0, 20) });
  return text;
};

const nested = (size: number): unknown => {
  let value: unknown = 1;
  for (let depth = 0; depth < 90; depth++) value = [value, repeated('4 ', size / 90)];
  return value;
};

/** Values of about this size that make redaction work, by what they are made of. */
export const shapesOf = (size: number): [name: string, value: unknown][] => [
  ...UNITS.map((unit): [string, unknown] => [JSON.stringify(unit), repeated(unit, size)]),
  [
    'many names',
    objects(
      (i) => `n${i}`,
      () => 1,
      10,
      size,
    ),
  ],
  ['many short texts', Array.from({ length: size / 8 }, () => '4111')],
  ['many numbers', Array.from({ length: size / 14 }, (_, i) => 4_000_000_000_000 + i)],
  [
    'names that are addresses',
    objects(
      (i) => `a${i}@b.example`,
      () => '',
      20,
      size,
    ),
  ],
  ['JSON in JSON, deep', jsonInJson(size)],
  ['deep arrays', nested(size)],
];

/** A value of this size in which there is nothing to find. */
export const plainOf = (size: number): string => repeated(PLAIN, size);
