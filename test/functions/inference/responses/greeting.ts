import { chunkOf, ended } from '../../../support/clients/responses-replies.ts';

/** The chunks of a reply of two deltas: `Hello`, a line break and a quotation mark. */
export const text = [chunkOf({ role: 'assistant', content: '' }), chunkOf({ content: 'Hel' }), chunkOf({ content: 'lo\n"' }), ended()];

/** A text part of a message, without log probabilities. */
export const part = (content: string) => ({ type: 'output_text', text: content, annotations: [], logprobs: [] });

/** The id of an output item of the response, such as `msg_…_0`. */
export const id = (prefix: string, index: number) => `${prefix}_0123456789abcdefgh_${index}`;
