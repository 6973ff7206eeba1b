import { once } from 'node:events';

const CHUNK = Buffer.alloc(65_536, 'x');
// Far more than the sockets between a function and its caller keep.
const MAX_CHUNKS = 200;
const seen = { closedEarly: 0, leftWorkDone: false, chunksBeforePressure: 0, invocations: 0 };

const begin = (stream) =>
  awslambda.HttpResponseStream.from(stream, { statusCode: 201, headers: { 'content-type': 'text/plain', 'x-fixture': 'yes' } });

const actions = {
  async echo(stream, event, context) {
    const body = begin(stream);
    body.write(
      JSON.stringify({
        event,
        requestId: context.awsRequestId,
        remainingMs: context.getRemainingTimeInMillis(),
        name: context.functionName,
      }),
    );
    body.end();
  },
  async state(stream) {
    stream.write(JSON.stringify(seen));
    stream.end();
  },
  async fail() {
    throw new TypeError('it broke at once');
  },
  async fail_midway(stream) {
    await new Promise((resolve) => begin(stream).write('some', resolve));
    throw new Error('it broke in the middle');
  },
  async die() {
    process.exit(1);
  },
  async die_midway(stream) {
    await new Promise((resolve) => begin(stream).write('some', resolve));
    process.exit(1);
  },
  async no_prelude(stream) {
    stream.write('no metadata here');
    stream.end();
  },
  async hold(stream) {
    const body = begin(stream);
    body.write('begun');
    await once(body, 'close');
    seen.closedEarly += 1;
  },
  async destroy(stream) {
    stream.destroy();
  },
  async hang() {
    await new Promise(() => undefined);
  },
  async pressure(stream) {
    const body = begin(stream);
    seen.chunksBeforePressure = 0;
    for (let sent = 0; sent < MAX_CHUNKS; sent += 1) {
      if (body.write(CHUNK)) continue;
      if (seen.chunksBeforePressure === 0) seen.chunksBeforePressure = sent + 1;
      await once(body, 'drain');
    }
    body.end();
  },
  async leave_work(stream) {
    seen.leftWorkDone = false;
    setTimeout(() => {
      seen.leftWorkDone = true;
    }, 1);
    begin(stream).write('done');
    stream.end();
  },
};

export const handler = awslambda.streamifyResponse(async (event, stream, context) => {
  seen.invocations += 1;
  const action = event.action ?? event.queryStringParameters?.action ?? 'echo';
  await actions[action](stream, event, context);
});
