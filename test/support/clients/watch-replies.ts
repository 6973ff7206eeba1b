import { type ReplyFault, readDocument, type SeenReply } from './document-faults.ts';

/**
 * Watches every reply that any client fetches from these hosts from now on. `faults` returns where replies differ
 * from the OpenAPI document of their host. Replies that the caller aborted are skipped, and so is the document
 * itself, which has its own tests.
 */
export const watchReplies = (...baseUrls: readonly string[]) => {
  const plain = globalThis.fetch;
  const seen: (SeenReply & { baseUrl: string })[] = [];
  globalThis.fetch = async (input, init) => {
    const response = await plain(input, init);
    const { origin, pathname } = new URL(response.url || String(input instanceof Request ? input.url : input));
    const baseUrl = baseUrls.find((url) => `${origin}${pathname}`.startsWith(`${url}/`));
    const path = `${origin}${pathname}`.slice(baseUrl?.length);
    if (baseUrl !== undefined && path !== '/openapi.json') {
      const [type = ''] = (response.headers.get('content-type') ?? '').split(';');
      const method = (init?.method ?? (input instanceof Request ? input.method : 'GET')).toLowerCase();
      const text = response
        .clone()
        .text()
        .catch(() => undefined);
      seen.push({ baseUrl, method, path, status: response.status, type, text });
    }
    return response;
  };

  const faultsOfHost = async (baseUrl: string): Promise<ReplyFault[]> => {
    // A test may have stopped the host.
    const served = await plain(`${baseUrl}/openapi.json`).catch(() => undefined);
    if (!served) return [];
    const { faults } = await readDocument(served);
    const found = seen.filter((reply) => reply.baseUrl === baseUrl).map(faults);
    return (await Promise.all(found)).flat();
  };

  const faults = async (): Promise<ReplyFault[]> => {
    globalThis.fetch = plain;
    return (await Promise.all(baseUrls.map(faultsOfHost))).flat();
  };
  return { faults };
};
