const INTERNAL =
  /\barn:aws[\w-]*:\S+|\bhttps?:\/\/\S+|\b[\w.-]+\.(?:internal|local|amazonaws\.com)\b(?::\d+)?|\b\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?|\b\d{12}\b|(?:\/[\w.@-]+){2,}/g;

/**
 * A text of AWS or of a container without account ids, ARNs, URLs, addresses and file paths. The search can be
 * quadratic, so the text must be bounded.
 */
export const redact = (text: string): string => text.replace(INTERNAL, '[…]');
