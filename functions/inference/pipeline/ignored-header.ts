const MAX_CHARACTERS = 2_000;
const MAX_NAME_CHARACTERS = 64;

/** Lists the fields that were accepted but have no effect. Names are percent-encoded; names that don't fit are counted. */
export const ignoredHeader = (names: readonly string[]): Record<string, string> => {
  if (names.length === 0) return {};
  const told: string[] = [];
  let characters = 0;
  for (const name of names) {
    const encoded = encodeURIComponent(name.toWellFormed()).slice(0, MAX_NAME_CHARACTERS);
    characters += encoded.length + 2;
    if (characters > MAX_CHARACTERS) break;
    told.push(encoded);
  }
  const more = names.length - told.length;
  return { 'x-sluice-ignored': [...told, ...(more > 0 ? [`${more} more`] : [])].join(', ') };
};
