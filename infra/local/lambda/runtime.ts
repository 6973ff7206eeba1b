import type { IncomingMessage } from 'node:http';
import { installAwsLambda, isStreaming } from './awslambda.ts';
import { invocationContext } from './invocation-context.ts';
import { loadHandler } from './load-handler.ts';
import { ResponseStream } from './response-stream.ts';
import { REQUEST_ID_HEADER, type RuntimeMessage, type RuntimeOptions } from './runtime-options.ts';

/*
 * The program of a function process: it loads the bundle, then serves invocations on a socket. A request's body is the event; the answer is
 * what the handler returns (JSON) or streams. Status 500 is a handler that failed before its first byte, with Lambda's error object;
 * one that fails later has its connection destroyed.
 */
const { createServer } = process.getBuiltinModule('http');

/** Lambda's bound on what a handler may return, in bytes of its JSON. */
const MAX_RESULT_BYTES = 6_291_556;

const options: RuntimeOptions = JSON.parse(process.argv[2] ?? '');

const tell = (message: RuntimeMessage): void => {
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

const closed = (response: ResponseStream): Promise<void> =>
  new Promise((resolve) => {
    if (response.writableFinished || response.destroyed) resolve();
    else response.once('close', resolve);
  });

const serve = async (): Promise<void> => {
  installAwsLambda();
  const handler = await loadHandler(options.folder, options.handler);
  const streaming = isStreaming(handler);

  const run = async (request: IncomingMessage, body: Buffer[], response: ResponseStream): Promise<void> => {
    const context = invocationContext(options, String(request.headers[REQUEST_ID_HEADER]));
    try {
      const event: unknown = JSON.parse(Buffer.concat(body).toString());
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
    if (!options.reportsSettled) return;
    await closed(response);
    tell({ type: 'settled' });
  };

  const server = createServer({ ServerResponse: ResponseStream }, (request, response) => {
    const body: Buffer[] = [];
    response.sendDate = false;
    // A write after the caller has gone must fail in the function that writes, not end the process.
    response.on('error', () => undefined);
    request.on('data', (chunk: Buffer) => body.push(chunk));
    request.once('end', () => void run(request, body, response));
  });
  // Idle connections stay: a frozen process would find all its timers overdue when it is thawed.
  server.keepAliveTimeout = 0;
  server.requestTimeout = 0;
  server.headersTimeout = 0;
  server.listen(options.socketPath, () => tell({ type: 'ready' }));
};

process.once('disconnect', () => process.exit(1));
await serve();
