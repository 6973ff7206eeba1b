import * as z from 'zod';
import { firstFault } from '../http/first-fault.ts';

/** The most parts of one content. */
export const MAX_PARTS = 4_096;

const TextPart = z.looseObject({ type: z.enum(['input_text', 'output_text', 'text']), text: z.string() });
// Clients replay a refusal of the model in this form.
const RefusalPart = z.looseObject({ type: z.literal('refusal'), refusal: z.string() });

/** The text of a message, or of the result of a call. */
export const Content = z.union([z.string(), firstFault(z.array(z.union([TextPart, RefusalPart])).max(MAX_PARTS))], {
  error: 'expected a string or an array of text parts ({ "type": "input_text", "text": … }); images, audio and files are not supported',
});
export type Content = z.output<typeof Content>;
