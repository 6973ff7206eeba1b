// As a page shows it: blanks around it are dropped, and several in a row are one.
const shown = (text: string): string => text.trim().replace(/\s+/g, ' ');

/** True if a text is the name of a thing, as far as a reader of the page can know it. */
export const isTypedName = (text: string, name: string): boolean => shown(text) === shown(name);
