import type { IncomingMessage } from 'node:http';
import { installAwsLambda, isStreaming } from './awslambda.ts';
import { invocationContext } from './invocation-context.ts';
import { loadHandler } from './load-handler.ts';
import { ResponseStream } from './response-stream.ts';
import { CLOCK_OFFSET_HEADER, REMAINING_HEADER, REQUEST_ID_HEADER, type RuntimeMessage, type RuntimeOptions } from './runtime-options.ts';
import { installClock } from './shift-clock.ts';

// A function process loads the bundle, then serves invocations on a socket: the request body is the event, the response
// the handler's result (JSON) or stream. A failure before the first byte is a 500 with Lambda's error object; a later
// one destroys the connection.
const { createServer } = process.getBuiltinModule('http');
const { flushCompileCache } = process.getBuiltinModule('module');

// Lambda's limit on the JSON result of a handler.
const MAX_RESULT_BYTES = 6_291_556;

// After the first invocations, which load what the others use.
const MAX_FLUSHES = 20;
const FLUSH_DELAY_MS = 200;

const options: RuntimeOptions = JSON.parse(process.argv[2] ?? '');

const notify = (message: RuntimeMessage): void => {
  process.send?.(message);
};

const fail = (response: ResponseStream, error: unknown): void => {
  const { name, message, stack } = error instanceof Error ? error : new Error(String(error));
  console.error('Invoke Error', stack ?? message);
  if (response.headersSent) {
    response.destroy();
    return;
  }
  response.statusCode = 500;
  response.end(JSON.stringify({ errorType: name, errorMessage: message, trace: stack?.split('\n') ?? [] }));
};

// An entry of the compile cache is written once, so it is written only when requests have compiled what they need.
let flushes = 0;
const flushSoon = (): void => {
  if (flushes === MAX_FLUSHES) return;
  flushes += 1;
  setTimeout(flushCompileCache, FLUSH_DELAY_MS).unref();
};

const closed = (response: ResponseStream): Promise<void> =>
  new Promise((resolve) => {
    if (response.writableFinished || response.destroyed) resolve();
    else response.once('close', resolve);
  });

const serve = async (): Promise<void> => {
  const setClock = installClock();
  installAwsLambda();
  const handler = await loadHandler(options.folder, options.handler);
  const streaming = isStreaming(handler);
  // Lambda's runtime keeps the text of an event until its invocation has ended.
  const events = new Map<IncomingMessage, string>();

  const run = async (request: IncomingMessage, body: Buffer[], response: ResponseStream): Promise<void> => {
    setClock(Number(request.headers[CLOCK_OFFSET_HEADER]));
    const context = invocationContext(options, String(request.headers[REQUEST_ID_HEADER]), Number(request.headers[REMAINING_HEADER]));
    try {
      const text = Buffer.concat(body.splice(0)).toString();
      events.set(request, text);
      const event: unknown = JSON.parse(text);
      if (streaming) {
        await handler(event, response, context);
      } else {
        const result = JSON.stringify(await handler(event, context)) ?? 'null';
        const length = Buffer.byteLength(result);
        if (length > MAX_RESULT_BYTES)
          throw new Error(`Response payload size (${length} bytes) exceeded maximum allowed payload size (${MAX_RESULT_BYTES} bytes).`);
        response.end(result);
      }
    } catch (error) {
      fail(response, error);
    }
    events.delete(request);
    if (!options.reportsSettled) {
      flushSoon();
      return;
    }
    await closed(response);
    notify({ type: 'settled' });
  };

  const server = createServer({ ServerResponse: ResponseStream }, (request, response) => {
    const body: Buffer[] = [];
    response.sendDate = false;
    // A write after the caller has disconnected must fail in the function, not crash the process.
    response.on('error', () => undefined);
    request.on('data', (chunk: Buffer) => body.push(chunk));
    request.once('end', () => void run(request, body, response));
  });
  // No timeouts: they would all be overdue when a frozen process resumes.
  server.keepAliveTimeout = 0;
  server.requestTimeout = 0;
  server.headersTimeout = 0;
  server.listen(options.socketPath, () => {
    notify({ type: 'ready' });
    // A process that is frozen between invocations runs no timers.
    if (options.reportsSettled) flushCompileCache();
  });
};

process.once('disconnect', () => process.exit(1));
await serve();
