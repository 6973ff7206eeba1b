import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { redactText } from '../../../../functions/inference/payload-log/redact-text.ts';
import { newSecret } from '../../../../shared/admission/secret.ts';
import { PATTERNS } from '../../../../shared/payload-log/settings.ts';

const ALL = new Set(PATTERNS);
const redact = (text: string): string => redactText(text, ALL);
const { secret } = newSecret('serverless', 'key_0123456789abcdefgh');
const JWT = 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9P';

describe('replaces by default', () => {
  test.each([
    ['Write to jane.doe+x@mail.example.co.uk.', 'Write to [redacted:email].'],
    ['jürgen@müller.example', '[redacted:email]'],
    ['Card 4111 1111 1111 1111, exp 12/30', 'Card [redacted:credit_card], exp 12/30'],
    ['12 378282246310005', '12 [redacted:credit_card]'],
    ['IBAN DE89 3704 0044 0532 0130 00 please', 'IBAN [redacted:iban] please'],
    ['gb29nwbk60161331926819', '[redacted:iban]'],
    ['from 203.0.113.7.', 'from [redacted:ip_address].'],
    ['to 2001:db8::ff00:42:8329', 'to [redacted:ip_address]'],
    ['Call +49 (0)30 901820 now', 'Call [redacted:phone] now'],
    ['Call (555) 123-4567', 'Call [redacted:phone]'],
    ['AKIAIOSFODNN7EXAMPLE', '[redacted:aws_key]'],
    ['aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY', 'aws_secret_access_key = [redacted:aws_key]'],
    [`key: ${secret}`, 'key: [redacted:api_key]'],
    [`Authorization: Bearer ${secret}`, 'Authorization: [redacted:bearer_token]'],
    [`token=${JWT}`, 'token=[redacted:bearer_token]'],
    ['a -----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY----- b', 'a [redacted:private_key] b'],
    ['-----BEGIN PRIVATE KEY-----\nMIIE that never ends', '[redacted:private_key]'],
  ])('%j', (text, expected) => expect(redact(text)).toBe(expected));
});

test.each([
  'At 12:34:56 on 2026-11-23',
  'std::vector<int> a::b',
  'Order 4111 1111 1111 1112 and 1234567890123',
  'GB28 NWBK 6016 1331 9268 19',
  'version 1.2.3',
  'a @mention and a@b',
  'bearer of good news',
  'Call 555-1234',
])('leaves %j as it is', (text) => expect(redact(text)).toBe(text));

test('replaces only what the rules name', () => {
  expect(redactText('a@b.example 203.0.113.7', new Set(['email']))).toBe('[redacted:email] 203.0.113.7');
});

test('counts what it replaced, by pattern', () => {
  const counts: Record<string, number> = {};
  redactText('a@b.example, c@d.example, 203.0.113.7', ALL, (name, times) => {
    counts[name] = (counts[name] ?? 0) + times;
  });
  expect(counts).toEqual({ email: 2, ip_address: 1 });
});

/** Texts made of parts of what the patterns look for, so that they meet, overlap and are cut. */
const tangled = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        'a@b.example',
        '4111111111111111',
        ' 4111-1111',
        'DE89370400440532013000',
        '203.0.113.7',
        '::1',
        '+4930901820',
        '@',
        '.',
      ),
      fc.constantFrom(
        secret,
        JWT,
        'Bearer ',
        'AKIAIOSFODNN7EXAMPLE',
        '-----BEGIN PRIVATE KEY-----',
        '-----END PRIVATE KEY-----',
        'eyJ',
        'sk-',
      ),
      fc.constantFrom(' ', '-', '1', 'a', ':', '[', ']', '\n', 'secret_access_key=', '\ud800'),
      fc.string({ unit: 'grapheme', maxLength: 5 }),
    ),
    { maxLength: 12 },
  )
  .map((parts) => parts.join(''));

test('finds nothing in what it has redacted', () => {
  fc.assert(
    fc.property(tangled, (text) => {
      const once = redact(text);
      expect(redact(once)).toBe(once);
    }),
    { numRuns: 3_000 },
  );
});

/** With a quadratic search, one of these would take minutes. */
test.each([
  'a',
  '@',
  'a@',
  'a.',
  'a@a.',
  '1',
  '1 ',
  '1-',
  '4111 1111 ',
  'DE89 ',
  'DE89',
  ':',
  '1:',
  '1.',
  '+1',
  '(555) ',
  'eyJ',
  'eyJaaaaaaaa.',
  'bearer ',
  'sk-',
  '-----BEGIN PRIVATE KEY-----',
  '-----BEGIN A ',
  'secret_access_key=',
  ' ',
])('reads a megabyte of %j in linear time', (part) => {
  const text = part.repeat(Math.ceil(1_000_000 / part.length));
  expect(typeof redact(text)).toBe('string');
});

const hostile = fc.array(
  fc.constantFrom(
    'a',
    '@',
    '.',
    '-',
    ' ',
    ':',
    '/',
    '+',
    '1',
    '41',
    '4111',
    'DE89',
    'eyJ',
    'aaaaaaaaa',
    'sk-',
    'bearer ',
    'AKIA',
    '1.',
    '::',
    '(',
    ')',
    '-----BEGIN ',
    'PRIVATE KEY-----',
    '-----END ',
    'secret_access_key',
    '=',
    '"',
    '\n',
    'é',
  ),
  { minLength: 1, maxLength: 4 },
);

/** A search that isn't linear would take minutes. */
test('reads any repetition of what the patterns look for in linear time, also if something else follows', () => {
  fc.assert(
    fc.property(hostile, hostile, fc.integer({ min: 0, max: 100 }), (start, parts, percent) => {
      const part = parts.join('');
      const repeated = part.repeat(Math.ceil(100_000 / part.length));
      const other = start.join('');
      const text = other + repeated.slice(0, percent * 1_000) + other.repeat(Math.ceil((100 - percent) * 10));
      expect(redact(redact(text))).toBe(redact(text));
    }),
    { numRuns: 50 },
  );
}, 60_000);
