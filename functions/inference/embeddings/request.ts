import * as z from 'zod';
import { isTokenId } from '../../../shared/tokens/token-ids.ts';

/** The number of inputs of a request. */
export const MAX_INPUTS = 2_048;
const MAX_TEXT_CHARACTERS = 256;

type Input = string | string[] | number[] | number[][];

const isText = (value: unknown): boolean => typeof value === 'string' && value !== '';
const isTokens = (value: unknown): boolean => Array.isArray(value) && value.length > 0 && value.every(isTokenId);

const NO_ARRAY = `expected a non-empty string, a non-empty array of token ids, or an array of up to ${MAX_INPUTS} of either`;
const EMPTY = 'expected a non-empty string';
const NOT_A_TEXT = 'expected a non-empty string, as the inputs before it';
const NOT_TOKENS = 'expected a non-empty array of token ids (non-negative integers)';

interface Fault {
  path: number[];
  message: string;
}

const firstInvalid = (values: readonly unknown[], isValid: (value: unknown) => boolean, message: string): Fault | undefined => {
  const index = values.findIndex((value) => !isValid(value));
  return index < 0 ? undefined : { path: [index], message };
};

const listFault = (list: readonly unknown[]): Fault | undefined => {
  const [first] = list;
  if (typeof first === 'number') return firstInvalid(list, isTokenId, 'expected a token id (a non-negative integer)');
  if (list.length > MAX_INPUTS)
    return { path: [], message: `expected at most ${MAX_INPUTS} inputs, got ${list.length}; split them into several requests` };
  if (first === '') return { path: [0], message: EMPTY };
  if (isText(first)) return firstInvalid(list, isText, NOT_A_TEXT);
  return Array.isArray(first) ? firstInvalid(list, isTokens, NOT_TOKENS) : { path: [], message: NO_ARRAY };
};

const inputFault = (input: unknown): Fault | undefined => {
  if (typeof input === 'string') return input === '' ? { path: [], message: EMPTY } : undefined;
  return Array.isArray(input) && input.length > 0 ? listFault(input) : { path: [], message: NO_ARRAY };
};

const tokensSchema = { type: 'array', minItems: 1, items: { type: 'integer', minimum: 0 } } as const;
const textSchema = { type: 'string', minLength: 1 } as const;
const listOf = (items: object) => ({ type: 'array', minItems: 1, maxItems: MAX_INPUTS, items });

// One check instead of a union of arrays: a zod issue for each of several hundred thousand invalid ids would not fit
// into memory.
const InputField = z
  .custom<Input>((value) => value !== undefined, { error: NO_ARRAY })
  .superRefine((input, context) => {
    const fault = inputFault(input);
    if (fault) context.addIssue({ code: 'custom', ...fault });
  })
  .meta({ anyOf: [textSchema, listOf(textSchema), tokensSchema, listOf(tokensSchema)] });

const documented = {
  model: z.string().min(1).max(MAX_TEXT_CHARACTERS),
  input: InputField,
  encoding_format: z.enum(['float', 'base64']).nullish(),
  dimensions: z.int().min(1).nullish(),
  user: z.string().max(512).nullish(),
};

/** A request for embeddings, as OpenAI defines it. Unknown fields are accepted and dropped. */
export const EmbeddingsRequest = z.looseObject(documented);
export type EmbeddingsRequest = z.output<typeof EmbeddingsRequest>;

/** True if a name is one of the fields of a request for embeddings. */
export const isEmbeddingsField = (name: string): boolean => Object.hasOwn(documented, name);

/** The fields of a request that were accepted but have no effect. */
export const ignoredEmbeddingsFields = (request: EmbeddingsRequest): string[] =>
  Object.keys(request).filter((name) => request[name] != null && !isEmbeddingsField(name));

/** The inputs of a request as a list. */
export const inputsOf = ({ input }: Pick<EmbeddingsRequest, 'input'>): (string | number[])[] => {
  if (typeof input === 'string') return [input];
  return typeof input[0] === 'number' ? [input as number[]] : (input as (string | number[])[]);
};

/** The name of an input: `input`, or `input[3]` in a list of several. */
export const inputName = ({ input }: Pick<EmbeddingsRequest, 'input'>, index: number): string =>
  typeof input === 'string' || typeof input[0] === 'number' ? 'input' : `input[${index}]`;
