import { formatCount } from '../../design/format/amounts.ts';

const MAX_BYTES = 16_000;
// biome-ignore lint/suspicious/noControlCharactersInRegex: the API refuses them
const CONTROL = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]/;

/** Why the API wouldn't take the text of a message; undefined: it would, or the field is empty. */
export const faultOfText = (text: string): string | undefined => {
  if (new TextEncoder().encode(text).length > MAX_BYTES) return `Enter at most ${formatCount(MAX_BYTES)} bytes. Attach a file for more.`;
  return CONTROL.test(text) ? 'Remove the control characters, such as the color codes of a terminal.' : undefined;
};

/** True for a text that can be sent. */
export const isText = (text: string): boolean => text.trim() !== '' && faultOfText(text) === undefined;
