import { createHash } from 'node:crypto';
import { headersWithoutCors } from '../../shared/http/browser-path.ts';
import { commonHeaders, type Reply } from '../../shared/http/reply.ts';

const STYLE =
  'body{font:1rem/1.5 system-ui,sans-serif;max-width:34rem;margin:15vh auto;padding:0 1rem;color:#1a1a1a;background:#fff}code{font-size:1.1rem;overflow-wrap:anywhere}small{color:#555}';

// No script, and nothing from elsewhere. The only style is the one above.
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'`,
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

const escapeHtml = (text: string): string => text.replaceAll(/[&<>"']/g, (character) => ENTITIES[character] ?? '');

// The address of the page has a code or a state, which no other page may learn.
const pageHeaders = (requestId: string): Record<string, string> => ({
  ...headersWithoutCors(commonHeaders(requestId, 'text/html; charset=utf-8')),
  'content-security-policy': CONTENT_SECURITY_POLICY,
  'referrer-policy': 'no-referrer',
});

interface Page {
  status: number;
  title: string;
  /** Paragraphs of plain text. */
  texts: readonly string[];
  /** A text to be copied. */
  code?: string;
}

/** A page without a script, with the request's id. */
export const pageReply = (requestId: string, { status, title, texts, code }: Page, headers: Record<string, string> = {}): Reply => ({
  statusCode: status,
  headers: { ...pageHeaders(requestId), ...headers },
  body: [
    `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${escapeHtml(title)} – Sluice</title><style>${STYLE}</style></head>`,
    `<body><main><h1>${escapeHtml(title)}</h1>`,
    ...texts.map((text) => `<p>${escapeHtml(text)}</p>`),
    ...(code === undefined ? [] : [`<p><code>${escapeHtml(code)}</code></p>`]),
    `<p><small>Request id: ${escapeHtml(requestId)}</small></p></main></body></html>`,
  ].join(''),
});

/** Sends a browser to another address. */
export const redirectReply = (requestId: string, location: string, headers: Record<string, string> = {}): Reply => ({
  statusCode: 303,
  headers: { ...pageHeaders(requestId), location, ...headers },
  body: '',
});
