const MAX_CHARACTERS = 2_000;
const MAX_NAME_CHARACTERS = 64;

/** Lists the fields that were accepted but have no effect. Names are percent-encoded; names that don't fit are counted. */
export const ignoredHeader = (names: readonly string[]): Record<string, string> => {
  if (names.length === 0) return {};
  const listed: string[] = [];
  let characters = 0;
  for (const name of names) {
    const encoded = encodeURIComponent(name.toWellFormed()).slice(0, MAX_NAME_CHARACTERS);
    characters += encoded.length + 2;
    if (characters > MAX_CHARACTERS) break;
    listed.push(encoded);
  }
  const more = names.length - listed.length;
  return { 'x-sluice-ignored': [...listed, ...(more > 0 ? [`${more} more`] : [])].join(', ') };
};
