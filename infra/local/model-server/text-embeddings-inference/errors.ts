type ErrorKind = 'Validation' | 'Tokenizer' | 'Empty';

const STATUSES: Readonly<Record<ErrorKind, number>> = { Validation: 413, Tokenizer: 422, Empty: 400 };

/** An error with the status and body of Text Embeddings Inference. */
export class TextEmbeddingsError extends Error {
  readonly status: number;
  readonly body: { error: string; error_type: ErrorKind };

  constructor(kind: ErrorKind, message: string) {
    super(message);
    this.status = STATUSES[kind];
    this.body = { error: message, error_type: kind };
  }
}
