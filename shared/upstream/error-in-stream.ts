/**
 * An error that a runtime sends in place of an answer, in a reply whose status is 200: vLLM validates some fields
 * only when it begins the stream. It has the fields of SageMaker's `ModelError`, because it is the same rejection as
 * a reply with that status.
 */
export class ErrorInStream extends Error {
  override readonly name = 'ModelError';
  readonly facts: { OriginalStatusCode: number | undefined; OriginalMessage: string };

  /** @param body the JSON of the event, or the text of an error event or field */
  constructor(body: string) {
    super(`The stream contains an error: ${body}`);
    this.facts = { OriginalStatusCode: statusOf(body), OriginalMessage: body };
  }
}

// vLLM, SGLang and llama.cpp send the HTTP status in an error's `code`.
const statusOf = (body: string): number | undefined => {
  try {
    const parsed = JSON.parse(body) as { error?: { code?: unknown } | null; code?: unknown } | null;
    const code = parsed?.error?.code ?? parsed?.code;
    return typeof code === 'number' ? code : undefined;
  } catch {
    return undefined;
  }
};
