import { describe, expect, test } from '@jest/globals';
import type { ApiEvent } from '../../../shared/http/api-event.ts';
import { withoutCors } from '../../../shared/http/browser-path.ts';
import {
  CrossSiteRequest,
  endedCookie,
  presentedSession,
  requireSameOrigin,
  sessionCookie,
} from '../../../shared/identity/browser-session.ts';

const eventWith = (headers: Record<string, string>): ApiEvent => ({ headers, requestContext: { stage: 'live' } }) as unknown as ApiEvent;
const FROM_PAGE = {
  Host: 'control.example.com',
  'Content-Type': 'application/json',
  'X-Sluice-Console': '1',
  'Sec-Fetch-Site': 'same-origin',
};
const session = { sessionId: 'ses_0q8Xc2VwQy41mTzNbR', refreshToken: 'eyJjdHki.AbC-_123.x' };

describe('requireSameOrigin', () => {
  const { 'Sec-Fetch-Site': _, ...withoutSite } = FROM_PAGE;

  test.each<[string, Record<string, string>]>([
    ['a page of the host', FROM_PAGE],
    ['an older browser, by its origin', { ...withoutSite, Origin: 'https://control.example.com' }],
    ['a page of a local run', { ...withoutSite, Host: '127.0.0.1:4002', Origin: 'http://127.0.0.1:4002' }],
    ['JSON with a character set', { ...FROM_PAGE, 'Content-Type': 'application/json; charset=utf-8' }],
  ])('accepts %s', (_title, headers) => {
    expect(() => requireSameOrigin(eventWith(headers))).not.toThrow();
  });

  test.each<[string, Record<string, string>]>([
    ['a page of another site', { ...FROM_PAGE, 'Sec-Fetch-Site': 'cross-site' }],
    ['a page of a neighbouring host', { ...FROM_PAGE, 'Sec-Fetch-Site': 'same-site' }],
    ['an address that somebody typed', { ...FROM_PAGE, 'Sec-Fetch-Site': 'none' }],
    ['another origin that claims nothing else', { ...withoutSite, Origin: 'https://evil.example.com' }],
    ['another port of the host', { ...withoutSite, Host: '127.0.0.1:4002', Origin: 'http://127.0.0.1:5002' }],
    ['the origin of a sandbox', { ...withoutSite, Origin: 'null' }],
    ['a request without an origin', withoutSite],
    ['a form', { ...FROM_PAGE, 'Content-Type': 'text/plain' }],
    ['a body of no type', { ...FROM_PAGE, 'Content-Type': '' }],
    ['a type that only begins like JSON', { ...FROM_PAGE, 'Content-Type': 'application/jsonx' }],
    ['a request without the header', { ...FROM_PAGE, 'X-Sluice-Console': '' }],
  ])('rejects %s', (_title, headers) => {
    expect(() => requireSameOrigin(eventWith(headers))).toThrow(CrossSiteRequest);
  });
});

describe('the cookie', () => {
  const event = eventWith({ Host: 'control.example.com' });

  test('is for this host alone, out of reach of scripts and other sites', () => {
    expect(sessionCookie(event, session)).toBe(
      `__Host-sluice-live=${session.sessionId}.${session.refreshToken}; Path=/; Secure; HttpOnly; SameSite=Strict`,
    );
    expect(sessionCookie(event, session, 60)).toMatch(/; SameSite=Strict; Max-Age=60$/);
    expect(endedCookie(event)).toBe('__Host-sluice-live=; Path=/; Secure; HttpOnly; SameSite=Strict; Max-Age=0');
  });

  test('differs between local runs, whose hosts differ only in their ports', () => {
    expect(sessionCookie(eventWith({ Host: '127.0.0.1:4002' }), session)).toMatch(/^__Host-sluice-4002=/);
  });

  test('is found among others', () => {
    const [cookie = ''] = sessionCookie(event, session).split(';');
    const read = (text: string) => presentedSession(eventWith({ Host: 'control.example.com', Cookie: text }));
    expect(read(`a=b; ${cookie}; c=d`)).toEqual(session);
    for (const text of ['', 'a=b', `x${cookie}`, '__Host-sluice-live=', '__Host-sluice-live=ses_short.token', '__Host-sluice-live=junk'])
      expect(read(text)).toBeUndefined();
  });

  test.each(['', 'a;b', 'a b', 'x'.repeat(4_096)])('is not made of a token that does not fit: %.10s', (refreshToken) => {
    expect(() => sessionCookie(event, { ...session, refreshToken })).toThrow('does not fit');
  });
});

describe('withoutCors', () => {
  test('leaves every other header', () => {
    const headers = { 'content-type': 'application/json', 'access-control-allow-origin': '*', 'access-control-expose-headers': 'x' };
    expect(withoutCors({ statusCode: 200, headers, body: '' }).headers).toEqual({ 'content-type': 'application/json' });
  });
});
