/** A token that stands for itself wherever it is written, such as `<|im_end|>`. */
export interface AddedToken {
  content: string;
  /** Whether it takes the white space before it, or after it, along. */
  lstrip: boolean;
  rstrip: boolean;
}

const escapeForPattern = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');

/**
 * A function that cuts a text at added tokens, at the longest where several begin. Plain text and tokens take turns: at even places
 * is plain text, also empty, at odd ones a token. What is between two tokens is encoded without a look at what is around it.
 */
export const createSplitAt = (tokens: readonly AddedToken[]): ((text: string) => string[]) => {
  const byContent = new Map(tokens.map((token) => [token.content, token]));
  const longestFirst = [...byContent.keys()].filter((content) => content !== '').sort((a, b) => b.length - a.length);
  if (longestFirst.length === 0) return (text) => [text];
  const pattern = new RegExp(`(${longestFirst.map(escapeForPattern).join('|')})`);
  const strips = tokens.some(({ lstrip, rstrip }) => lstrip || rstrip);
  return (text) => {
    const sections = text.split(pattern);
    for (let i = 1; strips && i < sections.length; i += 2) {
      const token = byContent.get(sections[i] ?? '');
      if (token?.lstrip) sections[i - 1] = (sections[i - 1] ?? '').trimEnd();
      if (token?.rstrip) sections[i + 1] = (sections[i + 1] ?? '').trimStart();
    }
    return sections;
  };
};
