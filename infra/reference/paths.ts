import type { Scope } from '../../shared/admission/secret.ts';
import { catalogOperations } from './catalog-operations.ts';
import { chatOperations } from './chat-operations.ts';
import { completionOperations } from './completion-operations.ts';
import { onDemandOperations } from './on-demand-operations.ts';
import type { Operation } from './operation.ts';
import { responseOperations } from './response-operations.ts';
import { tokenizeOperations } from './tokenize-operations.ts';

/** What a deployment decides about the document. */
export interface DocumentOptions {
  /** Whether `response_format` may be a `json_schema`. */
  structuredOutputs: boolean;
  /** The host that it is of; `serverless` where it is not said. */
  host?: Scope;
}

const serverlessOperations = (options: DocumentOptions): Operation[] => [
  ...chatOperations(options),
  ...completionOperations,
  ...responseOperations(options),
  ...tokenizeOperations,
  ...catalogOperations,
];

/** Every operation of a host, in the order of the API reference. A route adds its own here, or to those of the on-demand host. */
export const operations = (options: DocumentOptions): Operation[] =>
  options.host === 'on_demand' ? onDemandOperations(options) : serverlessOperations(options);
