import { catalogOperations } from './catalog-operations.ts';
import { chatOperations } from './chat-operations.ts';
import { completionOperations } from './completion-operations.ts';
import type { Operation } from './operation.ts';
import { responseOperations } from './response-operations.ts';
import { tokenizeOperations } from './tokenize-operations.ts';

/** What a deployment decides about the document. */
export interface DocumentOptions {
  /** Whether `response_format` may be a `json_schema`. */
  structuredOutputs: boolean;
}

/** Every operation of the serverless host, in the order of the API reference. A route adds its own here. */
export const operations = (options: DocumentOptions): Operation[] => [
  ...chatOperations(options),
  ...completionOperations,
  ...responseOperations(options),
  ...tokenizeOperations,
  ...catalogOperations,
];
