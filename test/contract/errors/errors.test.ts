import { readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { reasonCodes, reasonFor } from '../../../functions/deployments/reasons.ts';
import { controlErrorReplies } from '../../../infra/tools/reference/control-errors.ts';
import type { ErrorReply } from '../../../infra/tools/reference/error-reply.ts';
import { inferenceErrorReplies } from '../../../infra/tools/reference/inference-errors.ts';
import { onDemandErrorReplies } from '../../../infra/tools/reference/on-demand-errors.ts';
import { allErrors, PAGE, renderPage, sectionOf } from './page.ts';
import { partsOf, saysWhatToDo } from './wording.ts';

const MAX_CHARACTERS = 240;
const ODD = /\bof then\b|\bhas come\b|\bname this one in it\b|\ban [b-df-gj-np-tv-z]|\ba [aei]|\bin the console\b| {2}/;

const WITHOUT_ADVICE: readonly (readonly [RegExp, string])[] = [
  [/^\{message\}$/, "The words of a model's runtime, or another message of this list with the route's names of the fields."],
  [/^Invalid (?:value for '.+'|request body): (?:it is required; )?\{\w+\}\.$/, 'A schema says what it expected.'],
  [/has failed: \{message\} \{action\}$|is stopped: \{message\} \{action\}$/, 'The action of the reason says what to do.'],
  [/can't be woken\. \{message\}$/, 'The message of OutOfCredit follows.'],
];
const isExcepted = (message: string): boolean => WITHOUT_ADVICE.some(([pattern]) => pattern.test(message));

const errors = allErrors();
const messages = [...new Set(errors.map(({ message }) => message))];
const own = messages.filter((message) => !isExcepted(message));

describe('errorTexts', () => {
  test('finds the errors of every host', () => {
    const codes = new Set(errors.map(({ code }) => code));
    const replies = [inferenceErrorReplies, onDemandErrorReplies, controlErrorReplies].flatMap((byStatus) => Object.values(byStatus));
    const inReference = replies.flatMap((reply: ErrorReply) => Object.values(reply.errors).map(({ code }) => code));
    expect(inReference.length).toBeGreaterThan(50);
    expect(inReference.filter((code) => !codes.has(code))).toEqual([]);
    expect(messages.length).toBeGreaterThan(300);
  });

  test('needs each of its exceptions', () => {
    for (const [pattern] of WITHOUT_ADVICE) expect(messages.some((message) => pattern.test(message))).toBe(true);
  });
});

describe('the message of an error', () => {
  test('ends with a full stop', () => {
    expect(own.filter((message) => !message.endsWith('.'))).toEqual([]);
  });

  test('says what to do', () => {
    expect(own.filter((message) => !saysWhatToDo(message))).toEqual([]);
  });

  test(`has at most ${MAX_CHARACTERS} characters`, () => {
    expect(own.filter((message) => message.length > MAX_CHARACTERS)).toEqual([]);
  });

  test('has no awkward phrase and no wrong article', () => {
    expect(messages.filter((message) => ODD.test(message))).toEqual([]);
  });
});

describe('the reason of a deployment', () => {
  test.each(reasonCodes)('%s says what is wrong and what to do', (code) => {
    const { message, action } = reasonFor(code);
    expect(message).toMatch(/\.$/);
    expect(action).toMatch(/\.$/);
    expect(saysWhatToDo(action)).toBe(true);
    expect(`${message} ${action}`).not.toMatch(ODD);
  });
});

describe('docs/errors.md', () => {
  test('lists errors that only the control plane returns under its headings', () => {
    const ofControlPlane = errors.filter(({ file }) => /^functions\/(control|single-sign-on)\//.test(file));
    const elsewhere = ofControlPlane.filter((error) => sectionOf(error) === 'Every host' && error.code !== null);
    expect(elsewhere.map(({ code, file }) => `${code}: ${file}`)).toEqual([]);
  });

  test('lists under "Every host" no error that only the reference of the control plane has', () => {
    const codesOf = (...replies: object[]): (string | null)[] =>
      replies
        .flatMap((byStatus) => Object.values(byStatus as Record<string, ErrorReply>))
        .flatMap((reply) => Object.values(reply.errors).map(({ code }) => code));
    const ofInference = codesOf(inferenceErrorReplies, onDemandErrorReplies);
    const ofControlPlane = codesOf(controlErrorReplies).filter((code) => !ofInference.includes(code));
    const onEveryHost = errors.filter((error) => sectionOf(error) === 'Every host').map(({ code }) => code);
    expect(onEveryHost.filter((code) => code !== null && ofControlPlane.includes(code))).toEqual([]);
  });

  test('says what is wrong if a message only says what is right', () => {
    const { cause, remedy } = partsOf("The header 'Idempotency-Key' must be 1 to 255 visible ASCII characters without spaces.");
    expect(cause).toBe("The header 'Idempotency-Key' has an invalid value.");
    expect(remedy).toMatch(/must be 1 to 255/);
    expect(() => partsOf('Only owls can do this.')).toThrow(/Add to CAUSES/);
  });

  test('shows no number that depends on the request, and no sum as two placeholders', () => {
    expect(readFileSync(PAGE, 'utf8')).not.toMatch(/\}\{|\{bound\}|\{remedy\}|up to 1 tokens|about 0\b|rank 1\b/);
  });

  test('has every code with its status, cause and remedy', () => {
    const page = renderPage(errors);
    if (process.env.WRITE_ERRORS) writeFileSync(PAGE, page);
    expect(readFileSync(PAGE, 'utf8')).toBe(page);
    for (const { code } of errors) if (code !== null && !code.includes('{')) expect(page).toContain(`| \`${code}\` |`);
  });
});
