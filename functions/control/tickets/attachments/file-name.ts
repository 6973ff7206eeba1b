/**
 * The types that can be attached, with the extensions of each. None of them runs when it is opened; pages that could
 * (HTML, SVG) are left out.
 */
export const EXTENSIONS = {
  'text/plain': ['txt', 'log'],
  'text/csv': ['csv'],
  'application/json': ['json', 'har'],
  'application/x-ndjson': ['jsonl', 'ndjson'],
  'application/pdf': ['pdf'],
  'image/png': ['png'],
  'image/jpeg': ['jpg', 'jpeg'],
  'application/zip': ['zip'],
  'application/gzip': ['gz', 'tgz'],
} as const satisfies Record<string, readonly string[]>;

export type FileType = keyof typeof EXTENSIONS;
export const FILE_TYPES = Object.keys(EXTENSIONS) as [FileType, ...FileType[]];

const MAX_BYTES = 200;
// Control characters, marks that reverse or hide text, unpaired surrogates, and separators of lines.
const INVISIBLE = /[\p{C}\p{Zl}\p{Zp}]/u;
// Separators of paths, and characters that file systems forbid.
const FORBIDDEN = /[\\/:*?"<>|]/;

/** Returns the fault of a file's name; undefined: it has none. Names are shown, and files are saved under them. */
export const nameFault = (name: string): string | undefined => {
  if (Buffer.byteLength(name) > MAX_BYTES) return `expected at most ${MAX_BYTES} bytes`;
  if (INVISIBLE.test(name)) return 'expected a name without control characters and invisible characters';
  if (FORBIDDEN.test(name)) return 'expected a name without a path and without any of \\ / : * ? " < > |';
  if (/^[.\s]|\s$/.test(name)) return 'expected a name that begins with neither a dot nor a space, and does not end with a space';
  return undefined;
};

export const hasExtensionOf = (name: string, type: FileType): boolean => {
  const extension = /\.([^.]+)$/.exec(name)?.[1]?.toLowerCase();
  return extension !== undefined && (EXTENSIONS[type] as readonly string[]).includes(extension);
};

const asciiOnly = (name: string): string => name.replace(/[^ -~]/gu, '_').replace(/["%]/g, '_');

// `encodeURIComponent` leaves these as they are, RFC 5987 does not.
const encoded = (name: string): string =>
  encodeURIComponent(name).replace(/['()*]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`);

/**
 * Returns the header that makes browsers save a file instead of showing it (https://www.rfc-editor.org/rfc/rfc6266).
 */
export const downloadDisposition = (name: string): string => `attachment; filename="${asciiOnly(name)}"; filename*=UTF-8''${encoded(name)}`;
