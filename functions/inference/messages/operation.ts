import * as z from 'zod';
import type { OperationsById } from '../../../shared/hosts/inference-routes.ts';
import { messagesRequest } from './request.ts';

const TokenCount = z.object({ input_tokens: z.int() });

export const messagesOperations = {
  createMessage: {
    access: 'api_key',
    tag: 'Messages',
    summary: 'Create a message',
    body: { name: 'MessagesRequest', schema: messagesRequest },
    reply: { status: 200, description: 'The answer.' },
    isIdempotent: true,
    waitsForCapacity: true,
    takesContent: true,
    errorShape: 'messages',
    errors: [400, 402, 403, 404, 409, 413, 429, 503],
  },
  countMessageTokens: {
    access: 'api_key',
    tag: 'Messages',
    summary: 'Count the input tokens of a message',
    body: { name: 'CountTokensRequest', schema: messagesRequest },
    reply: { status: 200, description: 'The number of tokens.', json: { name: 'TokenCount', schema: TokenCount } },
    takesContent: true,
    errorShape: 'messages',
    errors: [400, 403, 404, 413, 429, 503],
  },
} as const satisfies OperationsById;
