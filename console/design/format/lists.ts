const partsOf = (text: string, separator: string): string[] =>
  text
    .split(separator)
    .map((part) => part.trim())
    .filter(Boolean);

/** The lines of a field, without empty ones. */
export const linesIn = (text: string): string[] => partsOf(text, '\n');

/** The names in a field with commas between them. */
export const namesIn = (text: string): string[] => partsOf(text, ',');

/** The same, or null if there are none: what the API takes for no restriction. */
export const namesOrNull = (text: string): string[] | null => {
  const names = namesIn(text);
  return names.length === 0 ? null : names;
};
