import { describe, expect, test } from '@jest/globals';
import * as z from 'zod';
import { wrongKey } from '../../../shared/admission/item/key-errors.ts';
import { InternalError, InvalidRequest, ServiceUnavailable, toApiError, toWire } from '../../../shared/http/errors.ts';
import { validate } from '../../../shared/http/validate.ts';
import { UpstreamFailed } from '../../../shared/upstream/errors.ts';

describe('an error on the wire', () => {
  test('is an object with message, type, param and code, and the request id', () => {
    expect(toWire(new InvalidRequest({ message: 'No.', param: 'n' }), 'req_1')).toEqual({
      error: { message: 'No.', type: 'invalid_request_error', param: 'n', code: null },
      request_id: 'req_1',
    });
  });

  test('is a string for a 401', () => {
    expect(toWire(wrongKey(), 'req_1')).toEqual({
      error: expect.stringContaining('not valid'),
      code: 'invalid_api_key',
      request_id: 'req_1',
    });
  });

  test('reveals nothing about unexpected errors', () => {
    const apiError = toApiError(new Error('password is hunter2'));
    expect(apiError.status).toBe(500);
    expect(JSON.stringify(toWire(apiError, 'req_1'))).not.toContain('hunter2');
  });
});

describe('validation', () => {
  const schema = z.looseObject({ model: z.string(), messages: z.array(z.looseObject({ role: z.enum(['user']) })) });
  const refused = (value: unknown): InvalidRequest => {
    try {
      validate(schema, value);
    } catch (error) {
      return error as InvalidRequest;
    }
    throw new Error('was accepted');
  };

  test('names the field and says what was expected', () => {
    expect(refused({ messages: [] })).toMatchObject({
      status: 400,
      param: 'model',
      message: "Invalid value for 'model': it is required; expected a string.",
    });
    expect(refused({ model: 'm', messages: [{ role: 'user' }, { role: 'robot' }] })).toMatchObject({ param: 'messages[1].role' });
    expect(refused([])).toMatchObject({ param: null, message: expect.stringContaining('expected an object') });
  });

  test('names the bound of the field for a whole number of any size', () => {
    const limit = z.object({ limit: z.int().min(1).max(100), depth: z.int() });
    expect(() => validate(limit, { limit: 1e20, depth: 1 })).toThrow("Invalid value for 'limit': expected at most 100.");
    expect(() => validate(limit, { limit: -1e20, depth: 1 })).toThrow("Invalid value for 'limit': expected at least 1.");
    expect(() => validate(limit, { limit: 1, depth: 1e20 })).toThrow("Invalid value for 'depth': expected at most 9007199254740991.");
    expect(() => validate(limit, { limit: 1e20, depth: 1e20 })).toThrow("Invalid value for 'limit': expected at most 100.");
  });

  test('says what is expected of a key', () => {
    const metadata = z.record(z.string().max(4), z.string());
    expect(() => validate(z.object({ metadata }), { metadata: { longer: 'x' } })).toThrow(
      "Invalid value for 'metadata.longer': expected at most 4 characters.",
    );
  });

  test('says so if a field is missing within what another schema reads', () => {
    const tools = z.array(z.unknown()).superRefine((items, context) => {
      const [issue] = z.array(z.object({ name: z.string() })).safeParse(items).error?.issues ?? [];
      if (issue) context.issues.push({ code: 'custom', path: issue.path, message: issue.message, input: items });
    });
    expect(() => validate(z.object({ tools }), { tools: [{}] })).toThrow(
      "Invalid value for 'tools[0].name': it is required; expected a string.",
    );
  });

  test('lists the keys that an object can have', () => {
    const limits = z.strictObject({ day: z.int().optional(), month: z.int().optional() }).nullish();
    const settings = z.strictObject({ name: z.string(), limits: z.array(limits) });
    const messageOf = (value: unknown): string => {
      try {
        validate(settings, value);
        return 'accepted';
      } catch (error) {
        return (error as InvalidRequest).message;
      }
    };
    expect(messageOf({ name: 'x', limits: [], nme: 'y', day: 1 })).toBe(
      'Invalid request body: these keys are not allowed: nme, day. Allowed: name, limits.',
    );
    expect(messageOf({ name: 'x', limits: [{ year: 1 }] })).toBe(
      "Invalid value for 'limits[0]': these keys are not allowed: year. Allowed: day, month.",
    );
  });
});

test.each([new InternalError(), new ServiceUnavailable(), new UpstreamFailed('upstream_error', 'detail')])(
  'asks to quote the request id in an error that is not the caller’s fault: $code',
  (error) => {
    expect(error.message).toContain('quote the request id in a support ticket');
    expect(toWire(error, 'req_1')).toMatchObject({ error: { message: error.message }, request_id: 'req_1' });
  },
);
