/** The reasons for which an adapter's files can't be used: docs/reasons.md has an entry for each. */
export type RefusalCode = 'adapter_files_missing' | 'adapter_too_large' | 'adapter_invalid' | 'adapter_rank_too_high';

/** An adapter's files can't be used. The message is a sentence for its owner. */
export class AdapterRefused extends Error {
  override name = 'AdapterRefused';
  readonly code: RefusalCode;

  constructor(code: RefusalCode, message: string) {
    super(message);
    this.code = code;
  }
}
