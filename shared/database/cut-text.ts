/**
 * Returns the beginning of a text. Half of a character, which the database does not store, becomes U+FFFD.
 * @param characters as JavaScript counts them: some characters count twice
 */
export const cutText = (text: string, characters: number): string => text.slice(0, characters).toWellFormed();
