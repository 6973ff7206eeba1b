import { expect, test } from '@jest/globals';
import { judgeAudit } from '../../../../infra/tools/supply-chain/signatures.ts';

const bad = { name: 'a', version: '1.2.3', location: 'node_modules/a' };

test('a wrong or missing signature is a fault', () => {
  for (const [kind, findings] of Object.entries({ invalid: { invalid: [bad], missing: [] }, missing: { invalid: [], missing: [bad] } }))
    expect(judgeAudit({ status: 1, stdout: JSON.stringify(findings) })).toEqual({
      isVerified: false,
      isFault: true,
      why: expect.stringContaining(`a@1.2.3 (${kind})`),
    });
});

test('packages are verified if all signatures are right', () => {
  expect(judgeAudit({ status: 0, stdout: '{"invalid": [], "missing": []}' })).toEqual({ isVerified: true });
});

test.each([
  ['that answers with an error', { error: { code: 'E405', summary: 'Method Not Allowed\nGET …' } }, 'Method Not Allowed'],
  ['that does not answer', { error: { code: 'ENOTFOUND', summary: '' } }, 'ENOTFOUND'],
  [
    'that signs nothing',
    { error: { summary: 'found no dependencies to audit that were installed from a supported registry' } },
    'found no dependencies',
  ],
])('a registry %s is no fault, and is named in one line', (_, output, why) => {
  const verdict = judgeAudit({ status: 1, stdout: JSON.stringify(output) });
  expect(verdict).toEqual({ isVerified: false, isFault: false, why: expect.stringContaining(why) });
  expect(JSON.stringify(verdict)).not.toContain('\\n');
});

test('what can’t be read verifies nothing', () => {
  for (const stdout of ['', 'npm ERR!', '{}'])
    expect(judgeAudit({ status: 0, stdout })).toMatchObject({ isVerified: false, isFault: false });
});
