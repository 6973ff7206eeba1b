import * as z from 'zod';

/** The number of documents of a request. */
export const MAX_DOCUMENTS = 1_000;
const MAX_NAME_CHARACTERS = 256;
const MAX_USER_CHARACTERS = 512;

type Document = string | { text: string };

const NO_ARRAY = `expected an array of 1 to ${MAX_DOCUMENTS} texts`;
const EXPECTED = 'expected a non-empty string, or an object that has it as `text`';

const isText = (value: unknown): boolean => typeof value === 'string' && value !== '';
const isDocument = (value: unknown): boolean =>
  isText(value) || (typeof value === 'object' && value !== null && 'text' in value && isText(value.text));

const faultOf = (documents: unknown): { path: number[]; message: string } | undefined => {
  if (!Array.isArray(documents) || documents.length === 0) return { path: [], message: NO_ARRAY };
  if (documents.length > MAX_DOCUMENTS)
    return { path: [], message: `expected at most ${MAX_DOCUMENTS} documents, got ${documents.length}; split them into several requests` };
  const index = documents.findIndex((document) => !isDocument(document));
  return index < 0 ? undefined : { path: [index], message: EXPECTED };
};

const textSchema = { type: 'string', minLength: 1 } as const;
const documentSchema = { type: 'object', properties: { text: textSchema }, required: ['text'] } as const;

// One check instead of a union for each document: the issues of a million invalid ones would not fit into memory.
const Documents = z
  .custom<Document[]>((value) => value !== undefined, { error: NO_ARRAY })
  .superRefine((documents, context) => {
    const fault = faultOf(documents);
    if (fault) context.addIssue({ code: 'custom', ...fault });
  })
  .meta({ type: 'array', minItems: 1, maxItems: MAX_DOCUMENTS, items: { anyOf: [textSchema, documentSchema] } });

const documented = {
  model: z.string().min(1).max(MAX_NAME_CHARACTERS),
  query: z.string().min(1),
  documents: Documents,
  top_n: z.int().min(1).nullish(),
  return_documents: z.boolean().nullish(),
  user: z.string().max(MAX_USER_CHARACTERS).nullish(),
};

/** A request to rank documents, as Cohere's and Jina's APIs define it. Unknown fields are accepted and dropped. */
export const RerankRequest = z.looseObject(documented);
export type RerankRequest = z.output<typeof RerankRequest>;

/** True if a name is one of the fields of a request to rank documents. */
export const isRerankField = (name: string): boolean => Object.hasOwn(documented, name);

/** The fields of a request that were accepted but have no effect. */
export const ignoredRerankFields = (request: RerankRequest): string[] =>
  Object.keys(request).filter((name) => request[name] != null && !isRerankField(name));

/** The texts of the documents of a request. */
export const documentTexts = ({ documents }: Pick<RerankRequest, 'documents'>): string[] =>
  documents.map((document) => (typeof document === 'string' ? document : document.text));
