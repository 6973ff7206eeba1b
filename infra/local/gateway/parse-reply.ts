import * as z from 'zod';
import type { ReplyHead } from './reply-headers.ts';

const HeaderValue = z.union([z.string(), z.number(), z.boolean()]);

const headShape = {
  statusCode: z.coerce.number().int().min(100).max(999),
  headers: z.record(z.string(), HeaderValue).nullish(),
  multiValueHeaders: z.record(z.string(), z.array(HeaderValue)).nullish(),
};

const Prelude = z.object({ ...headShape, cookies: z.array(z.string()).nullish() });
const ProxyResult = z.object({ ...headShape, body: z.string().nullish(), isBase64Encoded: z.boolean().nullish() });

interface BufferedReply extends ReplyHead {
  body: string;
  isBase64Encoded: boolean;
}

/** Parses the metadata prelude of a streamed response; undefined if it is malformed. */
export const parsePrelude = (text: string): ReplyHead | undefined => {
  const parsed = Prelude.safeParse(parseJson(text));
  return parsed.success ? toHead(parsed.data, parsed.data.cookies ?? []) : undefined;
};

/** Parses the result of a buffered Lambda proxy integration; undefined if it is malformed. */
export const parseProxyResult = (text: string): BufferedReply | undefined => {
  const parsed = ProxyResult.safeParse(parseJson(text));
  if (!parsed.success) return undefined;
  return { ...toHead(parsed.data, []), body: parsed.data.body ?? '', isBase64Encoded: parsed.data.isBase64Encoded ?? false };
};

const toHead = (
  { statusCode, headers, multiValueHeaders }: Pick<z.infer<typeof ProxyResult>, keyof typeof headShape>,
  cookies: string[],
): ReplyHead => ({
  statusCode,
  headers: headers ?? {},
  multiValueHeaders: multiValueHeaders ?? {},
  cookies,
});

const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};
