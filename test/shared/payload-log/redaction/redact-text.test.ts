import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { newSecret } from '../../../../shared/admission/item/secret.ts';
import { redactText } from '../../../../shared/payload-log/redaction/redact-text.ts';
import { PATTERNS } from '../../../../shared/payload-log/settings.ts';

const ALL = new Set(PATTERNS);
const plenty = () => ({ left: Number.MAX_SAFE_INTEGER });
const redact = (text: string): string => String(redactText(text, ALL, plenty()));
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

describe('finds the same where it is written with other characters:', () => {
  test.each([
    ['no-break spaces', 'Card 4111\u00a01111\u00a01111\u00a01111', 'Card [redacted:credit_card]'],
    ['thin and narrow spaces', 'DE89\u20093704\u202f0044\u20090532\u20090130\u200900', '[redacted:iban]'],
    ['no-break hyphens', '4111\u20111111\u20111111\u20111111', '[redacted:credit_card]'],
    ['characters without a width', 'a\u200b@b.exam\u00adple, 4111\ufeff1111 1111 1111', '[redacted:email], [redacted:credit_card]'],
    ['full-width digits', '４１１１ １１１１ １１１１ １１１１', '[redacted:credit_card]'],
    ['a full-width @', 'jane＠b.example', '[redacted:email]'],
    ['full-width letters', 'ＤＥ89370400440532013000', '[redacted:iban]'],
    ['decomposed letters', 'ju\u0308rgen@mu\u0308ller.example', '[redacted:email]'],
    ['no-break spaces in a phone number', 'Call +49\u00a030\u00a0901820', 'Call [redacted:phone]'],
    ['hyphens in an IBAN', 'DE89-3704-0044-0532-0130-00', '[redacted:iban]'],
  ])('%s', (_, text, expected) => expect(redact(text)).toBe(expected));

  const nested = { SecretAccessKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY', note: 'card:\n4111\u00a01111 1111 1111' };

  test.each([1, 2, 3])('JSON in JSON, %i deep', (depth) => {
    let text: string = JSON.stringify(nested);
    for (let i = 1; i < depth; i++) text = JSON.stringify({ text });
    const ascii = text.replaceAll('\u00a0', '\\u00a0');
    for (const written of [text, ascii]) {
      expect(redact(written)).not.toContain('wJalr');
      expect(redact(written)).not.toContain('1111');
      expect(redact(written)).toContain('[redacted:aws_key]');
      expect(redact(written)).toContain('SecretAccessKey');
    }
  });

  test('leaves all other characters as they are', () => {
    expect(redact('Ｈａｌｌｏ\u00a0\u200b\\n a@b.example\u2009Ｗｅｌｔ')).toBe('Ｈａｌｌｏ\u00a0\u200b\\n [redacted:email]\u2009Ｗｅｌｔ');
  });
});

describe('replaces credentials:', () => {
  const basic = (pair: string): string => Buffer.from(pair).toString('base64');
  test.each([
    ['whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD', '[redacted:api_key]'],
    ['secret=whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw.', 'secret=[redacted:api_key].'],
    [`Authorization: Basic ${basic('aladdin:open sesame')}`, 'Authorization: [redacted:bearer_token]'],
    [`authorization: basic ${basic('a:secret')}, x`, 'authorization: [redacted:bearer_token], x'],
  ])('%j', (text, expected) => expect(redact(text)).toBe(expected));

  test.each(['basic authentication', 'Basic information', 'a basic knowledge of arithmetic', 'whsec_short'])('not %j', (text) =>
    expect(redact(text)).toBe(text),
  );
});

describe('an IBAN', () => {
  test.each([
    'AT611904300234573201',
    'BE68539007547034',
    'CH9300762011623852957',
    'FR1420041010050500013M02606',
    'MT84MALT011000012345MTLCAST001S',
    'NO9386011117947',
    'SA0380000000608010167519',
    'LC55HEMM000100010012001200023015',
  ])('is found in each length: %s', (iban) => {
    expect(redact(iban)).toBe('[redacted:iban]');
    expect(redact(`x ${iban.match(/.{1,4}/g)?.join(' ')} y`)).toBe('x [redacted:iban] y');
  });

  test.each([
    ['an unknown country', 'AA11370400440532013000'],
    ["another country's length", 'DE8937040044053201300'],
    ['a letter after it', 'DE89370400440532013000a'],
    ['a wrong checksum', 'DE88370400440532013000'],
  ])('is none with %s', (_, text) => expect(redact(text)).toBe(text));
});

test('finds an address before the colon of a sentence', () => {
  expect(redact('2001:db8::1: refused, [::1]:8080')).toBe('[redacted:ip_address]: refused, [[redacted:ip_address]]:8080');
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
  expect(redactText('a@b.example 203.0.113.7', new Set(['email']), plenty())).toBe('[redacted:email] 203.0.113.7');
});

test('counts what it replaced, by pattern', () => {
  const counts: Record<string, number> = {};
  redactText('a@b.example, c@d.example, 203.0.113.7', ALL, plenty(), (name, times) => {
    counts[name] = (counts[name] ?? 0) + times;
  });
  expect(counts).toEqual({ email: 2, ip_address: 1 });
});

// Parts of texts that the patterns match, so that they meet, overlap and are cut.
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
