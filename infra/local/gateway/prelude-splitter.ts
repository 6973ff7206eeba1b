const DELIMITER = Buffer.alloc(8);
const MAX_PRELUDE_BYTES = 16_384;

type PreludeSplit = { readonly prelude: string; readonly rest: Buffer } | 'incomplete' | 'too_long';

/**
 * Collects a streamed response until its metadata prelude is complete: JSON, then eight NUL bytes, in the first 16 kB.
 * @returns a function that takes the next chunk and returns the split response once the prelude is complete
 */
export const createPreludeSplitter = (): ((chunk: Buffer) => PreludeSplit) => {
  let collected: Buffer = Buffer.alloc(0);
  return (chunk) => {
    collected = collected.length === 0 ? chunk : Buffer.concat([collected, chunk]);
    const end = collected.indexOf(DELIMITER);
    if (end > MAX_PRELUDE_BYTES || (end < 0 && collected.length > MAX_PRELUDE_BYTES + DELIMITER.length)) return 'too_long';
    if (end < 0) return 'incomplete';
    return { prelude: collected.toString('utf8', 0, end), rest: collected.subarray(end + DELIMITER.length) };
  };
};
