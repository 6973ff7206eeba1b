// A token that is matched literally wherever it occurs in a text, such as `<|im_end|>`.
interface AddedToken {
  content: string;
  /** It includes the white space before it, or after it. */
  lstrip: boolean;
  rstrip: boolean;
}

const escapeForPattern = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');

/**
 * Creates a function that splits a text at added tokens, at the longest one if several match. Parts with an even
 * index are plain text, possibly empty; parts with an odd index are tokens. Each plain text can be encoded
 * independently of its surroundings.
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
