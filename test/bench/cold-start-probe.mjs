import { subscribe } from 'node:diagnostics_channel';
import { writeSync } from 'node:fs';
import { Writable } from 'node:stream';

// A cold start in a fresh process: imports a bundle, calls its handler once, and writes times in ms to stderr, because
// stdout is the function's log. It imports only modules that a function process has from its start. Argument: JSON.
const { bundle, event, streaming } = JSON.parse(process.argv[2]);
const callsMs = [];
subscribe('http.client.request.start', () => callsMs.push(performance.now()));
let status;
globalThis.awslambda = {
  streamifyResponse: (handler) => handler,
  HttpResponseStream: {
    from: (stream, prelude) => {
      status = prelude.statusCode;
      return stream;
    },
  },
};
const context = { getRemainingTimeInMillis: () => 600_000 };

const startMs = performance.now();
const { handler } = await import(bundle);
const importedMs = performance.now();
if (streaming) {
  await handler(event, new Writable({ write: (_chunk, _encoding, callback) => callback() }), context);
} else {
  status = (await handler(event, context))?.statusCode;
}
const endMs = performance.now();
writeSync(
  2,
  `${JSON.stringify({ status, startMs, importMs: importedMs - startMs, handledMs: endMs - startMs, callsMs: callsMs.map((ms) => ms - startMs) })}\n`,
);
process.exit(0);
